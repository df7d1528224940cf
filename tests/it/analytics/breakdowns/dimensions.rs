//! Tests of rows by any dimensions: their sums, their order, their pages, their coverage and their refusals.

use std::cmp::Ordering;

use serde_json::{Value, json};
use simulator::SearchType;

use super::{
    Case, Class, PAPER, People, SHOP, SMALL, SOFTWARE, Window, YOUNG,
    figures::{ExpectedTable, name_of},
    ordered,
};
use crate::{
    analytics::order::{self, SORTS},
    support::oracle::{SEPARATOR, Sum},
};

const DAY: Window = ("2026-10-06", "2026-10-06");
const WEEK: Window = ("2026-10-05", "2026-10-11");
const TWO_WEEKS: Window = ("2026-10-05", "2026-10-18");
const MONTH: Window = ("2026-09-01", "2026-09-28");
const BEFORE: Window = ("2026-09-28", "2026-10-03");

/// The maximum number of rows that are read.
const CEILING: usize = 50_000;

/// The longest page.
const WHOLE: usize = 25_000;

/// Groupings of partitions, so that their rows add up to the total.
const PARTITIONS: [&[&str]; 6] =
    [&[], &["date"], &["country", "device"], &["device", "date"], &["country", "date"], &["device", "country", "date"]];

/// Groupings that leave traffic out or count URLs.
const OTHERS: [&[&str]; 8] = [
    &["query", "page"],
    &["page", "query"],
    &["query", "country"],
    &["device", "page"],
    &["date", "query"],
    &["query", "page", "country"],
    &["country", "device", "query"],
    &["page", "date", "device"],
];

/// The rows of an answer, each with its joined keys as `key`.
fn keyed(json: &Value, dimensions: &[&str]) -> Vec<Value> {
    let rows = json["data"]["rows"].as_array().unwrap().iter();
    let keyed = rows.map(|row| {
        let keys: Vec<&str> = dimensions.iter().map(|name| row["keys"][name].as_str().unwrap()).collect();
        assert_eq!(row["keys"].as_object().unwrap().len(), keys.len(), "{row}");
        let mut row = row.clone();
        row["key"] = keys.join(SEPARATOR).into();
        row
    });
    keyed.collect()
}

impl Case {
    /// The rows by joined keys in the order of an answer without `sort`.
    fn listed_by(&self, dimensions: &[&str], window: Window) -> Vec<(String, Sum)> {
        let mut rows = ordered(self.by_dimensions(dimensions, window));
        if let Some(day) = dimensions.iter().position(|name| *name == "date") {
            rows.sort_by(|(a, _), (b, _)| {
                let of = |key: &str| key.split(SEPARATOR).nth(day).unwrap().to_owned();
                of(a).cmp(&of(b))
            });
        }
        rows
    }

    /// Asks for the rows by some dimensions and checks every number.
    async fn has_true_rows(&self, people: &People, dimensions: &[&str], limit: usize) -> Value {
        let json = self.query(people, dimensions, json!({ "limit": limit })).await.expect(200).json;
        let known = |window| self.listed_by(dimensions, window);
        let before = self.compared().map(|[_, before]| known(before));
        let expected = ExpectedTable::of(&known(self.counted()), before.as_deref(), CEILING, limit);
        self.table_rows(&Value::from(keyed(&json, dimensions)), &expected.rows);
        let (meta, count) = (&json["meta"], self.count_by(dimensions));
        if dimensions == ["searchAppearance"] {
            let said = &meta["coverage"]["rows"];
            assert_eq!((&said["rowsKnown"], &said["aggregation"]), (&expected.known.0.into(), &name_of(count).into()));
            assert!(said.get("clicks").is_none() && said.get("knownShare").is_none(), "{said}");
        } else {
            let rows = (expected.shown(), expected.known);
            self.coverage_counted(&meta["coverage"]["rows"], count, (expected.capped, CEILING), rows);
        }
        self.meta(meta, count);
        assert_eq!(meta["question"]["dimensions"], json!(dimensions));
        json
    }
}

#[tokio::test]
async fn rows_by_two_and_three_dimensions_are_the_sums_of_their_cells() {
    let people = People::new().await;
    for (site, windows) in [(SMALL, &[DAY, WEEK, MONTH][..]), (YOUNG, &[DAY, WEEK, MONTH]), (SOFTWARE, &[DAY])] {
        for window in windows {
            for dimensions in PARTITIONS.iter().chain(&OTHERS) {
                Case::of(site, *window).has_true_rows(&people, dimensions, WHOLE).await;
            }
        }
    }
    for (site, window) in [
        (SOFTWARE, WEEK),
        (SOFTWARE, MONTH),
        (PAPER, DAY),
        (PAPER, ("2026-10-07", "2026-10-07")),
        (PAPER, ("2026-10-05", "2026-10-06")),
    ] {
        for dimensions in PARTITIONS.iter().chain([&OTHERS[3], &OTHERS[7]]) {
            Case::of(site, window).has_true_rows(&people, dimensions, 300).await;
        }
    }
    for dimensions in [&["query", "page"][..], &["country", "query", "device"]] {
        Case::of(PAPER, DAY).has_true_rows(&people, dimensions, 300).await;
    }
}

#[tokio::test]
async fn rows_of_a_comparison_and_of_a_slice_are_the_sums_of_their_cells() {
    let people = People::new().await;
    let compared = || Case::of(SMALL, WEEK).against(BEFORE);
    let cases = [
        compared(),
        compared().class(Class::NonBranded),
        compared().class(Class::Segment),
        compared().and("query", "contains", "plant").or("country", "equals", "aus"),
        compared().and("page", "contains", "/blog/").and("device", "not_contains", "tablet"),
        Case::of(SMALL, ("2026-11-15", "2026-11-21")).against(("2026-11-08", "2026-11-14")),
        Case::of(SMALL, ("2026-11-19", "2026-11-21")).against(WEEK),
        Case::of(YOUNG, WEEK).against(("2025-10-01", "2025-10-03")),
    ];
    for case in &cases {
        for dimensions in
            [&[][..], &["query"], &["country", "device"], &["page", "query"], &["query", "device", "country"]]
        {
            case.has_true_rows(&people, dimensions, WHOLE).await;
        }
    }
    for kind in [SearchType::Image, SearchType::Discover, SearchType::GoogleNews] {
        for dimensions in [&["page", "country"][..], &["date", "country"], &["searchAppearance"]] {
            Case::of(PAPER, DAY).search_type(kind).has_true_rows(&people, dimensions, 300).await;
        }
    }
    Case::of(SMALL, WEEK).has_true_rows(&people, &["searchAppearance"], WHOLE).await;
    Case::of(SMALL, ("2026-11-19", "2026-11-21")).has_true_rows(&people, &["country", "date"], WHOLE).await;
}

#[tokio::test]
async fn rows_never_exceed_the_total_that_is_counted_as_they_are() {
    let people = People::new().await;
    for (site, window) in [(SMALL, WEEK), (YOUNG, MONTH), (SOFTWARE, DAY), (PAPER, DAY)] {
        let case = Case::of(site, window);
        for dimensions in PARTITIONS.iter().chain(&OTHERS) {
            let json = case.query(&people, dimensions, json!({ "limit": WHOLE })).await.expect(200).json;
            let rows = json["data"]["rows"].as_array().unwrap();
            let sum = rows.iter().map(Sum::said).fold(Sum::default(), Sum::plus);
            let (total, coverage) = (case.total(case.count_by(dimensions), window), &json["meta"]["coverage"]["rows"]);
            assert!(sum.clicks <= total.clicks && sum.impressions <= total.impressions, "{dimensions:?} of {site}");
            let names_queries = dimensions.contains(&"query");
            assert_eq!(sum == total, !names_queries, "{dimensions:?} of {site}: {sum:?} of {total:?}");
            let share = coverage["clicksShare"].as_f64().unwrap();
            assert!((share - sum.clicks as f64 / total.clicks as f64).abs() < 1e-12, "{coverage}");
        }
    }
}

#[tokio::test]
async fn any_page_of_any_order_is_a_slice_of_the_full_list() {
    let people = People::new().await;
    let groupings = [&["query", "page"][..], &["country", "device", "query"], &["device", "page"], &["query"]];
    for (index, dimensions) in groupings.into_iter().enumerate() {
        let case = Case::of([SMALL, YOUNG][index % 2], WEEK).against(BEFORE);
        for (turn, sort) in [None].into_iter().chain(SORTS.map(Some)).enumerate() {
            let mut order = json!({ "limit": WHOLE });
            if let Some(sort) = sort {
                order["sort"] = sort.into();
            }
            if turn % 3 == 2 {
                order["metricFilters"] = "impressions>=2,position<=30".into();
            }
            let whole = case.query(&people, dimensions, order.clone()).await.expect(200).json;
            let rows = keyed(&whole, dimensions);
            if let Some(sort) = sort {
                let wrong =
                    rows.windows(2).find(|pair| order::ordered(&pair[0], &pair[1], "key", sort) == Ordering::Greater);
                assert_eq!(wrong, None, "{dimensions:?} by {sort}");
            }
            let coverage = &whole["meta"]["coverage"]["rows"];
            assert_eq!((&coverage["rowsMatched"], &coverage["hasMore"]), (&rows.len().into(), &false.into()));
            for (offset, limit) in [(0, 3), (7, 40), (rows.len() - 1, 5), (rows.len() + 9, 5)] {
                (order["offset"], order["limit"]) = (offset.into(), limit.into());
                let page = case.query(&people, dimensions, order.clone()).await.expect(200).json;
                let slice: Vec<Value> = rows.iter().skip(offset).take(limit).cloned().collect();
                assert_eq!(keyed(&page, dimensions), slice, "{dimensions:?} by {sort:?} from {offset}");
                let said = &page["meta"]["coverage"]["rows"];
                let more = offset + slice.len() < rows.len();
                assert_eq!((&said["rowsShown"], &said["hasMore"]), (&slice.len().into(), &more.into()));
                assert_eq!(
                    (&said["rowsMatched"], &said["rowsKnown"]),
                    (&coverage["rowsMatched"], &coverage["rowsKnown"])
                );
            }
        }
    }
}

#[tokio::test]
async fn one_dimension_says_what_the_tables_say() {
    let people = People::new().await;
    let case = Case::of(SMALL, WEEK).against(BEFORE);
    let tables = case.ask(&people, "performance", &[("scope", "all")]).await.expect(200).json;
    let tables_of = [
        ("query", "queries"),
        ("page", "pages"),
        ("country", "countries"),
        ("device", "devices"),
        ("searchAppearance", "searchAppearances"),
    ];
    for (dimension, table) in tables_of {
        let mut rows = keyed(&case.query(&people, &[dimension], json!({})).await.expect(200).json, &[dimension]);
        for row in &mut rows {
            row.as_object_mut().unwrap().remove("keys");
        }
        let mut listed = tables["data"]["tables"][table].clone();
        for row in listed.as_array_mut().unwrap() {
            row.as_object_mut().unwrap().remove("label");
        }
        assert_eq!(Value::from(rows), listed, "{table}");
    }
    let total = case.query(&people, &[], json!({})).await.expect(200).json["data"]["rows"][0].clone();
    for metric in ["clicks", "impressions", "ctr", "position", "previous", "change"] {
        assert_eq!(total[metric], tables["data"]["totals"][metric], "{metric}");
    }
    assert_eq!((&total["keys"], &total["presence"]), (&json!({}), &json!("both")));
}

#[tokio::test]
async fn rows_beyond_the_ceiling_are_said() {
    let people = People::new().await;
    let case = Case::of(SHOP, TWO_WEEKS);
    let coverage = async |dimensions: &[&str], more: Value| {
        case.query(&people, dimensions, more).await.expect(200).json["meta"]["coverage"]["rows"].clone()
    };
    for (dimensions, more, exact) in [
        (&["query", "page", "country"][..], json!({ "limit": 5 }), None),
        (&["query", "page", "country"], json!({ "limit": 5, "sort": "-clicks" }), Some(true)),
        (&["query", "page", "country"], json!({ "limit": 5, "sort": "-impressions" }), Some(false)),
        (&["query", "page", "country"], json!({ "limit": 5, "metricFilters": "clicks>=1" }), Some(false)),
        (&["query", "page", "date"], json!({ "limit": 5 }), Some(false)),
    ] {
        let said = coverage(dimensions, more.clone()).await;
        assert_eq!((&said["totalRowsCapped"], &said["rowsKnown"]), (&true.into(), &CEILING.into()), "{said}");
        assert_eq!(said.get("orderExact").and_then(Value::as_bool), exact, "{dimensions:?} {more}");
        assert!(said["knownShare"].as_f64().unwrap() < 1.0, "{said}");
    }
    assert_eq!(coverage(&["country", "device"], json!({})).await["totalRowsCapped"], false);
}

#[tokio::test]
async fn an_answer_repeats_its_question_in_the_order_of_its_keys() {
    let people = People::new().await;
    let asker = people.asker(SMALL);
    let path = format!("/api/properties/{}/performance/query", asker.property);
    let body = json!({
        "dimensions": ["page", "device", "query"], "compare": "previous_period", "classification": "nonBranded",
        "filters": [{ "dimension": "country", "operator": "or_list", "value": "usa,aus" }], "sort": "-change.clicks",
        "metricFilters": "impressions>=2", "limit": 7, "offset": 1,
    });
    let first = asker.actor.post(&path, &body).await.expect(200);
    let question = &first.json["meta"]["question"];
    let expected = json!({
        "dimensions": ["page", "device", "query"], "startDate": "2026-10-22", "endDate": "2026-11-18", "dataState": "final",
        "compareStart": "2026-09-24", "compareEnd": "2026-10-21", "searchType": "web", "classification": "nonBranded",
        "filters": body["filters"], "sort": "-change.clicks.absolute", "metricFilters": "impressions>=2", "limit": 7, "offset": 1,
    });
    assert_eq!(*question, expected);
    let again = asker.actor.post(&path, question).await.expect(200);
    assert!(first.bytes == again.bytes, "the question asks the same again");
    assert_eq!(first.header("etag"), "", "only reads by GET have tags");
    let text = String::from_utf8(first.bytes).unwrap();
    let keys = text.split(r#""keys":{"#).nth(1).unwrap();
    let places = ["\"page\":", "\"device\":", "\"query\":"].map(|name| keys.find(name).unwrap());
    assert!(places.is_sorted(), "{keys}");
}

#[tokio::test]
async fn what_cannot_be_grouped_is_refused_by_name() {
    let people = People::new().await;
    let case = Case::of(PAPER, DAY);
    for (kind, dimensions) in [
        (SearchType::Discover, &["query"][..]),
        (SearchType::Discover, &["page", "device"]),
        (SearchType::GoogleNews, &["date", "query"]),
    ] {
        let answer = case.clone().search_type(kind).query(&people, dimensions, json!({})).await.expect(400);
        assert_eq!(answer.code(), "not_available_for_search_type");
        assert!(answer.hint().starts_with("dimensions: "), "{}", answer.hint());
    }
    for (more, hint) in [
        (json!({ "dimensions": ["query", "query"] }), "dimensions: must not hold \"query\" twice"),
        (json!({ "dimensions": ["searchAppearance", "page"] }), "dimensions: searchAppearance stands alone"),
        (json!({ "dimensions": ["date"], "compare": "previous_period" }), "dimensions: date goes with no comparison"),
        (json!({ "sort": "-change.clicks" }), "sort: a change needs a window"),
        (
            json!({ "filters": [{ "dimension": "country", "operator": "equals", "value": "us" }] }),
            "filters: condition 1: unknown country",
        ),
    ] {
        let answer = case.query(&people, &["country"], more).await.expect(400);
        assert_eq!(answer.code(), "invalid_request");
        assert!(answer.hint().starts_with(hint), "{}", answer.hint());
    }
    let query = format!("/api/properties/{}/performance/query?limit=3", people.asker(PAPER).property);
    let answer = people.asker(PAPER).actor.post(&query, &json!({ "dimensions": [] })).await.expect(400);
    assert!(answer.hint().starts_with("limit: not a parameter here"), "{}", answer.hint());
}
