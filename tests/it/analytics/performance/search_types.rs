//! Tests of search types other than web, which lack dimensions, positions or both.

use serde_json::Value;
use simulator::{SearchType, Site};

use super::{Asker, PAPER, site};
use crate::support::oracle::{
    Count, Keys, Sum, Truth, all, by_appearance, by_country, by_device, by_page, by_query, said_by,
};

const DAYS: (&str, &str) = ("2026-10-20", "2026-10-21");

const TYPES: [(&str, SearchType, &[&str]); 4] = [
    ("discover", SearchType::Discover, &["queries", "devices"]),
    ("googleNews", SearchType::GoogleNews, &["queries"]),
    ("image", SearchType::Image, &[]),
    ("video", SearchType::Video, &[]),
];

fn paper() -> &'static Site {
    site(PAPER)
}

async fn asked(name: &str) -> Value {
    let query = [("searchType", name), ("scope", "all"), ("queryLimit", "5000"), ("pageLimit", "5000")];
    Asker::paper().await.window(DAYS.0, DAYS.1, &query).await
}

#[tokio::test]
async fn each_search_type_is_the_sum_of_its_own_cells() {
    for (name, search_type, missing) in TYPES {
        let json = asked(name).await;
        let truth = Truth::of(paper(), search_type, DAYS.0, DAYS.1);
        let feed = search_type.is_feed();
        let count = if feed { Count::ByPage } else { Count::ByProperty };
        let seen = |sum: Sum| if feed { sum.unplaced() } else { sum };
        assert_eq!(Sum::said(&json["data"]["totals"]), seen(truth.total(count, &all)), "{name}");
        assert_eq!(json["meta"]["aggregation"], if feed { "byPage" } else { "byProperty" });
        assert_eq!(json["meta"]["searchType"], name);
        let tables: [(&str, Count, Keys<'_>); 5] = [
            ("queries", count, &by_query),
            ("pages", Count::ByPage, &by_page),
            ("countries", count, &by_country),
            ("devices", count, &by_device),
            ("searchAppearances", Count::ByPage, &by_appearance),
        ];
        for (table, count, keys) in tables {
            if missing.contains(&table) {
                continue;
            }
            let mut expected = truth.by(count, &all, keys);
            for sum in expected.values_mut() {
                *sum = seen(*sum);
            }
            assert_eq!(said_by(&json["data"]["tables"][table], "key"), expected, "{name} {table}");
        }
    }
}

#[tokio::test]
async fn a_table_that_the_type_lacks_is_left_out_with_the_reason() {
    for (name, _, missing) in TYPES {
        let json = asked(name).await;
        for table in ["queries", "pages", "countries", "devices", "searchAppearances"] {
            let coverage = &json["meta"]["coverage"][table];
            let lacks = missing.contains(&table);
            assert_eq!(coverage["available"], !lacks, "{name} {table}");
            assert_eq!(json["data"]["tables"].get(table).is_none(), lacks, "{name} {table}");
            assert_eq!(coverage.get("reason").is_some(), lacks, "{name} {table}");
            assert!(!lacks || coverage["reason"].as_str().unwrap().contains(name), "{coverage}");
        }
    }
}

#[tokio::test]
async fn feeds_have_no_positions_at_all() {
    for name in ["discover", "googleNews"] {
        let json = asked(name).await;
        assert!(json["data"]["totals"]["position"].is_null(), "{name}");
        assert!(json["data"]["totals"]["impressions"].as_u64().unwrap() > 0, "{name}");
        for rows in [&json["data"]["series"], &json["data"]["tables"]["pages"]] {
            assert!(rows.as_array().unwrap().iter().all(|row| row["position"].is_null()), "{name}");
        }
    }
}

#[tokio::test]
async fn what_a_type_lacks_cannot_be_filtered_or_classified_by() {
    let paper = Asker::paper().await;
    let query = r#"[{"dimension":"query","operator":"contains","value":"harbour"}]"#;
    let device = r#"[{"dimension":"country","operator":"equals","value":"gbr"},
        {"dimension":"device","operator":"equals","value":"MOBILE","logic":"or"}]"#;
    let refused = [
        ("discover", "filters", query),
        ("discover", "filters", device),
        ("discover", "classification", "branded"),
        ("googleNews", "filters", query),
        ("googleNews", "classification", "nonBranded"),
    ];
    for (search_type, name, value) in refused {
        let answer = paper.ask(&[("searchType", search_type), (name, value)]).await.expect(400);
        assert_eq!(answer.code(), "not_available_for_search_type", "{search_type} {value}");
        assert!(answer.hint().contains(search_type), "{}", answer.hint());
    }
    for search_type in ["googleNews", "image", "video"] {
        paper.window(DAYS.0, DAYS.1, &[("searchType", search_type), ("filters", device)]).await;
    }
    paper.ask(&[("searchType", "news")]).await.expect(400);
}

#[tokio::test]
async fn a_site_that_a_type_never_shows_has_no_data() {
    let json = Asker::small().await.window(DAYS.0, DAYS.1, &[("searchType", "discover"), ("scope", "all")]).await;
    assert_eq!(json["meta"]["status"], "no_search_data");
    assert_eq!(Sum::said(&json["data"]["totals"]), Sum::default());
    assert_eq!(json["data"]["tables"]["pages"], serde_json::json!([]));
}
