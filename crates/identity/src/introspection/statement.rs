//! The issuer's statement about a token (RFC 7662 section 2.2), held against what the token says of itself.

use serde::Deserialize;
use serde_json::Value;

use super::super::{AccessToken, audience::Audience};

/// The result of one introspection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The token is active for this audience, or for the token's own if the issuer states none.
    Active(Option<Audience>),
    /// The token is not active.
    Inactive,
    /// The statement is about another token: this claim differs.
    Contradicted(&'static str),
}

/// The members of an active token that can be held against the token. `client_id` and `scope` are left out, because issuers
/// differ in what they state there.
#[derive(Deserialize)]
struct Statement {
    iss: Option<String>,
    sub: Option<String>,
    aud: Option<Audience>,
}

impl Verdict {
    /// Reads the answer of the introspection endpoint of `issuer` about `token`.
    ///
    /// # Errors
    /// The answer is not a statement about a token. The text quotes nothing of it, because it may describe a person.
    pub fn read(answer: Value, issuer: &str, token: &AccessToken) -> Result<Self, &'static str> {
        match answer.get("active") {
            Some(Value::Bool(true)) => {}
            Some(Value::Bool(false)) => return Ok(Self::Inactive),
            _ => return Err("its answer says neither that the token is active nor that it is not"),
        }
        let said: Statement = serde_json::from_value(answer).map_err(|_| "its answer has a claim of the wrong type")?;
        if said.iss.is_some_and(|said| said != issuer) {
            return Ok(Self::Contradicted("iss"));
        }
        if said.sub.is_some_and(|said| said != token.claims.subject) {
            return Ok(Self::Contradicted("sub"));
        }
        Ok(Self::Active(said.aud))
    }

    /// Returns why a token is refused at the resource `audience`, or `None` if it is accepted.
    pub fn refusal(&self, audience: &str) -> Option<&'static str> {
        match self {
            Self::Active(None) => None,
            Self::Active(Some(stated)) if stated.names(audience) => None,
            Self::Active(Some(_)) => Some("the issuer states another audience"),
            Self::Inactive => Some("the issuer says that it is not active"),
            Self::Contradicted(_) => Some("the issuer's statement is about another token"),
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use serde_json::json;

    use super::*;
    use crate::Claims;

    const ISSUER: &str = "https://id.example";
    const HERE: &str = "https://search.example";

    fn token() -> AccessToken {
        let epoch = DateTime::UNIX_EPOCH;
        let claims = Claims {
            issuer: ISSUER.to_owned(),
            subject: "ann".to_owned(),
            email: None,
            name: None,
            issued_at: epoch,
            auth_time: None,
        };
        AccessToken {
            claims,
            id: "one".to_owned(),
            digest: [0; 32],
            client_id: "probe".to_owned(),
            scopes: Vec::new(),
            rights: common::scope::Scopes::EVERY,
            issued_at: epoch,
            expires_at: epoch,
            grant_id: None,
        }
    }

    #[test]
    fn a_statement_counts_if_it_agrees_with_the_token() {
        for (answer, is_accepted) in [
            (json!({ "active": true }), true),
            (json!({ "active": true, "iss": ISSUER, "sub": "ann", "aud": HERE, "exp": 7, "username": "Ann" }), true),
            (json!({ "active": true, "aud": ["https://other.example", HERE] }), true),
            (json!({ "active": true, "iss": null, "sub": null, "aud": null }), true),
            (json!({ "active": false }), false),
            (json!({ "active": false, "aud": 7 }), false),
            (json!({ "active": true, "iss": "https://id.example/" }), false),
            (json!({ "active": true, "sub": "bob" }), false),
            (json!({ "active": true, "sub": "" }), false),
            (json!({ "active": true, "aud": "https://other.example" }), false),
            (json!({ "active": true, "aud": [] }), false),
        ] {
            let verdict = Verdict::read(answer.clone(), ISSUER, &token()).unwrap();
            assert_eq!(verdict.refusal(HERE).is_none(), is_accepted, "{answer}: {verdict:?}");
        }
    }

    #[test]
    fn other_answers_are_not_a_statement() {
        for answer in [
            json!(null),
            json!("active"),
            json!([true]),
            json!({}),
            json!({ "active": "true" }),
            json!({ "active": 1 }),
            json!({ "active": null }),
            json!({ "active": true, "sub": 7 }),
            json!({ "active": true, "iss": [ISSUER] }),
            json!({ "active": true, "aud": { "one": HERE } }),
        ] {
            assert!(Verdict::read(answer.clone(), ISSUER, &token()).is_err(), "{answer}");
        }
    }
}
