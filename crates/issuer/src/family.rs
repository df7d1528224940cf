//! The family of the refresh tokens of one grant.
//!
//! A token is its family, which all tokens of a grant have in common, and a secret of its own. So a used one is known by its family, and
//! needs no row.

use common::{digest::sha256_hex, random::Random};

/// Stands between the family and the secret of a token.
const SEPARATOR: char = '.';

/// A family.
pub(super) struct Family(String);

impl Family {
    /// Makes the family of a grant's first token.
    pub fn new(random: &Random) -> Self {
        Self(random.token())
    }

    /// Returns the family that a token names.
    pub fn of(token: &str) -> Option<Self> {
        token.split_once(SEPARATOR).map(|(family, _)| Self(family.to_owned()))
    }

    /// Returns its stored form.
    pub fn hash(&self) -> String {
        sha256_hex(&self.0)
    }

    /// Makes a token.
    pub fn token(&self, random: &Random) -> String {
        format!("{}{SEPARATOR}{}", self.0, random.token())
    }
}
