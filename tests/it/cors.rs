//! Tests of calls from pages of other origins, in the words of the Fetch standard.

use poem::http::Method;
use serde_json::json;

use crate::support::{
    actor::{Actor, Answer},
    app::{TestApp, shared},
    assistant::Assistant,
    contract::DOCUMENT,
    signed_in::Browser,
};

const PAGE: &str = "https://dashboard.example";

/// Asks whether a page of `origin` may send a request, as a browser does.
async fn preflight(actor: &Actor, path: &str, origin: &str, method: &str) -> Answer {
    let headers = [
        ("origin", origin),
        ("access-control-request-method", method),
        ("access-control-request-headers", "authorization,content-type,idempotency-key"),
    ];
    actor.send(Method::OPTIONS, path, None, &headers).await
}

fn names(answer: &Answer, header: &str) -> Vec<String> {
    answer.header(header).split(", ").map(str::to_ascii_lowercase).collect()
}

#[tokio::test]
async fn a_page_of_any_origin_may_call_every_operation_with_a_token() {
    let (app, paths) = (shared(), DOCUMENT["paths"].as_object().unwrap());
    for (path, methods) in paths {
        for method in methods.as_object().unwrap().keys().filter(|name| *name != "parameters") {
            let asked = method.to_ascii_uppercase();
            let answer = preflight(&app.anonymous(), path, PAGE, &asked).await.expect(204);
            assert_eq!(answer.header("access-control-allow-origin"), "*", "{asked} {path}");
            assert!(names(&answer, "access-control-allow-methods").contains(method), "{asked} {path}");
            assert!(!answer.headers.contains_key("access-control-allow-credentials"), "{asked} {path}");
        }
    }
    let owner = app.actor("owner").await;
    let read = owner.send(Method::GET, "/api/tags", None, &[("origin", PAGE)]).await.expect(200);
    assert_eq!(read.header("access-control-allow-origin"), "*");
    assert!(!read.headers.contains_key("access-control-allow-credentials"));
    for (path, version, status) in [("/api/tags", "2026-09-14", 401), ("/api/tags", "2020-01-01", 400)] {
        let headers = [("origin", PAGE), ("x-api-version", version)];
        let refused = app.anonymous().send(Method::GET, path, None, &headers).await.expect(status);
        assert_eq!(refused.header("access-control-allow-origin"), "*", "{status}");
        assert!(names(&refused, "access-control-expose-headers").contains(&"www-authenticate".to_owned()));
    }
}

/// Programs that trace what pages ask for add headers of their own.
#[tokio::test]
async fn a_page_may_send_further_headers_to_the_issuer_and_reads_when_to_come_again() {
    for path in ["/oauth/token", "/oauth/register", "/oauth/revoke", "/.well-known/oauth-authorization-server"] {
        let answer = preflight(&shared().anonymous(), path, PAGE, "POST").await.expect(204);
        let allowed = names(&answer, "access-control-allow-headers");
        for name in ["*", "authorization", "content-type"] {
            assert!(allowed.contains(&name.to_owned()), "{path}: {name}");
        }
        assert!(names(&answer, "access-control-expose-headers").contains(&"retry-after".to_owned()), "{path}");
    }
}

/// `Authorization` must be named: no browser takes `*` for it.
#[tokio::test]
async fn a_page_may_send_every_header_that_the_document_describes() {
    let answer = preflight(&shared().anonymous(), "/api/tags", PAGE, "POST").await.expect(204);
    let allowed = names(&answer, "access-control-allow-headers");
    let mut described: Vec<String> =
        ["authorization", "content-type", "if-none-match", "x-api-version"].map(String::from).into();
    let parameters = DOCUMENT["components"]["parameters"].as_object().unwrap().values();
    let headers = parameters.filter(|parameter| parameter["in"] == "header");
    described.extend(headers.map(|parameter| parameter["name"].as_str().unwrap().to_ascii_lowercase()));
    assert!(described.contains(&"idempotency-key".to_owned()), "{described:?}");
    for name in described {
        assert!(allowed.contains(&name), "{name}");
    }
}

#[tokio::test]
async fn a_preflight_costs_nothing_and_needs_nothing() {
    let app = TestApp::start(|config| {
        config.rate_limit.enabled = true;
        config.rate_limit.burst = 2;
    })
    .await;
    for _ in 0..5 {
        preflight(&app.anonymous(), "/api/properties/x/performance", PAGE, "GET").await.expect(204);
    }
    let headers = [("origin", PAGE), ("access-control-request-method", "GET"), ("x-api-version", "1")];
    app.anonymous().send(Method::OPTIONS, "/api/nowhere", None, &headers).await.expect(204);
    let plain = app.anonymous().send(Method::OPTIONS, "/api/tags", None, &[("origin", PAGE)]).await.expect(204);
    assert_eq!(plain.header("allow"), "GET, HEAD, OPTIONS, POST", "a request of another kind gets its answer");
}

#[tokio::test]
async fn sign_in_and_account_are_closed_to_pages_of_other_origins() {
    for path in ["/auth/login", "/auth/logout", "/account", "/account/delete", "/subscribe", "/", "/docs"] {
        for method in [Method::GET, Method::OPTIONS] {
            let headers = [("origin", PAGE), ("access-control-request-method", "POST")];
            let answer = shared().anonymous().send(method.clone(), path, None, &headers).await;
            assert!(!answer.headers.contains_key("access-control-allow-origin"), "{method} {path}");
        }
    }
}

#[tokio::test]
async fn a_cookie_never_counts_for_a_page_of_another_origin() {
    let app = TestApp::start(|_| {}).await;
    let browser = Browser::signed_in(&app, "owner").await;
    let base = app.service.base_url.clone();
    for (origin, status) in [(PAGE, 401), ("null", 401), (base.as_str(), 200)] {
        let read = browser.send(Method::GET, "/api/tags", &[], &[("origin", origin)]).await;
        assert_eq!(read.status.as_u16(), status, "{origin}");
    }
    assert_eq!(browser.send(Method::GET, "/api/tags", &[], &[]).await.status.as_u16(), 200);
    assert_eq!(browser.post_from(PAGE, "/api/properties/sync", &[]).await.status.as_u16(), 403);
}

/// Another page of the same site, such as one at another port, gets the browser's cookies. It can neither read the answer to a cookie nor
/// find it in the browser's cache.
#[tokio::test]
async fn an_answer_to_a_cookie_has_no_cors_grant_and_is_not_stored() {
    let app = TestApp::start(|_| {}).await;
    let (browser, owner) = (Browser::signed_in(&app, "owner").await, app.actor("owner").await);
    let base = app.service.base_url.clone();
    for path in ["/api/tags", "/api/properties", "/api/privacy/access", "/api"] {
        for headers in [&[][..], &[("origin", base.as_str())], &[("sec-fetch-site", "same-site")]] {
            let opened = browser.send(Method::GET, path, &[], headers).await;
            assert_eq!(
                (opened.status.as_u16(), opened.header("cache-control")),
                (200, "no-store"),
                "{path} {headers:?}"
            );
            assert!(!opened.headers.contains_key("access-control-allow-origin"), "{path} {headers:?}");
            assert!(opened.headers.get_all("vary").iter().any(|vary| vary == "Origin"), "{path} {headers:?}");
        }
    }
    let tag = owner.get("/api/tags").await.expect(200).header("etag").to_owned();
    let unchanged = browser.send(Method::GET, "/api/tags", &[], &[("if-none-match", &tag)]).await;
    assert_eq!((unchanged.status.as_u16(), unchanged.header("cache-control")), (304, "no-store"));

    // A token opens what its own program may keep, but for the export; a page of another origin asks with its own token.
    for (path, kept) in [("/api/tags", "private"), ("/api/privacy/access", "no-store")] {
        let plain = owner.get(path).await.expect(200);
        assert_eq!((plain.header("cache-control"), plain.header("access-control-allow-origin")), (kept, ""), "{path}");
        let asked = owner.send(Method::GET, path, None, &[("origin", PAGE)]).await.expect(200);
        assert_eq!((asked.header("cache-control"), asked.header("access-control-allow-origin")), (kept, "*"), "{path}");
    }
}

#[tokio::test]
async fn listed_origins_only() {
    let app = TestApp::start(|config| {
        config.cors.origins = vec![PAGE.parse().unwrap(), "https://b.example".parse().unwrap()];
    })
    .await;
    let owner = app.actor("owner").await;
    for (origin, granted) in [(PAGE, true), ("https://b.example", true), ("https://c.example", false), ("null", false)]
    {
        let asked = preflight(&app.anonymous(), "/api/tags", origin, "GET").await.expect(204);
        let read = owner.send(Method::GET, "/api/tags", None, &[("origin", origin)]).await.expect(200);
        for answer in [asked, read] {
            assert_eq!(answer.header("access-control-allow-origin"), if granted { origin } else { "" }, "{origin}");
            assert!(answer.headers.get_all("vary").iter().any(|vary| vary == "Origin"), "{origin}");
        }
    }
    let plain = owner.get("/api/tags").await.expect(200);
    assert!(plain.headers.get_all("vary").iter().any(|vary| vary == "Origin"), "caches keep the answers apart");
}

#[tokio::test]
async fn listed_and_loopback_pages_may_call_the_tool_endpoint() {
    let app = TestApp::start(|config| config.cors.origins = vec![PAGE.parse().unwrap()]).await;
    let assistant = Assistant::of(&app, &app.actor("owner").await);
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    for (origin, admitted) in [
        (PAGE, true),
        ("http://localhost:6274", true),
        ("http://127.0.0.1:1", true),
        (app.service.base_url.as_str(), true),
        ("https://c.example", false),
        ("null", false),
    ] {
        let asked = preflight(&app.anonymous(), "/mcp", origin, "POST").await;
        let called = assistant.post(&ping, &[("origin", origin)]).await.expect(if admitted { 200 } else { 403 });
        assert_eq!(asked.status.as_u16(), if admitted { 204 } else { 403 }, "{origin}");
        let granted = if admitted { origin } else { "" };
        assert_eq!(asked.header("access-control-allow-origin"), granted, "{origin}");
        assert_eq!(called.header("access-control-allow-origin"), granted, "{origin}");
    }
}
