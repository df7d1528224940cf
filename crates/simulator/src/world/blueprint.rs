//! A blueprint: the fixed parameters of a site.

use super::profile::Profile;
use super::vocabulary::Vocabulary;

/// The fixed parameters of a site.
#[derive(Debug)]
pub(crate) struct Blueprint {
    /// The site's id, byte for byte as the search engine lists it.
    pub url: &'static str,
    /// The root of its page URLs, without a trailing slash.
    pub origin: &'static str,
    pub profile: &'static Profile,
    pub vocabulary: &'static Vocabulary,
    /// Its brand terms. The first is its name.
    pub brand_terms: &'static [&'static str],
    /// The country of most of its visitors.
    pub home: &'static str,
    /// True if it went live only seven months ago.
    pub young: bool,
}
