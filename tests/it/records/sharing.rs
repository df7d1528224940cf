//! Tests of share links: their content, readers and end.

use chrono::TimeDelta;
use entity::{share_link, user::Plan};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _, sea_query::Expr};
use serde_json::{Value, json};
use sightline::services::users::subscriptions;

use super::{column, grant_of};
use crate::support::{
    actor::{Actor, Answer},
    app::TestApp,
};

/// A property, its owner and one link to it.
struct Dashboard {
    app: TestApp,
    owner: Actor,
    property: String,
    link: Value,
}

impl Dashboard {
    async fn new() -> Self {
        // The plans differ in links only, not in the number of tracked properties.
        let app = TestApp::start(|config| config.plans.free.tracked_properties = 25).await;
        let owner = app.actor("owner").await;
        let property = owner.property("northmoor").await;
        let link = owner.post(&format!("/api/properties/{property}/share-links"), &json!({ "name": "Board" })).await;
        Self { app, owner, property, link: link.expect(201).json["data"].clone() }
    }

    fn links(&self) -> String {
        format!("/api/properties/{}/share-links", self.property)
    }

    fn token(&self) -> &str {
        self.link["token"].as_str().unwrap()
    }

    async fn open(&self, token: &str) -> Answer {
        self.app.anonymous().get(&format!("/api/share/{token}/performance")).await
    }

    async fn set_plan(&self, plan: Plan) {
        let now = crate::support::app::start_of_test();
        subscriptions::set(&self.app.service.db, "owner@demo.test", plan, now).await.unwrap();
    }
}

#[tokio::test]
async fn only_managers_of_links_see_their_tokens() {
    let board = Dashboard::new().await;
    let token = board.token();
    assert!(token.len() == 43 && token.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b)), "{token}");
    let base_url = &board.app.service.base_url;
    assert_eq!(board.link["url"], format!("{base_url}/share/{token}"));
    assert_eq!(board.link["apiUrl"], format!("{base_url}/api/share/{token}/performance"));
    assert_eq!(board.owner.listed(&board.links()).await, std::slice::from_ref(&board.link));
    let other = board.owner.post(&board.links(), &json!({})).await.expect(201);
    assert_ne!(other.json["data"]["token"], token);
    for person in ["viewer", "editor"] {
        let actor = board.app.actor(person).await;
        let seen = actor.listed(&board.links()).await;
        assert_eq!(seen.len(), 2);
        for link in seen {
            assert_eq!((link.get("token"), link.get("url"), link.get("apiUrl")), (None, None, None), "{person}");
            actor.delete(&format!("{}/{}", board.links(), link["id"].as_str().unwrap())).await.expect(403);
        }
        actor.post(&board.links(), &json!({})).await.expect(403);
    }
    let grant = grant_of(&board.owner, "viewer@demo.test").await["id"].as_str().unwrap().to_owned();
    board.owner.put(&format!("/api/team/{grant}"), &json!({ "role": "admin" })).await.expect(200);
    let admin = board.app.actor("viewer").await;
    assert!(column(&admin.listed(&board.links()).await, "token").iter().any(|seen| seen == token));
    let own = admin.made(&board.links(), &json!({})).await;
    admin.delete(&format!("{}/{own}", board.links())).await.expect(204);
}

#[tokio::test]
async fn a_shared_dashboard_equals_the_private_one_without_people() {
    let board = Dashboard::new().await;
    let others = board.owner.listed("/api/properties").await;
    let others: Vec<&str> =
        others.iter().filter(|p| p["id"] != board.property).map(|p| p["name"].as_str().unwrap()).collect();
    assert!(others.len() > 2);
    let secrets = [board.property.as_str(), board.link["id"].as_str().unwrap(), board.token(), "@", "demo", "owner"];
    let filters = json!([{ "dimension": "device", "operator": "equals", "value": "MOBILE" }]).to_string();
    let questions: [&[(&str, &str)]; 5] = [
        &[],
        &[("scope", "all"), ("queryLimit", "7")],
        &[
            ("startDate", "2026-10-01"),
            ("endDate", "2026-10-09"),
            ("compareStart", "2026-09-01"),
            ("compareEnd", "2026-09-09"),
        ],
        &[("classification", "branded"), ("scope", "tables")],
        &[("filters", &filters), ("searchType", "image")],
    ];
    for question in questions {
        let private = board.owner.ask(&format!("/api/properties/{}/performance", board.property), question).await;
        let private = private.expect(200);
        let path = format!("/api/share/{}/performance", board.token());
        let shared = board.app.anonymous().ask(&path, question).await.expect(200);
        assert_eq!(shared.json["data"], private.json["data"], "{question:?}");
        for (name, value) in private.json["meta"].as_object().unwrap() {
            assert_eq!(&shared.json["meta"][name], value, "{question:?} {name}");
        }
        assert_eq!(
            (&shared.json["meta"]["linkName"], shared.json["meta"].get("linkExpiresAt")),
            (&json!("Board"), None)
        );
        assert_eq!(shared.json["meta"]["site"], "northmoor.example");
        let text = format!("{:?}{}", shared.headers, String::from_utf8(shared.bytes).unwrap());
        for secret in secrets.iter().chain(&others) {
            assert!(!text.contains(secret), "{secret} in the answer to {question:?}");
        }
    }
    let classified = board.owner.listed(&format!("/api/properties/{}/segments", board.property)).await;
    let classification = format!("segment:{}", classified[0]["id"].as_str().unwrap());
    let path = format!("/api/share/{}/performance", board.token());
    board.app.anonymous().ask(&path, &[("classification", &classification)]).await.expect(200);
    board.app.anonymous().ask(&path, &[("scope", "x")]).await.expect(400);
    let explain = board.app.anonymous().ask(&path, &[("explain", "true")]).await.expect(400);
    assert!(explain.hint().starts_with("explain: needs a window to compare with"), "{}", explain.hint());
}

#[tokio::test]
async fn a_link_that_opens_nothing_never_says_why() {
    let board = Dashboard::new().await;
    board.open(board.token()).await.expect(200);
    let unknown = board.open(&"A".repeat(43)).await.expect(404);
    let same = |found: &Answer| {
        assert_eq!(found.status.as_u16(), 404, "{}", String::from_utf8_lossy(&found.bytes));
        assert_eq!(found.bytes, unknown.bytes);
        let names = |answer: &Answer| answer.headers.keys().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(names(found), names(&unknown));
    };
    for token in ["x", "%00", &board.token().to_lowercase(), &format!("{}A", board.token()), &board.token()[..42]] {
        same(&board.open(token).await);
    }
    // Another spelling of a token is a different token, and without a valid token a caller learns nothing about parameters.
    same(&board.open(&format!("%{:X}{}", board.token().as_bytes()[0], &board.token()[1..])).await);
    for wrong in ["scope=x", "filters=%5B", "classification=x", "startDate=2026-02-30"] {
        same(&board.app.anonymous().get(&format!("/api/share/{}/performance?{wrong}", "A".repeat(43))).await);
    }
    // The plan: none, then one without links, then the original one.
    for plan in [Plan::None, Plan::Free] {
        board.set_plan(plan).await;
        same(&board.open(board.token()).await);
        board.owner.post(&board.links(), &json!({})).await.expect(402);
    }
    // An owner whose plan no longer has links can still list them in order to revoke them.
    assert_eq!(board.owner.listed(&board.links()).await, std::slice::from_ref(&board.link));
    board.set_plan(Plan::Pro).await;
    board.open(board.token()).await.expect(200);
    // The property's tracking.
    let tracked = column(&board.owner.listed("/api/properties").await, "id");
    let rest: Vec<&String> = tracked.iter().filter(|id| **id != board.property).collect();
    board.owner.put("/api/properties/tracking", &json!({ "propertyIds": rest })).await.expect(200);
    same(&board.open(board.token()).await);
    board.owner.put("/api/properties/tracking", &json!({ "propertyIds": tracked })).await.expect(200);
    board.open(board.token()).await.expect(200);
    // The link's expiry.
    let soon = board.owner.post(&board.links(), &json!({ "expiresAt": "2026-11-21T12:10:00Z" })).await.expect(201);
    let (id, token) = (soon.json["data"]["id"].as_str().unwrap(), soon.json["data"]["token"].as_str().unwrap());
    board.app.hand.advance(TimeDelta::seconds(599));
    let said = board.open(token).await.expect(200).json["meta"]["linkExpiresAt"].clone();
    let said: chrono::DateTime<chrono::Utc> = said.as_str().unwrap().parse().unwrap();
    assert_eq!(said, crate::support::app::start_of_test() + TimeDelta::minutes(10));
    board.app.hand.advance(TimeDelta::seconds(1));
    same(&board.open(token).await);
    board.owner.delete(&format!("{}/{id}", board.links())).await.expect(404);
    assert_eq!(board.owner.listed(&board.links()).await, std::slice::from_ref(&board.link));
    // Revocation, also for an owner whose plan no longer has links.
    board.set_plan(Plan::Free).await;
    board.owner.delete(&format!("{}/{}", board.links(), board.link["id"].as_str().unwrap())).await.expect(204);
    board.set_plan(Plan::Pro).await;
    same(&board.open(board.token()).await);
    assert_eq!(board.owner.listed(&board.links()).await, [] as [Value; 0]);
}

/// The key that encrypts tokens was lost or changed.
#[tokio::test]
async fn a_link_with_an_unreadable_token_can_be_revoked() {
    let board = Dashboard::new().await;
    let everything =
        share_link::Entity::update_many().col_expr(share_link::Column::SealedToken, Expr::value(vec![7_u8; 90]));
    everything.exec(&board.app.service.db).await.unwrap();
    let seen = board.owner.listed(&board.links()).await;
    assert_eq!((seen.len(), seen[0].get("token"), seen[0].get("url")), (1, None, None));
    board.open(board.token()).await.expect(200);
    board.owner.delete(&format!("{}/{}", board.links(), seen[0]["id"].as_str().unwrap())).await.expect(204);
    board.open(board.token()).await.expect(404);
}

/// Nobody who can write the database can make a manager show, or send, the link of another property.
#[tokio::test]
async fn the_sealed_tokens_of_two_links_that_are_swapped_open_nothing() {
    let board = Dashboard::new().await;
    board.owner.post(&board.links(), &json!({})).await.expect(201);
    let db = &board.app.service.db;
    let [first, second] = share_link::Entity::find().all(db).await.unwrap().try_into().unwrap();
    for (row, sealed) in [(&first, &second.sealed_token), (&second, &first.sealed_token)] {
        let swap = share_link::Entity::update_many()
            .col_expr(share_link::Column::SealedToken, Expr::value(sealed.clone()))
            .filter(share_link::Column::Id.eq(row.id));
        swap.exec(db).await.unwrap();
    }
    let seen = board.owner.listed(&board.links()).await;
    assert_eq!(seen.iter().map(|link| link.get("token")).collect::<Vec<_>>(), [None, None]);
    board.open(board.token()).await.expect(200);
}
