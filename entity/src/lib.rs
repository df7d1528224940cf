//! The tables of the service's own records, one file each, with finders that are scoped to an owner.

pub mod annotation;
pub mod authorization_code;
pub mod branded_keyword;
pub mod filter_preset;
pub mod oauth_client;
pub mod oauth_grant;
pub mod property;
pub mod property_preference;
pub mod property_tag;
pub mod refresh_token;
pub mod replay;
pub mod revocation;
pub mod search_account;
pub mod segment;
pub mod session;
pub mod share_link;
pub mod signing_key;
pub mod tag;
pub mod team_grant;
pub mod team_grant_property;
pub mod topic_cluster;
pub mod user;

use unicode_normalization::UnicodeNormalization as _;

/// Folds a name, keyword or e-mail address for comparison: surrounding space, differences of case and ways to write the same
/// character (Unicode NFKC) do not count.
///
/// Unique indices stand on folded columns, because the databases disagree about case beyond ASCII.
#[must_use]
pub fn key(text: &str) -> String {
    let folded: String = text.nfkc().flat_map(char::to_lowercase).nfkc().collect();
    folded.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::key;

    #[test]
    fn names_that_look_the_same_are_the_same() {
        for (a, b) in [
            ("Caf\u{e9}", "cafe\u{301}"),
            (" STRASSE ", "strasse"),
            ("ﬁnance", "Finance"),
            ("ＡＢＣ", "abc"),
            ("ÅNGSTRÖM", "a\u{30a}ngstro\u{308}m"),
        ] {
            assert_eq!(key(a), key(b));
        }
        assert_ne!(key("resume"), key("résumé"));
    }
}
