//! Tests of totals, series and tables: their values, compared with the generator's own cells, and their consistency.

mod comparison;
mod events;
mod headline;
mod search_types;
mod slices;
mod totals;
mod usual;
mod windows;

use serde_json::Value;
use simulator::{SearchType, Site};

use crate::support::{
    actor::{Actor, Answer},
    app::{TestApp, shared},
    oracle::{Count, Sum, Truth, all, by_appearance, by_country, by_date, by_device, by_page, by_query, said_by},
};

/// A small site of the demo person `stranger`.
pub const SMALL: &str = "sc-domain:quietmeadow.test";

/// A newspaper with every search type, of the demo person `owner`.
pub const PAPER: &str = "sc-domain:harbourpost.example";

/// A caller and a property.
pub struct Asker {
    pub actor: Actor,
    pub property: String,
}

impl Asker {
    pub async fn of(app: &TestApp, name: &str, site: &str) -> Self {
        let actor = app.actor(name).await;
        let property = actor.property(site).await;
        Self { actor, property }
    }

    /// The stranger with the small site.
    pub async fn small() -> Self {
        Self::of(shared(), "stranger", SMALL).await
    }

    /// The owner with the newspaper.
    pub async fn paper() -> Self {
        Self::of(shared(), "owner", PAPER).await
    }

    /// Requests the performance.
    pub async fn ask(&self, query: &[(&str, &str)]) -> Answer {
        self.actor.ask(&format!("/api/properties/{}/performance", self.property), query).await
    }

    /// The performance in a window.
    pub async fn window(&self, start: &str, end: &str, more: &[(&str, &str)]) -> Value {
        let mut query = vec![("startDate", start), ("endDate", end)];
        query.extend_from_slice(more);
        self.ask(&query).await.expect(200).json
    }
}

/// A site of the shared app's world.
pub fn site(url: &str) -> &'static Site {
    shared().simulator().world().site(url).unwrap()
}

/// The truth about web search for the small site.
pub fn truth(start: &str, end: &str) -> Truth {
    Truth::of(site(SMALL), SearchType::Web, start, end)
}

const START: &str = "2026-10-05";
const END: &str = "2026-10-11";

#[tokio::test]
async fn totals_and_series_are_the_sums_of_the_cells() {
    let json = Asker::small().await.window(START, END, &[]).await;
    let truth = truth(START, END);
    let totals = Sum::said(&json["data"]["totals"]);
    assert!(totals.clicks > 20 && totals.impressions > 500, "{totals:?}");
    assert_eq!(totals, truth.total(Count::ByProperty, &all));
    let series = said_by(&json["data"]["series"], "date");
    assert_eq!(series, truth.by(Count::ByProperty, &all, &by_date));
    assert_eq!(series.values().fold(Sum::default(), |sum, day| sum.plus(*day)), totals);
    assert_eq!(json["meta"]["aggregation"], "byProperty");
    assert_eq!(json["meta"]["status"], "analysed");
}

#[tokio::test]
async fn tables_are_the_sums_of_the_cells_by_their_keys() {
    let json = Asker::small().await.window(START, END, &[("scope", "all"), ("queryLimit", "5000")]).await;
    let (truth, tables) = (truth(START, END), &json["data"]["tables"]);
    assert_eq!(said_by(&tables["queries"], "key"), truth.by(Count::ByProperty, &all, &by_query));
    assert_eq!(said_by(&tables["pages"], "key"), truth.by(Count::ByPage, &all, &by_page));
    assert_eq!(said_by(&tables["countries"], "key"), truth.by(Count::ByProperty, &all, &by_country));
    assert_eq!(said_by(&tables["devices"], "key"), truth.by(Count::ByProperty, &all, &by_device));
    let appearances = said_by(&tables["searchAppearances"], "key");
    assert!(!appearances.is_empty());
    assert_eq!(appearances, truth.by(Count::ByPage, &all, &by_appearance));
}

#[tokio::test]
async fn countries_and_devices_add_up_to_the_totals_and_say_so() {
    let json = Asker::small().await.window(START, END, &[("scope", "tables")]).await;
    let totals = Sum::said(&json["data"]["totals"]);
    for table in ["countries", "devices"] {
        let rows = said_by(&json["data"]["tables"][table], "key");
        assert_eq!(rows.values().fold(Sum::default(), |sum, row| sum.plus(*row)), totals, "{table}");
        let coverage = &json["meta"]["coverage"][table];
        assert_eq!((&coverage["clicksShare"], &coverage["totalRowsCapped"]), (&1.0.into(), &false.into()), "{table}");
        assert_eq!(coverage["rowsKnown"], rows.len(), "{table}");
    }
}

#[tokio::test]
async fn query_rows_sum_to_less_and_coverage_says_by_how_much() {
    let json = Asker::small().await.window(START, END, &[("scope", "tables"), ("queryLimit", "7")]).await;
    let (totals, coverage) = (Sum::said(&json["data"]["totals"]), &json["meta"]["coverage"]["queries"]);
    let every = truth(START, END).by(Count::ByProperty, &all, &by_query);
    let shown = said_by(&json["data"]["tables"]["queries"], "key");
    let clicks: u64 = shown.values().map(|row| row.clicks).sum();
    assert_eq!((shown.len(), &coverage["rowsShown"], &coverage["rowsKnown"]), (7, &7.into(), &every.len().into()));
    assert_eq!(coverage["clicks"], clicks);
    assert_eq!(coverage["clicksShare"].as_f64().unwrap().to_bits(), (clicks as f64 / totals.clicks as f64).to_bits());
    assert_eq!((&coverage["totalRowsCapped"], &coverage["aggregation"]), (&false.into(), &"byProperty".into()));

    let whole = Asker::small().await.window(START, END, &[("scope", "tables"), ("queryLimit", "5000")]).await;
    let listed = said_by(&whole["data"]["tables"]["queries"], "key").values().fold(Sum::default(), |a, b| a.plus(*b));
    assert!(listed.clicks < totals.clicks && listed.impressions < totals.impressions, "{listed:?} {totals:?}");
    let share = whole["meta"]["coverage"]["queries"]["clicksShare"].as_f64().unwrap();
    assert_eq!(share.to_bits(), (listed.clicks as f64 / totals.clicks as f64).to_bits());
}

#[tokio::test]
async fn the_rows_shown_are_the_best_ones_in_one_order() {
    let json = Asker::small().await.window(START, END, &[("scope", "tables"), ("queryLimit", "9")]).await;
    let mut every: Vec<(String, Sum)> = truth(START, END).by(Count::ByProperty, &all, &by_query).into_iter().collect();
    every.sort_by(|(a, x), (b, y)| (y.clicks, y.impressions).cmp(&(x.clicks, x.impressions)).then(a.cmp(b)));
    let expected: Vec<&str> = every.iter().take(9).map(|(key, _)| key.as_str()).collect();
    let rows = json["data"]["tables"]["queries"].as_array().unwrap();
    assert_eq!(rows.iter().map(|row| row["key"].as_str().unwrap()).collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn page_rows_are_counted_by_page_and_say_so() {
    let json = Asker::small().await.window(START, END, &[("scope", "tables"), ("pageLimit", "3")]).await;
    let (totals, coverage) = (Sum::said(&json["data"]["totals"]), &json["meta"]["coverage"]["pages"]);
    assert_eq!((&json["meta"]["aggregation"], &coverage["aggregation"]), (&"byProperty".into(), &"byPage".into()));
    let whole = truth(START, END).total(Count::ByPage, &all);
    assert!(whole.impressions > totals.impressions, "{whole:?} {totals:?}");
    let clicks: u64 = said_by(&json["data"]["tables"]["pages"], "key").values().map(|row| row.clicks).sum();
    let share = coverage["clicksShare"].as_f64().unwrap();
    assert_eq!(share.to_bits(), (clicks as f64 / whole.clicks as f64).to_bits());
    assert_eq!(coverage["rowsShown"], 3);
    let appearances = &json["meta"]["coverage"]["searchAppearances"];
    assert!(appearances["clicksShare"].is_null() && appearances["aggregation"] == "byPage", "{appearances}");
    assert!(appearances.get("clicks").is_none() && appearances["rowsShown"].as_u64() > Some(1), "{appearances}");
}

#[tokio::test]
async fn the_newspapers_long_lists_are_cut_at_the_ceiling_and_say_so() {
    let paper = Asker::paper().await;
    let json = paper.window("2026-10-28", "2026-11-17", &[("scope", "tables"), ("queryLimit", "5000")]).await;
    let coverage = &json["meta"]["coverage"]["queries"];
    assert_eq!((&coverage["rowsKnown"], &coverage["totalRowsCapped"]), (&5000.into(), &true.into()), "{coverage}");
    assert_eq!(json["data"]["tables"]["queries"].as_array().unwrap().len(), 5000);
    assert_eq!(json["meta"]["coverage"]["pages"]["totalRowsCapped"], true);
    assert_eq!(json["meta"]["coverage"]["countries"]["totalRowsCapped"], false);
}

#[tokio::test]
async fn a_scope_holds_what_it_promises() {
    let asker = Asker::small().await;
    let parts = async |scope: &[(&str, &str)]| {
        let json = asker.window(START, END, scope).await;
        let mut names: Vec<String> = json["data"].as_object().unwrap().keys().cloned().collect();
        names.sort();
        (names, json["meta"]["coverage"].is_object())
    };
    let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(parts(&[]).await, (names(&["series", "totals"]), false));
    assert_eq!(parts(&[("scope", "series")]).await, (names(&["series", "totals"]), false));
    assert_eq!(parts(&[("scope", "tables")]).await, (names(&["tables", "totals"]), true));
    assert_eq!(parts(&[("scope", "all")]).await, (names(&["series", "tables", "totals"]), true));
    asker.ask(&[("scope", "everything")]).await.expect(400);
}

#[tokio::test]
async fn limits_are_between_1_and_5000() {
    let asker = Asker::small().await;
    for name in ["queryLimit", "pageLimit"] {
        for value in ["0", "5001", "-1", "1.5", "many", " "] {
            let answer = asker.ask(&[("scope", "tables"), (name, value)]).await.expect(400);
            assert!(answer.hint().contains(name), "{name}={value}: {}", answer.hint());
        }
        let json = asker.window(START, END, &[("scope", "tables"), (name, "1")]).await;
        let table = if name == "queryLimit" { "queries" } else { "pages" };
        assert_eq!(json["data"]["tables"][table].as_array().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn the_same_question_gives_the_same_bytes_with_and_without_a_cache() {
    let shared = Asker::small().await;
    let other = TestApp::start(|config| config.cache.max_bytes = sightline::config::Bytes(0)).await;
    let other = Asker::of(&other, "stranger", SMALL).await;
    let filters = r#"[{"dimension":"query","operator":"not_contains","value":"plant"},
        {"dimension":"country","operator":"equals","value":"aus","logic":"or"}]"#;
    for more in [&[][..], &[("filters", filters)]] {
        let mut query = vec![("startDate", START), ("endDate", END), ("scope", "all")];
        query.extend_from_slice(more);
        let first = shared.ask(&query).await.expect(200).bytes;
        for asker in [&shared, &other, &other] {
            assert!(asker.ask(&query).await.expect(200).bytes == first, "other bytes for {more:?}");
        }
    }
}
