//! A blueprint: the facts that a site is made from.

use super::profile::Profile;
use super::vocabulary::Vocabulary;

/// What a site is made from.
#[derive(Debug)]
pub(crate) struct Blueprint {
    /// The site's id, byte for byte as the search engine lists it.
    pub url: &'static str,
    /// Where its pages live, without a slash at the end.
    pub origin: &'static str,
    pub profile: &'static Profile,
    pub vocabulary: &'static Vocabulary,
    /// What people call it; the first is its name.
    pub brand_terms: &'static [&'static str],
    /// The country most of its visitors are in.
    pub home: &'static str,
    /// Whether it went live only seven months ago.
    pub young: bool,
}
