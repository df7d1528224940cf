//! The family of the refresh tokens of one grant.
//!
//! A token is its family, which all tokens of a grant have in common, and a secret of its own. So a used one is known by its family, and
//! needs no row.

use common::digest::sha256_hex;

/// Stands between the family and the secret of a token.
const SEPARATOR: char = '.';

/// A family.
#[derive(Clone)]
pub(super) struct Family(String);

impl Family {
    /// Returns the family with this name.
    pub fn named(name: String) -> Self {
        Self(name)
    }

    /// Returns the family that a token names.
    pub fn of(token: &str) -> Option<Self> {
        token.split_once(SEPARATOR).map(|(family, _)| Self(family.to_owned()))
    }

    /// Returns its stored form.
    pub fn hash(&self) -> String {
        sha256_hex(&self.0)
    }

    /// Returns its token with this secret.
    pub fn token(&self, secret: &str) -> String {
        format!("{}{SEPARATOR}{secret}", self.0)
    }
}
