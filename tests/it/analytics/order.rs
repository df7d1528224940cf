//! Tests of the order of rows, conditions on their metrics, and pages: every page of every order is a slice of the full list.

use std::cmp::Ordering;

use serde_json::{Value, json};

use super::performance::{Asker, PAPER, SMALL};
use crate::support::{
    app::shared,
    oracle::{Sum, said_by},
};

const YOUNG: &str = "https://tinyfern.test/";
pub const SITES: [(&str, &str); 3] =
    [("stranger", SMALL), ("owner", YOUNG), ("owner", "https://www.ledgerline.example/")];

const WINDOW: [(&str, &str); 2] = [("startDate", "2026-10-12"), ("endDate", "2026-10-18")];
const BEFORE: [(&str, &str); 2] = [("compareStart", "2026-10-05"), ("compareEnd", "2026-10-09")];

/// Orders of every kind.
pub const SORTS: [&str; 9] = [
    "-clicks",
    "clicks",
    "-impressions",
    "ctr",
    "-position",
    "change.clicks",
    "-change.clicks.percent",
    "-change.position.absolute",
    "change.impressions",
];

type Pairs = &'static [(&'static str, &'static str)];

/// The lists of an operation: its parameters, and the place of each list and its keys in the answer.
const LISTS: [(&str, Pairs, Pairs); 5] = [
    (
        "performance",
        &[("scope", "tables"), ("queryLimit", "5000"), ("pageLimit", "5000")],
        &[("/data/tables/queries", "key"), ("/data/tables/pages", "key")],
    ),
    ("countries", &[("limit", "500")], &[("/data", "key")]),
    ("growth-opportunities", &[("minImpressions", "5"), ("limit", "5000")], &[("/data/opportunities", "query")]),
    (
        "cannibalization",
        &[("minQueryImpressions", "1"), ("minPageImpressions", "1"), ("limit", "5000")],
        &[("/data/queries", "query")],
    ),
    (
        "query-insights",
        &[("minImpressions", "1"), ("limit", "500")],
        &[
            ("/data/movers/new", "key"),
            ("/data/movers/lost", "key"),
            ("/data/movers/moving", "key"),
            ("/data/movers/unknown", "key"),
        ],
    ),
];

impl Asker {
    pub async fn lists(&self, what: &str, parts: &[&[(&str, &str)]]) -> Value {
        let query = [&[&WINDOW[..], &BEFORE], parts].concat().concat();
        self.actor.ask(&format!("/api/properties/{}/{what}", self.property), &query).await.expect(200).json
    }
}

pub fn rows<'a>(json: &'a Value, place: &str) -> Vec<&'a Value> {
    json.pointer(place).unwrap().as_array().unwrap().iter().collect()
}

/// The value of a row by the documentation of `sort`.
fn value(row: &Value, by: &str) -> Option<f64> {
    let Some(change) = by.strip_prefix("change.") else {
        let ratio = |of: &str| row[of].as_f64();
        // Rows of cannibalization have no CTR of their own.
        return match by {
            "ctr" => {
                let impressions = ratio("impressions").filter(|impressions| *impressions > 0.0)?;
                Some(ratio("clicks")? / impressions)
            }
            name => ratio(name),
        };
    };
    let (metric, measure) = change.split_once('.').unwrap_or((change, "absolute"));
    let change = row.get("change").or_else(|| row.get("movement")?.get("change"))?;
    change[metric][measure].as_f64()
}

/// The order of two rows by the documentation of `sort`.
pub fn ordered(a: &Value, b: &Value, key: &str, sort: &str) -> Ordering {
    let (descending, by) = sort.strip_prefix('-').map_or((false, sort), |by| (true, by));
    let by_value = match (value(a, by), value(b, by)) {
        (Some(a), Some(b)) if descending => b.total_cmp(&a),
        (Some(a), Some(b)) => a.total_cmp(&b),
        (None, None) => match (a["clicks"].is_null(), b["clicks"].is_null()) {
            (true, true) => return Ordering::Equal,
            (a, b) => a.cmp(&b),
        },
        (a, b) => b.is_some().cmp(&a.is_some()),
    };
    by_value.then_with(|| a[key].as_str().cmp(&b[key].as_str()))
}

#[tokio::test]
async fn rows_are_in_the_order_that_was_asked_for() {
    let mut compared = 0;
    for (who, site) in SITES {
        let asker = Asker::of(shared(), who, site).await;
        for (what, more, lists) in LISTS {
            // The answer of cannibalization has neither positions nor changes of the queries themselves.
            let blind =
                |sort: &str| what == "cannibalization" && (sort.contains("position") || sort.contains("change"));
            for sort in SORTS.into_iter().filter(|sort| !blind(sort)) {
                let json = asker.lists(what, &[more, &[("sort", sort)]]).await;
                for (place, key) in lists {
                    let rows = rows(&json, place);
                    for pair in rows.windows(2) {
                        let (a, b) = (pair[0], pair[1]);
                        assert_ne!(
                            ordered(a, b, key, sort),
                            Ordering::Greater,
                            "{what} {place} {sort}: {a} before {b}"
                        );
                        compared += 1;
                    }
                }
            }
        }
    }
    assert!(compared > 20_000, "{compared}");
}

/// Checks that the coverage of a page counts its rows and the rows of `whole`, the longest page.
fn is_counted(what: &str, lists: Pairs, (page, whole): (&Value, &Value), offset: usize) {
    let table_of = |place: &'static str| match what {
        "performance" => place.rsplit('/').next().unwrap(),
        "countries" => "countries",
        _ => "queries",
    };
    for (first, _) in lists {
        let table = table_of(first);
        let own = || lists.iter().map(|(place, _)| *place).filter(|place| table_of(place) == table);
        let shown: usize = own().map(|place| rows(page, place).len()).sum();
        let (listed, all): (usize, _) =
            (own().map(|place| rows(whole, place).len()).sum(), &whole["meta"]["coverage"][table]);
        assert_eq!(all["hasMore"] == false, all["rowsMatched"] == listed, "{all}");
        let more = own().any(|place| rows(page, place).len() + offset < rows(whole, place).len());
        let coverage = &page["meta"]["coverage"][table];
        assert_eq!(
            (&coverage["rowsShown"], &coverage["rowsMatched"], &coverage["hasMore"]),
            (&json!(shown), &all["rowsMatched"], &json!(more)),
            "{what} from {offset}: {coverage}"
        );
        // A query may be two opportunities.
        assert!(what == "growth-opportunities" || coverage["rowsKnown"].as_u64() >= all["rowsMatched"].as_u64());
    }
}

#[tokio::test]
async fn any_page_of_any_order_is_a_slice_of_the_full_list() {
    let mut rows_seen = 0;
    for (who, site) in SITES {
        let asker = Asker::of(shared(), who, site).await;
        for (index, (what, more, lists)) in LISTS.into_iter().enumerate() {
            for (turn, sort) in [None, Some(SORTS[index]), Some(SORTS[8 - index])].into_iter().enumerate() {
                let filters = match what {
                    "countries" => ["countries.clicks>0", "", "countries.impressions>=4,countries.position<=15"],
                    _ => ["", "impressions>=4,position<=15", "clicks>0"],
                };
                let filters = filters[(index + turn) % 3];
                let order: Vec<(&str, &str)> = sort.map(|sort| ("sort", sort)).into_iter().collect();
                let filters: Vec<(&str, &str)> =
                    Some(("metricFilters", filters)).filter(|(_, f)| !f.is_empty()).into_iter().collect();
                let whole = asker.lists(what, &[more, &order, &filters]).await;
                for (offset, limit) in [("0", "3"), ("2", "5"), ("7", "1"), ("4000", "5")] {
                    let pages: [(&str, &str); 4] = if what == "performance" {
                        [("queryOffset", offset), ("pageOffset", offset), ("queryLimit", limit), ("pageLimit", limit)]
                    } else {
                        [("offset", offset), ("limit", limit), ("granularity", "day"), ("top", "3")]
                    };
                    let pages = if what == "performance" { &pages[..] } else { &pages[..2] };
                    let fixed: Vec<(&str, &str)> =
                        more.iter().filter(|(name, _)| !name.to_lowercase().ends_with("limit")).copied().collect();
                    let page = asker.lists(what, &[&fixed, &order, &filters, pages]).await;
                    let (offset, limit): (usize, usize) = (offset.parse().unwrap(), limit.parse().unwrap());
                    for (place, _) in lists {
                        let slice: Vec<&Value> = rows(&whole, place).into_iter().skip(offset).take(limit).collect();
                        assert_eq!(rows(&page, place), slice, "{what} {place} {sort:?} {filters:?} from {offset}");
                        rows_seen += slice.len();
                    }
                    assert_eq!(page["data"]["totals"], whole["data"]["totals"]);
                    is_counted(what, lists, (&page, &whole), offset);
                }
            }
        }
    }
    assert!(rows_seen > 300, "{rows_seen}");
}

#[tokio::test]
async fn an_order_of_a_cut_list_says_that_it_is_not_exact() {
    let paper = Asker::of(shared(), "owner", PAPER).await;
    let asked = async |more: &[(&str, &str)]| {
        let query = [&[("startDate", "2026-10-28"), ("endDate", "2026-11-17"), ("scope", "tables")], more].concat();
        paper.ask(&query).await.expect(200).json["meta"]["coverage"].clone()
    };
    let coverage = asked(&[]).await;
    assert_eq!((&coverage["queries"]["totalRowsCapped"], coverage["queries"].get("orderExact")), (&true.into(), None));
    for (more, queries, countries) in [
        (("sort", "-clicks"), true, json!(true)),
        (("sort", "-impressions"), false, json!(true)),
        (("sort", "clicks"), false, json!(true)),
        (("metricFilters", "clicks>=1"), false, Value::Null),
        (("metricFilters", "clicks>=1,countries.clicks>=1"), false, json!(true)),
    ] {
        let coverage = asked(&[more]).await;
        assert_eq!(
            (&coverage["queries"]["orderExact"], &coverage["countries"]["orderExact"]),
            (&queries.into(), &countries),
            "{more:?}"
        );
    }
}

#[tokio::test]
async fn files_and_sparklines_follow_the_order() {
    let asker = Asker::of(shared(), "stranger", SMALL).await;
    let order = [("sort", "-impressions"), ("metricFilters", "clicks>0")];
    let more = [("scope", "tables"), ("queryLimit", "7"), ("queryOffset", "4")];
    let json = asker.lists("performance", &[&order, &more]).await;
    let query = [&WINDOW[..], &BEFORE, &order, &[("queryLimit", "7"), ("queryOffset", "4")]].concat();
    let file = asker.actor.ask(&format!("/api/properties/{}/export", asker.property), &query).await.expect(200);
    let text = String::from_utf8(file.bytes).unwrap();
    let clicks: Vec<u64> =
        text.lines().skip(1).map(|line| line.rsplit(',').nth(12).unwrap().parse().unwrap()).collect();
    let said: Vec<u64> =
        rows(&json, "/data/tables/queries").iter().map(|row| row["clicks"].as_u64().unwrap()).collect();
    assert_eq!((clicks.len(), &clicks), (7, &said));

    let lines = asker.lists("table-sparklines", &[&order, &[("limit", "7"), ("offset", "4")]]).await;
    let keys = |json: &Value, place: &str| -> Vec<String> {
        let rows = json.pointer(place).unwrap().as_array().unwrap().iter();
        rows.map(|row| row["key"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(keys(&lines, "/data/rows"), keys(&json, "/data/tables/queries"));
    for line in lines["data"]["rows"].as_array().unwrap() {
        let total = said_by(&line["series"], "date").values().fold(Sum::default(), |sum, day| sum.plus(*day));
        assert!(total.clicks > 0, "{line}");
    }
}

#[tokio::test]
async fn an_order_that_means_nothing_is_refused() {
    let asker = Asker::of(shared(), "stranger", SMALL).await;
    let refused = async |what: &str, more: &[(&str, &str)], name: &str| {
        let answer = asker.actor.ask(&format!("/api/properties/{}/{what}", asker.property), more).await.expect(400);
        assert_eq!(answer.code(), "invalid_request");
        assert!(answer.hint().starts_with(&format!("{name}: ")), "{what} {more:?}: {}", answer.hint());
    };
    for what in [
        "performance",
        "countries",
        "growth-opportunities",
        "cannibalization",
        "query-insights",
        "export",
        "table-sparklines",
    ] {
        refused(what, &[("sort", "-change.clicks")], "sort").await;
        refused(what, &[("sort", "change.ctr.percent")], "sort").await;
        refused(what, &[("sort", "key")], "sort").await;
        refused(what, &[("metricFilters", "clicks=>1")], "metricFilters").await;
        refused(what, &[("metricFilters", ",")], "metricFilters").await;
    }
    for (what, filters, mended) in [
        ("countries", "clicks>1", "countries.clicks>1"),
        ("countries", "countries.clicks>1,pages.ctr<0.5", "countries.ctr<0.5"),
        ("growth-opportunities", "pages.clicks>1", "queries.clicks>1"),
        ("query-insights", "countries.clicks>1", "queries.clicks>1"),
        ("cannibalization", "pages.position<=3", "queries.position<=3"),
    ] {
        refused(what, &[("metricFilters", filters)], "metricFilters").await;
        let query = [("metricFilters", filters)];
        let answer = asker.actor.ask(&format!("/api/properties/{}/{what}", asker.property), &query).await;
        assert!(answer.hint().contains(mended), "{what} {filters}: {}", answer.hint());
    }
    for what in ["export", "table-sparklines"] {
        refused(what, &[("table", "devices"), ("metricFilters", "clicks>1")], "metricFilters").await;
    }
    let keys = json!(["plant"]).to_string();
    refused("table-sparklines", &[("keys", &keys), ("sort", "change.clicks")], "sort").await;
    refused("countries", &[("offset", "-1")], "offset").await;
}

#[tokio::test]
async fn named_sparklines_are_sorted_narrowed_and_skipped_like_rows() {
    let asker = Asker::of(shared(), "stranger", SMALL).await;
    let first = asker.lists("table-sparklines", &[&[("limit", "6"), ("sort", "-impressions")]]).await;
    let keys_of = |json: &Value| -> Vec<String> {
        json["data"]["rows"].as_array().unwrap().iter().map(|row| row["key"].as_str().unwrap().to_owned()).collect()
    };
    let sorted = keys_of(&first);
    let mut named = sorted.clone();
    named.reverse();
    named.insert(2, "nobody asks this".to_owned());
    let keys = json!(named).to_string();
    let ask = async |more: &[(&str, &str)]| {
        let json = asker.lists("table-sparklines", &[&[("keys", keys.as_str())], more]).await;
        let coverage = &json["meta"]["coverage"]["rows"];
        (keys_of(&json), coverage["rowsShown"].as_u64().unwrap(), coverage["rowsMatched"].as_u64().unwrap())
    };
    let with_unknown = [&sorted[..], &["nobody asks this".to_owned()]].concat();
    assert_eq!(ask(&[]).await, (named.clone(), 6, 6), "the order asked for");
    assert_eq!(ask(&[("sort", "-impressions")]).await, (with_unknown.clone(), 6, 6), "what is not known comes last");
    assert_eq!(ask(&[("sort", "-impressions"), ("offset", "4")]).await, (with_unknown[4..].to_vec(), 2, 6));
    assert_eq!(ask(&[("offset", "3")]).await.0, named[3..]);
    let narrowed = ask(&[("sort", "-impressions"), ("metricFilters", "impressions>=1")]).await;
    assert_eq!(narrowed, (sorted, 6, 6), "an unknown key satisfies no condition");
    assert_eq!(ask(&[("metricFilters", "impressions>=1000000000")]).await, (Vec::new(), 0, 0));
}
