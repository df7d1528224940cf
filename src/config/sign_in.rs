//! Settings of sign-in by another provider.

use lettre::Address;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    IdentifierUrl, Secret,
    check::{Refusal, allow, require},
};

/// An `OpenID` provider at which people sign in. The embedded issuer issues the tokens.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SignIn {
    /// [Another provider](SELF-HOSTING.md#sign-in-by-another-provider) at which people sign in. The tokens come from the embedded issuer.
    /// Without it, people sign in with passwords.
    pub issuer: Option<IdentifierUrl>,
    /// The service's client at the provider of `identity.sign_in.issuer`, which needs it.
    pub client_id: Option<String>,
    /// The secret of that client.
    pub client_secret: Option<Secret>,
    /// Domains of verified addresses that may sign in. Subdomains are other domains.
    #[schemars(extend("x-allowed" = "domains such as `example.org`, the part after the @, without wildcards"))]
    pub allowed_domains: Vec<String>,
    /// Verified addresses that may sign in.
    #[schemars(extend("x-allowed" = "e-mail addresses such as `ann@example.org`"))]
    pub allowed_emails: Vec<String>,
    /// `true`: addresses count as verified where the provider does not say whether they are.
    pub emails_are_verified: bool,
    /// Further audiences that the provider puts into its ID tokens. One whose `azp` is this client needs no entry.
    #[schemars(extend("x-allowed" = "identifiers of clients at the provider"))]
    pub trusted_audiences: Vec<String>,
}

impl SignIn {
    /// `external` is true if `identity.issuer` is set.
    pub(super) fn check(&self, external: bool) -> Result<(), Refusal> {
        if self.issuer.is_none() {
            let alone = "a provider's URL, because another setting of identity.sign_in is set";
            return allow(*self == Self::default(), "identity.sign_in.issuer", alone);
        }
        allow(
            !external,
            "identity.sign_in.issuer",
            "nothing, because identity.issuer is set: that issuer signs people in and issues the tokens. Remove one of the two",
        )?;
        let client_id = self.client_id.as_deref().is_some_and(|id| !id.is_empty());
        allow(
            client_id,
            "identity.sign_in.client_id",
            "the id of the client at the provider, because identity.sign_in.issuer is set",
        )?;
        require(self.allowed_domains.iter().all(|domain| is_domain(domain)), "identity.sign_in.allowed_domains")?;
        let are_addresses =
            self.allowed_emails.iter().all(|email| email.is_ascii() && email.parse::<Address>().is_ok());
        require(are_addresses, "identity.sign_in.allowed_emails")
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
            issuer: "https://accounts.google.com".parse().ok(),
            client_id: Some("sightline".into()),
            allowed_domains: vec!["Example.org".into()],
            allowed_emails: vec!["Ann@example.org".into()],
            ..SignIn::default()
        }
    }

    #[test]
    fn a_provider_is_configured_as_a_whole() {
        let good = google();
        assert_eq!((good.check(false), SignIn::default().check(true)), (Ok(()), Ok(())));
        let domains = |domain: &str| SignIn { allowed_domains: vec![domain.into()], ..good.clone() };
        let emails = |email: &str| SignIn { allowed_emails: vec![email.into()], ..good.clone() };
        for (settings, external, setting) in [
            (SignIn { client_id: None, ..good.clone() }, false, "client_id`"),
            (SignIn { client_id: Some(String::new()), ..good.clone() }, false, "client_id`"),
            (SignIn { issuer: None, ..good.clone() }, false, "issuer`"),
            (SignIn { emails_are_verified: true, ..SignIn::default() }, false, "issuer`"),
            (good.clone(), true, "issuer`"),
            (domains("@example.org"), false, "allowed_domains`"),
            (domains("*.example.org"), false, "allowed_domains`"),
            (domains(".example.org"), false, "allowed_domains`"),
            (domains(""), false, "allowed_domains`"),
            (emails("example.org"), false, "allowed_emails`"),
        ] {
            let said = settings.check(external).unwrap_err().to_string();
            assert!(said.starts_with(&format!("setting `identity.sign_in.{setting}")), "{said}");
        }
    }
}
