//! Tests of the claims about a person, and of their precedence.

use chrono::TimeDelta;
use serde_json::{Value, json};

use super::{TestIssuer, start_time, text};

/// An issuer that signs the claims a test gives it, on top of a valid token's.
struct Said {
    issuer: TestIssuer,
    claims: Value,
}

impl Said {
    async fn start() -> Self {
        let issuer = TestIssuer::start().await;
        let token = text(&issuer.tokens().await.1, "access_token").to_owned();
        let claims = issuer.provider.keys.read::<Value>("at+jwt", &token).await.unwrap().unwrap();
        Self { issuer, claims }
    }

    /// A token of `subject`, issued `minutes` after the start, with these claims.
    async fn token(&self, subject: &str, minutes: i64, said: Value) -> String {
        let mut claims = self.claims.clone();
        let members = claims.as_object_mut().unwrap();
        for name in ["email", "email_verified", "name"] {
            members.remove(name);
        }
        members.insert("sub".to_owned(), json!(subject));
        members.insert("iat".to_owned(), json!((start_time() + TimeDelta::minutes(minutes)).timestamp()));
        members.extend(said.as_object().unwrap().clone());
        self.issuer.provider.keys.sign("at+jwt", &claims).await.unwrap()
    }

    /// The stored subject and verified address after the service has seen this token.
    async fn seen(&self, subject: &str, minutes: i64, said: Value) -> String {
        let answer = self.issuer.api(&self.token(subject, minutes, said).await).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.body
    }
}

fn address(text: &str) -> Value {
    json!({ "email": text, "email_verified": true })
}

#[tokio::test]
async fn an_older_token_does_not_turn_an_address_back() {
    let said = Said::start().await;
    assert_eq!(said.seen("mover", -30, address("old@corp.test")).await, "mover Some(\"old@corp.test\")");
    assert_eq!(said.seen("mover", -20, address("new@corp.test")).await, "mover Some(\"new@corp.test\")");
    for minutes in [-30, -21, -20] {
        assert_eq!(said.seen("mover", minutes, address("old@corp.test")).await, "mover Some(\"new@corp.test\")");
    }
    assert_eq!(said.seen("mover", -10, json!({})).await, "mover Some(\"new@corp.test\")", "nothing was said");
    let withdrawn = json!({ "email": "new@corp.test", "email_verified": false });
    assert_eq!(said.seen("mover", -9, withdrawn).await, "mover None");
    assert_eq!(said.seen("mover", -20, address("new@corp.test")).await, "mover None");
}

#[tokio::test]
async fn an_address_belongs_to_one_person_at_a_time() {
    let said = Said::start().await;
    said.seen("former", -30, address("seat@corp.test")).await;
    assert_eq!(said.seen("present", -20, address("Seat@corp.test")).await, "present Some(\"Seat@corp.test\")");
    assert_eq!(said.seen("former", -30, address("seat@corp.test")).await, "former None", "it has moved");
    // A person named by an older token does not get the address.
    assert_eq!(said.seen("late", -25, address("seat@corp.test")).await, "late None");
    assert_eq!(said.seen("present", -20, json!({})).await, "present Some(\"Seat@corp.test\")");
    // An unverified address changes nothing.
    said.seen("claimant", -10, json!({ "email": "seat@corp.test", "email_verified": false })).await;
    assert_eq!(said.seen("present", -20, json!({})).await, "present Some(\"Seat@corp.test\")");
}

#[tokio::test]
async fn tokens_without_a_person_are_refused() {
    let said = Said::start().await;
    let client = said.claims["client_id"].as_str().unwrap().to_owned();
    for (subject, more) in [
        (client.clone(), json!({})),
        (format!("{client}@clients"), json!({})),
        ("job".to_owned(), json!({ "gty": "client-credentials" })),
        ("job".to_owned(), json!({ "gty": ["password", "client_credentials"] })),
        ("job".to_owned(), json!({ "idtyp": "app" })),
    ] {
        let answer = said.issuer.api(&said.token(&subject, 0, more.clone()).await).await;
        assert_eq!(answer.status, 401, "{subject} {more}");
        assert!(answer.header("www-authenticate").contains("error=\"invalid_token\""));
    }
    for more in [json!({ "gty": "password" }), json!({ "gty": 7 }), json!({ "idtyp": "user" })] {
        assert_eq!(said.seen("person", 0, more).await, "person None");
    }
}

#[tokio::test]
async fn a_token_from_the_future_is_refused() {
    let said = Said::start().await;
    let now = start_time().timestamp();
    for (issued_at, status) in [(now + 5, 200), (now + 6, 401), (now + 3600, 401)] {
        let token = said.token("person", 0, json!({ "iat": issued_at })).await;
        assert_eq!(said.issuer.api(&token).await.status, status, "{}", issued_at - now);
    }
}
