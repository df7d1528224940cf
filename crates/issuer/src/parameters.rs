//! Form and query parameters by OAuth's rules: each at most once, and empty ones count as absent.

use std::collections::HashSet;

use pages::form::{self, Controlled, Holds};
use poem::{Body, Request};

use super::response::{OAuthError, refused};

const MAX_FORM_BYTES: usize = 32 * 1024;
/// More than twice the number that the standards define for one request.
const MAX_PARAMETERS: usize = 50;
/// Passwords, which are hashed as they come, and what is never read.
const NO_TEXTS: [&str; 5] = ["password", "current", "new", "repeated", form::UNREAD];

/// The parameters of one request.
#[derive(Debug, Default)]
pub struct Parameters {
    pairs: Vec<(String, String)>,
    is_repeated: bool,
}

/// A request that no endpoint reads.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// There are more than [`MAX_PARAMETERS`], empty ones included.
    #[error("A request has 50 parameters at most.")]
    TooMany,
    /// A parameter holds a control character.
    #[error("{0}.")]
    Controlled(Controlled),
}

impl Parameters {
    /// Parses a query string or form body. Only `resource` may be repeated (RFC 8707).
    pub fn parse(text: &[u8]) -> Result<Self, Unreadable> {
        let holds = |name: &str| if NO_TEXTS.contains(&name) { Holds::Anything } else { Holds::Line };
        let pairs = form::fields(text, holds).take(MAX_PARAMETERS + 1).collect::<Result<Vec<_>, _>>();
        let mut pairs = pairs.map_err(Unreadable::Controlled)?;
        if pairs.len() > MAX_PARAMETERS {
            return Err(Unreadable::TooMany);
        }
        pairs.retain(|(_, value)| !value.is_empty());
        let mut names = HashSet::new();
        let is_repeated = pairs.iter().any(|(name, _)| name != "resource" && !names.insert(name));
        Ok(Self { pairs, is_repeated })
    }

    /// Parses the query string of a request.
    pub fn of_query(request: &Request) -> Result<Self, Unreadable> {
        Self::parse(request.uri().query().unwrap_or_default().as_bytes())
    }

    /// Parses the form that a program sent.
    pub async fn form(request: &Request, body: Body) -> Result<Self, OAuthError> {
        if !form::is_sent_by_program(request.headers()) {
            return Err(refused(
                "invalid_request",
                "Send a form: one Content-Type, application/x-www-form-urlencoded.",
            ));
        }
        let bytes = body.into_bytes_limit(MAX_FORM_BYTES).await;
        let bytes = bytes.map_err(|_| refused("invalid_request", "The form is too large."))?;
        let parameters = Self::parse(&bytes).map_err(|why| refused("invalid_request", why.to_string()))?;
        if parameters.is_repeated() {
            return Err(refused("invalid_request", "A parameter is repeated."));
        }
        Ok(parameters)
    }

    /// Returns the value of a parameter, the first one if it is repeated.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns the value of a required parameter.
    pub fn require(&self, name: &str, missing: &'static str) -> Result<&str, OAuthError> {
        self.get(name).ok_or_else(|| refused("invalid_request", missing))
    }

    /// Returns every parameter, in their order.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns every value of a parameter.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.pairs.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns whether a parameter is repeated that must not be.
    pub fn is_repeated(&self) -> bool {
        self.is_repeated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_once_and_counted() {
        let repeated = |text: &str| Parameters::parse(text.as_bytes()).map(|found| found.is_repeated());
        for (text, expected) in [
            ("", Ok(false)),
            ("a=1&b=2", Ok(false)),
            ("a=1&a=2", Ok(true)),
            ("a=1&a=1", Ok(true)),
            ("a=1&a=", Ok(false)),
            ("resource=1&resource=2", Ok(false)),
            (&"resource=1&".repeat(50), Ok(false)),
            (&"resource=1&".repeat(51), Err(Unreadable::TooMany)),
            (&"a=&".repeat(51), Err(Unreadable::TooMany)),
            ("password=%00&error_description=a%0D%0Ab", Ok(false)),
            ("nonce=%00", Err(Unreadable::Controlled(Controlled { field: "nonce".to_owned() }))),
        ] {
            assert_eq!(repeated(text), expected, "{text}");
        }
    }
}
