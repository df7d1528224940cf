//! Pages of other origins that may call the service.

use std::str::FromStr;

use common::urls::is_of_application;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

/// The origins of pages that may call the service from a browser.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cors {
    /// Origins whose pages may call the API and the tool endpoint from a browser. With none, pages of every origin may call the API, and
    /// pages on this service's own origin the tool endpoint ([origins](design/contract.md#pages-of-other-origins)).
    #[schemars(extend("x-allowed" = "origins as browsers send them, such as `https://app.example.org` or `chrome-extension://ID`: a host in \
        small letters, a port unless it is the usual one, and no slash at the end"))]
    pub origins: Vec<Origin>,
}

/// An origin as browsers send it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
pub struct Origin(String);

impl Origin {
    /// The origin as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Origin {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_page = Url::parse(text)
            .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.origin().ascii_serialization() == text);
        (is_page || is_of_application(text)).then(|| Self(text.to_owned())).ok_or("not an origin")
    }
}

impl TryFrom<String> for Origin {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}
