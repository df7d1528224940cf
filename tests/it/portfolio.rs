//! Tests of the property list's filters and order, and of sums over properties.

use chrono::TimeDelta;
use poem::http::Method;
use serde_json::{Value, json};
use simulator::{Endpoint, Fault, FaultKind, SearchType, Site, Standing};

use crate::{
    analytics::performance::site,
    support::{
        actor::{Actor, Answer},
        app::{TestApp, shared},
        oracle::{Count, Sum, Truth},
    },
};

/// The default window in test apps, and the days before it.
const WINDOW: (&str, &str) = ("2026-10-22", "2026-11-18");
const BEFORE: (&str, &str) = ("2026-09-24", "2026-10-21");

fn column<'a>(rows: &'a Value, name: &str) -> Vec<&'a str> {
    rows.as_array().unwrap().iter().map(|row| row[name].as_str().unwrap()).collect()
}

async fn listed(actor: &Actor, query: &[(&str, &str)]) -> Answer {
    actor.ask("/api/properties", query).await.expect(200)
}

async fn names(actor: &Actor, query: &[(&str, &str)]) -> Vec<String> {
    column(&listed(actor, query).await.json["data"], "name").into_iter().map(str::to_owned).collect()
}

async fn portfolio(actor: &Actor, query: &[(&str, &str)]) -> Value {
    actor.ask("/api/portfolio", query).await.expect(200).json
}

/// The true sum of a site over a window.
fn truth(url: &str, (start, end): (&str, &str)) -> Sum {
    Truth::of(site(url), SearchType::Web, start, end).total(Count::ByProperty, &|_| true)
}

fn summed(urls: &[&str], window: (&str, &str)) -> Sum {
    urls.iter().fold(Sum::default(), |sum, url| sum.plus(truth(url, window)))
}

async fn tagged(owner: &Actor, name: &str, properties: &[&String]) -> String {
    let id = owner.made("/api/tags", &json!({ "name": name })).await;
    owner.post(&format!("/api/tags/{id}/properties"), &json!({ "propertyIds": properties })).await.expect(200);
    id
}

#[tokio::test]
async fn the_list_is_filtered_and_sorted() {
    let app = TestApp::start(|_| {}).await;
    let (owner, viewer) = (app.actor("owner").await, app.actor("viewer").await);
    let all = names(&owner, &[]).await;
    let [first, second] = [owner.property(&all[0]).await, owner.property(&all[1]).await];
    let tag = tagged(&owner, "Shops", &[&first, &second]).await;
    owner.put(&format!("/api/properties/{second}/favorite"), &json!({ "favorite": true })).await.expect(200);
    owner.put(&format!("/api/properties/{first}/hidden"), &json!({ "hidden": true })).await.expect(200);

    assert_eq!(names(&owner, &[("tag", &tag), ("sort", "name")]).await, all[..2]);
    viewer.ask("/api/properties", &[("tag", &tag)]).await.expect(404);
    assert_eq!(names(&owner, &[("favorite", "true")]).await, all[1..2]);
    assert_eq!(names(&owner, &[("favorite", "false"), ("tag", &tag)]).await, all[..1]);
    assert_eq!(names(&owner, &[("hidden", "true")]).await, all[..1]);
    assert_eq!(names(&owner, &[("hidden", "false"), ("sort", "name")]).await, all[1..]);
    assert_eq!(names(&owner, &[("role", "owner")]).await.len(), all.len());
    assert!(names(&owner, &[("role", "viewer")]).await.is_empty());
    assert_eq!(names(&owner, &[]).await[0], all[1], "favourites come first without an order");
    assert_eq!(names(&owner, &[("sort", "name")]).await, all);
    assert_eq!(names(&owner, &[("sort", "-name")]).await, all.iter().rev().cloned().collect::<Vec<_>>());

    for (sort, path) in [
        ("clicks", "/current/clicks"),
        ("-impressions", "/current/impressions"),
        ("position", "/current/position"),
        ("change.clicks", "/change/clicks/absolute"),
        ("-change.clicks.percent", "/change/clicks/percent"),
        ("change.position", "/change/position/absolute"),
    ] {
        let rows = listed(&owner, &[("sort", sort)]).await.json["data"].clone();
        let values: Vec<f64> = rows
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["headline"].pointer(path).unwrap().as_f64().unwrap())
            .collect();
        let sorted = |descending: bool| values.is_sorted_by(|a, b| if descending { a >= b } else { a <= b });
        assert!(values.len() == all.len() && sorted(sort.starts_with('-')), "{sort}: {values:?}");
        let page = listed(&owner, &[("sort", sort), ("limit", "2"), ("offset", "1")]).await.json;
        assert_eq!(page["data"].as_array().unwrap(), &rows.as_array().unwrap()[1..3], "{sort}");
        assert_eq!((&page["meta"]["total"], &page["meta"]["hasMore"]), (&json!(all.len()), &json!(true)));
    }
    for (query, hint) in [
        ([("sort", "clicks"), ("headline", "false")], "sort: needs headlines"),
        ([("sort", "size"), ("days", "7")], "sort: must be name, clicks"),
        ([("tag", "shops"), ("days", "7")], "tag: must be a UUID"),
    ] {
        let refused = owner.ask("/api/properties", &query).await.expect(400);
        assert!(refused.hint().starts_with(hint), "{}", refused.hint());
    }
}

#[tokio::test]
async fn a_list_asks_once_per_site_and_the_dashboard_has_its_days() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let asked = || app.simulator().controls().requests(Endpoint::Query);
    let before = asked();
    let without = listed(&owner, &[("headline", "false")]).await.json;
    assert_eq!((asked(), without["meta"].get("progress"), without["data"][0].get("headline")), (before, None, None));
    let rows = listed(&owner, &[("series", "true")]).await.json;
    let sites = rows["data"].as_array().unwrap().len();
    assert_eq!(asked() - before, sites as u64, "one request for each site");
    assert_eq!(
        rows["meta"]["progress"],
        json!({ "read": sites, "stillReading": 0, "refused": 0, "locked": 0, "disconnected": 0 })
    );
    for row in rows["data"].as_array().unwrap() {
        let (headline, url) = (&row["headline"], row["siteUrl"].as_str().unwrap());
        assert_eq!(Sum::said(&headline["current"]), truth(url, WINDOW), "{url}");
        assert_eq!(Sum::said(&headline["previous"]), truth(url, BEFORE), "{url}");
        let series = headline["series"].as_array().unwrap();
        assert_eq!((series.len(), &series[0]["date"], &series[27]["date"]), (28, &json!(WINDOW.0), &json!(WINDOW.1)));
        let days = series.iter().map(Sum::said).fold(Sum::default(), Sum::plus);
        assert_eq!(days, truth(url, WINDOW), "{url}");
        assert_eq!(headline["cachedAt"], "2026-11-21T12:00:00.000Z");
    }
    let before = asked();
    for query in [[("days", "7"), ("sort", "-clicks")], [("days", "28"), ("series", "true")]] {
        listed(&owner, &query).await;
    }
    portfolio(&owner, &[]).await;
    assert_eq!(asked(), before, "shorter headlines and sums come from the same days");
    let path = format!("/api/properties/{}/performance", owner.property("northmoor").await);
    let query = [("compare", "previous_period"), ("scope", "all")];
    let first = owner.ask(&path, &query).await.expect(200).json;
    app.hand.advance(TimeDelta::minutes(61));
    let owner = app.actor("owner").await;
    let before = asked();
    assert_eq!(owner.ask(&path, &query).await.expect(200).json["data"], first["data"]);
    // The request for the site's recent days is made in the background.
    while asked() == before {
        tokio::task::yield_now().await;
    }
    owner.ask(&path, &query).await.expect(200);
    assert_eq!(asked() - before, 1, "only the recent days are read again");
}

#[tokio::test]
async fn one_request_for_the_days_of_a_site_says_what_three_say() {
    let app = TestApp::start(|config| config.simulator.sites = 40).await;
    let mut compared = 0;
    for person in ["owner", "network"] {
        let actor = app.actor(person).await;
        let rows = listed(&actor, &[("series", "true")]).await.json["data"].clone();
        for row in rows.as_array().unwrap().iter().filter(|row| row["access"] == "ok") {
            let (headline, url) = (&row["headline"], row["siteUrl"].as_str().unwrap());
            let path = format!("/api/properties/{}/performance", row["id"].as_str().unwrap());
            let own = actor.ask(&path, &[("compare", "previous_period"), ("scope", "series")]).await.expect(200).json;
            assert_eq!(headline["window"], own["meta"]["window"], "{url}");
            let mut totals = headline["current"].clone();
            for name in ["previous", "change"] {
                totals[name] = headline[name].clone();
            }
            assert_eq!(totals, own["data"]["totals"], "{url}");
            let days = |series: &Value| series.as_array().unwrap().iter().map(Sum::said).collect::<Vec<_>>();
            assert_eq!(days(&headline["series"]), days(&own["data"]["series"]), "{url}");
            compared += 1;
        }
    }
    assert!(compared > 35, "{compared}");
}

#[tokio::test]
async fn a_portfolio_is_the_sum_of_the_properties_that_the_filter_leaves() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let rows = listed(&owner, &[]).await.json["data"].clone();
    let urls = column(&rows, "siteUrl");
    let [first, second] = [rows[0]["id"].as_str().unwrap().to_owned(), rows[1]["id"].as_str().unwrap().to_owned()];
    let tag = tagged(&owner, "Shops", &[&first, &second]).await;

    let all = portfolio(&owner, &[]).await;
    assert_eq!(Sum::said(&all["data"]["totals"]), summed(&urls, WINDOW));
    assert_eq!(Sum::said(&all["data"]["previous"]), summed(&urls, BEFORE));
    let series = all["data"]["series"].as_array().unwrap().iter().map(Sum::said).fold(Sum::default(), Sum::plus);
    assert_eq!(series, summed(&urls, WINDOW));
    assert_eq!(all["meta"]["window"], json!({ "startDate": WINDOW.0, "endDate": WINDOW.1 }));
    assert_eq!(all["meta"]["compareWindow"], json!({ "startDate": BEFORE.0, "endDate": BEFORE.1 }));
    let coverage = &all["meta"]["coverage"];
    assert_eq!((&coverage["inSum"], &coverage["clicksShare"]), (&json!(urls.len()), &json!(1.0)));
    let shops = &all["data"]["tags"][0];
    assert_eq!((&shops["tagId"], &shops["name"], &shops["properties"]), (&json!(tag), &json!("Shops"), &json!(2)));
    assert_eq!(Sum::said(&shops["current"]), summed(&urls[..2], WINDOW));
    let movers = |side: &str| all["data"]["movers"][side].as_array().unwrap().clone();
    let change = |row: &Value| row["change"]["clicks"]["absolute"].as_i64().unwrap();
    assert!(movers("up").iter().all(|row| change(row) > 0) && movers("down").iter().all(|row| change(row) < 0));
    assert!(movers("up").is_sorted_by_key(|row| -change(row)) && movers("down").is_sorted_by_key(change));
    let total: i64 = movers("up").iter().chain(&movers("down")).map(change).sum();
    assert_eq!(json!(total), all["data"]["change"]["clicks"]["absolute"]);

    let tagged = portfolio(&owner, &[("tag", &tag), ("days", "7")]).await;
    assert_eq!(Sum::said(&tagged["data"]["totals"]), summed(&urls[..2], ("2026-11-12", "2026-11-18")));
    let year = portfolio(&owner, &[("compare", "previous_year"), ("movers", "1"), ("series", "false")]).await;
    assert_eq!(Sum::said(&year["data"]["previous"]), summed(&urls, ("2025-10-22", "2025-11-18")));
    assert_eq!((&year["data"]["series"], &year["data"]["previousSeries"]), (&Value::Null, &Value::Null));
    assert!(column(&year["data"]["movers"]["up"], "id").len() <= 1);

    owner.put(&format!("/api/properties/{first}/hidden"), &json!({ "hidden": true })).await.expect(200);
    let shown = portfolio(&owner, &[]).await;
    assert_eq!(Sum::said(&shown["data"]["totals"]), summed(&urls[1..], WINDOW));
    assert_eq!(shown["meta"]["coverage"]["hidden"], 1);

    let longest = portfolio(&owner, &[("days", "240")]).await;
    assert_eq!(longest["meta"]["compareWindow"], json!({ "startDate": "2025-07-27", "endDate": "2026-03-23" }));
    for (query, hint) in [
        ([("days", "241"), ("compare", "previous_period")], "days: must be a whole number from 1 to 240"),
        ([("days", "200"), ("compare", "previous_year")], "compare: the window would begin on 2025-05-03, and"),
        (
            [("days", "28"), ("compare", "previous_calendar_period")],
            "compare: previous_calendar_period needs a window of whole months, quarters or years, and 2026-10-22 to 2026-11-18 is",
        ),
    ] {
        let refused = owner.ask("/api/portfolio", &query).await.expect(400);
        assert!(refused.hint().starts_with(hint), "{}", refused.hint());
    }
    app.anonymous().get("/api/portfolio").await.expect(401);
}

#[tokio::test]
async fn what_cannot_be_read_is_counted_without_its_clicks() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let faults = vec![Fault { kind: FaultKind::Permission403, rate: 1.0 }];
    app.simulator().controls().set_faults(faults);
    let refused = portfolio(&owner, &[]).await;
    let coverage = &refused["meta"]["coverage"];
    assert_eq!(
        (&coverage["inSum"], &coverage["refused"], &coverage["clicksShare"]),
        (&json!(0), &json!(4), &Value::Null)
    );
    let entries = listed(&owner, &[]).await.json["data"].clone();
    assert!(column(&entries, "access").iter().all(|access| *access == "lost"));
    assert!(column(&entries, "hint").iter().all(|hint| hint.contains("Give the account access there, then sync")));
    // A member cannot mend it, and reads who can.
    let viewer = app.actor("viewer").await;
    let entry = listed(&viewer, &[]).await.json["data"][0].clone();
    assert_eq!((&entry["access"], &entry["ownerEmail"]), (&json!("lost"), &json!("owner@demo.test")));
    assert!(entry["hint"].as_str().unwrap().starts_with("The owner of the property, "), "{entry}");
    viewer.get(&format!("/api/properties/{}/performance", entry["id"].as_str().unwrap())).await.expect(404);
    let lapsed = portfolio(&app.actor("lapsed").await, &[]).await;
    assert_eq!(lapsed["meta"]["coverage"]["locked"], 1);
}

#[tokio::test]
async fn a_list_answers_while_sites_are_read_and_the_next_one_has_more() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let favourite = owner.property("tinyfern").await;
    owner.put(&format!("/api/properties/{favourite}/favorite"), &json!({ "favorite": true })).await.expect(200);
    app.hand.advance(TimeDelta::hours(7));
    let owner = app.actor("owner").await;
    app.simulator().controls().set_faults(vec![Fault { kind: FaultKind::Slow, rate: 1.0 }]);
    let first = listed(&owner, &[]).await.json;
    let progress = json!({ "read": 0, "stillReading": 4, "refused": 0, "locked": 0, "disconnected": 0 });
    assert_eq!(first["meta"]["progress"], progress);
    assert_eq!(first["data"][0]["access"], "still_reading");
    assert_eq!(portfolio(&owner, &[]).await["meta"]["coverage"]["stillReading"], 4);
    assert_eq!(
        owner.send(Method::GET, "/api/properties?headline=false", None, &[]).await.json["data"][0]["access"],
        "ok"
    );
}

#[tokio::test]
async fn the_owner_of_a_property_is_named_to_members_alone() {
    let owner = listed(&shared().actor("owner").await, &[]).await.json;
    assert!(owner["data"].as_array().unwrap().iter().all(|row| row.get("ownerName").is_none()));
    let editor = listed(&shared().actor("editor").await, &[]).await.json;
    assert!(column(&editor["data"], "ownerEmail").iter().all(|email| *email == "owner@demo.test"));
    assert!(editor["data"].as_array().unwrap().iter().all(|row| row["ownerName"].is_string()));
}

/// The sum of these sites, without those that another of them covers.
fn counted_once(app: &TestApp, urls: &[&str], (start, end): (&str, &str)) -> Sum {
    let world = app.simulator().world();
    let counted = urls.iter().map(|url| world.site(url).unwrap());
    let counted = counted.filter(|site| site.covered_by().is_none_or(|wide| !urls.contains(&wide)));
    let truth = |site: &Site| Truth::of(site, SearchType::Web, start, end).total(Count::ByProperty, &|_| true);
    counted.map(truth).fold(Sum::default(), Sum::plus)
}

#[tokio::test]
async fn properties_that_cover_one_another_are_counted_once_under_every_filter() {
    let app = TestApp::start(|config| config.simulator.sites = 40).await;
    let network = app.actor("network").await;
    let listed = listed(&network, &[]).await.json["data"].as_array().unwrap().clone();
    let world = app.simulator().world();
    let readable: Vec<(&str, &str)> = listed
        .iter()
        .map(|row| (row["siteUrl"].as_str().unwrap(), row["id"].as_str().unwrap()))
        .filter(|(url, _)| world.site(url).unwrap().standing() != Standing::Refused)
        .collect();
    let is_covering =
        |url: &str| readable.iter().any(|(other, _)| world.site(other).unwrap().covered_by() == Some(url));
    let (week, before) = (("2026-11-12", "2026-11-18"), ("2026-11-05", "2026-11-11"));
    let mut overlapping = 0;
    for draw in 0..6 {
        let is_drawn = |(at, (url, _)): &(usize, &(&str, &str))| match draw {
            0 => true,
            1 => !is_covering(url),
            _ => (at * 7 + draw * 3) % 5 < 3 || is_covering(url),
        };
        let drawn: Vec<(&str, &str)> = readable.iter().enumerate().filter(is_drawn).map(|(_, one)| *one).collect();
        let (urls, ids): (Vec<&str>, Vec<String>) = drawn.iter().map(|(url, id)| (*url, (*id).to_owned())).unzip();
        let tag = tagged(&network, &format!("draw {draw}"), &ids.iter().collect::<Vec<_>>()).await;
        let found = portfolio(&network, &[("tag", &tag), ("days", "7")]).await;
        assert_eq!(Sum::said(&found["data"]["totals"]), counted_once(&app, &urls, week), "{draw}");
        assert_eq!(Sum::said(&found["data"]["previous"]), counted_once(&app, &urls, before), "{draw}");
        let overlaps = found["meta"]["overlaps"].as_array().unwrap();
        let coverage = &found["meta"]["coverage"];
        assert_eq!(coverage["covered"], overlaps.len());
        assert_eq!(coverage["inSum"], urls.len() - overlaps.len());
        assert!(overlaps.iter().all(|one| ids.contains(&one["coveredBy"].as_str().unwrap().to_owned())));
        let sum = found["data"]["tags"].as_array().unwrap().iter().find(|sum| sum["tagId"] == tag).unwrap();
        assert_eq!(sum["current"], found["data"]["totals"], "the sum of the tag");
        overlapping += overlaps.len();
    }
    assert!(overlapping > 0);
    let all = portfolio(&network, &[("days", "7")]).await;
    assert_eq!(all["meta"]["coverage"]["refused"], listed.len() - readable.len());
}

#[tokio::test]
async fn a_long_list_is_true_while_it_is_read() {
    let app = TestApp::start(|config| {
        config.simulator.sites = 80;
        config.simulator.latency_ms = 200;
        config.search_engine.bucket = 30;
        config.search_engine.refill_per_second = 12;
    })
    .await;
    let network = app.actor("network").await;
    let asked = || app.simulator().controls().requests(Endpoint::Query);
    let before = asked();
    let mut seen = Vec::new();
    let refused = loop {
        let list = listed(&network, &[]).await.json;
        let access = column(&list["data"], "access");
        assert!(access.iter().all(|access| ["ok", "lost", "still_reading"].contains(access)), "{access:?}");
        let count = |name: &str| list["meta"]["progress"][name].as_u64().unwrap();
        assert_eq!(count("read"), access.iter().filter(|access| **access == "ok").count() as u64);
        seen.push(count("read"));
        if count("stillReading") == 0 {
            assert_eq!(asked() - before, count("read") + count("refused"), "one request for each site");
            break count("refused");
        }
    };
    assert!(seen.len() > 1 && seen[0] > 0 && seen.is_sorted(), "{seen:?}");
    let before = asked();
    app.hand.advance(TimeDelta::minutes(59));
    listed(&app.actor("network").await, &[]).await;
    assert_eq!(asked() - before, refused, "refused sites alone are asked about again");
}
