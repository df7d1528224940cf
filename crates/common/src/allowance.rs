//! The extent to which a person allows an application. The choice is kept with the consent.

use super::scope::{Scope, Scopes};

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

    /// The narrowest choice that allows these scopes.
    #[must_use]
    pub fn covering(rights: Scopes) -> Self {
        Self::ALL.into_iter().find(|choice| rights.and(choice.scopes()) == rights).unwrap_or(Self::Everything)
    }

    /// What a client gets that asks for `scope`.
    #[must_use]
    pub fn of(self, scope: &str) -> String {
        let asked = scope.split_ascii_whitespace();
        let rights = Scopes::asked(asked.clone()).and(self.scopes());
        let mut words: Vec<&str> = Vec::new();
        for word in asked.filter(|word| Scopes::named([*word]) == Scopes::NONE) {
            if !words.contains(&word) {
                words.push(word);
            }
        }
        for right in rights.words() {
            words.push(right);
        }
        words.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_narrowest_choice_that_covers_is_found() {
        for (scope, covering) in [
            ("", Allowance::Read),
            ("search:read", Allowance::Read),
            ("records:write", Allowance::Records),
            ("search:read records:write", Allowance::Records),
            ("account", Allowance::Everything),
            ("search:read account", Allowance::Everything),
        ] {
            assert_eq!(Allowance::covering(Scopes::named(scope.split(' '))), covering, "{scope}");
        }
    }

    #[test]
    fn a_client_gets_what_it_asks_for_as_far_as_it_is_allowed() {
        for (allowance, scope, given) in [
            (Allowance::Read, "openid email search:read account", "openid email search:read"),
            (Allowance::Records, "openid openid profile", "openid profile search:read records:write"),
            (Allowance::Everything, "openid", "openid search:read records:write account"),
            (Allowance::Read, "account", ""),
        ] {
            assert_eq!(allowance.of(scope), given, "{scope}");
        }
    }
}
