//! Tests of the addresses that people open by hand in a browser.

use chrono::TimeDelta;
use poem::http::Method;
use serde_json::json;

use crate::support::{
    app::{TestApp, shared},
    signed_in::{Browser, Page},
};

const HTML: (&str, &str) = ("accept", "text/html,application/xhtml+xml,*/*;q=0.8");

#[tokio::test]
async fn a_browser_gets_a_page_where_a_program_gets_json() {
    let (browser, program) = (Browser::anonymous(shared()), shared().anonymous());
    for (method, path, status, title) in [
        (Method::GET, "/nothing", 404, "Not found"),
        (Method::GET, "/apix", 404, "Not found"),
        (Method::GET, "/auth/nothing", 404, "Not found"),
        (Method::DELETE, "/docs", 405, "This address is not a page"),
        (Method::GET, "/account/sign-out", 405, "This address is not a page"),
        (Method::POST, "/share/x", 405, "This address is not a page"),
    ] {
        let page = browser.send(method.clone(), path, &[], &[HTML]).await.expect(status);
        assert!(page.body.contains(&format!("<h1>{title}</h1>")), "{path}: {}", page.body);
        assert!(page.header("content-security-policy").starts_with("default-src 'none'"), "{path}");
        assert_eq!(page.header("cache-control"), "no-store", "{path}");
        let answer = program.send(method, path, None, &[("accept", "application/json")]).await.expect(status);
        assert_eq!(answer.header("content-type"), "application/json; charset=utf-8", "{path}");
        assert_eq!(answer.header("allow"), page.header("allow"), "{path}");
        assert_eq!(answer.header("allow").is_empty(), status != 405, "{path}");
        for vary in [answer.header("vary"), page.header("vary")] {
            assert!(vary.split(", ").any(|name| name == "Accept"), "{path}: {vary}");
        }
    }
}

#[tokio::test]
async fn the_api_and_the_tool_endpoint_answer_json_to_browsers_too() {
    for (method, path, status) in [
        ("GET", "/api/nothing", 401),
        ("GET", "/api/health?probes=x", 400),
        ("GET", "/api/tags", 401),
        ("GET", "/mcp/x", 404),
    ] {
        let answer = shared().anonymous().send(method.parse().unwrap(), path, None, &[HTML]).await;
        assert_eq!(answer.header("content-type"), "application/json; charset=utf-8", "{path}");
        assert_eq!(answer.status.as_u16(), status, "{path}");
    }
}

#[tokio::test]
async fn a_page_never_repeats_markup_of_its_address() {
    let browser = Browser::anonymous(shared());
    for path in ["/<script>x</script>", "/%3Cscript%3Ex", "/share/x?%3Cscript%3E=1", "/share/x?<script>=1"] {
        let page = browser.get(path).await;
        assert!(page.status.is_client_error() && !page.body.contains("<script"), "{path}: {}", page.body);
    }
}

#[tokio::test]
async fn a_limit_says_on_a_page_when_it_ends() {
    let app = TestApp::start(|config| config.rate_limit.enabled = true).await;
    let browser = Browser::anonymous(&app);
    for _ in 0..600 {
        browser.get("/auth/login").await.expect(303);
    }
    let page = browser.get("/auth/login").await.expect(429);
    assert_eq!(page.header("retry-after"), "1");
    assert!(page.body.contains("Try again in a second."), "{}", page.body);
    assert_eq!(page.header("x-ratelimit-remaining"), "0");
    let answer = app.anonymous().get("/auth/login").await.expect(429);
    assert_eq!((answer.code(), answer.header("retry-after")), ("rate_limited", "1"));
    app.hand.advance(TimeDelta::seconds(1));
    browser.get("/auth/login").await.expect(303);
}

#[tokio::test]
async fn what_browsers_and_crawlers_ask_for_by_themselves_is_there() {
    let anonymous = shared().anonymous();
    let icon = anonymous.get("/favicon.ico").await.expect(200);
    assert_eq!(icon.header("content-type"), "image/x-icon");
    assert_eq!(icon.bytes[..4], [0, 0, 1, 0]);
    let robots = anonymous.get("/robots.txt").await.expect(200);
    let robots = String::from_utf8(robots.bytes).unwrap();
    for path in ["/account", "/api", "/auth/", "/mcp", "/oauth/"] {
        assert!(robots.contains(&format!("Disallow: {path}\n")), "{path}");
    }
    // A crawler that may not open the page does not learn that it must not be listed.
    assert!(robots.starts_with("User-agent: *\n") && !robots.contains("/share"));
}

#[tokio::test]
async fn a_slash_at_the_end_leads_to_the_page() {
    let browser = Browser::anonymous(shared());
    for (path, to) in [
        ("/docs/", "/docs"),
        ("/docs/guide/", "/docs/guide"),
        ("/changelog/", "/changelog"),
        ("/account/", "/account"),
        ("/share/some-token/?a=%2F%2Fevil.example", "/share/some-token?a=%2F%2Fevil.example"),
    ] {
        let page = browser.get(path).await;
        assert_eq!((page.status.as_u16(), page.header("location")), (308, to), "{path}");
        assert_eq!(page.header("cache-control"), "no-store");
    }
    for path in [
        "/nothing/",
        "/docs//",
        "//docs/",
        "//evil.example/",
        "//",
        "/%5Cevil.example/",
        "/api/tags/",
        "/api/",
        "/oauth/authorize/",
        "/.well-known/openid-configuration/",
    ] {
        let page = browser.get(path).await;
        assert!(page.status.is_client_error() && page.header("location").is_empty(), "{path}: {}", page.status);
    }
    let sent = browser.post("/docs/", &[]).await;
    assert_eq!((sent.status.as_u16(), sent.header("location")), (404, ""));
}

#[tokio::test]
async fn the_tool_endpoint_tells_a_browser_what_to_do_with_its_address() {
    let browser = Browser::anonymous(shared());
    let page = browser.get("/mcp").await.expect(405);
    assert!(page.body.contains(&format!("<code>{}/mcp</code>", shared().service.base_url)), "{}", page.body);
    assert_eq!((page.header("allow"), page.header("cache-control")), ("POST", "no-store"));
    assert!(page.header("www-authenticate").is_empty());
    for accept in ["*/*", "text/event-stream", "application/json, text/event-stream"] {
        let answer = shared().anonymous().send(Method::GET, "/mcp", None, &[("accept", accept)]).await.expect(401);
        assert!(answer.header("www-authenticate").starts_with("Bearer"), "{accept}");
    }
}

/// The pages of a person are stored in no cache, and no other site can frame them.
#[tokio::test]
async fn no_page_of_a_person_is_in_a_cache_or_in_a_frame() {
    let app = TestApp::start(|_| {}).await;
    let (owner, browser) = (app.actor("owner").await, Browser::signed_in(&app, "owner").await);
    let property = owner.property("northmoor").await;
    let link = owner.post(&format!("/api/properties/{property}/share-links"), &json!({})).await.expect(201).json;
    let link = link["data"]["token"].as_str().unwrap();
    let account = owner.listed("/api/accounts/health").await[0]["id"].as_str().unwrap().to_owned();
    let (at, search) = (format!("/p/{property}"), format!("/account/search/{account}"));
    let parts = ["/queries", "/pages", "/countries", "/growth", "/cannibalization", "/insights", "/notes", "/settings"];
    let private =
        ["/", &at, "/account", "/account/activity", "/account/delete", "/subscribe", "/device", "/auth/login"]
            .map(str::to_owned)
            .into_iter()
            .chain(parts.map(|part| format!("{at}{part}")))
            .chain(["?scope=x", "/where/query.contains=a/queries", "/nothing"].map(|part| format!("{at}{part}")))
            .chain([
                search.clone(),
                format!("{search}/disconnect"),
                "/account/search/callback?code=x&state=y".to_owned(),
            ])
            .chain(["/account/nothing", "/auth/callback?code=x&state=y"].map(str::to_owned))
            .chain(["/account/password/forgotten", "/account/password/set?token=x"].map(str::to_owned))
            .chain(["/oauth/authorize", "/oauth/authorize?client_id=sightline-docs"].map(str::to_owned))
            .chain(["", "?tab=pages", "/queries.csv", "/pages.csv", "/x"].map(|part| format!("/share/{link}{part}")));
    for path in private {
        for visitor in [&browser, &browser.signed_out()] {
            let answer = visitor.get(&path).await;
            assert!(answer.status.as_u16() < 500, "{path}: {} {}", answer.status, answer.body);
            assert_eq!(answer.header("cache-control"), "no-store", "{path}: {}", answer.status);
            assert_is_in_no_frame(&answer, &path);
        }
        let refused = browser.post_from("https://evil.example", &path, &[]).await;
        assert!(refused.status.is_client_error(), "{path}: {}", refused.status);
        assert_eq!(refused.header("cache-control"), "no-store", "{path}: {}", refused.status);
        assert_is_in_no_frame(&refused, &path);
    }
    // Public documents cannot be framed either.
    for path in ["/docs", "/docs/guide", "/docs/errors", "/docs/oauth2-redirect.html", "/changelog", "/nothing"] {
        assert_is_in_no_frame(&browser.get(path).await, path);
    }
}

/// Fails if a page of another site may show this one.
#[track_caller]
fn assert_is_in_no_frame(page: &Page, path: &str) {
    if page.header("content-type").starts_with("text/html") {
        let policy = page.header("content-security-policy");
        assert!(policy.contains("frame-ancestors 'none'"), "{path}: {policy}");
    }
}
