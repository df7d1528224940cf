//! Tests that withdrawn access is refused from the next request on, in every process of the service, also under load.

use chrono::TimeDelta;
use entity::user::{Plan, PlanState};
use poem::http::Method;
use serde_json::{Value, json};
use sightline::services::users::subscriptions::{self, Wanted};
use tokio::task::JoinSet;

use crate::{
    account::{applications::section_with, external::with_issuer},
    support::{
        actor::{Actor, Answer},
        app::{TestApp, share_redis, start_of_test},
        signed_in::Browser,
    },
};

/// Repetitions of each withdrawal.
const ROUNDS: usize = 100;

/// Two addresses of the same service: on `PostgreSQL` of two processes, on `SQLite` of one. They share Redis, if there is one.
struct Pair {
    here: TestApp,
    there: Option<TestApp>,
}

impl Pair {
    async fn start() -> Self {
        let here = TestApp::start(|config| drop(share_redis(config))).await;
        let there = here.beside().await;
        Self { here, there }
    }

    /// The same person at the other process.
    fn there(&self, actor: &Actor) -> Actor {
        let service = &self.there.as_ref().unwrap_or(&self.here).service;
        Actor::with_token(&format!("http://{}", service.address), actor.token())
    }
}

/// Readers at the other process who repeatedly request `path`, so that all its cacheable data is cached.
fn load(actor: &Actor, path: &str) -> JoinSet<()> {
    let mut readers = JoinSet::new();
    for _ in 0..3 {
        let (actor, path) = (actor.clone(), path.to_owned());
        readers.spawn(async move {
            loop {
                actor.get(&path).await;
            }
        });
    }
    readers
}

fn annotations(property: &str) -> String {
    format!("/api/properties/{property}/annotations")
}

/// A member of the owner's team, whose role the rounds change, and the path of the grant.
async fn member(pair: &Pair, role: &str) -> (Actor, Actor, String) {
    let owner = pair.here.actor("owner").await;
    let grant = json!({ "email": "stranger@demo.test", "role": role, "allProperties": true });
    let grant = owner.made("/api/team", &grant).await;
    let member = pair.there(&pair.here.actor("stranger").await);
    (owner, member, format!("/api/team/{grant}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_revoked_token_opens_nothing() {
    let pair = Pair::start().await;
    let steady = pair.there(&pair.here.actor("owner").await);
    let readers = load(&steady, "/api/tags");
    for round in 0..ROUNDS {
        let owner = pair.here.actor("owner").await;
        let there = pair.there(&owner);
        there.get("/api/tags").await.expect(200);
        let form = format!("token={}&client_id=sightline-cli", owner.token());
        let kind = [("content-type", "application/x-www-form-urlencoded")];
        pair.here.anonymous().send(Method::POST, "/oauth/revoke", Some(form), &kind).await.expect(200);
        let refused = there.get("/api/tags").await;
        assert_eq!(refused.status, 401, "round {round}");
    }
    drop(readers);
    steady.get("/api/tags").await.expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_removed_member_sees_nothing() {
    let pair = Pair::start().await;
    let (owner, member, mut grant) = member(&pair, "viewer").await;
    let path = annotations(&owner.property("northmoor").await);
    let readers = load(&member, &path);
    for round in 0..ROUNDS {
        member.get(&path).await.expect(200);
        owner.delete(&grant).await.expect(204);
        assert_eq!(member.get(&path).await.status, 404, "round {round}");
        let again = json!({ "email": "stranger@demo.test", "role": "viewer", "allProperties": true });
        grant = format!("/api/team/{}", owner.made("/api/team", &again).await);
    }
    drop(readers);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lowered_role_writes_nothing() {
    let pair = Pair::start().await;
    let (owner, member, grant) = member(&pair, "editor").await;
    let path = annotations(&owner.property("northmoor").await);
    let note = json!({ "date": "2026-11-16", "text": "note" });
    let readers = load(&member, &path);
    for round in 0..ROUNDS {
        let made = member.post(&path, &note).await.expect(201).json["data"]["id"].clone();
        owner.put(&grant, &json!({ "role": "viewer" })).await.expect(200);
        assert_eq!(member.post(&path, &note).await.status, 403, "round {round}");
        owner.put(&grant, &json!({ "role": "editor" })).await.expect(200);
        member.delete(&format!("{path}/{}", made.as_str().unwrap())).await.expect(204);
    }
    drop(readers);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_untracked_property_is_gone() {
    let pair = Pair::start().await;
    let owner = pair.here.actor("owner").await;
    let there = pair.there(&owner);
    let property = owner.property("northmoor").await;
    let tracked: Vec<Value> = owner.listed("/api/properties").await.iter().map(|entry| entry["id"].clone()).collect();
    let others: Vec<&Value> = tracked.iter().filter(|id| **id != property).collect();
    let (path, tracking) = (annotations(&property), "/api/properties/tracking");
    let readers = load(&there, &path);
    for round in 0..ROUNDS {
        there.get(&path).await.expect(200);
        owner.put(tracking, &json!({ "propertyIds": others })).await.expect(200);
        assert_eq!(there.get(&path).await.status, 404, "round {round}");
        owner.put(tracking, &json!({ "propertyIds": tracked })).await.expect(200);
    }
    drop(readers);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lapsed_plan_opens_nothing() {
    let pair = Pair::start().await;
    let owner = pair.here.actor("owner").await;
    let there = pair.there(&owner);
    let path = annotations(&owner.property("northmoor").await);
    let set = async |plan| {
        subscriptions::set(&pair.here.service.db, "owner@demo.test", plan, start_of_test()).await.unwrap();
    };
    set(Plan::Pro).await;
    let readers = load(&there, &path);
    for round in 0..ROUNDS {
        there.get(&path).await.expect(200);
        set(Plan::None).await;
        assert_eq!(there.get(&path).await.status, 402, "round {round}");
        set(Plan::Pro).await;
    }
    drop(readers);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_application_opens_nothing() {
    let issuer = TestApp::start(|_| {}).await;
    let here = with_issuer(&issuer).await;
    let there = here.beside().await;
    let pair = Pair { here, there };
    let token = issuer.actor("owner").await;
    let here = Actor::with_token(&pair.here.service.base_url, token.token());
    let there = pair.there(&here);
    let browser = Browser::signed_in(&pair.here, "owner").await;
    here.get("/api/tags").await.expect(200);
    section_with(&browser, "sightline-cli").await;
    let readers = load(&there, "/api/tags");
    for round in 0..ROUNDS {
        there.get("/api/tags").await.expect(200);
        let form = [("client_id", "sightline-cli")];
        browser.post("/account/applications/revoke", &form).await.leads_to("/account?done=application-revoked");
        assert_eq!(there.get("/api/tags").await.status, 401, "round {round}");
        browser.post("/account/applications/allow", &form).await.leads_to("/account?done=application-allowed");
    }
    drop(readers);
}

/// Conditions that depend on time are checked at each request, cached or not.
#[tokio::test]
async fn what_time_ends_ends() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    let end = start_of_test() + TimeDelta::minutes(10);
    let trial = Wanted { plan: Plan::Pro, state: PlanState::Trialing, until: Some(end) };
    subscriptions::set(&app.service.db, "demo-owner", trial, start_of_test()).await.unwrap();
    let link = json!({ "expiresAt": end - TimeDelta::minutes(5) });
    let link = owner.post(&format!("/api/properties/{property}/share-links"), &link).await.expect(201);
    let shared = format!("/api/share/{}/performance", link.json["data"]["token"].as_str().unwrap());
    let ask = async || -> [u16; 2] {
        let answers: [Answer; 2] = [app.anonymous().get(&shared).await, owner.get(&annotations(&property)).await];
        answers.map(|answer| answer.status.as_u16())
    };
    assert_eq!([ask().await, ask().await], [[200, 200]; 2]);
    app.hand.advance(TimeDelta::minutes(5));
    assert_eq!(ask().await, [404, 200]);
    app.hand.advance(TimeDelta::minutes(5));
    assert_eq!(ask().await, [404, 402]);
}
