//! The scopes of access tokens.

/// A permission of an access token, beside learning who its person is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// Read search data and records.
    SearchRead,
    /// Create, change and delete records.
    RecordsWrite,
    /// Act on the account: what others may see, what costs money, personal data.
    Account,
}

impl Scope {
    /// Every scope, in the order in which texts name them.
    pub const ALL: [Self; 3] = [Self::SearchRead, Self::RecordsWrite, Self::Account];

    /// The scope as it is written in tokens.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SearchRead => "search:read",
            Self::RecordsWrite => "records:write",
            Self::Account => "account",
        }
    }

    /// The actions that the scope permits.
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Self::SearchRead => "Read search data, and annotations, classifications, tags and filter presets",
            Self::RecordsWrite => {
                "Create, change and delete annotations, classifications, tags and filter presets, and mark properties"
            }
            Self::Account => {
                "Manage the team, share links, tracked properties and SEO providers, and export or delete personal data"
            }
        }
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// A set of scopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Scopes(u8);

impl Scopes {
    /// No scope.
    pub const NONE: Self = Self(0);
    /// Every scope.
    pub const EVERY: Self = Self::of(&Scope::ALL);

    /// The set of these scopes.
    #[must_use]
    pub const fn of(scopes: &[Scope]) -> Self {
        let (mut bits, mut index) = (0, 0);
        while index < scopes.len() {
            bits |= scopes[index].bit();
            index += 1;
        }
        Self(bits)
    }

    /// The scopes among `words`. Other words, such as `openid`, are ignored.
    #[must_use]
    pub fn named<'w>(words: impl IntoIterator<Item = &'w str>) -> Self {
        let known = |word: &str| Scope::ALL.into_iter().find(|scope| scope.as_str() == word);
        Self(words.into_iter().filter_map(known).fold(0, |bits, scope| bits | scope.bit()))
    }

    /// The scopes that a client gets that asked for `words`: those that they name, or every scope if they name none.
    #[must_use]
    pub fn asked<'w>(words: impl IntoIterator<Item = &'w str>) -> Self {
        let named = Self::named(words);
        if named == Self::NONE { Self::EVERY } else { named }
    }

    /// Returns whether `scope` is in the set.
    #[must_use]
    pub const fn contains(self, scope: Scope) -> bool {
        self.0 & scope.bit() != 0
    }

    /// The scopes in both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The scopes in either set.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The scopes as they are written in tokens, in a fixed order.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        Scope::ALL.into_iter().filter(move |scope| self.contains(*scope)).map(Scope::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_asks_for_none_of_the_scopes_gets_every_one() {
        for (asked, got) in [
            ("", "search:read records:write account"),
            ("openid profile email", "search:read records:write account"),
            ("openid search:read", "search:read"),
            ("account search:read search:read", "search:read account"),
            ("Search:Read", "search:read records:write account"),
        ] {
            let scopes = Scopes::asked(asked.split_ascii_whitespace());
            assert_eq!(scopes.words().collect::<Vec<_>>().join(" "), got, "{asked}");
        }
    }
}
