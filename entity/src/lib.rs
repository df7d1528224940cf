//! Tables of the service's own records, one file each, with finders that are scoped to an owner.

pub mod account;
pub mod account_link;
pub mod annotation;
pub mod attempt;
pub mod audit_event;
pub mod authorization_code;
pub mod branded_keyword;
pub mod classification;
pub mod client_refusal;
pub mod client_use;
pub mod consent;
pub mod departure;
pub mod departure_key;
pub mod device_code;
pub mod filter_preset;
pub mod former_trial;
pub mod issuer_session;
pub mod oauth_client;
pub mod oauth_grant;
pub mod opened_page;
pub mod pending_revocation;
pub mod property;
pub mod property_account;
pub mod property_preference;
pub mod property_tag;
pub mod provider_connection;
pub mod refresh_token;
pub mod replay;
pub mod replica;
pub mod revocation;
pub mod search_account;
pub mod session;
pub mod share_link;
pub mod signing_key;
pub mod tag;
pub mod team_grant;
pub mod team_grant_property;
pub mod token_exchange;
pub mod user;

use unicase::UniCase;
use unicode_normalization::UnicodeNormalization as _;

/// Folds a name or keyword for comparison. It ignores surrounding space, case (Unicode case folding) and different
/// encodings of the same character (NFKC).
///
/// Unique indices are on folded columns, because the databases disagree about case beyond ASCII.
#[must_use]
pub fn key(text: &str) -> String {
    let folded = UniCase::unicode(text.nfkc().collect::<String>()).to_folded_case();
    folded.nfkc().collect::<String>().trim().to_owned()
}

/// Folds an e-mail address for comparison. It ignores surrounding space and the case of ASCII letters, and nothing else.
///
/// Grants are made to addresses, so two mailboxes must never compare equal. With Unicode folding, the verified holder
/// of `ｏwner@…`, or of an address with a Kelvin sign in its name, would pass as another.
#[must_use]
pub fn email_key(address: &str) -> String {
    address.trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::{email_key, key};

    #[test]
    fn addresses_of_two_mailboxes_are_never_the_same() {
        assert_eq!(email_key(" Mike@Example.test "), "mike@example.test");
        for other in ["mi\u{212a}e@example.test", "ｍike@example.test", "mıke@example.test", "mike@exampl\u{ff45}.test"]
        {
            assert_ne!(email_key(other), "mike@example.test", "{other}");
        }
    }

    #[test]
    fn names_that_look_the_same_are_the_same() {
        for (a, b) in [
            ("Caf\u{e9}", "cafe\u{301}"),
            (" STRASSE ", "straße"),
            ("ΟΔΟΣ", "οδος"),
            ("ﬁnance", "Finance"),
            ("ＡＢＣ", "abc"),
            ("ÅNGSTRÖM", "a\u{30a}ngstro\u{308}m"),
        ] {
            assert_eq!(key(a), key(b));
        }
        for (a, b) in [("resume", "résumé"), ("kırmızı", "kirmizi")] {
            assert_ne!(key(a), key(b));
        }
    }
}
