//! The addresses that may sign in.

use common::mail_address;
use identity::relying_party::StatedAddress;

use crate::accounts::operator::checked_address;

/// The addresses that the settings let in. Only verified ones count.
#[derive(Debug, Default)]
pub struct Rules {
    domains: Vec<String>,
    emails: Vec<String>,
    emails_are_verified: bool,
}

impl Rules {
    /// Lets in addresses of these domains, and these addresses. `emails_are_verified` says that addresses count as
    /// verified if the provider says nothing.
    #[must_use]
    pub fn new(domains: &[String], emails: &[String], emails_are_verified: bool) -> Self {
        let folded = |list: &[String]| list.iter().map(|text| mail_address::key(text)).collect();
        Self { domains: folded(domains), emails: folded(emails), emails_are_verified }
    }

    /// Returns the address, if the provider has verified it. `email_verified: false` counts under all settings.
    pub(super) fn vouched(&self, stated: Option<&StatedAddress>) -> Option<String> {
        let stated = stated.filter(|stated| stated.verified.unwrap_or(self.emails_are_verified))?;
        checked_address(&stated.address).ok()
    }

    /// Returns whether the settings name the address or its very domain.
    pub(super) fn list(&self, address: &str) -> bool {
        let key = mail_address::key(address);
        let domain = key.rsplit_once('@').map(|(_, domain)| domain);
        self.emails.contains(&key) || domain.is_some_and(|domain| self.domains.iter().any(|listed| listed == domain))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_name_addresses_and_exact_domains_in_any_case() {
        let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let rules = Rules::new(&texts(&["Corp.test"]), &texts(&["Guest@Other.test"]), false);
        for address in ["ann@corp.test", "ANN@CORP.TEST", "guest@other.test", "Guest@other.TEST"] {
            assert!(rules.list(address), "{address}");
        }
        for address in [
            "ann@sub.corp.test",
            "ann@evilcorp.test",
            "ann@corp.test.evil.test",
            "ann@corp.tes",
            "corp.test",
            "someone@other.test",
            "guest@other.test.evil.test",
        ] {
            assert!(!rules.list(address), "{address}");
        }
        assert!(!Rules::default().list("ann@corp.test"));
    }

    #[test]
    fn only_a_verified_address_is_vouched_for() {
        let stated = |verified| StatedAddress { address: "Ann@corp.test".into(), verified };
        for (named, verified, vouched) in [
            (false, Some(true), true),
            (false, Some(false), false),
            (false, None, false),
            (true, Some(true), true),
            (true, Some(false), false),
            (true, None, true),
        ] {
            let found = Rules::new(&[], &[], named).vouched(Some(&stated(verified)));
            assert_eq!(found.as_deref(), vouched.then_some("Ann@corp.test"), "{named} {verified:?}");
        }
        let rules = Rules::new(&[], &[], true);
        assert_eq!(rules.vouched(None), None);
        for odd in ["", "ann", "\"a@evil.test\"@corp.test", "a b@corp.test", "änn@corp.test", "ann@corp.test\n"] {
            let stated = StatedAddress { address: odd.into(), verified: Some(true) };
            assert!(rules.vouched(Some(&stated)).is_none_or(|address| address == odd.trim()), "{odd:?}");
        }
    }
}
