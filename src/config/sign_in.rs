//! Settings of sign-in by another provider.

use common::urls::is_secure;
use lettre::Address;
use serde::{Deserialize, Serialize};
use url::Url;

use super::{ConfigError, Secret, check::allow};

/// An `OpenID` provider at which people sign in. The embedded issuer issues the tokens.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SignIn {
    /// The provider's issuer identifier. Without it, people sign in with passwords.
    pub issuer: Option<String>,
    /// The service's client at the provider.
    pub client_id: Option<String>,
    /// The client's secret.
    pub client_secret: Option<Secret>,
    /// Domains whose verified addresses may sign in. Subdomains are other domains.
    pub allowed_domains: Vec<String>,
    /// Verified addresses that may sign in.
    pub allowed_emails: Vec<String>,
    /// True if the provider verifies every address, although it does not say so.
    pub emails_are_verified: bool,
}

impl SignIn {
    /// Refuses settings that make no sense. `external` is `identity.issuer`.
    pub(super) fn check(&self, external: Option<&str>) -> Result<(), ConfigError> {
        let Some(issuer) = &self.issuer else {
            let alone = "a provider's URL, because another setting of identity.sign_in is set";
            return allow(*self == Self::default(), "identity.sign_in.issuer", alone);
        };
        let provider = Url::parse(issuer).is_ok_and(|url| {
            let plain = url.username().is_empty() && url.password().is_none();
            is_secure(&url) && plain && url.query().is_none() && url.fragment().is_none()
        });
        allow(
            provider,
            "identity.sign_in.issuer",
            "an https URL without user, query and fragment, or an http one on a loopback address",
        )?;
        allow(
            external.is_none(),
            "identity.sign_in.issuer",
            "nothing, because identity.issuer is set: that issuer signs people in and issues the tokens. Remove one of the two",
        )?;
        let client_id = self.client_id.as_deref().is_some_and(|id| !id.is_empty());
        allow(
            client_id,
            "identity.sign_in.client_id",
            "the id of the client at the provider, because identity.sign_in.issuer is set",
        )?;
        allow(
            self.allowed_domains.iter().all(|domain| is_domain(domain)),
            "identity.sign_in.allowed_domains",
            "domains such as example.org, the part after the @, without wildcards",
        )?;
        allow(
            self.allowed_emails.iter().all(|email| email.is_ascii() && email.parse::<Address>().is_ok()),
            "identity.sign_in.allowed_emails",
            "e-mail addresses such as ann@example.org",
        )
    }
}

fn is_domain(text: &str) -> bool {
    let is_label =
        |label: &str| !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    text.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn google() -> SignIn {
        SignIn {
            issuer: Some("https://accounts.google.com".into()),
            client_id: Some("sightline".into()),
            allowed_domains: vec!["Example.org".into()],
            allowed_emails: vec!["Ann@example.org".into()],
            ..SignIn::default()
        }
    }

    #[test]
    fn a_provider_is_configured_as_a_whole() {
        let good = google();
        assert_eq!((good.check(None), SignIn::default().check(Some("https://id.example"))), (Ok(()), Ok(())));
        let at = |issuer: &str| SignIn { issuer: Some(issuer.into()), ..good.clone() };
        assert_eq!(at("http://127.0.0.1:9").check(None), Ok(()));
        let domains = |domain: &str| SignIn { allowed_domains: vec![domain.into()], ..good.clone() };
        let emails = |email: &str| SignIn { allowed_emails: vec![email.into()], ..good.clone() };
        for (settings, external, setting) in [
            (SignIn { client_id: None, ..good.clone() }, None, "client_id`"),
            (SignIn { client_id: Some(String::new()), ..good.clone() }, None, "client_id`"),
            (SignIn { issuer: None, ..good.clone() }, None, "issuer`"),
            (SignIn { emails_are_verified: true, ..SignIn::default() }, None, "issuer`"),
            (good.clone(), Some("https://id.example"), "issuer`"),
            (at("http://id.example"), None, "issuer`"),
            (at("https://u:p@id.example"), None, "issuer`"),
            (at("https://id.example/?a=b"), None, "issuer`"),
            (at("id.example"), None, "issuer`"),
            (domains("@example.org"), None, "allowed_domains`"),
            (domains("*.example.org"), None, "allowed_domains`"),
            (domains(".example.org"), None, "allowed_domains`"),
            (domains(""), None, "allowed_domains`"),
            (emails("example.org"), None, "allowed_emails`"),
        ] {
            let ConfigError(said) = settings.check(external).unwrap_err();
            assert!(said.starts_with(&format!("setting `identity.sign_in.{setting}")), "{said}");
        }
    }
}
