//! The scopes that operations need, and those that a caller has.

pub use common::scope::{Scope, Scopes};
use poem::Error;

use crate::error::{ApiError, Code};

/// The permissions of a request's caller, as request data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Granted {
    /// The scopes that the token was issued for.
    pub asked: Scopes,
    /// The scopes that the person allows the client now.
    pub allowed: Scopes,
}

impl Granted {
    /// The rights of a person who acts without a client, in a browser.
    pub const PERSON: Self = Self { asked: Scopes::EVERY, allowed: Scopes::EVERY };

    /// The rights of nobody.
    pub const NOTHING: Self = Self { asked: Scopes::NONE, allowed: Scopes::NONE };

    /// Checks the scope that an operation needs.
    ///
    /// # Errors
    /// 403 `insufficient_scope`, with [`AskFor`] as its data. The hint says whether the client must ask for more, or the person must
    /// allow it more.
    pub fn require(self, needed: Option<Scope>) -> Result<(), Error> {
        let Some(needed) = needed.filter(|needed| !self.allowed.contains(*needed)) else { return Ok(()) };
        let word = needed.as_str();
        let hint = if self.asked.contains(needed) {
            format!("The person allows this application less than {word}; they can change that on their account page.")
        } else {
            format!("This needs the scope {word}; sign in again and ask for it.")
        };
        let mut error = Error::from(ApiError::new(Code::InsufficientScope).hint(hint));
        error.set_data(AskFor(self.asked.or(Scopes::of(&[needed]))));
        Err(error)
    }
}

/// The scopes that a client should ask for after a refusal: those of its token, which it would lose otherwise, and the one that it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AskFor(pub Scopes);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_is_required_that_was_asked_for_and_is_allowed() {
        let read = Scopes::of(&[Scope::SearchRead]);
        for (asked, allowed, needed) in [
            (read, read, None),
            (Scopes::NONE, Scopes::NONE, None),
            (read, read, Some(Scope::SearchRead)),
            (Scopes::EVERY, Scopes::EVERY, Some(Scope::Account)),
        ] {
            assert!(Granted { asked, allowed }.require(needed).is_ok(), "{asked:?} {needed:?}");
        }
        for (asked, allowed, needed, hint, ask_for) in [
            (read, read, Scope::Account, "This needs the scope account;", "search:read account"),
            (
                Scopes::EVERY,
                read,
                Scope::RecordsWrite,
                "The person allows this application less than records:write;",
                "search:read records:write account",
            ),
        ] {
            let error = Granted { asked, allowed }.require(Some(needed)).unwrap_err();
            let AskFor(scopes) = error.data::<AskFor>().unwrap();
            assert_eq!(scopes.words().collect::<Vec<_>>().join(" "), ask_for);
            let refusal = error.downcast_ref::<ApiError>().unwrap();
            assert_eq!(refusal.code, Code::InsufficientScope);
            assert!(refusal.hint.as_ref().unwrap().starts_with(hint), "{refusal:?}");
        }
    }
}
