//! Tests of the rows behind the query count, as CSV.

use std::cmp::Reverse;

use simulator::SearchType;

use super::{
    Case, Class, PAPER, People, SMALL, SOFTWARE, Window, YOUNG,
    csv::{Sheet, defused, file_name},
};
use crate::support::oracle::Sum;

const WEEK: Window = ("2026-10-05", "2026-10-11");
const DAY: Window = ("2026-10-06", "2026-10-06");
const HEADER: [&str; 9] =
    ["date", "query", "bucket", "clicks", "impressions", "ctr", "position", "dayCapped", "dayNotFinal"];

fn bucket(sum: Sum) -> &'static str {
    // In whole numbers, so that an average of exactly 3, 10 or 20 is in the better bucket.
    match (sum.positions, sum.impressions) {
        (positions, seen) if positions <= 3 * seen => "1-3",
        (positions, seen) if positions <= 10 * seen => "4-10",
        (positions, seen) if positions <= 20 * seen => "11-20",
        _ => "21+",
    }
}

impl Case {
    /// Requests the rows and checks every cell.
    async fn has_true_query_rows(&self, people: &People) -> Sheet {
        let sheet = Sheet::of(&self.ask(people, "query-count-raw", &[]).await.expect(200));
        assert_eq!(sheet.header, HEADER);
        let daily = self.daily("queries", self.window);
        let mut expected: Vec<_> =
            daily.iter().flat_map(|(query, days)| days.iter().map(move |(date, sum)| (*date, query, *sum))).collect();
        expected.sort_by_key(|(date, query, sum)| (*date, Reverse((sum.clicks, sum.impressions)), *query));
        assert_eq!(sheet.rows.len(), expected.len(), "{self:?}");
        for (cells, (date, query, sum)) in sheet.rows.iter().zip(&expected) {
            assert_eq!(cells[..3], [date.to_string(), defused(query), bucket(*sum).to_owned()], "{self:?}");
            self.cells(&cells[3..7], Some(*sum));
            assert_eq!(
                cells[7..],
                ["false", "false"],
                "no day of these sites has 50,000 queries, and every one is final"
            );
        }
        sheet
    }
}

#[tokio::test]
async fn every_row_is_a_query_on_a_day() {
    let people = People::new().await;
    let windows = [WEEK, DAY, ("2026-10-01", "2026-10-28"), ("2026-11-16", "2026-11-21")];
    for (site, windows) in
        [(SMALL, &windows[..]), (YOUNG, &windows), (SOFTWARE, &windows[..2]), (PAPER, &windows[1..2])]
    {
        for window in windows {
            let sheet = Case::of(site, *window).has_true_query_rows(&people).await;
            assert!(
                sheet.rows.iter().all(|row| !row[1].is_empty() && row[4] != "0"),
                "hidden queries are not among them"
            );
            let buckets = |name: &str| sheet.rows.iter().filter(|row| row[2] == name).count();
            assert!(["1-3", "4-10", "11-20", "21+"].iter().all(|name| buckets(name) > 0));
        }
    }
}

#[tokio::test]
async fn averages_on_a_bound_are_on_the_better_side() {
    let case = Case::of(SMALL, ("2026-10-01", "2026-10-28"));
    let daily = case.daily("queries", case.window);
    let on = |bound: u64| daily.values().flat_map(|days| days.values()).any(|s| s.positions == bound * s.impressions);
    assert!([3, 10, 20].into_iter().all(on), "the window has such averages, so the rows of it prove the bounds");
    case.has_true_query_rows(&People::new().await).await;
}

#[tokio::test]
async fn the_cap_of_50_000_rows_is_one_of_a_day_and_not_of_the_window() {
    let people = People::new().await;
    let case = Case::of(PAPER, ("2026-10-28", "2026-11-17"));
    let sheet = case.has_true_query_rows(&people).await;
    assert!(sheet.rows.len() > 50_000, "{}", sheet.rows.len());
    let either = case.and("query", "not_contains", "weather").or("device", "equals", "DESKTOP");
    let sheet = either.has_true_query_rows(&people).await;
    assert!(sheet.rows.len() > 50_000, "{}", sheet.rows.len());
}

#[tokio::test]
async fn rows_of_a_slice_equal_its_cells() {
    let people = People::new().await;
    let whole = || Case::of(SMALL, WEEK);
    let mut cases: Vec<Case> =
        [Class::Branded, Class::NonBranded, Class::Segment, Class::Topic].map(|class| whole().class(class)).into();
    cases.extend([
        whole().and("country", "equals", "AUS").and("device", "equals", "mobile"),
        whole().and("page", "contains", "/blog/"),
        whole().and("query", "contains", "plant").or("country", "equals", "aus"),
        whole().and("query", "equals", "nobody asks this"),
        whole().search_type(SearchType::Image),
        Case::of(YOUNG, ("2025-10-01", "2025-10-03")),
    ]);
    for case in &cases {
        case.has_true_query_rows(&people).await;
    }
}

#[tokio::test]
async fn the_rows_add_up_to_the_query_count() {
    let people = People::new().await;
    let case = Case::of(SMALL, WEEK);
    let sheet = case.has_true_query_rows(&people).await;
    let json = case.ask(&people, "query-count", &[]).await.expect(200).json;
    for point in json["data"]["series"].as_array().unwrap() {
        let rows = || sheet.rows.iter().filter(|row| point["date"] == row[0]);
        assert_eq!(point["queries"], rows().count());
        for bucket in point["buckets"].as_array().unwrap() {
            assert_eq!(bucket["queries"], rows().filter(|row| bucket["bucket"] == row[2]).count());
        }
    }
}

#[tokio::test]
async fn the_file_is_called_after_what_is_in_it() {
    let people = People::new().await;
    for (site, host) in [(SMALL, "quietmeadow.test"), (SOFTWARE, "www.ledgerline.example")] {
        let name = file_name(&Case::of(site, WEEK).ask(&people, "query-count-raw", &[]).await.expect(200));
        assert!([host, "quer", WEEK.0, WEEK.1].iter().all(|part| name.contains(part)), "{name}");
    }
}
