//! Checks for the common parts of all analyses.

use chrono::DateTime;
use serde_json::{Value, json};

use crate::{
    analytics::case::{Case, LAST_FINAL, Window},
    support::{
        app::start_of_test,
        oracle::{Count, Listed, Sum, Tally, coverage_said, days_said, tally},
    },
};

/// A ratio. `None` if the divisor is zero.
pub fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

pub fn ctr(sum: Sum) -> Option<f64> {
    ratio(sum.clicks, sum.impressions)
}

pub fn position(sum: Sum) -> Option<f64> {
    ratio(sum.positions, sum.impressions)
}

pub fn near(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * found.abs().max(expected.abs()) + 1e-13
}

/// Checks a number. An undefined one is null or absent.
#[track_caller]
pub fn close(found: &Value, expected: impl Into<Option<f64>>) {
    match expected.into() {
        None => assert!(found.is_null(), "{found} is undefined"),
        Some(expected) => {
            let number = found.as_f64().unwrap_or_else(|| panic!("{found} is not {expected}"));
            assert!(near(number, expected), "{found} is not {expected}");
        }
    }
}

/// Checks clicks, impressions, CTR and position.
#[track_caller]
pub fn metrics(found: &Value, expected: Sum) {
    let counts = (&found["clicks"], &found["impressions"]);
    assert_eq!(counts, (&json!(expected.clicks), &json!(expected.impressions)), "{found}");
    close(&found["ctr"], ctr(expected));
    close(&found["position"], position(expected));
}

/// Checks a change: current minus previous.
#[track_caller]
pub fn change(found: &Value, now: Sum, before: Sum) {
    let counts = [("clicks", now.clicks, before.clicks), ("impressions", now.impressions, before.impressions)];
    for (name, now, before) in counts {
        let difference = now.cast_signed() - before.cast_signed();
        assert_eq!(found[name]["absolute"], difference, "{name} {found}");
        close(&found[name]["percent"], (before > 0).then(|| 100.0 * difference as f64 / before as f64));
    }
    for (name, of) in [("ctr", ctr as fn(Sum) -> Option<f64>), ("position", position)] {
        close(&found[name]["absolute"], of(now).zip(of(before)).map(|(now, before)| now - before));
    }
}

/// Checks `previous` and `change`, which are absent without a comparison.
#[track_caller]
pub fn compared(found: &Value, now: Sum, before: Option<Sum>) {
    match before {
        None => assert!(found.get("previous").is_none() && found.get("change").is_none(), "{found}"),
        Some(before) => {
            metrics(&found["previous"], before);
            change(&found["change"], now, before);
        }
    }
}

/// The number of rows up to which analyses of queries read.
pub const CEILING: usize = 50_000;

/// Checks the coverage of a list in a window that is read up to a ceiling: of the rows listed, if there are any, and of the rows known.
#[track_caller]
pub fn coverage(
    case: &Case,
    (found, ceiling): (&Value, usize),
    count: Count,
    window: Window,
    rows: (Option<Listed>, Tally),
) {
    let clicks = |case: &Case| case.total(count, window).clicks;
    let (property, slice) = (clicks(&case.of_everything()), clicks(&case.without_query_conditions()));
    let mut expected = coverage_said(count, (false, ceiling), rows, property, slice);
    if !case.is_counted() {
        expected.as_object_mut().unwrap().remove("clicks");
    }
    assert_eq!(found.as_object().map(serde_json::Map::len), expected.as_object().map(serde_json::Map::len), "{found}");
    for (name, value) in expected.as_object().unwrap() {
        match value.as_f64().filter(|_| name.ends_with("Share")) {
            Some(share) => close(&found[name], share),
            None => assert_eq!(&found[name], value, "{name} of {found}"),
        }
    }
}

/// Checks the coverage of the query rows `rows`, which are all rows of the case or part of them.
#[track_caller]
pub fn query_coverage<'r>(case: &Case, found: &Value, listed: Option<Listed>, rows: impl Iterator<Item = &'r Sum>) {
    coverage(case, (found, CEILING), case.count(), case.counted(), (listed, tally(rows.copied())));
}

/// Checks the metadata of a response.
#[track_caller]
pub fn meta(case: &Case, found: &Value) {
    let range = |(start, end): (&str, &str)| json!({ "startDate": start, "endDate": end });
    assert_eq!(found["window"], range(case.window));
    assert_eq!(found.get("compareWindow"), case.before.map(range).as_ref());
    assert_eq!(found["days"], days_said(case.window, case.before, LAST_FINAL));
    assert_eq!(found["searchType"], case.search_type_name());
    let by_page = case.count() == Count::ByPage;
    assert_eq!(found["aggregation"], if by_page { "byPage" } else { "byProperty" });
    assert_eq!(found["freshness"]["lastFinalDate"], LAST_FINAL);
    assert_eq!(found["freshness"]["timeZone"], "America/Los_Angeles");
    assert!(DateTime::parse_from_rfc3339(found["cachedAt"].as_str().unwrap()).unwrap() <= start_of_test());
    let any = case.total(case.count(), case.counted()).impressions > 0;
    let status = match (case.is_counted(), any) {
        (false, _) => "not_final_yet",
        (true, true) => "analysed",
        (true, false) => "no_search_data",
    };
    assert_eq!(found["status"], status);
}
