//! Tests of the deletion of a person: nothing of theirs stays, and nothing of others goes.

use chrono::TimeDelta;
use common::random::Random;
use entity::{consent, issuer_session, pending_revocation};
use poem::http::Method;
use sea_orm::{ActiveValue::Set, EntityTrait as _};
use serde_json::{Value, json};
use simulator::Endpoint;
use uuid::Uuid;

use super::{Named, delete, everything_stored};
use crate::{
    account::applications::{acting, connected, registered},
    search_accounts::exchanges::Engine,
    support::{
        self,
        actor::Actor,
        app::{TestApp, start_of_test},
        signed_in::Browser,
    },
};

/// A person with a row in as many tables as possible, on their own properties and on the stranger's.
pub struct Busy {
    pub owner: Actor,
    pub stranger: Actor,
    /// The stranger's property, on which the owner is an admin.
    pub elsewhere: String,
    /// The path of a link that the owner made for their own property, and of one for the stranger's.
    pub links: [String; 2],
    pub browser: Browser,
    /// Tokens of an application, with a refresh token.
    pub tokens: Value,
    pub client: String,
}

async fn keyed(actor: &Actor, path: &str, body: &Value) -> Value {
    let headers = [("content-type", "application/json"), ("idempotency-key", "once")];
    actor.send(Method::POST, path, Some(body.to_string()), &headers).await.expect(201).json["data"].clone()
}

async fn link(actor: &Actor, property: &str) -> String {
    let path = format!("/api/properties/{property}/share-links");
    let link = keyed(actor, &path, &json!({ "name": "For the board" })).await;
    format!("/api/share/{}/performance", link["token"].as_str().unwrap())
}

/// Fills the tables with rows of the demo person `owner`.
pub async fn busy(app: &TestApp) -> Busy {
    let (owner, stranger) = (app.actor("owner").await, app.actor("stranger").await);
    let invited = json!({ "email": "Owner@demo.test", "role": "admin", "allProperties": true });
    keyed(&stranger, "/api/team", &invited).await;
    keyed(&owner, "/api/team", &json!({ "email": "stranger@demo.test", "role": "admin", "allProperties": true })).await;
    let own = owner.property("northmoor").await;
    let listed = stranger.listed("/api/properties").await;
    let elsewhere =
        listed.iter().find(|property| property["role"] == "owner").unwrap()["id"].as_str().unwrap().to_owned();
    let note = json!({ "date": "2026-11-16", "text": "note" });
    for property in [&own, &elsewhere] {
        keyed(&owner, &format!("/api/properties/{property}/annotations"), &note).await;
        for kind in ["segments", "topic-clusters"] {
            let rule = json!({ "name": "Shops", "conditions": [{ "operator": "contains", "value": "shop" }] });
            keyed(&owner, &format!("/api/properties/{property}/{kind}"), &rule).await;
        }
        let mark = format!("/api/properties/{property}/favorite");
        owner.put(&mark, &json!({ "favorite": true })).await.expect(200);
    }
    keyed(&stranger, &format!("/api/properties/{elsewhere}/annotations"), &note).await;
    let tag = keyed(&owner, "/api/tags", &json!({ "name": "Shops" })).await;
    let tagged = format!("/api/tags/{}/properties", tag["id"].as_str().unwrap());
    owner.post(&tagged, &json!({ "propertyIds": [own, elsewhere] })).await.expect(200);
    let gone = owner.made("/api/tags", &json!({ "name": "Gone" })).await;
    owner.delete(&format!("/api/tags/{gone}")).await.expect(204);
    let filters = json!([{ "dimension": "query", "operator": "contains", "value": "a" }]);
    keyed(&owner, "/api/filter-presets", &json!({ "name": "Mine", "filters": filters })).await;
    let links = [link(&owner, &own).await, link(&owner, &elsewhere).await];
    let client = registered(&app.service.base_url, "Probe").await;
    let tokens = connected(&app.service.base_url, &client, "owner").await;
    acting(&app.service.base_url, &tokens).get("/api/tags").await.expect(200);
    let browser = Browser::signed_in(app, "owner").await;
    on_pages(app, &client).await;
    let credentials = json!({ "login": "good@demo.test", "password": "demo" });
    owner.put("/api/integrations/provider-a", &credentials).await.expect(200);
    Busy { owner, stranger, elsewhere, links, browser, tokens, client }
}

/// Rows that only the pages of the embedded issuer make.
async fn on_pages(app: &TestApp, client: &str) {
    let (db, now, subject) = (&app.service.db, start_of_test(), "demo-owner".to_owned());
    let session = issuer_session::ActiveModel {
        id: Set(Random::seeded(77).id(now)),
        hash: Set("0".repeat(64)),
        subject: Set(subject.clone()),
        user_agent: Set(Some("A browser of the issuer".to_owned())),
        auth_time: Set(now),
        created_at: Set(now),
        expires_at: Set(now + TimeDelta::days(7)),
    };
    issuer_session::Entity::insert(session).exec(db).await.unwrap();
    let consent = consent::ActiveModel {
        subject: Set(subject),
        client_id: Set(client.to_owned()),
        address: Set("https://probe.example/callback".to_owned()),
        scope: Set("openid email".to_owned()),
        allows: Set("everything".to_owned()),
        opens_api: Set(true),
        created_at: Set(now),
        updated_at: Set(now),
    };
    consent::Entity::insert(consent).exec(db).await.unwrap();
}

async fn refresh(app: &TestApp, busy: &Busy) -> u16 {
    let token = busy.tokens["refresh_token"].as_str().unwrap();
    let form = format!("grant_type=refresh_token&client_id={}&refresh_token={token}", busy.client);
    let kind = [("content-type", "application/x-www-form-urlencoded")];
    app.anonymous().send(Method::POST, "/oauth/token", Some(form), &kind).await.status.as_u16()
}

#[tokio::test]
async fn nothing_of_a_person_stays_and_nothing_of_others_goes() {
    let app = TestApp::start(|_| {}).await;
    let there = app.beside().await;
    let busy = busy(&app).await;
    let db = &app.service.db;
    let owner = Named::find(db, "demo-owner").await;
    let before = owner.places(db).await;
    for place in [
        "tag.user_id",
        "audit_event.whom",
        "annotation.author_id",
        "classification.created_by",
        "team_grant.email",
        "oauth_grant.subject",
    ] {
        assert!(before.iter().any(|found| found == place), "{place}: {before:?}");
    }
    let notes = format!("/api/properties/{}/annotations", busy.elsewhere);
    let kept = busy.stranger.listed(&notes).await;
    assert_eq!(kept.len(), 2);
    for path in &busy.links {
        app.anonymous().get(path).await.expect(200);
    }
    app.hand.advance(TimeDelta::seconds(1));
    delete(&busy.owner).await.expect(204);

    assert_eq!(owner.places(db).await, Vec::<String>::new());
    let elsewhere = there.as_ref().unwrap_or(&app);
    let address = format!("http://{}", elsewhere.service.address);
    let application = acting(&address, &busy.tokens);
    for actor in [&busy.owner, &Actor::with_token(&address, busy.owner.token()), &application] {
        let answer = actor.get("/api/tags").await.expect(401);
        assert!(answer.header("www-authenticate").contains("invalid_token"));
    }
    busy.browser.get("/account").await.leads_to("/auth/login?return_to=/account");
    assert_eq!(refresh(&app, &busy).await, 400, "the refresh token is gone");
    for path in &busy.links {
        app.anonymous().get(path).await.expect(404);
    }
    let texts =
        |notes: &[Value]| notes.iter().map(|note| (note["id"].clone(), note["text"].clone())).collect::<Vec<_>>();
    let after = busy.stranger.listed(&notes).await;
    assert_eq!(texts(&after), texts(&kept), "what the person wrote elsewhere stays");
    assert!(busy.stranger.listed("/api/team").await.is_empty(), "the grant to the person has ended");
    assert!(busy.stranger.listed("/api/team?received=true").await.is_empty(), "and the grant by the person, too");
    let links = format!("/api/properties/{}/share-links", busy.elsewhere);
    assert!(busy.stranger.listed(&links).await.is_empty());
}

#[tokio::test]
async fn in_the_records_of_others_the_person_is_a_former_member() {
    let app = TestApp::start(|_| {}).await;
    let busy = busy(&app).await;
    delete(&busy.owner).await.expect(204);
    let trail = busy.stranger.get("/api/privacy/access").await.expect(200).json["data"]["auditTrail"].clone();
    let events: Vec<_> = trail.as_array().unwrap().iter().filter(|event| event["elsewhere"] == false).collect();
    let of = |action: &str| {
        let found: Vec<_> = events.iter().filter(|event| event["action"] == action).collect();
        assert_eq!(found.len(), 1, "{action}: {trail}");
        (found[0]["actor"].as_str().unwrap().to_owned(), found[0]["whom"].as_str().map(str::to_owned))
    };
    let former = Some("a former member".to_owned());
    assert_eq!(of("grant_made"), ("you".to_owned(), former.clone()));
    assert_eq!(of("share_link_made"), ("former_member".to_owned(), None));
    assert_eq!(of("grant_removed"), ("former_member".to_owned(), former));
}

/// The number of grants that wait for their revocation.
async fn waiting(app: &TestApp) -> usize {
    let stored = everything_stored(&app.service.db).await;
    stored.into_iter().filter(|(place, _)| place == "pending_revocation.sealed").count()
}

#[tokio::test]
async fn a_grant_at_the_search_engine_is_revoked_at_once() {
    let app = TestApp::start(|_| {}).await;
    delete(&app.actor("stranger").await).await.expect(204);
    while app.simulator().controls().requests(Endpoint::Revoke) < 1 || waiting(&app).await > 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_grant_that_cannot_be_revoked_waits_until_the_search_engine_answers_again() {
    let engine = Engine::start().await;
    let app = engine.app().await;
    let browser = support::browser::Browser::signed_in(&app.service.base_url, "viewer").await;
    engine.connect(&browser).await.account();
    let (db, viewer) = (&app.service.db, app.actor("viewer").await);
    let named = Named::find(db, "demo-viewer").await;
    engine.revokes(false);
    delete(&viewer).await.expect(204);
    app.service.sweep().await;
    assert_eq!(waiting(&app).await, 1, "the search engine is away");
    assert_eq!(named.places(db).await, Vec::<String>::new(), "waiting grants name nobody");
    let asked = engine.seen("/revoke");
    engine.revokes(true);
    app.service.sweep().await;
    assert_eq!((waiting(&app).await, engine.seen("/revoke")), (0, asked + 1));
}

#[tokio::test]
async fn grants_that_no_key_opens_hold_up_no_other() {
    let engine = Engine::start().await;
    let app = engine.app().await;
    let browser = support::browser::Browser::signed_in(&app.service.base_url, "viewer").await;
    engine.connect(&browser).await.account();
    let unreadable = (1..=5).map(|number| pending_revocation::ActiveModel {
        id: Set(Uuid::from_u128(number)),
        sealed: Set(vec![0; 64]),
        created_at: Set(start_of_test()),
    });
    let db = &app.service.db;
    pending_revocation::Entity::insert_many(unreadable).exec_without_returning(db).await.unwrap();
    engine.revokes(false);
    delete(&app.actor("viewer").await).await.expect(204);
    engine.revokes(true);
    app.service.sweep().await;
    assert_eq!(waiting(&app).await, 5);
}

#[tokio::test]
async fn a_deletion_needs_no_body_and_is_done_once() {
    let app = TestApp::start(|_| {}).await;
    let viewer = app.actor("viewer").await;
    app.anonymous().send(Method::POST, "/api/privacy/delete", None, &[]).await.expect(401);
    let (first, second) = tokio::join!(delete(&viewer), delete(&viewer));
    for answer in [first, second] {
        assert!([204, 401].contains(&answer.status.as_u16()), "{}", answer.json);
    }
    delete(&viewer).await.expect(401);
}
