//! Pages of other origins that may call the service.

use serde::{Deserialize, Serialize};
use url::Url;

use super::ConfigError;

/// The origins of pages that may call the service from a browser.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cors {
    /// The origins that may call the API and the tool endpoint. Empty: every origin may call the API.
    pub origins: Vec<String>,
}

impl Cors {
    /// Refuses texts that no browser sends as `Origin`.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        match self.origins.iter().find(|origin| !is_origin(origin)) {
            None => Ok(()),
            Some(origin) => Err(ConfigError(format!(
                "setting `cors.origins`: \"{origin}\"; allowed are origins as browsers send them, such as https://app.example.org: \
                 http or https, a host in small letters, a port unless it is the usual one, and no slash at the end"
            ))),
        }
    }
}

fn is_origin(text: &str) -> bool {
    Url::parse(text)
        .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.origin().ascii_serialization() == text)
}
