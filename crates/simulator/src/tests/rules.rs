//! Tests of requests that the search engine refuses, or answers without rows.

use serde_json::{Value, json};

use super::{PUBLISHER, SOFTWARE, Server, body, filters};

/// Invalid changes to a valid request, the site, and how the message of the 400 starts.
fn refused() -> Vec<(Value, &'static str)> {
    let filter = |filter: Value| json!({ "dimensionFilterGroups": filters(&json!([filter])) });
    let page_by_property = json!({
        "aggregationType": "byProperty",
        "dimensionFilterGroups": filters(&json!([{ "dimension": "page", "expression": "x" }])),
    });
    let by_property = "'BY_PROPERTY' is not a valid aggregation type in the context of the request.";
    let panel = "'BY_NEWS_SHOWCASE_PANEL' is not a valid";
    vec![
        (json!({ "dimensions": ["query", "page", "QUERY"] }), "Duplicate dimensions are not allowed."),
        (
            json!({ "dimensions": ["searchAppearance", "page"] }),
            "Cannot group by search appearance dimension together with another dimension.",
        ),
        (json!({ "dimensions": ["date", "hour"] }), "Request cannot be grouped by both date and hour"),
        (json!({ "dimensions": ["hour"] }), "Grouping by HOUR requires setting dataState=HOURLY_ALL"),
        (json!({ "dataState": "hourly_all" }), "Setting dataState=HOURLY_ALL requires"),
        (json!({ "type": "discover", "dimensions": ["query"] }), "Request for DISCOVER cannot be grouped by query"),
        (
            json!({ "type": "googleNews", "dimensions": ["query"] }),
            "Request for GOOGLE_NEWS cannot be grouped by query",
        ),
        (
            json!({ "type": "discover", "dimensionFilterGroups": filters(&json!([{ "dimension": "query", "expression": "x" }])) }),
            "Request for DISCOVER cannot be filtered by query",
        ),
        (json!({ "type": "discover", "dimensions": ["device"] }), "Request for DISCOVER cannot be grouped by device"),
        (json!({ "dimensions": ["page"], "aggregationType": "byProperty" }), by_property),
        (page_by_property, by_property),
        (json!({ "type": "discover", "aggregationType": "BY_PROPERTY" }), by_property),
        (json!({ "type": "discover", "aggregationType": "byNewsShowcasePanel" }), panel),
        (json!({ "dimensions": ["colour"] }), "Invalid value at 'dimension[0]'"),
        (
            json!({ "dimensionFilterGroups": [{ "groupType": "or" }] }),
            "Invalid value at 'dimension_filter_group[0].group_type'",
        ),
        (
            filter(json!({ "dimension": "date", "expression": "x" })),
            "Invalid value at 'dimension_filter_group[0].filters[0].dimension'",
        ),
        (json!({ "type": "maps" }), "Invalid value at 'type'"),
        (json!({ "aggregationType": "byDay" }), "Invalid value at 'aggregation_type'"),
        (json!({ "dataState": "fresh" }), "Invalid value at 'data_state'"),
        (
            filter(json!({ "dimension": "searchAppearance", "expression": "video" })),
            "Invalid value at 'search_appearance'",
        ),
        (
            filter(json!({ "dimension": "searchAppearance", "operator": "contains", "expression": "VIDEO" })),
            "Invalid value at 'search_appearance'",
        ),
        (json!({ "rowLimit": 0 }), "Invalid value '0'."),
        (json!({ "rowLimit": 25_001 }), "Invalid value '25001'."),
        (json!({ "startRow": -1 }), "Invalid value '-1'."),
        (json!({ "startDate": "2026-11-12" }), "'startDate' must not be after 'endDate'."),
        (json!({ "startDate": "12/11/2026" }), "Invalid value at 'start_date'"),
        (json!({ "endDate": null }), "Required parameter is missing: end_date"),
        (json!({ "limit": 5 }), "Invalid JSON payload received. Unknown name \"limit\""),
    ]
}

#[tokio::test]
async fn forbidden_combinations_are_400() {
    let server = Server::start().await;
    for (more, message) in refused() {
        let (status, answer) = server.query(PUBLISHER, &body("2026-11-10", "2026-11-11", more.clone())).await;
        assert_eq!(status, 400, "{more}: {answer}");
        let error = &answer["error"];
        assert!(error["message"].as_str().unwrap().starts_with(message), "{more}: {error}");
        assert_eq!((&error["code"], &error["status"]), (&json!(400), &json!("INVALID_ARGUMENT")));
        assert_eq!(error["errors"][0]["domain"], "global");
    }
    let wrong = body("2026-11-10", "2026-11-11", json!({ "dimensions": ["page"], "aggregationType": "byProperty" }));
    let item = server.query(SOFTWARE, &wrong).await.1["error"]["errors"][0].clone();
    assert_eq!((&item["reason"], &item["location"]), (&json!("invalidParameter"), &json!("aggregation_type")));
}

#[tokio::test]
async fn some_mistakes_are_answered_without_rows() {
    let server = Server::start().await;
    let filter = |filter: Value| json!({ "dimensionFilterGroups": filters(&json!([filter])) });
    let silent = [
        filter(json!({ "dimension": "query", "operator": "includingRegex", "expression": "(?=x" })),
        filter(json!({ "dimension": "page", "operator": "excludingRegex", "expression": "(" })),
        filter(json!({ "dimension": "country", "expression": "us" })),
        filter(json!({ "dimension": "device", "expression": "watch" })),
        filter(json!({ "dimension": "searchAppearance", "expression": "UNHEARD_OF" })),
        json!({ "startDate": "2027-01-01", "endDate": "2027-01-02" }),
        json!({ "startDate": "2026-11-01", "endDate": "2026-11-10", "dimensions": ["hour"], "dataState": "hourly_all" }),
        json!({ "startRow": 100_000, "dimensions": ["query"] }),
    ];
    for more in silent {
        let (status, answer) = server.query(SOFTWARE, &body("2026-11-10", "2026-11-11", more.clone())).await;
        assert_eq!((status, answer.get("rows")), (200, None), "{more}");
        assert!(answer["responseAggregationType"].is_string());
    }
}

#[tokio::test]
async fn excluding_an_appearance_returns_it() {
    let server = Server::start().await;
    let ask = async |operator: &str| {
        let condition = json!([{ "dimension": "searchAppearance", "operator": operator, "expression": "VIDEO" }]);
        server
            .query(
                PUBLISHER,
                &body("2026-11-10", "2026-11-11", json!({ "dimensionFilterGroups": filters(&condition) })),
            )
            .await
    };
    let wanted = ask("equals").await;
    assert!(wanted.1["rows"].is_array());
    assert_eq!(wanted, ask("notEquals").await);
    assert_eq!(wanted, ask("notContains").await);
}

#[tokio::test]
async fn the_showcase_panel_needs_its_filter() {
    let server = Server::start().await;
    let condition = json!([{ "dimension": "searchAppearance", "expression": "NEWS_SHOWCASE" }]);
    let more = json!({
        "type": "googleNews", "aggregationType": "byNewsShowcasePanel", "dimensionFilterGroups": filters(&condition),
    });
    let (status, answer) = server.query(PUBLISHER, &body("2026-11-01", "2026-11-11", more)).await;
    assert_eq!((status, &answer["responseAggregationType"]), (200, &json!("byNewsShowcasePanel")));
}

#[tokio::test]
async fn names_and_values_fold_case_and_underscores() {
    let server = Server::start().await;
    let plain = body("2026-11-10", "2026-11-11", json!({ "type": "web", "dimensions": ["query", "device"] }));
    let shouted = json!({
        "start_date": "2026-11-10", "endDate": "2026-11-11", "search_type": "WEB", "dimensions": ["QUERY", "Device"],
        "row_limit": "25000", "aggregation_type": "BY_PROPERTY", "dataState": "FINAL", "startRow": null,
        "dimensionFilterGroups": [{ "group_type": "AND", "filters": [] }],
    });
    let answer = server.query(SOFTWARE, &plain).await;
    assert_eq!(answer.0, 200);
    assert_eq!(answer, server.query(SOFTWARE, &shouted).await);
    for name in ["GOOGLE_NEWS", "googleNews", "google_news"] {
        let more = json!({ "type": name, "dimensions": ["SEARCH_APPEARANCE"] });
        assert_eq!(server.query(PUBLISHER, &body("2026-11-10", "2026-11-11", more)).await.0, 200);
    }
}
