//! Tests of the catalogue, the summary and the feature flags.

mod lapses;
mod subscribe;
mod way_out;

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use entity::user::{Plan, PlanState};
use serde_json::{Value, json};
use sightline::services::users::subscriptions::{self, Wanted};

use crate::support::{
    actor::Actor,
    app::{TestApp, start_of_test},
};

/// A time in days after the start of the test.
fn in_days(days: i64) -> DateTime<Utc> {
    start_of_test() + TimeDelta::days(days)
}

/// A time as answers state it.
fn text(time: DateTime<Utc>) -> Value {
    json!(time.to_rfc3339_opts(SecondsFormat::Millis, true))
}

/// Sets the owner's subscription at the start of the test, or a day before an end that has passed by then.
async fn set(app: &TestApp, plan: Plan, state: PlanState, until: Option<DateTime<Utc>>) {
    let wanted = Wanted { plan, state, until };
    let passed = until.filter(|end| *end <= start_of_test());
    let now = passed.map_or(start_of_test(), |end| end - TimeDelta::days(1));
    subscriptions::set(&app.service.db, "demo-owner", wanted, now).await.unwrap();
}

/// The summary of the caller's subscription.
async fn summary(actor: &Actor) -> Value {
    actor.get("/api/billing/summary").await.expect(200).json["data"].clone()
}

#[tokio::test]
async fn the_catalogue_is_the_configuration() {
    let app = TestApp::start(|config| {
        config.plans.pro.name = "Studio".to_owned();
        config.plans.pro.prices = ["2900 EUR month", "3500 JPY year"].map(|price| price.parse().unwrap()).to_vec();
        (config.plans.free.tracked_properties, config.plans.free.share_links) = (3, true);
        config.plans.agency.per_minute = Some(700);
    })
    .await;
    let plans = app.anonymous().get("/api/billing/plans").await.expect(200).json["data"].clone();
    let column = |name: &str| plans.as_array().unwrap().iter().map(|plan| plan[name].clone()).collect::<Vec<_>>();
    assert_eq!(column("key"), ["free", "pro", "agency"]);
    assert_eq!(column("name"), ["Free", "Studio", "Agency"]);
    assert_eq!(column("trackedProperties"), [3, 25, 250]);
    let prices = json!([
        { "amountMinor": 2900, "currency": "EUR", "interval": "month" },
        { "amountMinor": 3500, "currency": "JPY", "interval": "year" }
    ]);
    assert_eq!(column("prices"), [json!([]), prices, json!([])]);
    assert_eq!(plans[0]["features"]["shareLinks"], true);
    assert_eq!((&plans[0]["features"]["team"], &plans[1]["features"]["team"]), (&json!(false), &json!(true)));
    assert_eq!(plans[2]["rateLimit"], json!({ "perMinute": 700, "burst": 120 }));
}

#[tokio::test]
async fn the_summary_counts_what_the_owner_uses() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    let links = format!("/api/properties/{property}/share-links");
    owner.made(&links, &json!({})).await;
    owner.made(&links, &json!({ "expiresAt": start_of_test() + TimeDelta::minutes(5) })).await;
    let revoked = owner.made(&links, &json!({})).await;
    owner.delete(&format!("{links}/{revoked}")).await.expect(204);

    let said = summary(&owner).await;
    assert_eq!((&said["status"], &said["plan"]["key"]), (&json!("active"), &json!("pro")));
    for absent in ["period", "accessEndsAt", "trialEndsAt"] {
        assert_eq!(said.get(absent), None);
    }
    let expected = json!({
        "trackedProperties": { "used": 4, "limit": 25 },
        "teamGrants": { "used": 2, "limit": 500 },
        "shareLinks": { "used": 2, "limit": 400 }
    });
    assert_eq!(said["usage"], expected);
    assert_eq!(said["subscribeUrl"], format!("{}/subscribe", app.service.base_url));
    app.hand.advance(TimeDelta::minutes(5));
    assert_eq!(summary(&owner).await["usage"]["shareLinks"]["used"], 1);
    // A member sees their own plan and usage, not the owner's.
    let viewers = summary(&app.actor("viewer").await).await;
    let expected = json!({
        "trackedProperties": { "used": 0, "limit": 1 },
        "teamGrants": { "used": 0, "limit": 0 },
        "shareLinks": { "used": 0, "limit": 0 }
    });
    assert_eq!((&viewers["plan"]["key"], &viewers["usage"]), (&json!("free"), &expected));
}

#[tokio::test]
async fn the_summary_counts_requests_as_the_headers_do() {
    let app = TestApp::start(|config| config.rate_limit.enabled = true).await;
    let owner = app.actor("owner").await;
    for _ in 0..3 {
        owner.get("/api").await.expect(200);
    }
    let answer = owner.get("/api/billing/summary").await.expect(200);
    let requests = &answer.json["data"]["usage"]["requests"];
    let header = |name: &str| answer.header(name).parse::<i64>().unwrap();
    assert_eq!((&requests["used"], &requests["limit"]), (&json!(4), &json!(header("x-ratelimit-limit"))));
    assert_eq!(header("x-ratelimit-remaining"), header("x-ratelimit-limit") - 4);
    let resets_at: DateTime<Utc> = requests["resetsAt"].as_str().unwrap().parse().unwrap();
    assert_eq!(resets_at.timestamp(), header("x-ratelimit-reset"));
}

#[tokio::test]
async fn without_billing_nothing_is_sold_and_everything_that_works_is_usable() {
    let app = TestApp::start(|config| config.billing.enabled = false).await;
    let (owner, lapsed) = (app.actor("owner").await, app.actor("lapsed").await);
    assert_eq!(app.anonymous().listed("/api/billing/plans").await, [] as [Value; 0]);
    for actor in [&owner, &lapsed] {
        let said = summary(actor).await;
        assert_eq!((&said["status"], said.get("plan"), said.get("period")), (&json!("not_required"), None, None));
        assert_eq!((&said["features"]["shareLinks"], &said["features"]["team"]), (&json!(true), &json!(true)));
        assert_eq!(said["usage"]["trackedProperties"].get("limit"), Some(&json!(null)));
        assert_eq!(said["usage"]["teamGrants"]["limit"], 500);
    }
    set(&app, Plan::Pro, PlanState::Cancelled, Some(in_days(-1))).await;
    let notes = format!("/api/properties/{}/annotations", owner.property("northmoor").await);
    owner.get(&notes).await.expect(200);
}

/// A flag is true only where the plan includes a feature and the operations behind it answer.
#[tokio::test]
async fn a_flag_is_true_only_for_what_works() {
    let app = TestApp::start(|_| {}).await;
    let (owner, viewer) = (app.actor("owner").await, app.actor("viewer").await);
    let property = owner.property("northmoor").await;
    let flags = async |actor: &Actor| actor.get("/api/feature-flags").await.expect(200).json["data"].clone();
    let own = flags(&owner).await;
    assert_eq!((&own["billing"], &own["idempotentWrites"]), (&json!(true), &json!(true)));
    let research = owner.get(&format!("/api/properties/{property}/keyword-research")).await.status.as_u16();
    assert_eq!(own["seoProviders"], research < 500, "keyword research answers {research}");
    let tools = app.anonymous().get("/mcp").await.status.as_u16();
    assert_eq!(own["mcp"], tools != 404, "the tool-protocol endpoint answers {tools}");
    assert_eq!((&own["shareLinks"], &own["team"]), (&json!(true), &json!(true)));

    let viewers = flags(&viewer).await;
    assert_eq!((&viewers["shareLinks"], &viewers["team"]), (&json!(false), &json!(false)));
    let invite = json!({ "email": "x@test.example", "role": "viewer", "allProperties": true });
    viewer.post("/api/team", &invite).await.expect(402);
    assert_eq!(summary(&owner).await["features"], pick(&own));
    set(&app, Plan::None, PlanState::Active, None).await;
    let none = flags(&owner).await;
    assert_eq!(pick(&none), json!({ "shareLinks": false, "team": false, "mcp": false, "seoProviders": false }));
}

/// The flags that are features of plans.
fn pick(flags: &Value) -> Value {
    let names = ["shareLinks", "team", "mcp", "seoProviders"];
    names.into_iter().map(|name| (name.to_owned(), flags[name].clone())).collect::<serde_json::Map<_, _>>().into()
}
