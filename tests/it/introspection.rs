//! Tests of tokens that another issuer revokes: the service asks it about each of them (RFC 7662).

use std::sync::LazyLock;

use chrono::TimeDelta;
use common::clock::Clock;
use poem::http::Method;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    commands::{Running, sightline},
    metrics::in_flight,
    support::{
        actor::{Actor, Answer},
        app::TestApp,
        issuer::{AUDIENCE, AUTHORIZATION, CLIENT_ID, CLIENT_SECRET, OtherIssuer, Says},
    },
};

/// Longer than an answer of the issuer counts without a question.
const A_WHILE: TimeDelta = TimeDelta::seconds(11);

static REVOKED: LazyLock<Says> = LazyLock::new(|| Says::Body(200, json!({ "active": false })));

/// A service that asks another issuer, and a person with a token.
struct Asking {
    app: TestApp,
    issuer: OtherIssuer,
    ann: Actor,
}

impl Asking {
    async fn start() -> Self {
        Self::of(OtherIssuer::start().await).await
    }

    async fn of(issuer: OtherIssuer) -> Self {
        let app = TestApp::start(|config| {
            issuer.trusted_by(config);
            config.metrics.listen = Some(([127, 0, 0, 1], 0).into());
        })
        .await;
        let ann = Actor::with_token(&app.service.base_url, &issuer.token("ann"));
        Self { app, issuer, ann }
    }

    fn person(&self, name: &str) -> Actor {
        Actor::with_token(&self.app.service.base_url, &self.issuer.token(name))
    }

    fn after(&self, time: TimeDelta) -> &Self {
        self.app.hand.advance(time);
        self
    }
}

#[track_caller]
fn assert_revoked(answer: &Answer) {
    assert_eq!((answer.status.as_u16(), answer.code()), (401, "unauthorized"), "{:?}", answer.json);
    assert!(answer.header("www-authenticate").starts_with("Bearer error=\"invalid_token\", resource_metadata=\""));
}

#[track_caller]
fn assert_unknown(answer: &Answer) {
    assert_eq!((answer.status.as_u16(), answer.code()), (503, "unavailable"), "{:?}", answer.json);
    assert_eq!(answer.header("retry-after"), "5");
}

#[tokio::test]
async fn a_token_that_another_issuer_revokes_is_refused_within_ten_seconds() {
    let asking = Asking::start().await;
    let Asking { issuer, ann, .. } = &asking;
    for _ in 0..3 {
        ann.get("/api/tags").await.expect(200);
    }
    assert_eq!(issuer.questions(), 1, "an answer counts for seconds");
    issuer.says(REVOKED.clone());
    asking.after(TimeDelta::seconds(9));
    ann.get("/api/tags").await.expect(200);
    asking.after(TimeDelta::seconds(1));
    for _ in 0..3 {
        assert_revoked(&ann.get("/api/tags").await);
    }
    assert_revoked(&ann.send(Method::POST, "/api/tags", Some("{\"name\":\"x\"}".to_owned()), &[]).await);
    assert_eq!((issuer.questions(), issuer.questions_about(ann.token())), (2, 2));
    assert_revoked(&asking.person("new").get("/api/tags").await);
}

#[tokio::test]
async fn each_token_is_asked_about_alone() {
    let asking = Asking::start().await;
    let Asking { app, issuer, ann } = &asking;
    ann.get("/api/tags").await.expect(200);
    issuer.says(REVOKED.clone());
    let other = Actor::with_token(&app.service.base_url, &issuer.token_of("ann", "two"));
    assert_revoked(&other.get("/api/tags").await);
    ann.get("/api/tags").await.expect(200);
    for bad in [&format!("{}x", ann.token()), "x", "a.b.c"] {
        assert_revoked(&Actor::with_token(&app.service.base_url, bad).get("/api/tags").await);
    }
    assert_eq!(issuer.questions(), 2, "nobody asks about what has no valid signature");
}

#[tokio::test]
async fn requests_with_one_token_share_one_question() {
    let asking = Asking::start().await;
    let Asking { app, issuer, ann } = &asking;
    issuer.says(Says::Nothing);
    let requests: Vec<_> = (0..10)
        .map(|_| {
            let ann = ann.clone();
            tokio::spawn(async move { ann.get("/api/tags").await.status.as_u16() })
        })
        .collect();
    issuer.has_been_asked(1).await;
    while in_flight(app).await < 10.0 {}
    issuer.go_on();
    for request in requests {
        assert_eq!(request.await.unwrap(), 200);
    }
    assert_eq!(issuer.questions(), 1);
}

#[tokio::test]
async fn a_client_that_disconnects_ends_the_question_for_nobody_else() {
    let asking = Asking::start().await;
    let Asking { app, issuer, ann } = &asking;
    issuer.says(Says::Nothing);
    let impatient = tokio::spawn({
        let ann = ann.clone();
        async move { ann.get("/api/tags").await }
    });
    issuer.has_been_asked(1).await;
    impatient.abort();
    while in_flight(app).await > 0.0 {}
    issuer.go_on();
    ann.get("/api/tags").await.expect(200);
    assert_eq!(issuer.questions(), 1);
}

#[tokio::test]
async fn while_the_issuer_is_away_its_last_answer_counts_for_a_minute() {
    let asking = Asking::start().await;
    let Asking { issuer, ann, .. } = &asking;
    let (bob, revoked) = (asking.person("bob"), asking.person("revoked"));
    ann.get("/api/tags").await.expect(200);
    issuer.says(REVOKED.clone());
    assert_revoked(&revoked.get("/api/tags").await);
    issuer.says(Says::Body(503, json!({})));
    asking.after(A_WHILE);
    for _ in 0..3 {
        ann.get("/api/tags").await.expect(200);
        assert_revoked(&revoked.get("/api/tags").await);
        assert_unknown(&bob.get("/api/tags").await);
    }
    assert_eq!(issuer.questions(), 3, "an issuer that is away is left alone for five seconds");
    asking.after(TimeDelta::seconds(48));
    ann.get("/api/tags").await.expect(200);
    asking.after(TimeDelta::seconds(1));
    for person in [ann, &revoked, &bob] {
        assert_unknown(&person.get("/api/tags").await);
    }
    issuer.go_on();
    asking.after(TimeDelta::seconds(5));
    for person in [ann, &bob] {
        person.get("/api/tags").await.expect(200);
    }
}

#[tokio::test]
async fn a_token_that_the_issuer_cannot_judge_delays_no_other() {
    let asking = Asking::start().await;
    let (Asking { issuer, ann, .. }, bob) = (&asking, asking.person("bob"));
    let answers = [
        Says::Text(200, "active".to_owned()),
        Says::Text(200, "{\"active\":true".to_owned()),
        Says::Text(200, format!("{{\"active\":true,\"x\":\"{}\"}}", "x".repeat(100_000))),
        Says::Body(200, json!({ "active": "true" })),
        Says::Body(200, json!({ "active": true, "sub": ["ann"] })),
        Says::Body(200, json!({})),
        Says::Body(302, json!({ "active": true })),
        Says::Body(400, json!({ "error": "invalid_request" })),
        Says::Body(500, json!({ "active": true })),
    ];
    let mut questions = 0;
    for answer in answers {
        issuer.says(answer);
        for _ in 0..2 {
            assert_unknown(&ann.get("/api/tags").await);
        }
        questions += 1;
        assert_eq!(issuer.questions_about(ann.token()), questions, "a failure is remembered");
        issuer.go_on();
        bob.get("/api/tags").await.expect(200);
        asking.after(A_WHILE);
    }
    ann.get("/api/tags").await.expect(200);
}

#[tokio::test]
async fn a_statement_about_another_token_opens_nothing() {
    let asking = Asking::start().await;
    let Asking { issuer, ann, .. } = &asking;
    let agreeing = json!({ "iss": issuer.url, "sub": "ann", "aud": AUDIENCE, "username": "Ann", "exp": 1 });
    issuer.says_active(&agreeing);
    ann.get("/api/tags").await.expect(200);
    for (claim, value) in [
        ("sub", json!("bob")),
        ("iss", json!("https://id.example")),
        ("aud", json!("https://other.example")),
        ("aud", json!([])),
    ] {
        let mut claims: Value = agreeing.clone();
        claims[claim] = value;
        issuer.says_active(&claims);
        asking.after(A_WHILE);
        assert_revoked(&ann.get("/api/tags").await);
    }
    issuer.says_active(&agreeing);
    asking.after(A_WHILE);
    ann.get("/api/tags").await.expect(200);
}

#[tokio::test]
async fn an_answer_does_not_outlive_its_token() {
    let asking = Asking::start().await;
    let Asking { issuer, ann, .. } = &asking;
    asking.after(TimeDelta::seconds(3_600));
    ann.get("/api/tags").await.expect(200);
    asking.after(TimeDelta::seconds(5));
    assert_revoked(&ann.get("/api/tags").await);
    assert_eq!(issuer.questions(), 1, "nobody asks about a token that has expired");
}

#[tokio::test]
async fn an_issuer_that_should_be_asked_and_cannot_be_opens_nothing() {
    let asking = Asking::of(OtherIssuer::without_endpoint().await).await;
    assert_unknown(&asking.ann.get("/api/tags").await);
    let issuer = OtherIssuer::start().await;
    let wrong = TestApp::start(|config| {
        issuer.trusted_by(config);
        config.identity.introspection.client_id = Some("another".to_owned());
    })
    .await;
    let ann = Actor::with_token(&wrong.service.base_url, &issuer.token("ann"));
    assert_unknown(&ann.get("/api/tags").await);
    assert_eq!(issuer.questions(), 0);
}

#[tokio::test]
async fn without_a_client_of_its_own_the_service_asks_nobody() {
    let issuer = OtherIssuer::start().await;
    issuer.says(REVOKED.clone());
    let app = TestApp::start(|config| {
        issuer.trusted_by(config);
        config.identity.introspection = sightline::config::Introspection::default();
    })
    .await;
    Actor::with_token(&app.service.base_url, &issuer.token("ann")).get("/api/tags").await.expect(200);
    assert_eq!(issuer.questions(), 0);
}

// The service asks the issuer while the test waits for its first line.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn neither_a_token_nor_a_secret_nor_a_person_is_in_the_log() {
    let (folder, issuer) = (TempDir::new().unwrap(), OtherIssuer::start().await);
    let settings = [
        ("LISTEN", "127.0.0.1:0"),
        ("DATA_DIR", "data"),
        ("IDENTITY__ISSUER", &issuer.url),
        ("IDENTITY__AUDIENCE", AUDIENCE),
        ("IDENTITY__INTROSPECTION__CLIENT_ID", CLIENT_ID),
        ("IDENTITY__INTROSPECTION__CLIENT_SECRET", CLIENT_SECRET),
    ];
    let mut command = sightline(folder.path(), &["serve"], &settings);
    command.env("RUST_LOG", "trace");
    let server = Running::start(command);
    let (ann, bob) = ("ann@people.test", "bob@people.test");
    let about_bob = json!({ "active": true, "sub": bob, "username": bob });
    let answers = [
        (Says::Body(200, json!({ "active": true, "sub": ann, "username": ann })), 200),
        (REVOKED.clone(), 401),
        (Says::Body(200, about_bob.clone()), 401),
        (Says::Body(200, json!({ "active": true, "sub": { "is": bob } })), 503),
        (Says::Body(200, json!({ "active": bob })), 503),
        (Says::Text(200, format!("{bob} is active")), 503),
        (Says::Body(500, about_bob), 503),
    ];
    let mut private = vec![ann.to_owned(), bob.to_owned(), CLIENT_SECRET.to_owned(), AUTHORIZATION.to_owned()];
    for (number, (answer, status)) in answers.into_iter().enumerate() {
        issuer.says(answer);
        let token = issuer.token_from(ann, &number.to_string(), Clock::system().now());
        Actor::with_token(&server.url, &token).get("/api/tags").await.expect(status);
        private.push(token);
    }
    let (_, _, log) = server.terminate();
    assert!(log.contains("contradicts a token") && log.contains("does not say whether a token is active"), "{log}");
    for line in log.lines() {
        assert!(!private.iter().any(|text| line.contains(text.as_str())), "{line}");
    }
}
