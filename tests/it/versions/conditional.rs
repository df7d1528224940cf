//! Conditional requests of a pinned client.

use poem::http::Method;
use serde_json::json;

use super::{both, clients};

#[tokio::test]
async fn a_rewritten_answer_has_a_tag_of_its_own() {
    let app = both().await;
    let owner = app.actor("owner").await;
    owner.made("/api/tags", &json!({ "name": "Shops" })).await;
    let (old, new) = clients(&owner);
    for path in ["/api/tags", "/api/properties/tracking"] {
        let tags = (old.get(path).await.header("etag").to_owned(), new.get(path).await.header("etag").to_owned());
        assert_eq!(tags.0, format!("{}.2026-09-14\"", tags.1.trim_end_matches('"')));
        for (client, own, foreign) in [(&old, &tags.0, &tags.1), (&new, &tags.1, &tags.0)] {
            let known = async |list: &str| client.send(Method::GET, path, None, &[("if-none-match", list)]).await;
            for list in [own.clone(), format!("W/{own}"), format!("{foreign}, {own}"), "*".into()] {
                let unchanged = known(&list).await.expect(304);
                assert!(unchanged.bytes.is_empty());
                assert_eq!(unchanged.header("etag"), own);
                assert!(unchanged.header("vary").contains("X-API-Version"));
            }
            let full = known(foreign).await.expect(200);
            assert_eq!(full.header("etag"), own, "the other shape is not known to be current");
        }
    }
}

#[tokio::test]
async fn a_change_may_name_the_state_by_either_tag() {
    let app = both().await;
    let owner = app.actor("owner").await;
    let (old, _) = clients(&owner);
    let tracking = old.get("/api/properties/tracking").await.expect(200);
    let sites = tracking.json["data"]["sites"].as_array().unwrap().iter();
    let ids: Vec<_> = sites.filter(|site| site["tracked"] == true).map(|site| site["id"].clone()).collect();
    assert!(!ids.is_empty());
    let replace = async |state: &str| {
        let body = json!({ "propertyIds": ids });
        old.send(Method::PUT, "/api/properties/tracking", Some(&body), &[("if-match", state)]).await
    };
    for state in [tracking.header("etag"), tracking.json["data"]["etag"].as_str().unwrap(), "*"] {
        assert!(replace(state).await.expect(200).json["data"]["sites"].is_array(), "{state}");
    }
    let beside = replace("\"x\", *").await.expect(400);
    assert!(beside.hint().starts_with("If-Match: must be "), "{}", beside.hint());
    assert_eq!(replace("\"x.2026-09-14\"").await.expect(412).code(), "precondition_failed");

    let made = old.post("/api/tags", &json!({ "label": "Shops" }), &[]).await.expect(201);
    let (path, etag) = (made.header("location").to_owned(), made.header("etag").to_owned());
    let update = async |label: &str| {
        old.send(Method::PUT, &path, Some(&json!({ "label": label })), &[("if-match", &etag)]).await
    };
    assert_eq!(update("Stores").await.expect(200).json["data"]["label"], "Stores");
    assert_eq!(update("Late").await.expect(412).code(), "precondition_failed");
}
