//! A client that pins the old version beside one that pins none.

use poem::http::Method;
use serde_json::json;

use super::{Client, NEW, OLD, both, clients};

#[tokio::test]
async fn a_pinned_client_keeps_its_shapes_beside_one_that_has_moved_on() {
    let app = both().await;
    let owner = app.actor("owner").await;
    let (old, new) = clients(&owner);
    let made = old.post("/api/tags", &json!({ "label": "Shops" }), &[]).await.expect(201);
    assert_eq!((&made.json["data"]["label"], made.json["data"].get("name")), (&json!("Shops"), None));
    assert_eq!((made.header("x-api-version"), made.header("etag")), (OLD, made.json["data"]["etag"].as_str().unwrap()));
    let made = new.post("/api/tags", &json!({ "name": "Blogs" }), &[]).await.expect(201);
    assert_eq!((&made.json["data"]["name"], made.json["data"].get("label")), (&json!("Blogs"), None));
    assert_eq!(made.header("x-api-version"), NEW);

    for (client, field, other, date) in [(&old, "label", "name", OLD), (&new, "name", "label", NEW)] {
        let listed = client.get("/api/tags").await.expect(200);
        let tags = listed.json["data"].as_array().unwrap();
        assert!(tags.iter().all(|tag| tag[field].is_string() && tag.get(other).is_none()), "{}", listed.json);
        assert!(tags.iter().any(|tag| tag[field] == "Shops") && tags.iter().any(|tag| tag[field] == "Blogs"));
        assert_eq!(listed.header("x-api-version"), date);
        assert_eq!(listed.header("content-type"), "application/json; charset=utf-8");
        let head = client.send(Method::HEAD, "/api/tags", None, &[]).await.expect(200);
        assert!(head.bytes.is_empty());
        for name in ["etag", "content-length", "x-api-version", "vary"] {
            assert_eq!(head.header(name), listed.header(name), "{name}");
        }
    }
    // The newest version may be pinned, too.
    let pinned = Client { actor: &owner, pin: Some(NEW) };
    assert_eq!(pinned.get("/api/tags").await.expect(200).bytes, new.get("/api/tags").await.bytes);
}

#[tokio::test]
async fn refusals_are_told_in_the_terms_of_the_clients_version() {
    let app = both().await;
    let (owner, stranger) = (app.actor("owner").await, app.anonymous());
    let (old, new) = clients(&owner);
    for (client, field) in [(&old, "label"), (&new, "name")] {
        for (body, hint) in [(json!({ field: 1 }), "must be a string"), (json!({}), "is required")] {
            for key in [vec![], vec![("idempotency-key", body.to_string())]] {
                let headers: Vec<_> = key.iter().map(|(name, value)| (*name, value.as_str())).collect();
                let refused = client.post("/api/tags", &body, &headers).await.expect(400);
                assert!(refused.hint().starts_with(&format!("{field}: {hint}")), "{field}: {}", refused.hint());
            }
        }
        let unknown = client.post("/api/tags", &json!({ field: "x", "colour": 1 }), &[]).await.expect(400);
        assert!(unknown.hint().starts_with("colour: "), "{}", unknown.hint());
        let no_json = client.send(Method::POST, "/api/tags", None, &[]).await.expect(415);
        assert_eq!(no_json.code(), "unsupported_media_type");
        for (method, path, status) in [
            (Method::GET, "/api/nowhere", 404),
            (Method::PATCH, "/api/tags", 405),
            (Method::GET, "/api/properties/x/performance", 404),
        ] {
            client.send(method, path, None, &[]).await.expect(status);
        }
    }
    // A new field says nothing to an old client, nor an old one to a new client.
    let refused = new.post("/api/tags", &json!({ "label": "x" }), &[]).await.expect(400);
    assert!(refused.hint().contains("label"), "{}", refused.hint());
    let (old, new) = clients(&stranger);
    for path in ["/api/tags", "/api/nowhere"] {
        for (client, date) in [(&old, OLD), (&new, NEW)] {
            let refused = client.get(path).await.expect(401);
            assert!(!refused.header("www-authenticate").is_empty());
            assert_eq!((refused.header("x-api-version"), refused.header("cache-control")), (date, "no-store"));
        }
    }
    let unknown = Client { actor: &owner, pin: Some("2026-10-01") }.get("/api/tags").await.expect(400);
    assert_eq!((unknown.code(), unknown.header("x-api-version")), ("unsupported_api_version", NEW));
    assert_eq!(unknown.hint(), "X-API-Version: must be one of 2026-09-14, 2026-11-01; without it, the newest answers");
}

#[tokio::test]
async fn a_transform_that_fails_is_a_fault_of_the_service() {
    let app = both().await;
    let owner = app.actor("owner").await;
    let (old, new) = clients(&owner);
    new.get("/api/filter-presets").await.expect(200);
    let fault = old.get("/api/filter-presets").await.expect(500);
    assert_eq!((fault.code(), fault.header("x-api-version")), ("internal_error", OLD));
    assert_eq!(fault.json["correlationId"], fault.header("x-correlation-id"));
}

#[tokio::test]
async fn what_no_transform_touches_passes_with_the_headers_only() {
    let app = both().await;
    let owner = app.actor("owner").await;
    let (old, new) = clients(&owner);
    let id = owner.property("northmoor").await;
    for path in [
        format!("/api/properties/{id}/export"),
        "/api/feature-flags".into(),
        format!("/api/properties/{id}/performance"),
    ] {
        let (before, after) = (old.get(&path).await.expect(200), new.get(&path).await.expect(200));
        assert_eq!((before.header("x-api-version"), after.header("x-api-version")), (OLD, NEW));
        assert_eq!(before.header("etag"), after.header("etag"), "{path}");
        assert!(before.bytes == after.bytes, "{path}");
    }
    let whole = old.get("/api/privacy/access").await.expect(200);
    assert!(whole.json["data"].is_object());
    // Outside the API there are no versions.
    let page = old.actor.send(Method::GET, "/openapi.json", None, &[("x-api-version", "1")]).await.expect(200);
    assert_eq!((page.header("x-api-version"), page.header("deprecation")), (NEW, ""));
}

#[tokio::test]
async fn an_old_parameter_is_read_by_its_old_name() {
    let app = both().await;
    let owner = app.actor("owner").await;
    let (old, new) = clients(&owner);
    let week = new.get("/api/properties?days=7").await.expect(200);
    assert_eq!(old.get("/api/properties?period=7").await.expect(200).bytes, week.bytes);
    let unknown = new.get("/api/properties?period=7").await.expect(400);
    let hint = unknown.hint();
    assert!(hint.starts_with("period: not a parameter here; this operation takes ") && hint.contains("days"), "{hint}");
    assert!(old.get("/api/properties?period=0").await.expect(400).hint().starts_with("period: "));
    assert!(new.get("/api/properties?days=0").await.expect(400).hint().starts_with("days: "));
    let broken = old.get("/api/properties?period=%FF").await.expect(400);
    assert!(broken.hint().contains("percent-encoded"), "{}", broken.hint());
}

#[tokio::test]
async fn the_changelog_tells_the_end_and_the_changes_of_each_version() {
    let app = both().await;
    let page = app.anonymous().get("/changelog").await.expect(200);
    let text = String::from_utf8(page.bytes).unwrap();
    for part in [
        "id=\"2026-11-01\"",
        "Deprecated since 2026-11-01",
        "2027-01-30",
        "<code>getPropertyTracking</code>",
        "<h3 id=\"0.1.0\">",
    ] {
        assert!(text.contains(part), "{part}");
    }
    let link = clients(&app.anonymous()).0.get("/api/health").await.header("link").to_owned();
    assert_eq!(
        link,
        format!("<{}/changelog#2026-11-01>; rel=\"deprecation\"; type=\"text/html\"", app.service.base_url)
    );
}
