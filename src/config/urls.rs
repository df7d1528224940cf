//! URLs of settings. Each type keeps the text that a person wrote, because some are compared byte for byte.

use std::{fmt, str::FromStr};

use common::{base_url::BaseUrl, urls::is_secure};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};
use url::Url;

/// Declares types of URLs, each with what is allowed in words and in code.
macro_rules! urls {
    ($($(#[doc = $doc:literal])+ $name:ident: $allowed:tt, $holds:expr;)+) => {$(
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(try_from = "String", into = "String")]
        #[schemars(extend("x-allowed" = $allowed))]
        pub struct $name {
            text: String,
            url: Url,
        }

        impl $name {
            /// The URL as it was written.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.text
            }

            /// The URL in its parts.
            #[must_use]
            pub fn url(&self) -> &Url {
                &self.url
            }
        }

        impl FromStr for $name {
            type Err = &'static str;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let holds: fn(&Url) -> bool = $holds;
                let url = Url::parse(text).ok().filter(holds).ok_or($allowed)?;
                Ok(Self { text: text.to_owned(), url })
            }
        }

        impl TryFrom<String> for $name {
            type Error = &'static str;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(url: $name) -> Self {
                url.text
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.text)
            }
        }
    )+};
}

urls! {
    /// A page that people are sent to.
    PageUrl: "an http or https URL without a user, a password and a fragment", is_page;

    /// A page, or an address for mail.
    ContactUrl: "an http or https URL without a user, a password and a fragment, or `mailto:` and an address",
        |url| is_page(url) || (url.scheme() == "mailto" && url.path().contains('@'));

    /// An endpoint to which secrets are sent.
    SecureUrl: "an https URL, or an http one on a loopback address, without a user, a password and a fragment", is_endpoint;

    /// The root of an API to which secrets are sent, or the identifier of an issuer.
    IdentifierUrl: "an https URL, or an http one on a loopback address, without a user, a password, a query and a fragment",
        |url| is_endpoint(url) && url.query().is_none();

    /// The root of a collector, below which signals have paths of their own.
    CollectorUrl: "an http or https URL without a user, a password, a query and a fragment, and without `/v1/traces` at the end, which is appended: \
        headers with credentials come from `OTEL_EXPORTER_OTLP_HEADERS`",
        |url| is_page(url) && url.query().is_none() && !url.path().trim_end_matches('/').ends_with("/v1/traces");

    /// The page of a payment provider, to whose query `plan` and `reference` are appended.
    CheckoutUrl: "an https URL, or an http one on a loopback address, without a user, a password and a fragment, and without `plan` and \
        `reference` in its query",
        |url| is_endpoint(url) && !url.query_pairs().any(|(name, _)| matches!(&*name, "plan" | "reference"));
}

fn is_page(url: &Url) -> bool {
    let is_anyones = url.username().is_empty() && url.password().is_none();
    matches!(url.scheme(), "http" | "https") && url.has_host() && url.fragment().is_none() && is_anyones
}

fn is_endpoint(url: &Url) -> bool {
    is_page(url) && is_secure(url)
}

/// Reads a root of the service to which passwords, cookies and tokens may travel.
pub(super) fn secure_root<'de, D: Deserializer<'de>>(from: D) -> Result<Option<BaseUrl>, D::Error> {
    let root = Option::<BaseUrl>::deserialize(from)?;
    if root.as_ref().is_none_or(BaseUrl::is_secure) { Ok(root) } else { Err(de::Error::custom("not secure")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_keeps_its_text() {
        for text in ["https://Accounts.example", "https://id.example/", "http://127.0.0.1:9/realms/a"] {
            assert_eq!(text.parse::<IdentifierUrl>().unwrap().to_string(), text);
        }
        let checkout: CheckoutUrl = "https://pay.example?shop=7".parse().unwrap();
        assert_eq!((checkout.as_str(), checkout.url().query()), ("https://pay.example?shop=7", Some("shop=7")));
    }

    #[test]
    fn secrets_travel_over_https_or_within_this_machine() {
        for root in ["https://id.example", "http://127.0.0.1:9", "http://localhost:9", "http://[::1]:9"] {
            assert!(root.parse::<SecureUrl>().is_ok() && root.parse::<IdentifierUrl>().is_ok(), "{root}");
        }
        for root in ["http://id.example", "http://127.0.0.1.evil.example", "http://10.0.0.1", "https://u:p@id.example"]
        {
            assert!(root.parse::<SecureUrl>().is_err() && root.parse::<IdentifierUrl>().is_err(), "{root}");
        }
        assert!("https://id.example/?a=b".parse::<IdentifierUrl>().is_err());
    }
}
