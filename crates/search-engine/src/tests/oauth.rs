//! Tests of what the OAuth endpoints answer. A body that is no answer must neither end a grant nor replace anything that is stored.

use super::*;

/// The outcome of a question to an OAuth endpoint.
#[derive(Debug, PartialEq)]
enum Outcome {
    Done,
    Away,
    Ended,
    Misconfigured,
    Invalid,
}

use Outcome::{Away, Done, Ended, Invalid, Misconfigured};

fn outcome<T>(result: &Result<T, SearchEngineError>) -> Outcome {
    match result {
        Ok(_) => Done,
        Err(SearchEngineError::Unavailable { quota: false, .. }) => Away,
        Err(SearchEngineError::Disconnected(_)) => Ended,
        Err(SearchEngineError::Misconfigured(_)) => Misconfigured,
        Err(SearchEngineError::InvalidRequest(_)) => Invalid,
        Err(error) => panic!("{error}"),
    }
}

/// Bodies that are no answers of any of these endpoints.
const FOREIGN: [&str; 9] = [
    "null",
    "[]",
    "\"ok\"",
    "<html>",
    "{",
    r#"{"error":"server_error"}"#,
    r#"{"error":"invalid_grant"}"#,
    r#"{"error":{"code":500}}"#,
    r#"{"error":true,"access_token":"a","sub":"1"}"#,
];

#[tokio::test]
async fn a_token_is_granted_by_a_token_only() {
    let bench = Bench::new().await;
    let oauth = bench.reader.engine().oauth();
    let bodies = [
        "",
        "{}",
        r#"{"access_token":null}"#,
        r#"{"access_token":""}"#,
        r#"{"access_token":7}"#,
        r#"{"access_token":"a b"}"#,
        r#"{"access_token":"a\nb"}"#,
        r#"{"access_token":"é"}"#,
        r#"{"access_token":["a"]}"#,
        r#"{"access_token":"a","refresh_token":7}"#,
        r#"{"access_token":"a","scope":["a"]}"#,
        r#"{"expires_in":3600,"refresh_token":"r"}"#,
        r#"["a",3600,"r","s"]"#,
    ];
    for body in bodies.into_iter().chain(FOREIGN) {
        bench.upstream.say([(200, body), (200, body)]);
        assert_eq!(outcome(&oauth.refresh(&"grant".into()).await), Away, "{body}");
        assert_eq!(outcome(&oauth.exchange("code", "https://here.test/", "verifier").await), Away, "{body}");
    }
    for (status, body, expected) in [
        (400, r#"{"error":"invalid_grant"}"#, Ended),
        (401, r#"{"error":"invalid_client"}"#, Misconfigured),
        (400, r#"{"error":"unheard_of"}"#, Misconfigured),
        (400, r#"{"error":"temporarily_unavailable"}"#, Away),
        (503, r#"{"error":"invalid_client"}"#, Away),
        (400, r#"{"error":{"code":400}}"#, Away),
        (400, r#"{"error":null}"#, Away),
        (400, "{}", Away),
        (401, "<html>", Away),
        (403, "", Away),
        (404, "[\"invalid_grant\"]", Away),
        (302, "", Away),
        (204, "", Away),
    ] {
        bench.upstream.say([(status, body)]);
        assert_eq!(outcome(&oauth.refresh(&"grant".into()).await), expected, "{status} {body}");
    }
}

#[tokio::test]
async fn the_rest_of_a_token_answer_is_read_as_far_as_it_can_be() {
    let bench = Bench::new().await;
    let seconds = Duration::from_secs;
    for (rest, lifetime) in [
        ("", None),
        (r#","error":null,"new":{}"#, None),
        (r#","expires_in":3599"#, Some(seconds(3_599))),
        (r#","expires_in":3599.0"#, Some(seconds(3_599))),
        (r#","expires_in":"3599""#, Some(seconds(3_599))),
        (r#","expires_in":0"#, Some(Duration::ZERO)),
        (r#","expires_in":-1"#, Some(Duration::ZERO)),
        (r#","expires_in":1e300"#, Some(Duration::MAX)),
        (r#","expires_in":"99999999999999999999999999""#, Some(Duration::MAX)),
        (r#","expires_in":null"#, None),
        (r#","expires_in":"soon""#, None),
        (r#","expires_in":"NaN""#, None),
        (r#","expires_in":true"#, None),
        (r#","expires_in":{}"#, None),
    ] {
        let body = format!(r#"{{"access_token":"ya29.a-b_c~d+e/f=="{rest}}}"#);
        bench.upstream.say([(200, body.as_str())]);
        let answer = bench.reader.engine().oauth().refresh(&"grant".into()).await.unwrap();
        assert_eq!((answer.access_token.expose_secret(), answer.lifetime), ("ya29.a-b_c~d+e/f==", lifetime), "{rest}");
        assert!(answer.refresh_token.is_none());
    }
}

#[tokio::test]
async fn a_token_serves_for_a_minute_at_least_and_a_day_at_most() {
    for (expires_in, minutes) in [(json!(0), 1), (json!(-7), 1), (json!(5), 1), (json!(1e18), 24 * 60), (json!({}), 60)]
    {
        let bench = Bench::new().await;
        let body = json!({ "access_token": "a", "expires_in": expires_in });
        bench.upstream.with(|script| script.tokens.push_back((200, body)));
        let lasts = chrono::TimeDelta::minutes(minutes) - chrono::TimeDelta::seconds(31);
        assert!(bench.read(&part(10)).await.is_ok());
        bench.hand.advance(lasts);
        assert!(bench.read(&part(11)).await.is_ok());
        assert_eq!(bench.upstream.refreshed().len(), 1, "{expires_in}");
        bench.hand.advance(chrono::TimeDelta::seconds(1));
        assert!(bench.read(&part(12)).await.is_ok());
        assert_eq!(bench.upstream.refreshed().len(), 2, "{expires_in}");
    }
}

#[tokio::test]
async fn an_empty_refresh_token_replaces_none() {
    let bench = Bench::new().await;
    let body = json!({ "access_token": "a", "refresh_token": "" });
    bench.upstream.with(|script| script.tokens.push_back((200, body)));
    assert!(bench.read(&part(10)).await.is_ok());
    assert_eq!(bench.kept.token(), "grant");
}

#[tokio::test]
async fn a_profile_names_a_person() {
    let bench = Bench::new().await;
    let oauth = bench.reader.engine().oauth();
    let long = "1".repeat(256);
    let bodies = [
        String::new(),
        "{}".to_owned(),
        r#"{"sub":""}"#.to_owned(),
        r#"{"sub":null}"#.to_owned(),
        r#"{"sub":1}"#.to_owned(),
        r#"{"sub":["1"]}"#.to_owned(),
        format!(r#"{{"sub":"{long}"}}"#),
        r#"{"email":"a@b.test"}"#.to_owned(),
        r#"{"sub":"1","email":7}"#.to_owned(),
        r#"{"sub":"1","email":["a@b.test"]}"#.to_owned(),
        format!(r#"{{"sub":"1","email":"{long}{long}"}}"#),
        r#"["1","a@b.test"]"#.to_owned(),
    ];
    for body in bodies.into_iter().chain(FOREIGN.map(str::to_owned)) {
        bench.upstream.say([(200, body.as_str())]);
        assert_eq!(outcome(&oauth.userinfo(&"token".into()).await), Away, "{body}");
    }
    for status in [401, 404, 500] {
        bench.upstream.say([(status, r#"{"sub":"1"}"#)]);
        assert_eq!(outcome(&oauth.userinfo(&"token".into()).await), Away, "{status}");
    }
    for (body, email) in [
        (r#"{"sub":"110","email":"a@b.test","email_verified":true}"#, Some("a@b.test")),
        (r#"{"sub":"110"}"#, None),
        (r#"{"sub":"110","email":null,"error":null}"#, None),
        (r#"{"sub":"110","email":""}"#, None),
    ] {
        bench.upstream.say([(200, body)]);
        let who = oauth.userinfo(&"token".into()).await.unwrap();
        assert_eq!((who.sub.as_str(), who.email.as_deref()), ("110", email), "{body}");
    }
}

#[tokio::test]
async fn a_grant_is_revoked_when_the_search_engine_says_so() {
    let bench = Bench::new().await;
    let cases = [(200, "", Done), (200, "{}", Done), (200, r#"{"new":1}"#, Done)];
    let cases = cases.into_iter().chain(FOREIGN.map(|body| (200, body, Away))).chain([
        (400, r#"{"error":"invalid_token"}"#, Done),
        (400, r#"{"error":"invalid_request"}"#, Invalid),
        (503, r#"{"error":"x"}"#, Away),
        (400, "<html>", Away),
        (404, "", Away),
        (302, "", Away),
    ]);
    for (status, body, expected) in cases {
        bench.upstream.say([(status, body)]);
        let revoked = bench.reader.engine().oauth().revoke(&"grant".into()).await;
        assert_eq!(outcome(&revoked), expected, "{status} {body}");
    }
}
