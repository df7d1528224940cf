//! The text of `scope` in authorization requests, grants, consents and answers.

use common::scope::{Scope, Scopes};
use strsim::damerau_levenshtein;

/// The scopes of `OpenID` Connect.
const IDENTITY: [&str; 4] = ["openid", "profile", "email", "offline_access"];

/// Every scope that a client may ask for.
pub(super) fn supported() -> Vec<&'static str> {
    IDENTITY.into_iter().chain(Scope::ALL.map(Scope::as_str)).collect()
}

/// Returns the distinct scopes in `text` in a fixed order, or `None` if one is a misspelt scope of the API. Other unknown words are left
/// out (`OpenID` Connect Core 3.1.2.1), because clients add words of their own.
pub(super) fn parse(text: &str) -> Option<Vec<&'static str>> {
    // Some libraries join scopes by commas, as a few providers did before OAuth 2.0.
    let asked: Vec<&str> = text.split([' ', '\t', '\n', '\r', ',']).filter(|word| !word.is_empty()).collect();
    let mut supported = supported();
    if asked.iter().any(|word| !supported.contains(word) && is_of_the_api(word)) {
        return None;
    }
    supported.retain(|scope| asked.contains(scope));
    Some(supported)
}

/// Returns whether `word` is made like a scope of the API, or is one with a slip or two. Left out, it would mean every right.
fn is_of_the_api(word: &str) -> bool {
    const SLIPS: usize = 2;
    let word = word.to_ascii_lowercase();
    let area = |scope: &str| scope.split(':').next().unwrap_or_default().to_owned();
    let is_near = |scope: &str| area(scope) == area(&word) || damerau_levenshtein(scope, &word) <= SLIPS;
    Scope::ALL.iter().any(|scope| is_near(scope.as_str()))
}

/// Returns whether `scope` names `one`.
pub(super) fn has(scope: &str, one: &str) -> bool {
    scope.split(' ').any(|named| named == one)
}

/// The API's scopes in `scope`, or all of them if it names none.
pub(super) fn rights(scope: &str) -> Scopes {
    Scopes::asked(scope.split(' '))
}

/// `scope` with `rights` in place of the API's scopes in it.
pub(super) fn with_rights(scope: &str, rights: Scopes) -> String {
    let identity = IDENTITY.into_iter().filter(|one| has(scope, one));
    identity.chain(rights.words()).collect::<Vec<_>>().join(" ")
}

/// Returns whether the scopes of `known`, which are all named, include the ones that `asked` means.
pub(super) fn includes(known: &str, asked: &str) -> bool {
    let asked = with_rights(asked, rights(asked));
    asked.split(' ').all(|one| has(known, one))
}

/// Returns the scope of a token within a grant for `granted`, if the client asks for `asked`. `None` if that is more. A client that
/// names none of the API's scopes keeps the grant's.
pub(super) fn narrowed(granted: &str, asked: &str) -> Option<String> {
    let parsed = parse(asked)?.join(" ");
    if parsed.is_empty() {
        return Some(granted.to_owned());
    }
    let named = Scopes::named(parsed.split(' '));
    let kept = Scopes::named(granted.split(' '));
    let narrowed = with_rights(&parsed, if named == Scopes::NONE { kept } else { named });
    let whole = with_rights(granted, rights(granted));
    includes(&whole, &narrowed).then_some(narrowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_known_distinct_and_in_order() {
        for (text, parsed) in [
            ("account openid openid", Some("openid account")),
            ("records:write search:read", Some("search:read records:write")),
            ("", Some("")),
            ("search:read,records:write", Some("search:read records:write")),
            ("openid, search:read", Some("openid search:read")),
            ("openid,search:raed", None),
            ("openid admin address phone", Some("openid")),
            ("claudeai", Some("")),
            ("Account", None),
            ("openid search:raed", None),
            ("records", None),
            ("serach:read", None),
            ("openid search.read", None),
            ("record:write", None),
            ("accounts", None),
        ] {
            assert_eq!(parse(text).map(|scopes| scopes.join(" ")).as_deref(), parsed, "{text}");
        }
    }

    #[test]
    fn what_names_no_right_means_every_right() {
        let all = "openid search:read records:write account";
        for (known, asked, included) in [
            (all, "openid", true),
            (all, "openid search:read", true),
            ("openid search:read", "openid search:read", true),
            ("openid search:read", "openid", false),
            ("openid search:read", "openid records:write", false),
            ("openid search:read", "openid email search:read", false),
        ] {
            assert_eq!(includes(known, asked), included, "{known}: {asked}");
        }
    }

    #[test]
    fn a_refresh_keeps_or_narrows_what_was_granted_and_never_widens_it() {
        for (granted, asked, narrowed_to) in [
            ("openid email", "", Some("openid email")),
            ("openid email", "openid", Some("openid")),
            ("openid email", "search:read", Some("search:read")),
            ("openid email", "openid account", Some("openid account")),
            ("openid search:read", "openid", Some("openid search:read")),
            ("openid search:read", "openid search:read", Some("openid search:read")),
            ("openid search:read", "openid records:write", None),
            ("openid search:read", "openid search:read records:write account", None),
            ("openid search:read records:write", "records:write", Some("records:write")),
            ("openid", "openid email", None),
            ("openid search:read", "claudeai", Some("openid search:read")),
            ("openid", "openid claudeai", Some("openid")),
            ("openid", "openid search:write", None),
        ] {
            assert_eq!(narrowed(granted, asked).as_deref(), narrowed_to, "{granted}: {asked}");
        }
    }
}
