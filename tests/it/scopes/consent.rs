//! Tests of consent: how much a person allows an application, and what a later question changes.

use serde_json::{Value, json};

use crate::support::{app::TestApp, application::Application, assistant::Assistant, browser::Browser};

#[tokio::test]
async fn the_answer_says_what_was_granted_and_the_token_what_was_asked() {
    let app = TestApp::start(|_| {}).await;
    let base = &app.service.base_url;
    for (asked, allowance, granted) in [
        ("openid offline_access", "everything", "openid offline_access search:read records:write account"),
        ("openid email offline_access", "read", "openid email offline_access search:read"),
        ("openid offline_access search:read records:write", "read", "openid offline_access search:read"),
        ("openid offline_access records:write account", "records", "openid offline_access records:write"),
    ] {
        let (application, browser) = (Application::register(base).await, Browser::new(base));
        let tokens = application.allowed(&browser, "owner", asked, None, Some(allowance)).await;
        assert_eq!(tokens["scope"], granted, "{asked}");
        assert_eq!(claims(&tokens)["scope"], asked);
    }
    let (application, browser) = (Application::register(base).await, Browser::new(base));
    let (_, page) = application.ask(&browser, "owner", "openid search:everything", None).await;
    assert!(page.status == 303 && page.location.contains("error=invalid_scope"), "{page:?}");
}

/// A misspelt scope of the API is refused: left out, it would mean every right.
#[tokio::test]
async fn words_that_clients_add_to_the_scope_are_left_out() {
    let app = TestApp::start(|_| {}).await;
    let base = &app.service.base_url;
    let everything = "search:read records:write account";
    for (asked, granted) in [
        ("claudeai", format!("openid profile email offline_access {everything}")),
        ("openid email address phone", format!("openid email offline_access {everything}")),
        ("mcp:tools search:read https://api.example/.default", "offline_access search:read".to_owned()),
    ] {
        let (application, browser) = (Application::register(base).await, Browser::new(base));
        let tokens = application.allowed(&browser, "owner", asked, None, Some("everything")).await;
        assert_eq!(tokens["scope"], granted, "{asked}");
    }
    for asked in ["search:raed", "openid Records:write", "account:admin"] {
        let (application, browser) = (Application::register(base).await, Browser::new(base));
        let (_, page) = application.ask(&browser, "owner", asked, None).await;
        assert!(page.status == 303 && page.location.contains("error=invalid_scope"), "{asked}: {page:?}");
    }
}

fn claims(tokens: &Value) -> Value {
    use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
    let body = tokens["access_token"].as_str().unwrap().split('.').nth(1).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(body).unwrap()).unwrap()
}

#[tokio::test]
async fn a_refresh_never_widens_what_was_granted() {
    let app = TestApp::start(|_| {}).await;
    let base = &app.service.base_url;
    let (application, browser) = (Application::register(base).await, Browser::new(base));
    let mut tokens = application.allowed(&browser, "owner", "openid offline_access search:read", None, None).await;
    for (asked, granted) in [
        ("", Some("openid offline_access search:read")),
        ("openid", Some("openid search:read")),
        ("openid search:read", Some("openid search:read")),
        ("openid records:write", None),
        ("search:read records:write account", None),
    ] {
        let refresh = tokens["refresh_token"].as_str().unwrap().to_owned();
        let form = [("grant_type", "refresh_token"), ("refresh_token", &refresh), ("scope", asked)];
        let answer = application.tokens(&form.map(|(name, value)| (name, value as &str))).await;
        let Some(granted) = granted else {
            assert_eq!(answer["error"], "invalid_scope", "{asked}");
            continue;
        };
        assert_eq!((&answer["scope"], &claims(&answer)["scope"]), (&json!(granted), &json!(granted)), "{asked}");
        let actor = application.acting(&answer);
        actor.get("/api/tags").await.expect(200);
        assert_eq!(actor.post("/api/tags", &json!({ "name": "x" })).await.expect(403).code(), "insufficient_scope");
        tokens = answer;
    }
}

#[tokio::test]
async fn a_consent_to_less_does_not_cover_everything() {
    let app = TestApp::start(|_| {}).await;
    let base = &app.service.base_url;
    let (application, browser) = (Application::register(base).await, Browser::new(base));
    application.allowed(&browser, "owner", "openid search:read", None, None).await;
    for scope in ["openid", "openid search:read records:write", "openid account"] {
        let (_, page) = application.ask(&browser, "owner", scope, None).await;
        page.expect(200, &["Now it asks for more"]);
    }
    let (_, page) = application.ask(&browser, "owner", "openid search:read", None).await;
    assert_eq!(page.status, 303, "{page:?}");
    application.allowed(&browser, "owner", "openid", None, Some("read")).await;
    let (_, page) = application.ask(&browser, "owner", "openid account", None).await;
    assert_eq!(page.status, 303, "the person has answered for everything: {page:?}");
}

#[tokio::test]
async fn a_page_that_asks_for_less_never_widens_an_earlier_choice() {
    let app = TestApp::start(|_| {}).await;
    let base = &app.service.base_url;
    let everything = "openid search:read records:write account";
    for (choice, asked, shown) in [
        ("read", "openid search:read", "Create, change and delete records"),
        ("records", "openid search:read records:write", "delete it for ever"),
        ("read", "openid records:write account", "Only read"),
    ] {
        let (mut application, browser) = (Application::register(base).await, Browser::new(base));
        let tokens = application.allowed(&browser, "owner", everything, None, Some(choice)).await;
        let (actor, granted) = (application.acting(&tokens), tokens["scope"].clone());
        application.asks_again = true;
        let (_, page) = application.ask(&browser, "owner", asked, None).await;
        // The page shows everything that the answer counts for, and the choice that counts now.
        let page = page.expect(200, &[shown, "delete it for ever"]);
        assert!(page.html.contains(&format!("value=\"{choice}\" required checked")), "{}", page.html);
        application.allowed(&browser, "owner", asked, None, None).await;
        assert_eq!(
            actor.get("/api/billing/summary").await.expect(403).code(),
            "insufficient_scope",
            "{choice}: {asked}"
        );
        application.asks_again = false;
        let again = application.allowed(&browser, "owner", everything, None, None).await;
        assert_eq!(again["scope"], granted, "{choice}: {asked}");
    }
}

#[tokio::test]
async fn a_consent_for_the_tools_is_none_for_the_api() {
    let app = TestApp::start(|_| {}).await;
    let base = &app.service.base_url;
    let tools = format!("{base}/mcp");
    let (application, browser) = (Application::register(base).await, Browser::new(base));
    application.allowed(&browser, "owner", "openid", Some(&tools), None).await;
    let person = Browser::signed_in(base, "owner").await;
    let card = person.get("/account").await.expect(200, &["Add annotations there"]);
    assert!(!card.html.contains("delete it for ever"), "{}", card.html);
    for resource in [None, Some(base.as_str())] {
        let (_, page) = application.ask(&browser, "owner", "openid", resource).await;
        page.expect(200, &["delete it for ever"]);
    }
    application.allowed(&browser, "owner", "openid", Some(base), None).await;
    person.get("/account").await.expect(200, &["delete it for ever"]);
    let (_, page) = application.ask(&browser, "owner", "openid", Some(&tools)).await;
    assert_eq!(page.status, 303, "the API is more than the tools: {page:?}");
}

#[tokio::test]
async fn the_consent_page_says_what_a_token_can_do() {
    let app = TestApp::start(|_| {}).await;
    let base = &app.service.base_url;
    let tools = format!("{base}/mcp");
    for (scope, resource, said, not_said) in [
        (
            "openid",
            None,
            &["delete it for ever", "Only read", "Read and write records", "Everything it asks for"][..],
            &[][..],
        ),
        ("openid", Some(tools.as_str()), &["Add annotations", "they charge you"], &["delete", "Download"]),
        ("openid search:read", None, &["Read the search data"], &["delete", "Create", "How much do you allow?"]),
        (
            "openid search:read records:write",
            None,
            &["Create, change", "Only read"],
            &["for ever", "Read and write records"],
        ),
    ] {
        let (application, browser) = (Application::register(base).await, Browser::new(base));
        let (_, page) = application.ask(&browser, "owner", scope, resource).await;
        let page = page.expect(200, said);
        for text in not_said {
            assert!(!page.html.contains(text), "{scope} {resource:?} says {text}: {}", page.html);
        }
    }
}

#[tokio::test]
async fn a_choice_on_the_account_page_counts_for_every_token_at_once() {
    let app = TestApp::start(|_| {}).await;
    let base = &app.service.base_url;
    let application = Application::register(base).await;
    let tokens = application.allowed(&Browser::new(base), "owner", "openid", None, Some("read")).await;
    let (actor, person) = (application.acting(&tokens), Browser::signed_in(base, "owner").await);
    let assistant = Assistant::of(&app, &actor);
    let create = async |name: &str| actor.post("/api/tags", &json!({ "name": name })).await;
    let refused = create("first").await.expect(403);
    assert!(refused.hint().contains("account page"), "{}", refused.hint());
    assert_eq!(assistant.ask("tools/call", json!({ "name": "add_annotation", "arguments": {} })).await.status, 403);

    let page = person.get("/account").await.expect(200, &["Only read", "Everything it asks for"]);
    let card = page.html.split("<h3").find(|card| card.contains("Probe")).unwrap();
    assert!(card.contains("value=\"read\" required checked") && !card.contains("delete it for ever"), "{card}");
    let limit = async |allowance: &str| {
        let form = [("client_id", application.id.as_str()), ("allowance", allowance)];
        person.post("/account/applications/limit", &form).await
    };
    assert_eq!(limit("everything").await.location, "/account?done=application-limited");
    create("second").await.expect(201);
    assert_eq!(assistant.ask("tools/call", json!({ "name": "add_annotation", "arguments": {} })).await.status, 200);
    limit("read").await;
    create("third").await.expect(403);
    actor.get("/api/tags").await.expect(200);

    let activity = person.get("/account/activity").await.expect(200, &["Application allowed more or less"]);
    assert_eq!(activity.html.matches("Application allowed more or less").count(), 2, "{}", activity.html);
    for (client, allowance) in [(application.id.as_str(), "all"), ("nobody", "read"), ("sightline-web", "read")] {
        let form = [("client_id", client), ("allowance", allowance)];
        person.post("/account/applications/limit", &form).await.expect(404, &[]);
    }
    let form = [("client_id", application.id.as_str()), ("allowance", "everything")];
    person.post_from("https://evil.example", "/account/applications/limit", &form).await.expect(403, &[]);
    create("fourth").await.expect(403);
    let other = Browser::signed_in(base, "stranger").await;
    other.post("/account/applications/limit", &form).await.expect(404, &[]);
    create("fifth").await.expect(403);
}
