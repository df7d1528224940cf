//! The audience of a token: one value, or a list (RFC 7519 section 4.1.3).

use serde::Deserialize;

/// The values of `aud`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(super) enum Audience {
    One(String),
    Many(Vec<String>),
}

impl Audience {
    /// Returns whether `resource` is addressed.
    pub fn names(&self, resource: &str) -> bool {
        match self {
            Self::One(one) => one == resource,
            Self::Many(many) => many.iter().any(|one| one == resource),
        }
    }
}
