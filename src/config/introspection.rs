//! Settings of token introspection.

use serde::{Deserialize, Serialize};

use super::{ConfigError, Secret, check::allow};

/// The service's client at the introspection endpoint of `identity.issuer`. Without it, that endpoint is not asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Introspection {
    /// The client's id.
    pub client_id: Option<String>,
    /// The client's secret.
    pub client_secret: Option<Secret>,
}

impl Introspection {
    /// The id and the secret of the client, if the endpoint is asked.
    #[must_use]
    pub fn client(&self) -> Option<(&str, &str)> {
        Some((self.client_id.as_deref()?, &self.client_secret.as_ref()?.0))
    }

    /// Refuses settings that make no sense. `external` is `identity.issuer`.
    pub(super) fn check(&self, external: Option<&str>) -> Result<(), ConfigError> {
        if *self == Self::default() {
            return Ok(());
        }
        allow(
            external.is_some(),
            "identity.introspection.client_id",
            "nothing, because identity.issuer is not set: the embedded issuer's revocations are known here without a question",
        )?;
        let beside = "identity.introspection.client_id and client_secret together, or neither of them";
        let is_set = |text: Option<&str>| text.is_some_and(|text| !text.is_empty());
        allow(is_set(self.client_id.as_deref()), "identity.introspection.client_id", beside)?;
        let secret = self.client_secret.as_ref().map(|secret| secret.0.as_str());
        allow(is_set(secret), "identity.introspection.client_secret", beside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_configured_as_a_whole_and_beside_an_issuer() {
        let of = |id: Option<&str>, secret: Option<&str>| Introspection {
            client_id: id.map(str::to_owned),
            client_secret: secret.map(|secret| Secret(secret.to_owned())),
        };
        let issuer = Some("https://id.example");
        let whole = of(Some("sightline"), Some("hunter2"));
        assert_eq!(
            (whole.check(issuer), of(None, None).check(None), of(None, None).check(issuer)),
            (Ok(()), Ok(()), Ok(()))
        );
        assert_eq!((whole.client(), of(None, None).client()), (Some(("sightline", "hunter2")), None));
        for (settings, external, setting) in [
            (whole.clone(), None, "client_id`"),
            (of(Some("sightline"), None), issuer, "client_secret`"),
            (of(Some("sightline"), Some("")), issuer, "client_secret`"),
            (of(None, Some("hunter2")), issuer, "client_id`"),
            (of(Some(""), Some("hunter2")), issuer, "client_id`"),
        ] {
            let ConfigError(said) = settings.check(external).unwrap_err();
            assert!(said.starts_with(&format!("setting `identity.introspection.{setting}")), "{said}");
            assert!(!said.contains("hunter2"), "{said}");
        }
    }
}
