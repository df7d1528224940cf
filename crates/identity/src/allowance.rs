//! The extent to which a person allows an application. The choice is kept with the consent.

use api::scope::{Scope, Scopes};

/// A person's choice for an application, in the order from the narrowest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Allowance {
    /// Only read.
    Read,
    /// Read, and write records.
    Records,
    /// Everything that it asks for.
    Everything,
}

impl Allowance {
    /// Every choice, the narrowest first.
    pub const ALL: [Self; 3] = [Self::Read, Self::Records, Self::Everything];

    /// The choice as it is stored, and as forms send it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Records => "records",
            Self::Everything => "everything",
        }
    }

    /// Reads a choice.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|choice| choice.as_str() == text)
    }

    /// Reads a stored choice. One that a later version of the service stored is the narrowest.
    #[must_use]
    pub fn stored(text: &str) -> Self {
        Self::parse(text).unwrap_or(Self::Read)
    }

    /// The most that the application may do.
    #[must_use]
    pub const fn scopes(self) -> Scopes {
        match self {
            Self::Read => Scopes::of(&[Scope::SearchRead]),
            Self::Records => Scopes::of(&[Scope::SearchRead, Scope::RecordsWrite]),
            Self::Everything => Scopes::EVERY,
        }
    }
}
