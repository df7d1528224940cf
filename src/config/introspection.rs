//! Settings of token introspection.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Secret,
    check::{Refusal, allow, client},
};

/// The service's client at the introspection endpoint of `identity.issuer`. Without it, that endpoint is not asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Introspection {
    /// The service's client at the [introspection endpoint](SELF-HOSTING.md#revoked-tokens) of `identity.issuer`. Without it, that endpoint
    /// is not asked.
    #[schemars(extend("x-allowed" = "a text, with `identity.issuer` only"))]
    pub client_id: Option<String>,
    /// The secret of that client.
    #[schemars(extend("x-allowed" = "a text, with `identity.introspection.client_id` only"))]
    pub client_secret: Option<Secret>,
}

impl Introspection {
    /// The id and the secret of the client, if the endpoint is asked.
    #[must_use]
    pub fn client(&self) -> Option<(&str, &str)> {
        Some((self.client_id.as_deref()?, &self.client_secret.as_ref()?.0))
    }

    /// `external` is true if `identity.issuer` is set.
    pub(super) fn check(&self, external: bool) -> Result<(), Refusal> {
        if *self == Self::default() {
            return Ok(());
        }
        allow(
            external,
            "identity.introspection.client_id",
            "nothing, because identity.issuer is not set: the embedded issuer's revocations are known here without a question",
        )?;
        client("identity.introspection", self.client_id.as_deref(), self.client_secret.as_ref())
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
        let whole = of(Some("sightline"), Some("hunter2"));
        assert_eq!(
            (whole.check(true), of(None, None).check(false), of(None, None).check(true)),
            (Ok(()), Ok(()), Ok(()))
        );
        assert_eq!((whole.client(), of(None, None).client()), (Some(("sightline", "hunter2")), None));
        for (settings, external, setting) in [
            (whole.clone(), false, "client_id`"),
            (of(Some("sightline"), None), true, "client_secret`"),
            (of(Some("sightline"), Some("")), true, "client_secret`"),
            (of(None, Some("hunter2")), true, "client_id`"),
            (of(Some(""), Some("hunter2")), true, "client_id`"),
        ] {
            let said = settings.check(external).unwrap_err().to_string();
            assert!(said.starts_with(&format!("setting `identity.introspection.{setting}")), "{said}");
            assert!(!said.contains("hunter2"), "{said}");
        }
    }
}
