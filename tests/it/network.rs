//! Tests of the demo person `network`, who has the sites of `simulator.sites`.

use std::collections::{BTreeMap, BTreeSet};

use common::random::Random;
use sea_orm::{ConnectionTrait as _, Statement};
use serde_json::Value;
use sightline::{
    app::http_client,
    cli::remote::login::{EVERYTHING, login},
};
use simulator::{SearchType, Site, Standing};
use tempfile::TempDir;

use crate::support::{
    actor::Actor,
    app::{TestApp, shared},
    browser::Browser,
    oracle::{Count, Sum, Truth, all},
};

const WINDOW: [(&str, &str); 2] = [("startDate", "2026-10-05"), ("endDate", "2026-10-11")];

/// An app whose agency plan has a quota of two.
async fn start(sites: u32, folder: Option<&TempDir>) -> TestApp {
    TestApp::start(|config| {
        config.simulator.sites = sites;
        config.plans.agency.tracked_properties = 2;
        if let Some(folder) = folder {
            config.database.url = None;
            config.data_dir = folder.path().display().to_string();
        }
    })
    .await
}

async fn tracking(actor: &Actor) -> Value {
    actor.get("/api/properties/tracking").await.expect(200).json["data"].clone()
}

#[tokio::test]
async fn the_person_has_all_sites_tracked_on_the_agency_plan() {
    let app = start(30, None).await;
    let actor = app.actor("network").await;
    let plan = actor.get("/api/billing/summary").await.expect(200).json["data"].clone();
    assert_eq!((&plan["plan"]["key"], &plan["status"]), (&"agency".into(), &"active".into()), "{plan}");
    let tracking = tracking(&actor).await;
    assert_eq!((tracking["used"].as_u64(), tracking["quota"].as_u64()), (Some(29), Some(30)));
    let listed: BTreeMap<String, String> = actor
        .listed("/api/properties")
        .await
        .iter()
        .map(|entry| ["siteUrl", "id"].map(|name| entry[name].as_str().unwrap().to_owned()).into())
        .collect();
    let world = app.simulator().world();
    let known = world.network().filter(|site| site.standing() != Standing::Unverified);
    assert!(listed.keys().map(String::as_str).eq(known.map(Site::url).collect::<BTreeSet<_>>()));

    let ask = async |site: &str| actor.ask(&format!("/api/properties/{}/performance", listed[site]), &WINDOW).await;
    let refused = world.network().find(|site| site.standing() == Standing::Refused).unwrap();
    assert_eq!(ask(refused.url()).await.expect(409).code(), "search_site_refused");
    let covered = world.network().find(|site| site.covered_by().is_some()).unwrap();
    let mut sums = Vec::new();
    for url in [covered.url(), covered.covered_by().unwrap()] {
        let truth = Truth::of(world.site(url).unwrap(), SearchType::Web, WINDOW[0].1, WINDOW[1].1);
        let said = Sum::said(&ask(url).await.expect(200).json["data"]["totals"]);
        assert_eq!(said, truth.total(Count::ByProperty, &all), "{url}");
        sums.push(said.impressions);
    }
    assert!(0 < sums[0] && sums[0] < sums[1], "{sums:?}");
    let other = app.actor("owner").await;
    assert_eq!(other.listed("/api/properties").await.len(), 4, "the others keep theirs");
}

/// The number of properties of all people that are tracked and not lost.
async fn tracked(app: &TestApp) -> i64 {
    let db = &app.service.db;
    let sql = "SELECT COUNT(*) AS count FROM property WHERE tracked AND lost_at IS NULL";
    let row = db.query_one_raw(Statement::from_string(db.get_database_backend(), sql)).await.unwrap().unwrap();
    row.try_get("", "count").unwrap()
}

#[tokio::test]
async fn a_later_start_adds_sites_and_removes_none() {
    let folder = TempDir::new().unwrap();
    let count = async |sites: u32| {
        let app = start(sites, Some(&folder)).await;
        let count = tracked(&app).await;
        Box::pin(app.service.shutdown()).await;
        count
    };
    let others = count(0).await;
    assert_eq!(count(5).await, others + 5);

    let app = start(5, Some(&folder)).await;
    let network = app.actor("network").await;
    let first = tracking(&network).await["properties"][0]["id"].clone();
    let chosen = serde_json::json!({ "propertyIds": [first] });
    network.put("/api/properties/tracking", &chosen).await.expect(200);
    app.service.shutdown().await;
    for sites in [5, 12, 3, 0] {
        let added = if sites == 5 { 0 } else { 7 };
        assert_eq!(count(sites).await, others + 1 + added, "{sites}");
    }
}

#[tokio::test]
async fn without_sites_there_is_no_such_person() {
    let app = start(1, None).await;
    for (app, is_there) in [(&app, true), (shared(), false)] {
        assert_eq!(sign_in_page(app).await.contains("network@demo.test"), is_there);
        let base_url = &app.service.base_url;
        let login = login(base_url, "network", EVERYTHING, http_client().unwrap(), &Random::system()).await;
        assert_eq!(login.is_ok(), is_there);
    }
}

async fn sign_in_page(app: &TestApp) -> String {
    let browser = Browser::new(&app.service.base_url);
    let mut page = browser.get("/auth/login?return_to=/account").await;
    while page.status == 303 {
        page = browser.get(&page.location).await;
    }
    assert!(page.html.contains("owner@demo.test"), "{page:?}");
    page.html
}
