//! Tests that analyses do not invent missing data.

use std::{cell::Cell, collections::BTreeMap};

use entity::branded_keyword;
use sea_orm::{ModelTrait as _, prelude::*};
use serde_json::{Value, json};

use super::{
    branded, cannibalization,
    cases::{BEFORE, MONTH, UNBORN, WEEK},
    each, each_of, growth, insights,
};
use crate::{
    analytics::{
        case::{Case, PAPER, People, Rows, SMALL, SOFTWARE, YOUNG},
        performance::Asker,
    },
    support::{app::TestApp, class::Class},
};

const OPERATIONS: [&str; 5] =
    ["cannibalization", "growth-opportunities", "query-insights", "query-count", "branded-traffic"];

#[tokio::test]
async fn feeds_have_no_queries_to_analyse() {
    let asker = Asker::paper().await;
    for operation in OPERATIONS {
        for search_type in ["discover", "googleNews"] {
            let path = format!("/api/properties/{}/{operation}", asker.property);
            let answer = asker.actor.ask(&path, &[("searchType", search_type)]).await.expect(400);
            assert_eq!(answer.code(), "not_available_for_search_type", "{operation} {search_type}");
            assert!(answer.hint().contains("searchType"), "{operation}: {}", answer.hint());
        }
    }
}

#[tokio::test]
async fn a_percentage_of_nothing_is_null() {
    let case = [Case::of(YOUNG, WEEK).against(UNBORN)];
    each("branded-traffic", &case, |_, json| {
        let data = &json["data"];
        for part in ["total", "branded", "nonBranded"] {
            let change = &data[part]["change"];
            assert!(data[part]["impressions"].as_u64().unwrap() > 0, "{part}");
            assert_eq!(change["impressions"]["absolute"], data[part]["impressions"], "{part}");
            for metric in ["clicks", "impressions"] {
                assert_eq!(change[metric]["percent"], Value::Null, "{part} {metric}");
            }
            assert_eq!((&change["ctr"]["absolute"], &change["position"]["absolute"]), (&Value::Null, &Value::Null));
            assert_eq!(data[part]["previous"]["position"], Value::Null, "no position is not position 0");
        }
    })
    .await;
    let case = [Case::of(SMALL, WEEK).against(BEFORE).with("minImpressions", "1").with("limit", "500")];
    let unclicked = Cell::new(0);
    each("query-insights", &case, |_, json| {
        for row in json["data"]["movers"]["moving"].as_array().unwrap() {
            let nothing = row["previous"]["clicks"] == 0;
            assert_eq!(row["change"]["clicks"]["percent"].is_null(), nothing, "{row}");
            unclicked.set(unclicked.get() + usize::from(nothing));
        }
    })
    .await;
    assert!(unclicked.get() > 5);
}

#[tokio::test]
async fn a_query_of_one_window_is_new_or_lost_and_never_a_row_of_zeros() {
    let case = [Case::of(SMALL, WEEK).against(BEFORE).with("minImpressions", "1").with("limit", "500")];
    each("query-insights", &case, |case, json| {
        let (now, before) = (case.table("queries", WEEK), case.table("queries", BEFORE));
        let mut seen = BTreeMap::<&str, &str>::new();
        for list in ["new", "lost", "unknown", "moving"] {
            for row in json["data"]["movers"][list].as_array().unwrap() {
                let (key, presence) = (row["key"].as_str().unwrap(), row["presence"].as_str().unwrap());
                let expected = match (now.contains_key(key), before.contains_key(key)) {
                    (true, true) => "both",
                    (true, false) => "new",
                    (false, _) => "lost",
                };
                assert_eq!(presence, expected, "{row}");
                assert!(row["impressions"] != 0 && row["previous"]["impressions"] != 0, "{row}");
                assert!(seen.insert(key, list).is_none(), "{key} is in two lists");
            }
        }
        let only = |rows: &Rows, other: &Rows| rows.keys().filter(|key| !other.contains_key(*key)).count();
        let of = |list: &str| seen.values().filter(|seen| **seen == list).count();
        assert_eq!((of("new"), of("lost"), of("unknown")), (only(&now, &before), only(&before, &now), 0));
    })
    .await;
}

#[tokio::test]
async fn branded_other_and_anonymised_make_the_total_of_every_day() {
    let people = People::new().await;
    for case in [
        Case::of(SMALL, MONTH).against(WEEK),
        Case::of(SMALL, WEEK).against(BEFORE).class(Class::Segment),
        Case::of(SOFTWARE, WEEK).and("country", "equals", "deu"),
    ] {
        let ask = async |operation: &str| case.ask(&people, operation, &[]).await.expect(200).json;
        let (performance, insights) = (ask("performance").await, ask("query-insights").await);
        let branded = ask("branded-traffic").await;
        assert_eq!(branded["data"], insights["data"]["brandedSplit"], "one split, in two places");
        for series in ["series", "previousSeries"] {
            assert_eq!(performance["data"].get(series).is_some(), branded["data"].get(series).is_some());
            let Some(totals) = performance["data"].get(series) else { continue };
            let (totals, points) = (totals.as_array().unwrap(), branded["data"][series].as_array().unwrap());
            assert_eq!(totals.len(), points.len());
            for (total, point) in totals.iter().zip(points) {
                assert_eq!(total["date"], point["date"]);
                for metric in ["clicks", "impressions"] {
                    let parts = ["branded", "nonBranded", "anonymised"];
                    let sum: u64 = parts.map(|part| point[part][metric].as_u64().unwrap()).iter().sum();
                    assert_eq!(total[metric], sum, "{metric} of {point}");
                }
            }
        }
        assert_eq!(performance["data"]["totals"], branded["data"]["total"]);
    }
}

#[tokio::test]
async fn buckets_partition_the_identified_queries() {
    let cases = [Case::of(SMALL, MONTH), Case::of(SOFTWARE, WEEK), Case::of(PAPER, ("2026-11-02", "2026-11-03"))];
    each("query-insights", &cases, |case, json| {
        let rows = case.table("queries", case.window);
        let buckets = json["data"]["distribution"].as_array().unwrap();
        let sum = |name: &str| buckets.iter().map(|row| row[name].as_u64().unwrap()).sum::<u64>();
        assert_eq!(sum("queries"), rows.len() as u64);
        assert_eq!(sum("clicks"), rows.values().map(|row| row.clicks).sum::<u64>());
        assert_eq!(sum("impressions"), rows.values().map(|row| row.impressions).sum::<u64>());
        for share in ["queriesShare", "clicksShare", "impressionsShare"] {
            let whole: f64 = buckets.iter().map(|row| row[share].as_f64().unwrap()).sum();
            assert!((whole - 1.0).abs() < 1e-9, "{share}: {whole}");
        }
    })
    .await;
}

#[tokio::test]
async fn without_a_window_the_last_28_final_days_are_meant() {
    let asker = Asker::small().await;
    for operation in OPERATIONS {
        let path = format!("/api/properties/{}/{operation}", asker.property);
        let default = asker.actor.ask(&path, &[]).await.expect(200).json;
        let named = asker.actor.ask(&path, &[("startDate", MONTH.0), ("endDate", MONTH.1)]).await.expect(200).json;
        assert_eq!(default["meta"]["window"], json!({ "startDate": MONTH.0, "endDate": MONTH.1 }), "{operation}");
        assert_eq!(default["data"], named["data"], "{operation}");
    }
}

#[tokio::test]
async fn without_branded_keywords_no_query_counts_as_branded() {
    let app = TestApp::start(|_| {}).await;
    let people = People::of(&app).await;
    let property: Uuid = people.asker(SMALL).property.parse().unwrap();
    for keyword in branded_keyword::Entity::of_property(property).all(&app.service.db).await.unwrap() {
        keyword.delete(&app.service.db).await.unwrap();
    }
    let case = || Case::of(SMALL, WEEK).against(BEFORE).without_keywords();
    each_of(&people, "branded-traffic", &[case()], |case, json| {
        assert_eq!(json["meta"]["hasBrandedKeywords"], false);
        let found = branded::check_split(case, &json["data"]);
        assert!(found.other.clicks > 0 && found.branded.clicks == 0);
    })
    .await;
    each_of(&people, "query-insights", &[case()], insights::check_case).await;
    let low = || case().with("minImpressions", "1").with("minPosition", "1");
    each_of(&people, "growth-opportunities", &[low(), low().with("includeBranded", "true")], growth::check_case).await;
    let low = Case { before: None, ..case() }.with("minQueryImpressions", "1").with("minPageImpressions", "1");
    each_of(&people, "cannibalization", &[low], |case, json| {
        cannibalization::check_case(case, json);
        assert_eq!(json["meta"]["thresholds"]["brandedExcluded"], false);
        let queries = json["data"]["queries"].as_array().unwrap();
        assert!(queries.iter().any(|query| case.is_branded(query["query"].as_str().unwrap())), "brand is analysed too");
    })
    .await;
    for operation in OPERATIONS {
        let refused = case().class(Class::NonBranded).ask(&people, operation, &[]).await.expect(400);
        assert!(refused.hint().contains("branded keywords"), "{operation}: {}", refused.hint());
    }
}
