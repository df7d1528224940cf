//! Tests of a site that the account of a member reads while the property's own account is busy.

use std::time::Duration;

use serde_json::json;
use tokio::task::JoinSet;

use super::browser;
use crate::{
    metrics::{counted, waiting},
    support::{actor::Actor, app::TestApp},
};

/// Questions of several requests each, which take an account longer than anybody waits.
const MANY: u32 = 24;

/// Has the owner ask so much about a site that no other account sees that their account is busy for longer than anybody waits. Each round
/// asks about other days.
async fn busy(owner: &Actor, round: u32) -> JoinSet<()> {
    let path = format!("/api/properties/{}/performance", owner.property("harbourpost").await);
    let (mut asked, first) = (JoinSet::new(), chrono::NaiveDate::from_ymd_opt(2025, 8, 1).unwrap());
    for number in 0..MANY {
        let day = (first + chrono::Days::new(u64::from(round * MANY + number))).to_string();
        let (owner, path) = (owner.clone(), path.clone());
        asked.spawn(async move {
            owner.ask(&path, &[("startDate", &day), ("endDate", &day), ("scope", "all")]).await;
        });
    }
    asked
}

#[tokio::test]
async fn a_members_account_reads_for_the_owner_as_long_as_the_grant_lasts_and_a_strangers_never() {
    let app = TestApp::start(|config| {
        counted(config);
        config.rate_limit.enabled = false;
        config.search_engine.bucket = 60;
        config.search_engine.refill_per_second = 1;
        config.search_engine.max_in_flight = 1_000;
        config.search_engine.patience.deadline = Duration::from_secs(12);
    });
    let app = app.await;
    let (owner, member) = (app.actor("owner").await, app.actor("stranger").await);
    let site = owner.property("northmoor").await;
    let browser = browser(&app, "stranger").await;
    let path = browser.connect("agency").await.location;
    browser.shows(&path, "Track these properties").await;
    let by_agency = || app.simulator().controls().queries_by("agency");

    let mut round = 0;
    let mut read = async || {
        let asked = busy(&owner, round).await;
        while waiting(&app).await < 8.0 {}
        let day = format!("2026-09-{:02}", 1 + round);
        round += 1;
        let path = format!("/api/properties/{site}/performance");
        let window = [("startDate", day.as_str()), ("endDate", &day), ("scope", "all")];
        let answered = tokio::time::timeout(Duration::from_secs(40), owner.ask(&path, &window)).await.unwrap();
        drop(asked);
        answered.status.as_u16()
    };
    let before = by_agency();
    let named =
        json!({ "email": "stranger@demo.test", "role": "viewer", "allProperties": false, "propertyIds": [site] });
    let grant = owner.made("/api/team", &named).await;
    read().await;
    assert_eq!(by_agency(), before, "the account of a person who has not used the grant reads nothing");

    member.get(&format!("/api/properties/{site}/annotations")).await.expect(200);
    assert_eq!(read().await, 200);
    let with_grant = by_agency();
    assert!(with_grant > before, "the account with free quota reads");

    owner.delete(&format!("/api/team/{grant}")).await.expect(204);
    read().await;
    assert_eq!(
        by_agency(),
        with_grant,
        "nor does that of an unrelated person, as whom the grant was withdrawn from is now"
    );
}
