//! Query parameters: accepted and refused values, and the texts of refusals.

use api::{
    analytics::{CannibalizationParams, ExportParams, GrowthParams, PerformanceParams, SparklinesParams},
    models::{Classification, Compare, Dimension, FilterLogic, FilterOperator, Filters, MAX_CONDITIONS, Window},
    params::{ParamValue, QueryPairs, QueryParams},
    properties::PropertyListParams,
};
use chrono::{NaiveDate, TimeDelta};
use proptest::prelude::{Strategy, prop_oneof};

fn read<T: QueryParams>(query: &str) -> Result<T, String> {
    let error = |error: api::error::ApiError| error.hint.unwrap_or_default();
    QueryPairs::of(query).map_err(error).and_then(|pairs| T::read(&pairs).map_err(error))
}

fn refusal<T: QueryParams>(query: &str) -> String {
    read::<T>(query).map_or_else(|hint| hint, |_| "accepted".to_owned())
}

/// The refusal of a first day that is none, or too far away.
const NO_DAY: &str = "startDate: must be a calendar date, YYYY-MM-DD, from 1900-01-01 to 2200-12-31";

#[test]
fn dates_and_windows() {
    for (query, expected) in [
        ("", "accepted"),
        ("startDate=2026-10-22&endDate=2026-11-18", "accepted"),
        ("startDate=2026-11-18&endDate=2026-11-18", "accepted"),
        ("startDate=2028-02-29&endDate=2028-02-29", "accepted"),
        ("startDate=2026-02-29&endDate=2026-03-01", NO_DAY),
        ("startDate=2026-1-01&endDate=2026-03-01", NO_DAY),
        ("startDate=&endDate=2026-03-01", "startDate: is required beside endDate"),
        ("startDate=today&endDate=2026-03-01", NO_DAY),
        ("startDate=2026-03-01T00:00:00.000Z&endDate=2026-03-02T00:00:00", "accepted"),
        ("startDate=2026-03-01T00:00:00Z&endDate=2026-03-02T00:00:00%2B00:00", "accepted"),
        ("startDate=2026-02-28T23:00:00.000Z&endDate=2026-03-01", NO_DAY),
        ("startDate=2026-03-01T00:00:00%2B01:00&endDate=2026-03-01", NO_DAY),
        // Java, for a time whose seconds are zero, and Python.
        ("startDate=2026-03-01T00:00Z&endDate=2026-03-02T00:00", "accepted"),
        ("startDate=2026-03-01+00:00:00&endDate=2026-03-02%2000:00:00%2B00:00", "accepted"),
        ("startDate=2026-03-01T00:00:00.000000%2B0000&endDate=2026-03-02t00:00:00z", "accepted"),
        // A `+` that was not percent-encoded.
        ("startDate=2026-03-01T00:00:00+00:00&endDate=2026-03-02+00:00:00+00:00", "accepted"),
        ("startDate=2026-03-01T00:00:00+01:00&endDate=2026-03-02", NO_DAY),
        ("startDate=2026-03-01T00:00:00-05:00&endDate=2026-03-02", NO_DAY),
        ("startDate=2026-03-01+10:00:00&endDate=2026-03-02", NO_DAY),
        ("startDate=2026-03-01T00:01Z&endDate=2026-03-02", NO_DAY),
        ("startDate=2026-03-01T00:00:00000&endDate=2026-03-02", NO_DAY),
        ("startDate=2026-03-01+&endDate=2026-03-02", NO_DAY),
        ("startDate=2026-03-01T&endDate=2026-03-01", NO_DAY),
        ("startDate=2026-03-01T00:00:00.x&endDate=2026-03-01", NO_DAY),
        ("startDate=1899-12-31&endDate=2026-03-01", NO_DAY),
        ("startDate=2201-01-01&endDate=2201-01-01", NO_DAY),
        ("startDate=-262143-01-01&endDate=2026-03-01", NO_DAY),
        ("startDate=2026-03-02&endDate=2026-03-01", "startDate: must not be after endDate"),
        ("startDate=2026-03-02", "endDate: is required beside startDate"),
        ("endDate=2026-03-02", "startDate: is required beside endDate"),
        ("compareStart=2026-03-02", "compareEnd: is required beside compareStart"),
        ("compareStart=2026-03-02&compareEnd=2026-03-01", "compareStart: must not be after compareEnd"),
        (
            "startDate=2026-03-01&startDate=2026-03-02&endDate=2026-03-05",
            "startDate: given more than once; send it once",
        ),
    ] {
        assert_eq!(refusal::<PerformanceParams>(query), expected, "{query}");
    }
}

#[test]
fn comparisons_are_named_or_dated() {
    for (query, expected) in [
        ("compare=previous_year_same_weekdays", "accepted"),
        (
            "compare=previousYear",
            "compare: must be one of previous_period, previous_period_same_weekdays, previous_calendar_period, previous_year, previous_year_same_weekdays",
        ),
        ("compare=previous_year&compareEnd=2026-01-01", "compareStart: is required beside compareEnd"),
        ("compare=previous_year&compareStart=2026-01-01&compareEnd=2026-01-02", "accepted"),
    ] {
        assert_eq!(refusal::<PerformanceParams>(query), expected, "{query}");
    }
    let window = |start: &str, end: &str| Window { start_date: start.parse().unwrap(), end_date: end.parse().unwrap() };
    for (compare, asked, expected) in [
        (Compare::PreviousPeriod, window("2026-10-22", "2026-11-18"), window("2026-09-24", "2026-10-21")),
        (Compare::PreviousPeriod, window("2026-11-18", "2026-11-18"), window("2026-11-17", "2026-11-17")),
        (Compare::PreviousYear, window("2026-10-22", "2026-11-18"), window("2025-10-22", "2025-11-18")),
        (Compare::PreviousYear, window("2028-02-29", "2028-02-29"), window("2027-02-28", "2027-02-28")),
        (Compare::PreviousYearSameWeekdays, window("2026-11-16", "2026-11-22"), window("2025-11-17", "2025-11-23")),
        (Compare::PreviousPeriodSameWeekdays, window("2026-11-16", "2026-11-22"), window("2026-11-09", "2026-11-15")),
        (Compare::PreviousPeriodSameWeekdays, window("2026-11-16", "2026-11-23"), window("2026-11-02", "2026-11-09")),
        (Compare::PreviousCalendarPeriod, window("2026-10-01", "2026-10-31"), window("2026-09-01", "2026-09-30")),
        (Compare::PreviousCalendarPeriod, window("2024-01-01", "2024-12-31"), window("2023-01-01", "2023-12-31")),
        (Compare::PreviousCalendarPeriod, window("2026-11-01", "2027-02-28"), window("2026-07-01", "2026-10-31")),
    ] {
        assert_eq!(compare.before(asked), Some(expected), "{compare:?}");
    }
}

#[test]
fn limits_and_enums() {
    for (query, expected) in [
        ("queryLimit=1&pageLimit=5000", "accepted"),
        ("queryLimit=0", "queryLimit: must be a whole number from 1 to 5000"),
        ("queryLimit=5001", "queryLimit: must be a whole number from 1 to 5000"),
        ("queryLimit=+5", "queryLimit: must be a whole number from 1 to 5000"),
        ("queryLimit=1e3", "accepted"),
        ("queryLimit=1e%2B03&pageLimit=10.0", "accepted"),
        ("queryLimit=10.5", "queryLimit: must be a whole number from 1 to 5000"),
        ("queryLimit=1e-1", "queryLimit: must be a whole number from 1 to 5000"),
        ("queryLimit=1e4", "queryLimit: must be a whole number from 1 to 5000"),
        ("queryLimit=1e300", "queryLimit: must be a whole number from 1 to 5000"),
        ("queryLimit=-0", "queryLimit: must be a whole number from 1 to 5000"),
        ("queryLimit=99999999999999999999", "queryLimit: must be a whole number from 1 to 5000"),
        ("pageLimit=&filters=&scope=&compare=", "accepted"),
        ("scope=tables", "accepted"),
        ("scope=Tables", "scope: must be one of totals, series, tables, all"),
        ("searchType=news", "searchType: must be one of web, discover, googleNews, image, video"),
    ] {
        assert_eq!(refusal::<PerformanceParams>(query), expected, "{query}");
    }
    assert_eq!(read::<PropertyListParams>("").unwrap().metrics.days.0, 28);
    assert_eq!(refusal::<PropertyListParams>("days=481"), "days: must be a whole number from 1 to 480");
    assert_eq!(
        refusal::<ExportParams>("table=query"),
        "table: must be one of queries, pages, countries, devices, searchAppearances"
    );
}

#[test]
fn thresholds() {
    let params = read::<CannibalizationParams>("").unwrap();
    assert_eq!((params.min_query_impressions.0, params.min_page_impressions.0), (50, 10));
    assert!(
        (params.min_page_share.0 - 0.1).abs() < f64::EPSILON && (params.max_top_share.0 - 0.8).abs() < f64::EPSILON
    );
    for wrong in ["1.1", "-0.1", "NaN", "inf", "e1", "-1e-1", "1e999", " ", "0,1"] {
        let hint = refusal::<CannibalizationParams>(&format!("maxTopShare={wrong}"));
        assert_eq!(hint, "maxTopShare: must be a number from 0 to 1", "{wrong}");
    }
    assert_eq!(refusal::<CannibalizationParams>("includeBranded=yes"), "includeBranded: must be true or false");
    assert_eq!(refusal::<GrowthParams>("minPosition=10&maxPosition=5"), "maxPosition: must not be below minPosition");
}

#[test]
fn percent_encoding() {
    for (query, expected) in [
        ("scope=%61ll", "accepted"),
        ("%73cope=all", "accepted"),
        ("scope=%zz", "scope: must be percent-encoded UTF-8"),
        ("scope=%6", "scope: must be percent-encoded UTF-8"),
        ("scope=%ff", "scope: must be percent-encoded UTF-8"),
        ("scope=%+1", "scope: must be percent-encoded UTF-8"),
        ("%ff=1", "query string: a name is not percent-encoded UTF-8"),
        ("&&scope=all&", "accepted"),
    ] {
        assert_eq!(refusal::<PerformanceParams>(query), expected, "{query}");
    }
}

#[test]
fn classification() {
    let id = "01937f5e-8a7b-7c3d-9e4f-0a1b2c3d4e5f";
    assert_eq!(Classification::parse("branded"), Ok(Classification::Branded));
    assert_eq!(Classification::parse("nonBranded"), Ok(Classification::NonBranded));
    assert_eq!(Classification::parse(&format!("segment:{id}")), Ok(Classification::Segment(id.parse().unwrap())));
    assert_eq!(
        Classification::parse(&format!("topicCluster:{id}")),
        Ok(Classification::TopicCluster(id.parse().unwrap()))
    );
    let braced = format!("segment:{{{id}}}");
    let compact = format!("segment:{}", id.replace('-', ""));
    let cluster = format!("cluster:{id}");
    for wrong in
        ["", "Branded", "non-branded", "segment", "segment:", "segment:x", "branded:", &braced, &compact, &cluster]
    {
        assert!(Classification::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn filters() {
    let one = r#"{"dimension":"searchAppearance","operator":"or_list","value":"a,b","logic":"or"}"#;
    let read = Filters::parse(&format!("[{one}]")).unwrap().0;
    assert_eq!(read[0].dimension, Dimension::SearchAppearance);
    assert_eq!(read[0].operator, FilterOperator::OrList);
    assert_eq!((read[0].value.as_str(), read[0].logic), ("a,b", Some(FilterLogic::Or)));
    assert_eq!(Filters::parse("[]"), Ok(Filters::default()));

    let list = |n: usize| format!("[{}]", vec![one; n].join(","));
    assert!(Filters::parse(&list(MAX_CONDITIONS)).is_ok());
    assert_eq!(Filters::parse(&list(51)).unwrap_err(), "at most 50 conditions are allowed, 51 were sent");
    for (wrong, expected) in [
        ("", "must be a JSON array of conditions {dimension, operator, value, logic?}, and ends too early"),
        ("{}", "must be a JSON array"),
        (one, "must be a JSON array"),
        ("[1]", "condition 1: must be an object"),
        (r#"[{"dimension":"query","operator":"equals"}]"#, "condition 1: value: is required"),
        (r#"[{"dimension":"query","operator":"equals","value":1}]"#, "condition 1: value: must be a string"),
        (
            r#"[{"dimension":"date","operator":"equals","value":"x"}]"#,
            "condition 1: dimension: must be one of query, page",
        ),
        (
            r#"[{"dimension":"query","operator":"EQUALS","value":"x"}]"#,
            "condition 1: operator: must be one of contains",
        ),
        (
            r#"[{"dimension":"query","operator":"equals","value":"x","x":1}]"#,
            "condition 1: x: is not a field here; allowed are dimension",
        ),
        (r#"[{"dimension":"query","operator":"equals","value":""}]"#, "condition 1: value: must be 1 to 4096"),
        (
            r#"[{"dimension":"query","operator":"equals","value":"a","value":"b"}]"#,
            "[0].value is given twice; send it once",
        ),
    ] {
        let hint = Filters::parse(wrong).unwrap_err();
        assert!(hint.contains(expected), "{wrong}: {hint}");
    }
}

#[test]
fn sparkline_keys() {
    let of = |text: &str| refusal::<SparklinesParams>(&format!("keys={text}"));
    assert_eq!(of("[%22a,b%22]"), "accepted");
    assert_eq!(of("[]"), "keys: must hold 1 to 50 keys, and holds 0");
    assert_eq!(of("[%22a%22,%22a%22]"), "keys: must not hold a key twice");
    assert_eq!(of("[%22%22]"), "keys: each key must be 1 to 2048 characters long, without NUL");
    assert_eq!(of("a,b"), "keys: must be a JSON array of strings, e.g. [\"shoes\"]");
}

/// The days of the library's calendar, often its first and last ones.
fn any_day() -> impl Strategy<Value = NaiveDate> {
    let all = (NaiveDate::MAX - NaiveDate::MIN).num_days();
    let within = prop_oneof![0..=400_i64, all - 400..=all, 0..=all];
    within.prop_map(|after| NaiveDate::MIN + TimeDelta::days(after))
}

proptest::proptest! {
    #[test]
    fn no_filters_panic(text in "\\PC*") {
        let _ = Filters::parse(&text);
        let _ = Classification::parse(&text);
    }

    #[test]
    fn no_query_string_panics(text in "[ -~]*", (start, end) in (any_day(), any_day())) {
        for text in [text, format!("startDate={start}&endDate={end}&compareStart={end}&compareEnd={end}")] {
            let _ = QueryPairs::of(&text).map(|pairs| PerformanceParams::read(&pairs));
        }
    }

    #[test]
    fn no_window_of_the_calendar_panics((start_date, end_date) in (any_day(), any_day())) {
        for compare in [
            Compare::PreviousPeriod,
            Compare::PreviousPeriodSameWeekdays,
            Compare::PreviousCalendarPeriod,
            Compare::PreviousYear,
            Compare::PreviousYearSameWeekdays,
        ] {
            let _ = compare.before(Window { start_date, end_date });
        }
    }

    #[test]
    fn every_encoded_text_is_read_back(value in "\\PC{1,40}") {
        let encoded = value.bytes().map(|byte| format!("%{byte:02X}")).collect::<Vec<_>>().concat();
        let pairs = QueryPairs::of(&format!("keyword={encoded}")).unwrap();
        let read = api::classifications::BrandedKeywordParams::read(&pairs).unwrap();
        proptest::prop_assert_eq!(read.keyword.0, value);
    }
}
