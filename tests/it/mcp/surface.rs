//! Tests of the endpoint as a resource of HTTP: methods, origins, tokens, rates, metrics.

use poem::http::Method;
use serde_json::json;

use crate::{
    faults::impatient,
    support::{
        actor::Actor,
        app::{TestApp, shared},
        assistant::Assistant,
    },
};

#[tokio::test]
async fn only_post_is_answered() {
    let assistant = Assistant::of(shared(), &shared().actor("owner").await);
    for method in [Method::GET, Method::DELETE, Method::PUT, Method::OPTIONS] {
        let reply = assistant.send(method.clone(), String::new(), &[]).await.expect(405);
        assert_eq!(reply.header("allow"), "POST", "{method}");
        assert!(!reply.headers.contains_key("access-control-allow-origin"), "{method}");
    }
    let nobody = Assistant::anonymous(shared());
    for method in [Method::HEAD, Method::DELETE, Method::PUT, Method::PATCH, Method::OPTIONS] {
        let reply = nobody.send(method.clone(), String::new(), &[]).await.expect(405);
        assert_eq!(reply.header("allow"), "POST", "{method}");
    }
}

#[tokio::test]
async fn a_challenge_leads_to_the_metadata_of_this_surface() {
    let app = shared();
    let metadata = format!("resource_metadata=\"{}/.well-known/oauth-protected-resource/mcp\"", app.service.base_url);
    let nobody = Assistant::anonymous(app);
    for method in [Method::GET, Method::POST] {
        let reply = nobody.send(method.clone(), String::new(), &[]).await.expect(401);
        assert_eq!(reply.header("www-authenticate"), format!("Bearer scope=\"search:read\", {metadata}"), "{method}");
    }
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let reply = nobody.post(&ping, &[("authorization", "Bearer x.y.z")]).await.expect(401);
    assert_eq!(
        reply.header("www-authenticate"),
        format!("Bearer error=\"invalid_token\", scope=\"search:read\", {metadata}")
    );
    assert_eq!(reply.json["code"], "unauthorized");
    nobody.post(&ping, &[("cookie", "sightline_session=x")]).await.expect(401);
}

#[tokio::test]
async fn foreign_pages_and_hosts_are_refused() {
    let app = shared();
    let assistant = Assistant::of(app, &app.actor("owner").await);
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let port = app.service.base_url.rsplit(':').next().unwrap();
    let (own, local, evil) =
        (app.service.base_url.clone(), format!("http://localhost:{port}"), format!("http://evil.example:{port}"));
    let with_user = own.replacen("://", "://user@", 1);
    for (name, value, status) in [
        ("origin", own.as_str(), 200),
        ("origin", local.as_str(), 200),
        ("origin", evil.as_str(), 403),
        ("origin", "null", 403),
        ("origin", with_user.as_str(), 403),
        ("host", local.strip_prefix("http://").unwrap(), 200),
        ("host", evil.strip_prefix("http://").unwrap(), 403),
    ] {
        let reply = assistant.post(&ping, &[(name, value)]).await.expect(status);
        assert_eq!(reply.json["code"] == "forbidden", status == 403, "{value}");
    }
    Assistant::anonymous(app).post(&ping, &[("origin", &evil)]).await.expect(403);
}

#[tokio::test]
async fn the_endpoint_may_have_a_host_of_its_own() {
    let app = TestApp::start(|config| {
        config.mcp.url = "https://tools.example.org".parse().ok();
        config.identity.demo_sign_in = Some(false);
    })
    .await;
    let metadata = app.anonymous().get("/.well-known/oauth-protected-resource/mcp").await.expect(200);
    assert_eq!(metadata.json["resource"], "https://tools.example.org/mcp");
    let nobody = Assistant::anonymous(&app);
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let reply = nobody.post(&ping, &[("host", "tools.example.org")]).await.expect(401);
    let document = "https://tools.example.org/.well-known/oauth-protected-resource/mcp";
    assert_eq!(
        reply.header("www-authenticate"),
        format!("Bearer scope=\"search:read\", resource_metadata=\"{document}\"")
    );
    nobody.post(&ping, &[("origin", "https://evil.example")]).await.expect(403);
    nobody.post(&ping, &[("origin", "https://tools.example.org")]).await.expect(401);
}

#[tokio::test]
async fn both_surfaces_share_a_persons_rate() {
    let app = TestApp::start(|config| {
        config.rate_limit.enabled = true;
        config.rate_limit.per_minute = 60;
        config.rate_limit.burst = 4;
    })
    .await;
    let owner: Actor = app.actor("owner").await;
    let assistant = Assistant::of(&app, &owner);
    let tags = json!({ "name": "get_connection_health", "arguments": {} });
    let first = assistant.ask("tools/call", tags.clone()).await.expect(200);
    assert_eq!(first.header("x-ratelimit-remaining"), "3", "a call counts once");
    assert_eq!(owner.get("/api/tags").await.expect(200).header("x-ratelimit-remaining"), "2");
    for _ in 0..2 {
        assistant.ask("ping", json!({})).await.expect(200);
    }
    let refused = assistant.ask("tools/call", tags).await.expect(429);
    assert_eq!((&refused.json["code"], refused.header("retry-after")), (&json!("rate_limited"), "1"));
    owner.get("/api/tags").await.expect(429);
}

#[tokio::test]
async fn answers_carry_the_requests_id() {
    let app = TestApp::start(impatient).await;
    let owner = app.actor("owner").await;
    let assistant = Assistant::of(&app, &owner);
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "get_connection_health", "arguments": {} },
    });
    let reply = assistant.post(&call, &[("x-correlation-id", "trace-9")]).await.expect(200);
    assert_eq!(reply.header("x-correlation-id"), "trace-9");
    app.simulator().controls().set_faults(vec!["error500:1".parse().unwrap()]);
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "get_countries", "arguments": { "property": "northmoor.example" } },
    });
    let reply = assistant.post(&call, &[("x-correlation-id", "trace-9")]).await.expect(200);
    let result = &reply.json["result"];
    assert_eq!((&result["isError"], &result["_meta"]["sightline/error"]["status"]), (&json!(true), &json!(503)));
    assert_eq!(result["_meta"]["sightline/error"]["correlationId"], "trace-9");
    assert!(result["content"][0]["text"].as_str().unwrap().contains("try again in"), "{result}");
}
