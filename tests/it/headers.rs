//! Tests of headers on every response: version, request id, conditional requests, content codings.

use poem::http::Method;

use crate::support::{
    actor::{Actor, Answer},
    app::{TestApp, shared},
    whole::Whole as _,
};

/// One path of each kind (API, metadata, pages, unknown) with the status for an anonymous caller.
const KINDS: [(&str, u16); 9] = [
    ("/api", 401),
    ("/api/health", 200),
    ("/api/nowhere", 401),
    ("/nowhere", 404),
    ("/openapi.json", 200),
    ("/docs", 200),
    ("/.well-known/oauth-protected-resource", 200),
    ("/oauth/token", 405),
    ("/auth/callback", 400),
];

#[tokio::test]
async fn every_answer_carries_the_standing_headers() {
    for (path, status) in KINDS {
        for method in [Method::GET, Method::HEAD] {
            let answer = shared().anonymous().send(method.clone(), path, None, &[]).await.expect(status);
            assert_eq!(answer.header("x-api-version"), "2026-09-14", "{method} {path}");
            assert_eq!(answer.header("x-content-type-options"), "nosniff", "{method} {path}");
            assert_eq!(answer.header("x-correlation-id").len(), 36, "{method} {path}");
            assert_eq!(answer.bytes.is_empty(), method == Method::HEAD, "{method} {path}");
            if status >= 400 {
                assert_eq!(answer.header("cache-control"), "no-store", "{method} {path}");
            }
        }
    }
}

#[tokio::test]
async fn a_version_may_be_pinned_and_others_are_refused_before_anything_else() {
    let owner = shared().actor("owner").await;
    owner.send(Method::GET, "/api", None, &[("x-api-version", "2026-09-14")]).await.expect(200);
    for version in ["2026-09-15", "2026-9-14", "1", "", "latest", "2026-09-14, 2026-09-14"] {
        for path in
            ["/api", "/api/health", "/api/health?probe=ready", "/api/nowhere", "/api/properties/x/performance?scope=x"]
        {
            for actor in [&owner, &shared().anonymous()] {
                let answer = actor.send(Method::GET, path, None, &[("x-api-version", version)]).await.expect(400);
                assert_eq!(answer.code(), "unsupported_api_version", "{version} {path}");
                assert!(answer.hint().contains("2026-09-14"));
                assert_eq!(answer.header("x-api-version"), "2026-09-14");
                assert!(answer.headers.get_all("vary").iter().any(|vary| vary == "X-API-Version"), "{path}");
            }
        }
    }
    let two = [("x-api-version", "2026-09-14"), ("x-api-version", "2020-01-01")];
    owner.send(Method::GET, "/api", None, &two).await.expect(400);
}

/// A supervisor that a proxy gives a header must not restart a process that runs.
#[tokio::test]
async fn a_probe_for_life_is_answered_in_any_version() {
    let version = [("x-api-version", "2020-01-01")];
    shared().anonymous().send(Method::GET, "/api/health?probe=live", None, &version).await.expect(200);
}

#[tokio::test]
async fn a_deprecated_operation_says_since_when_and_what_to_use() {
    let owner = shared().actor("owner").await;
    let (id, base) = (owner.property("northmoor").await, &shared().service.base_url);
    let successor = format!("<{base}/api/properties/{id}/query-insights>; rel=\"successor-version\"");
    for part in ["query-count", "branded-traffic", "query-insights", "countries"] {
        for (actor, is_read) in [(&owner, true), (&shared().anonymous(), false)] {
            let answer = actor.get(&format!("/api/properties/{id}/{part}")).await;
            assert_eq!(answer.status.is_success(), is_read, "{part}");
            let is_deprecated = ["query-count", "branded-traffic"].contains(&part);
            assert_eq!(answer.header("deprecation"), if is_deprecated { "@1789344000" } else { "" }, "{part}");
            let links: Vec<&str> = answer.headers.get_all("link").iter().map(|link| link.to_str().unwrap()).collect();
            assert_eq!(links.contains(&successor.as_str()), is_deprecated && is_read, "{part}: {links:?}");
        }
    }
    let page = shared().anonymous().get("/changelog").await.expect(200);
    assert!(String::from_utf8_lossy(&page.bytes).contains("id=\"deprecated\""));
}

#[tokio::test]
async fn answers_without_a_body_have_no_coding() {
    let owner = shared().actor("owner").await;
    let tag = owner.get("/api/tags").await.expect(200).header("etag").to_owned();
    let accept = ("accept-encoding", "gzip, br");
    let unchanged = [accept, ("if-none-match", tag.as_str())];
    let unchanged = owner.send(Method::GET, "/api/tags", None, &unchanged).await.expect(304);
    let options = owner.send(Method::OPTIONS, "/api/tags", None, &[accept]).await.expect(204);
    for answer in [unchanged, options] {
        assert!(!answer.headers.contains_key("content-encoding"), "{}", answer.status);
    }
}

#[tokio::test]
async fn a_plain_correlation_id_is_kept() {
    let ask = async |id: &str| {
        let answer = shared().anonymous().send(Method::GET, "/api/health", None, &[("x-correlation-id", id)]).await;
        answer.header("x-correlation-id").to_owned()
    };
    assert_eq!(ask("order-17_a.b").await, "order-17_a.b");
    for odd in ["", "a b", "a\"b", "<script>", &"x".repeat(1000)] {
        assert_ne!(ask(odd).await, odd);
    }
    assert_ne!(ask("").await, ask("").await);
}

async fn paths(owner: &Actor) -> [(String, bool); 5] {
    let id = owner.property("northmoor").await;
    [
        (format!("/api/properties/{id}/performance?scope=all"), true),
        ("/api/properties?days=7".into(), true),
        ("/api/properties/tracking".into(), false),
        ("/api/feature-flags".into(), false),
        ("/api".into(), false),
    ]
}

fn without_own(answer: &Answer) -> Vec<(String, String)> {
    let own = ["x-correlation-id", "date", "content-length", "transfer-encoding"];
    let headers = answer.headers.iter().filter(|(name, _)| !own.contains(&name.as_str()));
    let mut headers: Vec<_> = headers.map(|(n, v)| (n.to_string(), v.to_str().unwrap().to_owned())).collect();
    headers.sort();
    headers
}

#[tokio::test]
async fn what_is_known_is_not_sent_again() {
    let owner = shared().actor("owner").await;
    for (path, weak) in paths(&owner).await {
        let first = owner.get(&path).await.expect(200);
        let tag = first.header("etag").to_owned();
        assert_eq!(tag.starts_with("W/\""), weak, "{path}: {tag}");
        assert_eq!(first.header("cache-control"), "private", "{path}");
        for name in ["Accept-Encoding", "Authorization", "Cookie", "X-API-Version"] {
            assert!(first.header("vary").contains(name), "{path}: {}", first.header("vary"));
        }
        assert_eq!(owner.get(&path).await.header("etag"), tag, "{path}");
        let strong = tag.trim_start_matches("W/");
        let behind_proxy =
            ["-gzip", "--gzip", ";gzip", "-br"].map(|by| format!("{}{by}\"", strong.trim_end_matches('"')));
        let known = [tag.clone(), format!("\"other\", {tag}"), "*".into(), strong.to_owned()];
        for known in known.into_iter().chain(behind_proxy) {
            let conditional =
                [("if-none-match", known.as_str()), ("if-modified-since", "Thu, 01 Jan 1970 00:00:00 GMT")];
            let again = owner.send(Method::GET, &path, None, &conditional).await.expect(304);
            assert!(again.bytes.is_empty());
            for name in ["etag", "cache-control", "vary", "x-api-version"] {
                assert_eq!(again.header(name), first.header(name), "{path} {name}");
            }
            assert!(again.headers.contains_key("date"));
        }
        owner.send(Method::GET, &path, None, &[("if-none-match", "\"other\"")]).await.expect(200);
        let head = owner.send(Method::HEAD, &path, None, &[]).await.expect(200);
        assert!(head.bytes.is_empty());
        assert_eq!(without_own(&head), without_own(&first), "HEAD {path}");
    }
}

/// Sends a request with a client that does not decode content codings.
async fn coded(owner: &Actor, path: &str, accept: &str) -> reqwest::Response {
    #[expect(clippy::disallowed_methods, reason = "the service's client hides the coding of answers")]
    let http = reqwest::Client::builder().no_gzip().build().unwrap();
    let request = http.get(format!("{}{path}", shared().service.base_url)).bearer_auth(owner.token());
    request.header("accept-encoding", accept).send().await.unwrap()
}

#[tokio::test]
async fn answers_are_compressed_on_request() {
    let owner = shared().actor("owner").await;
    let path = paths(&owner).await[0].0.clone();
    let plain = owner.get(&path).await.expect(200);
    for (accept, coding) in [
        ("gzip", Some("gzip")),
        ("br;q=0.5, gzip", Some("gzip")),
        ("br", Some("br")),
        ("gzip, deflate, br, zstd", Some("gzip")),
        ("gzip;q=0.5, br", Some("br")),
        ("identity", None),
        ("", None),
        ("gzip;q=0", None),
        ("gzip; q=0, identity", None),
        ("compress", None),
        ("*", Some("gzip")),
    ] {
        let answer = coded(&owner, &path, accept).await;
        assert_eq!(answer.status(), 200);
        let header = |name: &str| answer.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        assert_eq!(header("content-encoding").as_deref(), coding, "{accept}");
        assert!(header("vary").unwrap().contains("Accept-Encoding"));
        assert_eq!(header("etag").as_deref(), Some(plain.header("etag")));
        let length = answer.whole_bytes().await.unwrap().len();
        assert_eq!(length < plain.bytes.len() / 2, coding.is_some(), "{accept}: {length}");
    }
    let refused = coded(&owner, "/api/nowhere", "gzip").await;
    assert_eq!(refused.status(), 404);
}

/// A proxy that lets `GET` through and refuses `DELETE` decides by the first line, and so does the service.
#[tokio::test]
async fn the_first_line_alone_says_what_is_asked() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let tag = owner.made("/api/tags", &serde_json::json!({ "name": "Kept" })).await;
    let path = format!("/api/tags/{tag}");
    for (name, value) in [
        ("x-http-method-override", "DELETE"),
        ("x-http-method", "DELETE"),
        ("x-method-override", "DELETE"),
        ("x-original-url", "/api/privacy/delete"),
        ("x-rewrite-url", "/api/privacy/delete"),
        ("x-original-method", "DELETE"),
    ] {
        let read = owner.send(Method::GET, &path, None, &[(name, value)]).await.expect(200);
        assert_eq!(read.json["data"]["name"], "Kept", "{name}");
        owner.send(Method::POST, &path, None, &[(name, value)]).await.expect(405);
    }
    owner.get(&format!("{path}?_method=DELETE")).await.expect(400);
    let form = [("content-type", "application/x-www-form-urlencoded")];
    owner.send(Method::POST, &path, Some("_method=DELETE".to_owned()), &form).await.expect(405);
    owner.get(&path).await.expect(200);
}
