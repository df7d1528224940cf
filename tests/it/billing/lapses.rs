//! Tests of subscriptions that change with time: trials, cancelled plans, days of grace, and smaller plans. Nothing is deleted.

use chrono::TimeDelta;
use entity::user::{Plan, PlanState};
use serde_json::{Value, json};

use super::{in_days, set, summary, text};
use crate::{
    account::external::with_issuer,
    support::{
        actor::{Actor, Answer},
        app::TestApp,
    },
};

/// The owner's records on a property, and a public link to it.
struct Kept {
    notes: String,
    link: String,
}

impl Kept {
    /// Writes a note and makes a share link.
    async fn by(owner: &Actor) -> Self {
        let property = owner.property("northmoor").await;
        let notes = format!("/api/properties/{property}/annotations");
        owner.made(&notes, &json!({ "date": "2026-11-01", "text": "kept" })).await;
        let made = owner.post(&format!("/api/properties/{property}/share-links"), &json!({})).await.expect(201);
        let link = format!("/api/share/{}/performance", made.json["data"]["token"].as_str().unwrap());
        Self { notes, link }
    }

    /// Moves the clock to `days` after the start of the test, having been at `since`. Then the owner signs in again, because tokens
    /// last for an hour, and finds the property open or locked, and its link too. Returns the summary.
    async fn after(&self, app: &TestApp, since: &mut TimeDelta, days: TimeDelta, open: bool) -> Value {
        app.hand.advance(days - *since);
        *since = days;
        let owner = app.actor("owner").await;
        let said = summary(&owner).await;
        let (read, shared) = if open { (200, 200) } else { (402, 404) };
        let answer = owner.get(&self.notes).await.expect(read);
        assert_eq!(answer.code(), if open { "" } else { "subscription_required" });
        app.anonymous().get(&self.link).await.expect(shared);
        let access: Vec<Value> = owner.listed("/api/properties").await.iter().map(|p| p["access"].clone()).collect();
        assert_eq!(access, vec![json!(if open { "ok" } else { "subscription_required" }); 4], "{said}");
        said
    }

    /// Everything is there again once the owner has subscribed again.
    async fn is_kept(&self, app: &TestApp) {
        set(app, Plan::Pro, PlanState::Active, None).await;
        let owner = app.actor("owner").await;
        let notes: Vec<Value> = owner.listed(&self.notes).await.iter().map(|note| note["text"].clone()).collect();
        assert_eq!(notes, ["kept"]);
        app.anonymous().get(&self.link).await.expect(200);
    }
}

const SECOND: TimeDelta = TimeDelta::seconds(1);

#[tokio::test]
async fn a_cancelled_plan_ends_with_its_period() {
    let app = TestApp::start(|_| {}).await;
    let kept = Kept::by(&app.actor("owner").await).await;
    set(&app, Plan::Agency, PlanState::Active, Some(in_days(30))).await;
    set(&app, Plan::Agency, PlanState::Cancelled, None).await;
    let (mut now, end) = (TimeDelta::zero(), TimeDelta::days(30));
    for time in [TimeDelta::zero(), end - SECOND] {
        let said = kept.after(&app, &mut now, time, true).await;
        assert_eq!((&said["status"], &said["plan"]["key"]), (&json!("cancelled"), &json!("agency")));
        assert_eq!((&said["accessEndsAt"], &said["period"]["endsAt"]), (&text(in_days(30)), &text(in_days(30))));
    }
    let said = kept.after(&app, &mut now, end, false).await;
    assert_eq!((&said["status"], said.get("plan"), said.get("period")), (&json!("none"), None, None));
    assert_eq!(said["accessEndsAt"], text(in_days(30)));
    assert_eq!(said["usage"]["trackedProperties"], json!({ "used": 4, "limit": 0 }));
    kept.is_kept(&app).await;
}

#[tokio::test]
async fn a_payment_that_fails_leaves_the_days_of_grace() {
    let app = TestApp::start(|config| config.billing.grace_days = 10).await;
    let kept = Kept::by(&app.actor("owner").await).await;
    set(&app, Plan::Pro, PlanState::PastDue, None).await;
    let (mut now, end) = (TimeDelta::zero(), TimeDelta::days(10));
    for time in [TimeDelta::zero(), end - SECOND] {
        let said = kept.after(&app, &mut now, time, true).await;
        assert_eq!((&said["status"], &said["plan"]["key"]), (&json!("past_due"), &json!("pro")));
        assert_eq!((&said["accessEndsAt"], &said["period"]["endsAt"]), (&text(in_days(10)), &text(in_days(0))));
    }
    let said = kept.after(&app, &mut now, end, false).await;
    assert_eq!((&said["status"], &said["accessEndsAt"]), (&json!("none"), &text(in_days(10))));
    kept.is_kept(&app).await;
}

#[tokio::test]
async fn a_period_that_nobody_renews_ends_after_the_days_of_grace() {
    let app = TestApp::start(|_| {}).await;
    let kept = Kept::by(&app.actor("owner").await).await;
    set(&app, Plan::Pro, PlanState::Active, Some(in_days(30))).await;
    let mut now = TimeDelta::zero();
    for (time, status, ends_at) in [
        (TimeDelta::zero(), "active", None),
        (TimeDelta::days(30) - SECOND, "active", None),
        (TimeDelta::days(30), "past_due", Some(text(in_days(44)))),
        (TimeDelta::days(44) - SECOND, "past_due", Some(text(in_days(44)))),
    ] {
        let said = kept.after(&app, &mut now, time, true).await;
        assert_eq!((&said["status"], said.get("accessEndsAt")), (&json!(status), ends_at.as_ref()));
        assert_eq!(said["period"], json!({ "startsAt": text(in_days(0)), "endsAt": text(in_days(30)) }));
    }
    assert_eq!(kept.after(&app, &mut now, TimeDelta::days(44), false).await["status"], "none");
    kept.is_kept(&app).await;
}

#[tokio::test]
async fn a_trial_of_a_plan_ends() {
    let app = TestApp::start(|_| {}).await;
    let kept = Kept::by(&app.actor("owner").await).await;
    set(&app, Plan::Agency, PlanState::Trialing, Some(in_days(3))).await;
    let mut now = TimeDelta::zero();
    for time in [TimeDelta::zero(), TimeDelta::days(3) - SECOND] {
        let said = kept.after(&app, &mut now, time, true).await;
        assert_eq!((&said["status"], &said["plan"]["key"]), (&json!("trialing"), &json!("agency")));
        assert_eq!(said["period"], json!({ "startsAt": text(in_days(0)), "endsAt": text(in_days(3)) }));
        assert_eq!((&said["trialEndsAt"], &said["accessEndsAt"]), (&text(in_days(3)), &text(in_days(3))));
    }
    let said = kept.after(&app, &mut now, TimeDelta::days(3), false).await;
    assert_eq!((&said["status"], said.get("trialEndsAt")), (&json!("none"), None));
    kept.is_kept(&app).await;
}

/// At a service with another issuer, everybody is new.
#[tokio::test]
async fn a_new_person_has_a_trial_of_pro_for_two_weeks() {
    let issuer = TestApp::start(|_| {}).await;
    let app = with_issuer(&issuer).await;
    let at = async |days: TimeDelta| {
        for hand in [&issuer.hand, &app.hand] {
            hand.advance(days);
        }
        let token = issuer.actor("stranger").await;
        summary(&Actor::with_token(&app.service.base_url, token.token())).await
    };
    let said = at(TimeDelta::zero()).await;
    assert_eq!((&said["status"], &said["plan"]["key"]), (&json!("trialing"), &json!("pro")));
    assert_eq!((&said["trialEndsAt"], &said["period"]["startsAt"]), (&text(in_days(14)), &text(in_days(0))));
    assert_eq!(at(TimeDelta::days(14) - SECOND).await["status"], "trialing");
    let said = at(SECOND).await;
    assert_eq!((&said["status"], said.get("plan")), (&json!("none"), None));
    assert_eq!(said["features"]["shareLinks"], false);
}

/// The end of a plan changes no record.
#[tokio::test]
async fn a_lapse_by_time_alone_is_felt_at_once_by_everyone() {
    let app = TestApp::start(|config| config.billing.grace_days = 0).await;
    let (owner, editor) = (app.actor("owner").await, app.actor("editor").await);
    let property = editor.property("").await;
    let made = owner.post(&format!("/api/properties/{property}/share-links"), &json!({})).await.expect(201);
    let link = format!("/api/share/{}/performance", made.json["data"]["token"].as_str().unwrap());
    let path = format!("/api/properties/{property}/performance");
    let nobody = app.anonymous();
    let ask = async || -> [Answer; 3] { [owner.get(&path).await, editor.get(&path).await, nobody.get(&link).await] };
    let statuses = async || ask().await.map(|answer| answer.status.as_u16());
    for (state, wait) in [
        (PlanState::Cancelled, TimeDelta::minutes(10)),
        (PlanState::Active, TimeDelta::minutes(20)),
        (PlanState::Trialing, TimeDelta::minutes(30)),
    ] {
        set(&app, Plan::Pro, state, Some(in_days(0) + wait)).await;
        assert_eq!([statuses().await, statuses().await], [[200; 3]; 2], "{state:?}");
        for (seconds, expected) in [(599, [200; 3]), (1, [402, 402, 404])] {
            app.hand.advance(TimeDelta::seconds(seconds));
            assert_eq!([statuses().await, statuses().await], [expected; 2], "{state:?}");
        }
    }
}

#[tokio::test]
async fn a_larger_plan_and_a_smaller_one_change_limits_and_keep_records() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let kept = Kept::by(&owner).await;
    let tracked = owner.listed("/api/properties").await.len();
    let access = async || {
        let listed = owner.listed("/api/properties").await;
        listed.iter().filter(|property| property["access"] == "ok").count()
    };
    for (plan, limit, open, links) in
        [(Plan::Agency, 250, tracked, 100 * tracked), (Plan::Free, 1, 1, 0), (Plan::Pro, 25, 4, 100 * tracked)]
    {
        set(&app, plan, PlanState::Active, None).await;
        let said = summary(&owner).await;
        assert_eq!(said["plan"]["key"], plan.name());
        assert_eq!(said["usage"]["trackedProperties"], json!({ "used": tracked, "limit": limit }));
        assert_eq!(said["usage"]["shareLinks"], json!({ "used": 1, "limit": links }));
        assert_eq!((said["features"]["team"] == true, access().await), (links > 0, open));
    }
    kept.is_kept(&app).await;
}
