//! A blueprint: the fixed parameters of a site.

use super::profile::Profile;
use super::rng::named;
use super::vocabulary::Vocabulary;

/// The fixed parameters of a site.
#[derive(Debug)]
pub(crate) struct Blueprint {
    /// The site's id, byte for byte as the search engine lists it.
    pub url: String,
    /// The root of its page URLs, without a trailing slash.
    pub origin: String,
    pub profile: Profile,
    pub vocabulary: &'static Vocabulary,
    /// Its brand terms. The first is its name.
    pub brand_terms: Vec<String>,
    /// The country of most of its visitors.
    pub home: &'static str,
    /// True if it went live only seven months ago.
    pub young: bool,
    /// The division of its pages, if a part of them is a site of its own.
    pub division: Option<Division>,
    /// The id of the site that this one is the part of. Their data are drawn from the same numbers.
    pub covered_by: Option<String>,
    pub standing: Standing,
}

/// The rights at a site of the account that lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It answers questions about the site.
    Open,
    /// It lists the site, and refuses questions about it with 403.
    Refused,
    /// It lists the site as not verified, and refuses questions about it with 403.
    Unverified,
}

/// A division of a site's pages by subject. Half of the subjects are the part.
#[derive(Debug, Clone)]
pub(crate) enum Division {
    /// The part is the host of the site's origin. The other pages are below this root.
    Host(String),
    /// The part is this folder of the site.
    Folder(&'static str),
}

impl Blueprint {
    /// The key of all random numbers of the site.
    pub fn key(&self, seed: u64) -> u64 {
        named(seed, self.covered_by.as_deref().unwrap_or(&self.url))
    }

    /// Returns whether page number `index` lies in the part of a division. Without a division no page does.
    pub fn in_part(&self, index: u16) -> bool {
        let even = (usize::from(index) % self.vocabulary.subjects.len()).is_multiple_of(2);
        match self.division {
            None => false,
            Some(Division::Host(_)) => even,
            // Page 0 is the home page, which is in no folder.
            Some(Division::Folder(_)) => !even,
        }
    }

    /// The URL of page number `index`, which has the path `path` below one of `sections`.
    pub fn page_url(&self, index: u16, section: &str, path: &str) -> String {
        let (root, section) = match &self.division {
            Some(Division::Host(other)) if !self.in_part(index) => (other, section),
            Some(Division::Folder(folder)) if self.in_part(index) => (&self.origin, *folder),
            _ => (&self.origin, section),
        };
        if index == 0 { format!("{root}/") } else { format!("{root}/{section}/{path}") }
    }
}
