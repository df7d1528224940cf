//! Tests of windows that are named in place of dates, and of days a little ahead of the search engine's today.

use chrono::{Days, Months, NaiveDate};
use serde_json::{Value, json};

use super::performance::Asker;
use crate::{
    coverage::documented,
    support::{app::shared, oracle::day},
};

const PLACES: [(&str, &str); 3] = [("stranger", "quietmeadow"), ("owner", "tinyfern"), ("owner", "ledgerline")];

const NAMES: [&str; 4] =
    ["previous_period", "previous_period_same_weekdays", "previous_year", "previous_year_same_weekdays"];

/// The comparison window of a name, by the calendar.
fn before(name: &str, start: NaiveDate, end: NaiveDate) -> (NaiveDate, NaiveDate) {
    match name {
        "previous_period" => {
            let days = start.iter_days().take_while(|date| *date <= end).count() as u64;
            (start - Days::new(days), start - Days::new(1))
        }
        "previous_period_same_weekdays" => {
            let days = (7u64..).step_by(7).find(|days| end - Days::new(*days) < start).unwrap();
            (start - Days::new(days), end - Days::new(days))
        }
        "previous_year" => (start - Months::new(12), end - Months::new(12)),
        "previous_year_same_weekdays" => (start - Days::new(52 * 7), end - Days::new(52 * 7)),
        other => panic!("{other}"),
    }
}

/// The paths of the operations that compare windows by name and by date.
fn paths(property: &str) -> Vec<String> {
    let compares =
        |says: &Value| says["parameters"].as_array().is_some_and(|all| all.iter().any(|p| p["name"] == "compareStart"));
    let found =
        documented().into_iter().filter(|operation| compares(&operation.says) && !operation.path.contains("{token}"));
    found.map(|operation| operation.at(property)).collect()
}

#[tokio::test]
async fn a_named_comparison_equals_the_comparison_with_its_dates() {
    for (who, site) in PLACES {
        let asker = Asker::of(shared(), who, site).await;
        let paths = paths(&asker.property);
        assert!(paths.len() >= 6, "{paths:?}");
        for (path, name) in paths.iter().flat_map(|path| NAMES.map(move |name| (path, name))) {
            let (start, end) = ("2026-10-05", "2026-10-08");
            let (first, last) = before(name, day(start), day(end));
            let window = [("startDate", start), ("endDate", end)];
            let named = asker.actor.ask(path, &[&window[..], &[("compare", name)]].concat()).await.expect(200);
            let (first, last) = (first.to_string(), last.to_string());
            let dated = [&window[..], &[("compareStart", &first), ("compareEnd", &last)]].concat();
            let dated = asker.actor.ask(path, &dated).await.expect(200);
            assert!(named.bytes == dated.bytes, "{path} {name}");
            if named.json.is_object() {
                let question = &named.json["meta"]["question"];
                assert_eq!(
                    (&question["compareStart"], &question["compareEnd"]),
                    (&json!(first), &json!(last)),
                    "{path}"
                );
                assert!(question.get("compare").is_none());
                assert_eq!(named.json["meta"]["compareWindow"], json!({ "startDate": first, "endDate": last }));
            }
        }
    }
}

#[tokio::test]
async fn a_comparison_follows_the_default_window() {
    let json = Asker::small().await.ask(&[("compare", "previous_period")]).await.expect(200).json;
    assert_eq!(json["meta"]["window"], json!({ "startDate": "2026-10-22", "endDate": "2026-11-18" }));
    assert_eq!(json["meta"]["compareWindow"], json!({ "startDate": "2026-09-24", "endDate": "2026-10-21" }));
}

#[tokio::test]
async fn a_comparison_does_not_reach_beyond_the_history_and_has_one_form() {
    let asker = Asker::small().await;
    let refused = async |query: &[(&str, &str)]| asker.ask(query).await.expect(400).hint().to_owned();
    for (name, start) in [("previous_year", "2026-07-20"), ("previous_year_same_weekdays", "2026-07-19")] {
        let hint = refused(&[("startDate", start), ("endDate", "2026-08-21"), ("compare", name)]).await;
        assert!(hint.starts_with("compare: the window would begin on 2025-07-20"), "{name}: {hint}");
    }
    let early = [("startDate", "2025-07-21"), ("endDate", "2025-07-22"), ("compare", "previous_period")];
    let hint = refused(&early).await;
    assert!(
        hint.starts_with("compare: the window would begin on 2025-07-19") && hint.contains("since 2025-07-21"),
        "{hint}"
    );
    let dates = [("compareStart", "2026-07-01"), ("compareEnd", "2026-07-28")];
    let by_dates = asker.ask(&dates).await.expect(200);
    let both = asker.ask(&[("compare", "previous_year"), dates[0], dates[1]]).await.expect(200);
    assert_eq!(both.json["data"], by_dates.json["data"], "the dates count");
    assert_eq!(both.json["meta"]["ignored"], json!(["compare"]));
    let hint = refused(&[("compare", "last_year")]).await;
    let names = "compare: must be one of previous_period, previous_period_same_weekdays, previous_calendar_period, previous_year, \
                 previous_year_same_weekdays";
    assert_eq!(hint, names);
    let renamed = format!("{names}; same_weekdays is now previous_year_same_weekdays");
    assert_eq!(refused(&[("compare", "same_weekdays")]).await, renamed);
    let hint = refused(&[("explain", "true")]).await;
    assert!(hint.starts_with("explain: needs a window to compare with; send compare,"), "{hint}");
}

#[tokio::test]
async fn whole_months_quarters_and_years_are_compared_with_the_ones_before() {
    let asker = Asker::small().await;
    let compare = [("compare", "previous_calendar_period")];
    for (window, before) in [
        (("2026-10-01", "2026-10-31"), ("2026-09-01", "2026-09-30")),
        (("2026-07-01", "2026-09-30"), ("2026-04-01", "2026-06-30")),
        (("2026-03-01", "2026-03-31"), ("2026-02-01", "2026-02-28")),
        (("2026-04-01", "2026-09-30"), ("2025-10-01", "2026-03-31")),
    ] {
        let json = asker.window(window.0, window.1, &compare).await;
        assert_eq!(json["meta"]["compareWindow"], json!({ "startDate": before.0, "endDate": before.1 }), "{window:?}");
    }
    for (start, end) in [("2026-10-01", "2026-10-30"), ("2026-10-02", "2026-10-31"), ("2026-09-15", "2026-10-14")] {
        let answer = asker.ask(&[("startDate", start), ("endDate", end), compare[0]]).await.expect(400);
        let expected = format!(
            "compare: previous_calendar_period needs a window of whole months, quarters or years, and {start} to {end} is none; use \
             previous_period"
        );
        assert_eq!(answer.hint(), expected);
    }
    let year = [("startDate", "2026-01-01"), ("endDate", "2026-10-31"), compare[0]];
    let hint = asker.ask(&year).await.expect(400).hint().to_owned();
    assert!(hint.starts_with("compare: the window would begin on 2025-03-01"), "{hint}");
}

#[tokio::test]
async fn the_callers_today_is_taken_as_the_search_engines_today() {
    let asker = Asker::small().await;
    let taken = asker.window("2026-11-16", "2026-11-22", &[]).await;
    let plain = asker.window("2026-11-16", "2026-11-21", &[]).await;
    assert_eq!(taken["data"], plain["data"]);
    assert_eq!(taken["meta"]["question"], plain["meta"]["question"]);
    let adjusted = |parameter: &str| json!({ "parameter": parameter, "sent": "2026-11-22", "taken": "2026-11-21" });
    assert_eq!(taken["meta"]["adjusted"], json!([adjusted("endDate")]));
    assert!(plain["meta"].get("adjusted").is_none());

    let alone = asker.window("2026-11-22", "2026-11-22", &[]).await;
    assert_eq!(alone["meta"]["window"], json!({ "startDate": "2026-11-21", "endDate": "2026-11-21" }));
    assert_eq!(alone["meta"]["adjusted"], json!([adjusted("startDate"), adjusted("endDate")]));
    let compared = [("compareStart", "2026-11-20"), ("compareEnd", "2026-11-22")];
    let compared = asker.window("2026-11-02", "2026-11-03", &compared).await;
    assert_eq!(compared["meta"]["adjusted"], json!([adjusted("compareEnd")]));

    let later = asker.ask(&[("startDate", "2026-11-20"), ("endDate", "2026-11-23")]).await.expect(400);
    assert!(later.hint().starts_with("endDate: must not be after 2026-11-21"), "{}", later.hint());
    let export = format!("/api/properties/{}/export", asker.property);
    let file = asker.actor.ask(&export, &[("startDate", "2026-11-16"), ("endDate", "2026-11-22")]).await.expect(200);
    assert!(file.header("content-disposition").contains("_2026-11-16_2026-11-18.csv"), "the name has the days counted");
}
