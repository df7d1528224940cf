//! Tests of the chart's days beside those of the year before, over a leap day.

use std::collections::HashMap;

use chrono::{Months, NaiveDate, TimeDelta};
use serde_json::Value;

use super::{grouped, json, path};
use crate::support::{app::TestApp, signed_in::Browser};

/// The days from the start of a test to 10 March 2028.
const TO_THE_LEAP_YEAR: i64 = 475;

/// The clicks of each day of a series.
fn clicks(series: &Value) -> HashMap<String, String> {
    let day = |day: &Value| (day["date"].as_str().unwrap().to_owned(), grouped(&day["clicks"]));
    series.as_array().unwrap().iter().map(day).collect()
}

#[tokio::test]
async fn the_table_of_days_has_the_same_date_of_the_year_before_beside_each_day() {
    let app = TestApp::start(|_| {}).await;
    app.hand.advance(TimeDelta::days(TO_THE_LEAP_YEAR));
    let browser = Browser::signed_in(&app, "owner").await;
    let at = path(&browser, "northmoor").await;
    let performance = format!("/api/properties/{}/performance?scope=series", &at[3..]);
    for (end, days) in [("2028-03-02", 5), ("2028-03-09", 10)] {
        let question = format!("startDate=2028-02-27&endDate={end}&compare=previous_year");
        let answer = json(&browser, &format!("{performance}&{question}")).await;
        let (now, before) = (clicks(&answer["data"]["series"]), clicks(&answer["data"]["previousSeries"]));
        assert_eq!((now.len(), before.len()), (days, days - 1), "{end}");
        let page = browser.get(&format!("{at}?{question}")).await.expect(200);
        let (_, table) = page.body.split_once("aria-label=\"Days\"").unwrap();
        let (table, _) = table.split_once("</table>").unwrap();
        let rows: Vec<Vec<&str>> = table.split("<tr>").skip(2).map(|row| row.split("<td>").skip(1).collect()).collect();
        let first: NaiveDate = "2028-02-27".parse().unwrap();
        assert_eq!(rows.len(), days, "{table}");
        for (day, row) in first.iter_days().zip(rows) {
            let cells: Vec<&str> = row.iter().map(|cell| cell.split('<').next().unwrap()).collect();
            let partner = (day - Months::new(12)).to_string();
            let is_leap = day.to_string() == "2028-02-29";
            let expected = if is_leap { "–" } else { before[&partner].as_str() };
            assert_eq!((cells[0], cells[4]), (now[&day.to_string()].as_str(), expected), "{day}");
        }
    }
}
