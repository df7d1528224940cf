//! Tests of sites that two accounts of a person list.

use serde_json::Value;

use super::{browser, sync};
use crate::support::{actor::Actor, app::TestApp};

/// The field that a whole form has.
const MARK: (&str, &str) = ("choice", "properties");

async fn permission(owner: &Actor, site: &str) -> (String, String) {
    let tracking = owner.get("/api/properties/tracking").await.expect(200).json;
    let own: Vec<Value> = tracking["data"]["properties"].as_array().unwrap().clone();
    let found: Vec<&Value> =
        own.iter().filter(|property| property["siteUrl"].as_str().unwrap().contains(site)).collect();
    assert_eq!(found.len(), 1, "one property per person and site");
    (found[0]["id"].as_str().unwrap().to_owned(), found[0]["permission"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn a_site_of_two_accounts_is_read_by_its_owners_account() {
    let app = TestApp::start(|_| {}).await;
    let (browser, owner) = (browser(&app, "owner").await, app.actor("owner").await);
    let (ledger, _) = permission(&owner, "ledgerline").await;
    assert_eq!(permission(&owner, "ledgerline").await.1, "full");
    let consent = browser.leave(&[]).await;
    assert!(consent.query().unwrap().contains("prompt=select_account"), "an additional account");
    let path = browser.get(&browser.consented(&consent, &[("login_hint", "agency")]).await).await.location;
    let page = browser.shows(&path, "Track these properties").await;
    page.expect(200, &["read with owner@demo.test", "oakandanvil"]);

    assert_eq!(
        permission(&owner, "ledgerline").await,
        (ledger.clone(), "owner".into()),
        "the agency's account owns it"
    );
    assert_eq!(permission(&owner, "northmoor").await.1, "owner", "the first account still owns this one");
    let read = async || owner.get(&format!("/api/properties/{ledger}/performance")).await;
    read().await.expect(200);
    let counts = sync(&owner).await.expect(200).json;
    let counts = ["added", "updated", "lost"].map(|name| counts["data"][name].as_u64().unwrap());
    assert_eq!(counts, [0, 0, 0], "a sync changes nothing twice");

    browser.post(&format!("{path}/disconnect"), &[]).await;
    assert_eq!(permission(&owner, "ledgerline").await, (ledger.clone(), "full".into()), "the other reads it again");
    read().await.expect(200);
    browser.get("/account").await.expect(200, &["agency@demo.test", "Disconnected"]);
}

/// The ticks of one account's page leave the properties of other accounts alone.
#[tokio::test]
async fn choosing_properties_of_one_account_keeps_other_accounts_tracked() {
    let app = TestApp::start(|config| config.plans.pro.tracked_properties = 5).await;
    let (browser, owner) = (browser(&app, "owner").await, app.actor("owner").await);
    let tracked = owner.listed("/api/properties").await.len();
    assert_eq!(tracked, 4);
    let path = browser.connect("stranger").await.location;
    let page = browser.shows(&path, "Track these properties").await;
    let ids: Vec<String> = page.ticks().into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids.len(), 1);
    browser.post(&format!("{path}/properties"), &[MARK, ("property", &ids[0])]).await;
    assert_eq!(owner.listed("/api/properties").await.len(), 5);
    for unreadable in [&[][..], &[("site", "nope")], &[MARK, ("site", "nope")], &[("property", ids[0].as_str())]] {
        browser.post(&format!("{path}/properties"), unreadable).await.expect(400, &["The form cannot be read"]);
    }
    assert_eq!(owner.listed("/api/properties").await.len(), 5, "nothing is lost by an unreadable form");
    browser.post(&format!("{path}/properties"), &[MARK]).await;
    assert_eq!(owner.listed("/api/properties").await.len(), 4);
}
