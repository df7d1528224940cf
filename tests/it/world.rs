//! Tests of what people reported about services of this kind. docs/WORLD.md lists the reports, and where each is held.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::json;
use sightline::app::http_client;

use crate::support::{
    actor::{Actor, Answer},
    app::{TestApp, shared},
    browser::Browser,
    cookies::session_cookie,
    whole::Whole as _,
};

/// The request that opens a session at the tool endpoint.
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

async fn ask_tools(caller: &Actor, headers: &[(&str, &str)]) -> Answer {
    let always = [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
    let headers: Vec<_> = always.into_iter().chain(headers.iter().copied()).collect();
    caller.send(Method::POST, "/mcp", Some(INITIALIZE.to_owned()), &headers).await
}

#[tokio::test]
async fn assistants_that_run_in_a_browser_reach_the_tool_endpoint_and_other_pages_do_not() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    for origin in [
        "https://claude.ai",
        "https://chatgpt.com",
        "https://vscode.dev",
        "http://localhost:6274",
        "https://tauri.localhost",
        "tauri://localhost",
        "chrome-extension://abcdefghijklmnop",
        "vscode-file://vscode-app",
    ] {
        let answer = ask_tools(&owner, &[("origin", origin)]).await.expect(200);
        assert_eq!(answer.header("access-control-allow-origin"), origin);
        assert_eq!(answer.header("access-control-allow-credentials"), "");
        let preflight = [("origin", origin), ("access-control-request-method", "POST")];
        let answer = owner.send(Method::OPTIONS, "/mcp", None, &preflight).await.expect(204);
        assert_eq!(answer.header("access-control-allow-origin"), origin);
    }
    for origin in
        ["null", "https://evil.example", "https://claude.ai.evil.example", "http://claude.ai", "https://app.claude.ai"]
    {
        let refused = ask_tools(&owner, &[("origin", origin)]).await.expect(403);
        assert!(refused.hint().contains(" or one of the setting mcp.origins."), "{}", refused.hint());
        assert_eq!(refused.header("access-control-allow-origin"), "", "{origin}");
    }
    let session = Browser::signed_in(&app.service.base_url, "owner").await.cookie("sightline_session").unwrap();
    let cookie = session_cookie(&app.service.base_url, &session);
    let nobody = app.anonymous();
    for origin in ["https://claude.ai", app.service.base_url.as_str()] {
        ask_tools(&nobody, &[("origin", origin), ("cookie", &cookie)]).await.expect(401);
    }
}

#[tokio::test]
async fn a_session_that_was_begun_before_a_restart_ends_no_conversation() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    for session in [&[("mcp-session-id", "of-before")][..], &[("mcp-session-id", "of-before"), ("last-event-id", "7")]]
    {
        let answer = ask_tools(&owner, session).await.expect(200);
        assert!(answer.json["result"]["tools"].is_array() && answer.header("mcp-session-id").is_empty());
        let ended = owner.send(Method::DELETE, "/mcp", None, session).await.expect(405);
        assert_eq!(ended.header("allow"), "POST", "clients take it for an endpoint that ends sessions itself");
    }
}

#[tokio::test]
async fn operators_choose_the_pages_that_reach_the_tool_endpoint() {
    let listed = ["https://own.example", "app://obsidian.md"].map(|origin| origin.parse().unwrap());
    let app = TestApp::start(|config| config.mcp.origins = Some(listed.to_vec())).await;
    let owner = app.actor("owner").await;
    for (origin, status) in [
        ("https://own.example", 200),
        ("app://obsidian.md", 200),
        ("https://claude.ai", 403),
        ("http://127.0.0.1:6274", 200),
    ] {
        ask_tools(&owner, &[("origin", origin)]).await.expect(status);
    }
    let read = owner.send(Method::GET, "/api/properties", None, &[("origin", "https://any.example")]).await;
    assert_eq!(read.expect(200).header("access-control-allow-origin"), "*", "the API is as open as before");
}

#[tokio::test]
async fn addresses_with_a_slash_at_the_end_lead_to_the_right_ones() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let answer = owner.send(Method::POST, "/mcp/", Some(INITIALIZE.to_owned()), &[]).await.expect(308);
    assert_eq!(answer.header("location"), "/mcp");
    for path in ["/api/properties", "/api/accounts/health", "/oauth/token"] {
        let answer = owner.send(Method::GET, &format!("{path}/"), None, &[]).await.expect(404);
        assert_eq!(answer.hint(), format!("The address has no slash at its end: {path}"));
    }
    assert_eq!(owner.get("/oauth/nothing/").await.expect(404).json.get("hint"), None);
}

#[tokio::test]
async fn addresses_with_slashes_in_a_row_name_the_right_ones() {
    let app = shared();
    let owner = app.actor("owner").await;
    for (path, right) in [
        ("//api/tags", "/api/tags"),
        ("/api//tags", "/api/tags"),
        ("/api//", "/api"),
        ("//api//properties//", "/api/properties"),
        ("//oauth/token", "/oauth/token"),
        ("//mcp", "/mcp"),
    ] {
        let answer = owner.send(Method::GET, path, None, &[]).await.expect(404);
        let said =
            format!("The address has two slashes in a row: it is {right}. A base address has no slash at its end.");
        assert_eq!(answer.hint(), said, "{path}");
    }
    assert_eq!(owner.get("//oauth//nothing").await.expect(404).json.get("hint"), None);
}

#[tokio::test]
async fn an_address_of_no_operation_leads_to_the_list_of_operations() {
    let app = shared();
    let owner = app.actor("owner").await;
    for path in ["/api/nothing", "/api/nothing/", "/api/properties/x/nothing"] {
        let refused = owner.get(path).await.expect(404);
        assert!(refused.hint().contains("GET /api lists all of them"), "{path}: {}", refused.hint());
    }
    let record = format!("/api/tags/{}", uuid::Uuid::nil());
    assert_eq!(owner.send(Method::DELETE, &record, None, &[]).await.expect(404).json.get("hint"), None);
    assert_eq!(owner.get("/api").await.expect(200).json["data"]["operations"][0]["method"], "GET");
}

#[tokio::test]
async fn booleans_are_read_as_every_language_writes_them() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    for (written, meant) in [("1", "true"), ("0", "false"), ("True", "true"), ("FALSE", "false")] {
        let [one, other] = [
            owner.get(&format!("/api/properties?series={written}")).await,
            owner.get(&format!("/api/properties?series={meant}")).await,
        ];
        assert_eq!(one.expect(200).json, other.expect(200).json, "{written}");
    }
    for written in ["2", "yes", "tru", "%20", "01"] {
        let refused = owner.get(&format!("/api/properties?series={written}")).await.expect(400);
        assert!(refused.hint().starts_with("series:"), "{}", refused.hint());
    }
}

#[tokio::test]
async fn a_sign_in_that_begins_at_another_name_of_this_machine_goes_on_at_the_services_own() {
    let app = TestApp::start(|_| {}).await;
    let base = &app.service.base_url;
    let port = base.rsplit(':').next().unwrap();
    for (host, leads_to_base) in [("localhost", true), ("[::1]", true), ("127.0.0.1", false)] {
        let host = format!("{host}:{port}");
        let path = "/auth/login?return_to=/account&login_hint=owner";
        let answer = app.anonymous().send(Method::GET, path, None, &[("host", &host)]).await.expect(303);
        assert_eq!(answer.header("location") == format!("{base}{path}"), leads_to_base, "{host}");
        assert_eq!(
            answer.header("set-cookie").is_empty(),
            leads_to_base,
            "{host}: a cookie of another name never comes back"
        );
    }
}

#[tokio::test]
async fn one_browser_is_signed_in_to_two_services_of_one_host() {
    let (here, there) = (TestApp::start(|_| {}).await, TestApp::start(|_| {}).await);
    let (here, there) = (&here.service.base_url, &there.service.base_url);
    let browser = Browser::signed_in(here, "owner").await.at(there);
    browser.sign_in("editor").await;
    browser.get("/account").await.expect(200, &["editor@demo.test"]);
    let browser = browser.at(here);
    browser.get("/account").await.expect(200, &["owner@demo.test"]);
    browser.post("/account/sign-out", &[]).await;
    assert_eq!(browser.get("/account").await.status, 303);
    browser.at(there).get("/account").await.expect(200, &["editor@demo.test"]);
}

#[tokio::test]
async fn what_others_send_with_a_browser_changes_no_page() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let browser = Browser::signed_in(&app.service.base_url, "owner").await;
    let cookie = session_cookie(&app.service.base_url, &browser.cookie("sightline_session").unwrap());
    let (nobody, property) = (app.anonymous(), owner.property("northmoor").await);
    let get = async |path: &str, headers: &[(&str, &str)]| {
        let headers: Vec<_> = headers.iter().copied().chain([("accept", "text/html")]).collect();
        nobody.send(Method::GET, path, None, &headers).await
    };
    // A proxy that asks for a password of its own, and a cookie of a neighbour at another port of the host.
    let neighbours = format!("name=M\u{fc}ller; {cookie}; theme=");
    for headers in [
        [("cookie", cookie.as_str()), ("authorization", "Basic YTpi")],
        [("cookie", cookie.as_str()), ("authorization", "Bearer of-a-proxy")],
        [("cookie", neighbours.as_str()), ("x-forwarded-user", "ann")],
    ] {
        for path in ["/", "/account", "/subscribe", &format!("/p/{property}")] {
            get(path, &headers).await.expect(200);
        }
    }
    assert_eq!(get("/api/properties", &[("cookie", &neighbours)]).await.status, 200);
    get("/api/properties", &[("cookie", &cookie), ("authorization", "Basic YTpi")]).await.expect(401);

    let link = owner.post(&format!("/api/properties/{property}/share-links"), &json!({})).await.expect(201);
    let shared = format!("/share/{}", link.json["data"]["token"].as_str().unwrap());
    let session = [("cookie", cookie.as_str())];
    for appended in ["fbclid=x", "utm_source=n&utm_medium=mail&compare=none", "gclid=1&_gl=2", "mc_eid=7"] {
        for path in ["/", &format!("/p/{property}"), &format!("/p/{property}/queries"), &shared] {
            get(&format!("{path}?{appended}"), &session).await.expect(200);
        }
    }
    get(&format!("{shared}?metrik=ctr"), &[]).await.expect(400);
}

#[tokio::test]
async fn the_tag_of_the_health_of_accounts_changes_with_their_state_alone() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let first = owner.get("/api/accounts/health").await.expect(200);
    let again = owner.get("/api/accounts/health").await.expect(200);
    assert_eq!(first.header("etag"), again.header("etag"));
    let known = [("if-none-match", first.header("etag"))];
    owner.send(Method::GET, "/api/accounts/health", None, &known).await.expect(304);
}

#[tokio::test]
async fn password_managers_find_the_page_that_changes_a_password() {
    let app = TestApp::start(|_| {}).await;
    let answer = app.anonymous().get("/.well-known/change-password").await.expect(303);
    assert_eq!(answer.header("location"), "/account/password");
}

#[tokio::test]
async fn a_caller_with_too_many_requests_reads_the_limit_and_when_to_come_again() {
    let app = TestApp::start(|config| (config.rate_limit.enabled, config.rate_limit.burst) = (true, 5)).await;
    let owner = app.actor("owner").await;
    let answers = join_all((0..40).map(|_| owner.get("/api/tags"))).await;
    let refused: Vec<_> = answers.iter().filter(|answer| answer.status == 429).collect();
    let waits: BTreeSet<u64> = refused.iter().map(|answer| answer.header("retry-after").parse().unwrap()).collect();
    assert!(waits.len() > 1, "the callers are spread: {waits:?}");
    assert!(refused[0].hint().contains("5 requests at once"), "{}", refused[0].hint());
}

#[tokio::test]
async fn answers_in_json_name_their_encoding_and_letters_come_back_as_they_were_sent() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let key = [("content-type", "application/json; charset=utf-8"), ("idempotency-key", "a")];
    let tag = json!({ "name": "Café Ærø 測試" }).to_string();
    let made = owner.send(Method::POST, "/api/tags", Some(tag.clone()), &key).await.expect(201);
    let answers = [
        ("made", made),
        ("replayed", owner.send(Method::POST, "/api/tags", Some(tag), &key).await.expect(201)),
        ("listed", owner.get("/api/tags").await.expect(200)),
        ("analysed", owner.get(&format!("/api/properties/{}/performance", owner.property("northmoor").await)).await),
        ("exported", owner.get("/api/privacy/access").await.expect(200)),
        ("anonymous", app.anonymous().get("/api/health").await.expect(200)),
        ("refused", owner.get("/api/tags?naam=é").await.expect(400)),
        ("not found", owner.get("/api/nothing").await.expect(404)),
        ("no credentials", app.anonymous().get("/api/tags").await.expect(401)),
    ];
    for (name, answer) in &answers {
        assert_eq!(answer.header("content-type"), "application/json; charset=utf-8", "{name}");
    }
    let listed = answers[2].1.json["data"].as_array().unwrap();
    assert!(listed.iter().any(|tag| tag["name"] == "Café Ærø 測試"), "{listed:?}");
    // A body in Latin-1, as Windows PowerShell sends it without the name of an encoding.
    let latin = b"{\"name\":\"Caf\xe9\"}".to_vec();
    let sent = http_client().unwrap().post(format!("{}/api/tags", app.service.base_url)).bearer_auth(owner.token());
    let refused = sent.header("content-type", "application/json").body(latin).send().await.unwrap();
    assert_eq!(refused.status(), 400);
    assert!(refused.whole_text().await.unwrap().contains("is not JSON in UTF-8"));
}

#[tokio::test]
async fn a_proxy_that_hides_mail_addresses_is_told_to_leave_them_on_pages() {
    let app = TestApp::start(|_| {}).await;
    let owner = Browser::signed_in(&app.service.base_url, "owner").await;
    let nobody = Browser::new(&app.service.base_url);
    let forgotten = nobody.get("/account/password/forgotten").await;
    let pages = [owner.get("/account").await, nobody.get("/changelog").await, forgotten];
    for page in &pages {
        let marked = page.html.split_once("<!--email_off-->").and_then(|(before, rest)| {
            let (within, after) = rest.split_once("<!--/email_off-->")?;
            Some((before, within, after))
        });
        let (before, _, after) = marked.unwrap_or_else(|| panic!("{page:?}"));
        assert!(before.ends_with('>') && before.contains("<body"), "{before}");
        assert_eq!(after, "</body></html>");
    }
    assert!(pages[0].html.contains("owner@demo.test"), "{:?}", pages[0]);
}
