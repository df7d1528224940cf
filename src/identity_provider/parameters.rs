//! Form and query parameters as OAuth defines them: each at most once, empty ones as if absent.

use poem::{Body, Request};
use url::form_urlencoded;

use super::response::{OAuthError, refused};

const MAX_FORM_BYTES: usize = 32 * 1024;

/// The parameters of one request.
#[derive(Debug, Default)]
pub struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// Reads a query string or form body.
    pub fn parse(text: &[u8]) -> Self {
        let pairs = form_urlencoded::parse(text).filter(|(_, value)| !value.is_empty());
        Self(pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect())
    }

    /// Reads the body of a form POST. Only `resource` may be repeated (RFC 8707).
    pub async fn form(request: &Request, body: Body) -> Result<Self, OAuthError> {
        let media_type = request.content_type().and_then(|value| value.split(';').next()).unwrap_or_default();
        if !media_type.trim().eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            return Err(refused("invalid_request", "Send a form: application/x-www-form-urlencoded."));
        }
        let bytes = body.into_bytes_limit(MAX_FORM_BYTES).await;
        let parameters = Self::parse(&bytes.map_err(|_| refused("invalid_request", "The form is too large."))?);
        match parameters.repeated() {
            Some(_) => Err(refused("invalid_request", "A parameter is repeated.")),
            None => Ok(parameters),
        }
    }

    /// The value of a parameter, the first one if it is repeated.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The value of a parameter that has to be there.
    pub fn require(&self, name: &str, missing: &'static str) -> Result<&str, OAuthError> {
        self.get(name).ok_or_else(|| refused("invalid_request", missing))
    }

    /// Every value of a parameter.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// A parameter that is there more than once although it may not be.
    pub fn repeated(&self) -> Option<&str> {
        let names = self.0.iter().map(|(name, _)| name.as_str()).filter(|name| *name != "resource");
        names.into_iter().find(|name| self.all(name).count() > 1)
    }
}
