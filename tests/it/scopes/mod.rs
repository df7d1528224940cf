//! Tests of scopes: what a token may do, by what it asked for and by what its person allows.

mod consent;
mod widening;

use std::collections::BTreeSet;

use api::scope::{Scope, Scopes};
use poem::http::Method;
use serde_json::json;

use crate::{
    coverage::{Documented, NOBODYS, documented},
    rights::tools::USES,
    support::{
        actor::Actor,
        app::{TestApp, shared, start_of_test},
        application::Application,
        assistant::Assistant,
        browser::Browser,
        contract::DOCUMENT,
        issuer::OtherIssuer,
    },
};

/// The scope that the document demands of tokens for an operation.
fn needed(operation: &Documented) -> Option<Scope> {
    let oauth = operation.says["security"].as_array().unwrap().iter().find_map(|scheme| scheme["oauth2"].as_array())?;
    let named: Vec<&str> = oauth.iter().map(|scope| scope.as_str().unwrap()).collect();
    Scope::ALL.into_iter().find(|scope| named == [scope.as_str()])
}

/// A token, with what it may do.
struct Holder {
    name: String,
    actor: Actor,
    rights: Scopes,
}

/// Tokens for no scope of the API, for each, for each pair, and for all under narrower consents.
async fn holders(app: &TestApp) -> Vec<Holder> {
    let base = &app.service.base_url;
    let mut found = Vec::new();
    for asked in [
        "openid",
        "search:read",
        "records:write",
        "account",
        "search:read records:write",
        "openid search:read account",
        "records:write account",
    ] {
        let actor = Actor::with_scope(base, "owner", asked).await;
        found.push(Holder { name: asked.to_owned(), actor, rights: Scopes::asked(asked.split(' ')) });
    }
    let all = "openid search:read records:write account";
    for (asked, allowance, rights) in [
        (all, "read", "search:read"),
        (all, "records", "search:read records:write"),
        ("openid", "records", "search:read records:write"),
        ("openid records:write account", "records", "records:write"),
        (all, "everything", "search:read records:write account"),
    ] {
        let (application, browser) = (Application::register(base).await, Browser::new(base));
        let tokens = application.allowed(&browser, "owner", asked, None, Some(allowance)).await;
        let name = format!("{asked}, of which {allowance} is allowed");
        found.push(Holder { name, actor: application.acting(&tokens), rights: Scopes::named(rights.split(' ')) });
    }
    found
}

/// The scopes that a refusal names.
fn named(challenge: &str) -> Scopes {
    assert!(challenge.starts_with("Bearer error=\"insufficient_scope\", scope=\""), "{challenge}");
    assert!(challenge.contains("resource_metadata=\"http"), "{challenge}");
    Scopes::named(challenge.split('"').nth(3).unwrap().split(' '))
}

#[tokio::test]
async fn every_operation_takes_the_tokens_with_its_scope_and_no_other() {
    let app = TestApp::start(|_| {}).await;
    let (holders, operations) = (holders(&app).await, documented());
    let property = holders[0].actor.property("northmoor").await;
    let mut refused = BTreeSet::new();
    for operation in operations.iter().filter(|operation| operation.is_protected()) {
        let needed = needed(operation);
        // A parameter that no operation knows keeps the allowed ones from doing anything.
        let path = format!("{}?nothing=1", operation.at(&property));
        for Holder { name, actor, rights } in &holders {
            let answer = actor.send(operation.method.clone(), &path, None, &[]).await;
            let is_lacking = needed.filter(|needed| !rights.contains(*needed));
            let place = format!("{} with {name}: {} {}", operation.id(), answer.status, answer.hint());
            assert_eq!(answer.code() == "insufficient_scope", is_lacking.is_some(), "{place}");
            if let Some(lacking) = is_lacking {
                assert_eq!(answer.status, 403, "{place}");
                assert!(named(answer.header("www-authenticate")).contains(lacking), "{place}");
                assert!(answer.hint().contains(lacking.as_str()), "{place}");
                refused.insert(operation.id().to_owned());
            } else {
                assert!(answer.status.is_success() || answer.status.is_client_error(), "{place}");
            }
        }
    }
    let needing: BTreeSet<String> =
        operations.iter().filter(|one| needed(one).is_some()).map(|one| one.id().to_owned()).collect();
    assert_eq!(refused, needing);
    assert!(needing.len() > 60, "{}", needing.len());
}

#[tokio::test]
async fn a_missing_scope_is_told_before_anything_about_the_property() {
    let app = shared();
    let base = &app.service.base_url;
    let reader = Actor::with_scope(base, "owner", "openid search:read").await;
    let (own, foreign) =
        (reader.property("northmoor").await, app.actor("stranger").await.property("quietmeadow").await);
    let note = json!({ "date": "2026-11-16", "text": "Launch" });
    let mut seen = Vec::new();
    for property in [own.as_str(), &foreign, NOBODYS, "no-id"] {
        let answer = reader.post(&format!("/api/properties/{property}/annotations"), &note).await.expect(403);
        seen.push((answer.json.clone(), answer.header("www-authenticate").to_owned()));
    }
    assert!(seen.iter().all(|one| *one == seen[0]), "{seen:?}");
    assert!(seen[0].1.contains("scope=\"search:read records:write\""), "{}", seen[0].1);
}

#[tokio::test]
async fn every_tool_needs_the_scope_of_its_operation() {
    let app = TestApp::start(|_| {}).await;
    let (holders, operations) = (holders(&app).await, documented());
    let listed = Assistant::of(&app, &holders[0].actor).ask("tools/list", json!({})).await.json;
    let mut offered = BTreeSet::new();
    for tool in listed["result"]["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        match tool["inputSchema"]["properties"]["kind"]["enum"].as_array().filter(|_| name == "list_records") {
            Some(kinds) => offered.extend(kinds.iter().map(|kind| format!("{name}/{}", kind.as_str().unwrap()))),
            None => drop(offered.insert(name.to_owned())),
        }
    }
    assert_eq!(offered, USES.iter().map(|used| used.0.to_owned()).collect());
    for Holder { name, actor, rights } in &holders {
        let assistant = Assistant::of(&app, actor);
        for used in &USES {
            let operation = operations.iter().find(|one| one.id() == used.asks().id).unwrap();
            let needed = needed(operation).unwrap();
            let mut params = used.call("northmoor.example");
            params["arguments"]["nothing"] = json!(1);
            let place = format!("{} {} with {name}", used.0, used.1);
            for reply in [
                assistant.ask("tools/call", params.clone()).await,
                assistant.ask_statelessly("tools/call", params).await,
            ] {
                if rights.contains(needed) {
                    assert_eq!(reply.status, 200, "{place}: {}", reply.text);
                } else {
                    assert_eq!(
                        (reply.status.as_u16(), &reply.json["code"]),
                        (403, &json!("insufficient_scope")),
                        "{place}"
                    );
                    assert!(named(reply.header("www-authenticate")).contains(needed), "{place}");
                    assert!(reply.header("www-authenticate").contains("/oauth-protected-resource/mcp"), "{place}");
                }
            }
        }
        let resources = [("sightline://guide", None), ("sightline://properties", Some(Scope::SearchRead))];
        for (uri, needed) in resources {
            let reply = assistant.ask("resources/read", json!({ "uri": uri })).await;
            let is_allowed = needed.is_none_or(|needed| rights.contains(needed));
            assert_eq!(reply.status, if is_allowed { 200 } else { 403 }, "{uri} with {name}: {}", reply.text);
        }
    }
}

#[tokio::test]
async fn documents_name_the_scopes_to_ask_for() {
    let app = shared();
    let (anonymous, base) = (app.anonymous(), &app.service.base_url);
    let scopes = async |path: &str| -> Vec<String> {
        let document = anonymous.get(path).await.expect(200).json;
        document["scopes_supported"].as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned()).collect()
    };
    let own = ["search:read", "records:write", "account"];
    let of_api = scopes("/.well-known/oauth-protected-resource").await;
    assert_eq!(of_api, [&["openid", "profile", "email"][..], &own].concat());
    let of_tools = scopes("/.well-known/oauth-protected-resource/mcp").await;
    assert_eq!(of_tools, [&["openid", "profile", "email"][..], &own[..2]].concat());
    let of_issuer = scopes("/.well-known/oauth-authorization-server").await;
    assert_eq!(of_issuer, [&["openid", "profile", "email", "offline_access"][..], &own].concat());
    let flow = &DOCUMENT["components"]["securitySchemes"]["oauth2"]["flows"]["authorizationCode"]["scopes"];
    assert!(of_issuer.iter().all(|scope| flow[scope].is_string()), "{flow}");

    let first = Assistant::anonymous(app).ask("tools/list", json!({})).await.expect(401);
    let expected =
        format!("Bearer scope=\"search:read\", resource_metadata=\"{base}/.well-known/oauth-protected-resource/mcp\"");
    assert_eq!(first.header("www-authenticate"), expected);
    assert!(!anonymous.get("/api/tags").await.expect(401).header("www-authenticate").contains("scope="));
}

#[tokio::test]
async fn a_reader_sees_the_health_of_accounts_without_their_addresses() {
    let app = shared();
    let base = &app.service.base_url;
    for (scope, is_shown) in [("search:read", false), ("search:read account", true), ("openid", true)] {
        let health = Actor::with_scope(base, "owner", scope).await.listed("/api/accounts/health").await;
        assert!(
            !health.is_empty() && health.iter().all(|one| one["email"].is_string() == is_shown),
            "{scope}: {health:?}"
        );
    }
}

#[tokio::test]
async fn tokens_of_another_issuer_may_do_what_their_scopes_say() {
    let issuer = OtherIssuer::start().await;
    let app = TestApp::start(|config| issuer.trusted_by(config)).await;
    for (claims, reads, writes) in [
        (json!({}), true, true),
        (json!({ "scope": "openid email" }), true, true),
        (json!({ "scope": "openid search:read" }), true, false),
        (json!({ "scp": "records:write" }), false, true),
        (json!({ "scp": ["search:read", "openid"] }), true, false),
        (json!({ "scope": "openid", "scp": ["account"] }), false, false),
    ] {
        let token = issuer.token_saying("ann", &claims.to_string(), start_of_test(), &claims);
        let actor = Actor::with_token(&app.service.base_url, &token);
        let read = actor.get("/api/tags").await;
        assert_eq!(read.code() != "insufficient_scope", reads, "{claims}: {}", read.status);
        let write = actor.send(Method::POST, "/api/tags?nothing=1", None, &[]).await;
        assert_eq!(write.code() != "insufficient_scope", writes, "{claims}: {}", write.status);
    }
}
