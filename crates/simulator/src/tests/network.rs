//! Tests of the sites of the account `network`.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::json;

use super::{Server, WORLD, body, date, rows, sums, today, whole};
use crate::{Cell, SearchType, Settings, Site, Standing, World};

const SITES: u32 = 205;

static NETWORK: LazyLock<World> = LazyLock::new(|| World::with_sites(7, today(), SITES));

fn sites() -> Vec<&'static Site> {
    NETWORK.network().collect()
}

/// Clicks, impressions and the position sum of a site in a window.
fn totals(site: &Site, start: &str, end: &str) -> [u64; 3] {
    let body = body(start, end, json!({})).to_string();
    sums(&serde_json::from_str(&NETWORK.answer(site.url(), &body, today()).unwrap()).unwrap())
}

#[test]
fn sites_have_unique_reserved_names_that_do_not_depend_on_their_number() {
    let urls = |world: &World| world.network().map(|site| site.url().to_owned()).collect::<Vec<_>>();
    let all = urls(&World::with_sites(7, today(), 10_000));
    assert_eq!(all.len(), 10_000);
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), 10_000);
    assert!(all.iter().all(|url| WORLD.site(url).is_none()), "a name of a site that every world has");
    for url in &all {
        let host = url.strip_prefix("sc-domain:").or_else(|| url.strip_prefix("https://")).unwrap();
        let ending = host.split('/').next().unwrap().rsplit('.').next();
        assert!(matches!(ending, Some("example" | "test")), "{url}");
    }
    assert_eq!(urls(&NETWORK), all[..SITES as usize]);
    assert_ne!(urls(&World::with_sites(8, today(), 5)), all[..5]);
    assert_eq!(World::with_sites(7, today(), 10_001).network().count(), 10_000);
}

#[test]
fn a_tenth_are_covered_and_a_few_cannot_be_read() {
    let count = |is: &dyn Fn(&Site) -> bool| sites().into_iter().filter(|site| is(site)).count();
    assert_eq!(count(&|_| true), 205);
    assert_eq!(count(&|site| site.covered_by().is_some()), 20);
    assert_eq!(count(&|site| site.standing() == Standing::Refused), 4);
    assert_eq!(count(&|site| site.standing() == Standing::Unverified), 3);
    for site in sites().into_iter().filter(|site| site.covered_by().is_some()) {
        let whole = NETWORK.site(site.covered_by().unwrap()).unwrap();
        assert!(whole.url().starts_with("sc-domain:") && site.url().starts_with("https://"));
        assert_eq!([site.standing(), whole.standing()], [Standing::Open; 2]);
    }
}

#[test]
fn a_covered_site_is_the_part_of_the_domain_below_its_url() {
    for site in sites().into_iter().filter(|site| site.covered_by().is_some()).take(6) {
        let whole = NETWORK.site(site.covered_by().unwrap()).unwrap();
        for search_type in SearchType::ALL {
            for day in ["2026-11-08", "2026-08-02"] {
                let cells = |site: &Site| site.cells(search_type, date(day)).collect::<Vec<Cell>>();
                let inside = |cell: &Cell| cell.pages.iter().all(|part| part.url.starts_with(site.url()));
                let (part, mut all) = (cells(site), cells(whole));
                assert!(part.iter().all(inside), "{}", site.url());
                all.retain(|cell| cell.pages.iter().any(|part| part.url.starts_with(site.url())));
                assert_eq!(part, all, "{} in {}", site.url(), whole.url());
            }
        }
        let [part, all] = [site, whole].map(|site| totals(site, "2026-10-21", "2026-11-17")[1]);
        assert!(part * 5 > all && part * 10 < all * 9, "{}: {part} of {all}", site.url());
    }
}

#[test]
fn traffic_follows_a_zipf_law() {
    let mut ratios: Vec<f64> = Vec::new();
    for (rank, site) in (1u32..).zip(sites()) {
        let impressions = totals(site, "2026-10-21", "2026-11-17")[1];
        assert!(impressions > 0, "{}", site.url());
        ratios.push(impressions as f64 * f64::from(rank));
    }
    let median = |part: &[f64]| {
        let mut sorted = part.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    };
    let usual = median(&ratios);
    for part in ratios.chunks(40) {
        assert!((0.6..1.6).contains(&(median(part) / usual)), "{} of {usual}", median(part));
    }
    assert!(ratios.iter().all(|ratio| (0.05..10.0).contains(&(ratio / usual))), "{ratios:?}");
}

#[test]
fn some_sites_gain_and_some_lose_much() {
    let changes: Vec<f64> = sites()[..150]
        .iter()
        .map(|site| {
            let [now, before] = [("2026-10-21", "2026-11-17"), ("2026-09-23", "2026-10-20")]
                .map(|(from, to)| totals(site, from, to)[1]);
            now as f64 / before as f64
        })
        .collect();
    let count = |is: &dyn Fn(f64) -> bool| changes.iter().filter(|change| is(**change)).count();
    assert!(count(&|change| change < 0.6) >= 3, "{changes:?}");
    assert!(count(&|change| change > 1.5) >= 3, "{changes:?}");
    assert!(count(&|change| (0.8..1.25).contains(&change)) >= 75, "{changes:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn breakdowns_of_every_site_are_sums_of_its_cells(rank in 10usize..205) {
        let site = sites()[rank];
        let ask = |more: serde_json::Value| -> serde_json::Value {
            let body = body("2026-11-01", "2026-11-03", more).to_string();
            serde_json::from_str(&NETWORK.answer(site.url(), &body, today()).unwrap()).unwrap()
        };
        let (mut total, mut pages, mut queries) = ([0; 3], HashMap::<String, u64>::new(), HashMap::<String, u64>::new());
        for day in ["2026-11-01", "2026-11-02", "2026-11-03"] {
            for cell in site.cells(SearchType::Web, date(day)) {
                total = [total[0] + cell.clicks, total[1] + cell.impressions, total[2] + cell.position_sum];
                if !cell.anonymised {
                    *queries.entry(cell.query.to_string()).or_default() += cell.impressions;
                }
                for part in &cell.pages {
                    *pages.entry(part.url.to_string()).or_default() += part.impressions;
                }
            }
        }
        for dimensions in [json!([]), json!(["date"]), json!(["device"]), json!(["country", "date"])] {
            prop_assert_eq!(sums(&ask(json!({ "dimensions": dimensions }))), total);
        }
        for (dimension, expected) in [("page", pages), ("query", queries)] {
            let answer = ask(json!({ "dimensions": [dimension] }));
            let key = |row: &serde_json::Value| row["keys"][0].as_str().unwrap().to_owned();
            let said: HashMap<_, _> =
                rows(&answer).iter().map(|row| (key(row), row["impressions"].as_u64().unwrap())).collect();
            prop_assert_eq!(said, expected);
        }
    }
}

#[tokio::test]
async fn the_account_lists_all_sites_and_some_are_refused() {
    let server = Server::with(Settings { sites: 30, ..Settings::default() }).await;
    let listed = server.get("/webmasters/v3/sites", "sim-network").await.1;
    let listed = listed["siteEntry"].as_array().unwrap();
    assert_eq!(listed.len(), 30);
    let body = body("2026-11-10", "2026-11-11", json!({}));
    let mut refused = Vec::new();
    for (entry, site) in listed.iter().zip(server.simulator.world().network()) {
        assert_eq!(entry["siteUrl"], site.url());
        let unverified = entry["permissionLevel"] == "siteUnverifiedUser";
        assert_eq!(unverified, site.standing() == Standing::Unverified);
        match server.query_as(site.url(), &body, "sim-network").await {
            (200, answer) => assert_eq!((site.standing(), rows(&answer).len()), (Standing::Open, 1)),
            (status, answer) => {
                assert_eq!((status, &answer["error"]["errors"][0]["reason"]), (403, &json!("forbidden")));
                refused.push(site.standing());
            }
        }
    }
    assert_eq!(refused, [Standing::Unverified, Standing::Refused]);
    let page = server.client.get(
        server.url("/o/oauth2/v2/auth?client_id=a&redirect_uri=http://127.0.0.1/&scope=openid&response_type=code"),
    );
    assert!(whole(page.send().await.unwrap()).await.unwrap().contains("network@demo.test"));

    let other = Server::start().await;
    assert_eq!(other.get("/webmasters/v3/sites", "sim-network").await.0, 401);
    let page = other
        .client
        .get(other.url("/o/oauth2/v2/auth?client_id=a&redirect_uri=http://127.0.0.1/&scope=openid&response_type=code"));
    assert!(!whole(page.send().await.unwrap()).await.unwrap().contains("network"));
}
