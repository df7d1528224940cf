//! Tests of a breakdown table as CSV.

use serde_json::{Value, json};
use simulator::SearchType;

use super::{
    Case, Class, LAST_FINAL, PAPER, People, SHOP, SMALL, SOFTWARE, Window, YOUNG,
    csv::{Sheet, defused, file_name},
};
use crate::support::{
    actor::Answer,
    app::{TestApp, shared},
    oracle::Sum,
};

const WEEK: Window = ("2026-10-05", "2026-10-11");
const DAY: Window = ("2026-10-06", "2026-10-06");
const TABLES: [&str; 5] = ["queries", "pages", "countries", "devices", "searchAppearances"];

const PLAIN: [&str; 5] = ["key", "clicks", "impressions", "ctr", "position"];
const COMPARED: [&str; 9] = [
    "previousClicks",
    "previousImpressions",
    "previousCtr",
    "previousPosition",
    "changeClicks",
    "changeImpressions",
    "changeCtr",
    "changePosition",
    "presence",
];

impl Case {
    /// Requests the file of a table and checks every cell.
    pub async fn has_true_export(&self, people: &People, table: &str, limit: Option<usize>) -> Sheet {
        let text = limit.unwrap_or_default().to_string();
        let mut more = vec![("table", table)];
        match (limit, table) {
            (Some(_), "queries") => more.push(("queryLimit", &text)),
            (Some(_), "pages") => more.push(("pageLimit", &text)),
            _ => {}
        }
        let answer = self.ask(people, "export", &more).await.expect(200);
        let sheet = Sheet::of(&answer);
        let limited = matches!(table, "queries" | "pages");
        let expected = self.rows(table, if limited { limit.unwrap_or(super::CEILING) } else { usize::MAX });
        let capped = limited && expected.capped;
        assert_eq!(answer.header("x-total-rows-capped"), capped.to_string(), "{table} of {self:?}");
        let ceiling = if limited { super::CEILING } else { 25_000 };
        assert_eq!(answer.header("x-rows-ceiling"), ceiling.to_string(), "{table} of {self:?}");
        let (shown, known) = (expected.rows.len(), expected.known.0);
        for (name, rows) in [("x-rows-shown", shown), ("x-rows-matched", known), ("x-rows-known", known)] {
            assert_eq!(answer.header(name), rows.to_string(), "{name} of {table} of {self:?}");
        }
        assert_eq!(answer.header("x-has-more"), (shown < known).to_string(), "{table} of {self:?}");

        let compared = if self.before.is_some() { &COMPARED[..] } else { &[] };
        assert_eq!(sheet.header, [&PLAIN, compared].concat());
        let keys: Vec<&str> = sheet.rows.iter().map(|row| row[0].as_str()).collect();
        let right: Vec<String> = expected.rows.iter().map(|row| defused(&row.key)).collect();
        assert!(keys == right, "{table} of {self:?}:\n{}\ninstead of\n{}", keys.join("\n"), right.join("\n"));
        for (cells, row) in sheet.rows.iter().zip(&expected.rows) {
            self.cells(&cells[1..5], row.now);
            if self.before.is_some() {
                self.cells(&cells[5..9], row.before);
                difference(cells);
                assert_eq!(cells[13], row.presence.unwrap(), "{cells:?} in {self:?}");
            }
        }
        self.days_said(&answer);
        sheet
    }

    /// Checks the days that the headers of a file name.
    #[track_caller]
    fn days_said(&self, answer: &Answer) {
        let range = |window| {
            let days = Self::days(window);
            format!("{}/{}", days[0], days[days.len() - 1])
        };
        let before = self.compared().map(|[_, before]| range(before)).unwrap_or_default();
        assert_eq!(answer.header("x-window"), range(self.counted()), "{self:?}");
        assert_eq!(answer.header("x-compare-window"), before, "{self:?}");
        assert_eq!(answer.header("x-last-final-date"), LAST_FINAL);
    }

    /// Checks clicks, impressions, CTR and position. Undefined values are empty.
    #[track_caller]
    pub fn cells(&self, said: &[String], sum: Option<Sum>) {
        let number = |of: fn(Sum) -> u64| sum.map(|sum| of(sum).to_string()).unwrap_or_default();
        assert_eq!(said[..2], [number(|sum| sum.clicks), number(|sum| sum.impressions)], "{said:?} in {self:?}");
        let value = |text: &String| (!text.is_empty()).then(|| text.parse::<f64>().unwrap());
        let bits = |ratio: Option<f64>| ratio.map(f64::to_bits);
        assert_eq!(bits(value(&said[2])), bits(sum.and_then(Sum::ctr)), "{said:?} in {self:?}");
        let (position, right) = (value(&said[3]), sum.and_then(|sum| self.position(sum)));
        assert_eq!(position.is_some(), right.is_some(), "{said:?} in {self:?}");
        let off = position.zip(right).map_or(0.0, |(position, right)| (position / right - 1.0).abs());
        assert!(off <= 1e-9, "{said:?} is not {right:?} in {self:?}");
    }
}

/// Checks that a change is the window's cell minus the previous one, to the last digit. A new or lost row had or has no clicks and no
/// impressions.
#[track_caller]
pub fn difference(cells: &[String]) {
    let one_sided = ["new", "lost"].contains(&cells[13].as_str());
    let sides = cells[1..5].iter().zip(&cells[5..9]);
    for (place, ((now, before), change)) in sides.zip(&cells[9..13]).enumerate() {
        let nothing = (one_sided && place < 2).then_some(0.0);
        let number = |cell: &String| cell.parse::<f64>().ok().or(nothing);
        let expected = number(now).zip(number(before)).map(|(now, before)| now - before);
        let expected = expected.filter(|_| cells[13] != "unknown");
        assert_eq!(change.parse::<f64>().ok(), expected, "{cells:?}");
    }
}

#[tokio::test]
async fn every_cell_is_the_sum_of_its_cells() {
    let people = People::new().await;
    let beyond = ("2026-11-16", "2026-11-21");
    let month = ("2026-10-01", "2026-10-28");
    for (site, window) in [(SMALL, WEEK), (SMALL, month), (YOUNG, beyond), (SOFTWARE, DAY), (PAPER, DAY)] {
        for table in TABLES {
            let sheet = Case::of(site, window).has_true_export(&people, table, None).await;
            assert!(!sheet.rows.is_empty(), "{site} {table}");
        }
    }
    for limit in [1, 7] {
        for table in ["queries", "pages"] {
            let sheet = Case::of(SMALL, WEEK).has_true_export(&people, table, Some(limit)).await;
            assert_eq!(sheet.rows.len(), limit);
        }
    }
}

#[tokio::test]
async fn compared_rows_have_both_windows_and_say_where_they_are() {
    let people = People::new().await;
    let cases = [
        Case::of(SMALL, WEEK).against(("2026-09-30", "2026-10-04")),
        Case::of(SMALL, DAY).against(("2026-09-01", "2026-09-28")),
        Case::of(YOUNG, WEEK).against(("2025-10-01", "2025-10-03")),
        Case::of(SMALL, ("2026-11-17", "2026-11-21")).against(("2026-11-12", "2026-11-16")),
        Case::of(SMALL, WEEK).against(("2026-11-16", "2026-11-21")),
        Case::of(SOFTWARE, DAY).against(("2026-10-05", "2026-10-05")),
    ];
    for case in &cases {
        for table in TABLES {
            case.has_true_export(&people, table, None).await;
        }
    }
    let whole = cases[1].has_true_export(&people, "queries", None).await;
    let kept = whole.rows.iter().filter(|row| row[13] != "lost").count();
    let sheet = cases[1].has_true_export(&people, "queries", Some(kept + 4)).await;
    assert_eq!((sheet.rows.len(), sheet.rows.iter().filter(|row| row[13] == "lost").count()), (kept + 4, 4));
    cases[1].has_true_export(&people, "pages", Some(4)).await;
}

#[tokio::test]
async fn a_file_of_a_slice_or_another_search_type_equals_its_cells() {
    let people = People::new().await;
    let whole = || Case::of(SMALL, WEEK);
    let mut cases: Vec<Case> =
        [Class::Branded, Class::NonBranded, Class::Segment, Class::Topic].map(|class| whole().class(class)).into();
    cases.extend([
        whole().and("country", "equals", "AUS").and("device", "equals", "mobile"),
        whole().and("page", "contains", "/blog/").against(DAY),
        whole().and("query", "contains", "plant").or("country", "equals", "aus"),
        whole().and("query", "equals", "nobody asks this"),
        whole().search_type(SearchType::Image),
    ]);
    for case in &cases {
        for table in TABLES {
            case.has_true_export(&people, table, None).await;
        }
    }
    let days = ("2026-10-20", "2026-10-21");
    for (kind, lacks) in [(SearchType::Discover, &["queries", "devices"][..]), (SearchType::GoogleNews, &["queries"])] {
        let case = Case::of(PAPER, days).search_type(kind).against(("2026-10-18", "2026-10-18"));
        for table in TABLES.into_iter().filter(|table| !lacks.contains(table)) {
            let sheet = case.has_true_export(&people, table, None).await;
            assert!(sheet.rows.iter().all(|row| row[4].is_empty() && row[8].is_empty()), "{table}");
        }
    }
    let empty = whole().search_type(SearchType::Discover).has_true_export(&people, "pages", None).await;
    assert!(empty.rows.is_empty(), "a site that the type never shows has an empty table");
}

#[tokio::test]
async fn a_file_has_the_rows_of_the_performance_answer() {
    let people = People::new().await;
    let case = Case::of(SMALL, WEEK).against(("2026-09-30", "2026-10-04"));
    let limits = [("queryLimit", "40"), ("pageLimit", "9")];
    let performance = [&limits[..], &[("scope", "tables")]].concat();
    let performance = case.ask(&people, "performance", &performance).await.expect(200).json;
    for table in TABLES {
        let answer = case.ask(&people, "export", &[&limits[..], &[("table", table)]].concat()).await.expect(200);
        let sheet = Sheet::of(&answer);
        let rows = performance["data"]["tables"][table].as_array().unwrap();
        assert_eq!(rows.len(), sheet.rows.len(), "{table}");
        for (row, cells) in rows.iter().zip(&sheet.rows) {
            assert_eq!(cells[0], defused(row["key"].as_str().unwrap()));
            let (now, before) =
                ([&row["clicks"], &row["impressions"], &row["ctr"], &row["position"]], &row["previous"]);
            let before = [&before["clicks"], &before["impressions"], &before["ctr"], &before["position"]];
            for (value, cell) in now.into_iter().chain(before).zip(&cells[1..]) {
                let said = (!cell.is_empty()).then(|| cell.parse::<f64>().unwrap());
                assert_eq!(said.map(f64::to_bits), value.as_f64().map(f64::to_bits), "{row} {cells:?}");
            }
            assert_eq!(row["presence"], Value::from(cells[13].as_str()));
        }
    }
}

#[tokio::test]
async fn queries_as_people_type_them_come_back_and_none_is_a_formula() {
    let people = People::new().await;
    let case = Case::of(SHOP, DAY);
    let answer = case.ask(&people, "export", &[]).await.expect(200);
    case.has_true_export(&people, "queries", None).await;
    let text = String::from_utf8(answer.bytes).unwrap();
    let lines = [
        "\r\n\"'=rain jacket size calculator\",",
        "\r\n\"'+cheap -used tents\",",
        "\r\n\"'@outdoor deals\",",
        "\r\n\"\"\"waterproof jacket\"\" $100\",",
        "\r\n\"tents, tarps; poles\",",
        "\r\n\"東京 レインコート\",",
        "\r\n\"boots a\\b|c\",",
    ];
    for line in lines {
        assert!(text.contains(line), "no {line:?}");
    }
    Case::of(PAPER, DAY).has_true_export(&people, "queries", Some(200)).await;
}

/// A spreadsheet whose language separates cells by semicolons takes quotes for such only at the start of a line's first cell.
#[tokio::test]
async fn csv_cells_in_other_locales() {
    let app = TestApp::start(|_| {}).await;
    let days = [("startDate", "2026-10-05"), ("endDate", "2026-10-05")];
    let ask = async |app: &TestApp, operation: &str| {
        let owner = app.actor("owner").await;
        let property = owner.property("northmoor").await;
        let answer = owner.ask(&format!("/api/properties/{property}/{operation}"), &days).await.expect(200);
        String::from_utf8(answer.bytes).unwrap()
    };
    // Every simulated search engine has the same queries.
    let elsewhere = ask(shared(), "export").await;
    let known = elsewhere.lines().skip(1).map(|line| line.split('"').nth(1).unwrap());
    let planted =
        ["a;=cmd|' /C calc'!A0;b", "=1+1", "+1", "@SUM(A1)", "\u{ff1d}1", "a\t=1", "\u{200b}=1", "a; \u{b}+1"];
    for (known, text) in known.zip(planted) {
        app.simulator().controls().plant(known, text);
    }
    let owner = app.actor("owner").await;
    let links = format!("/api/properties/{}/share-links", owner.property("northmoor").await);
    let link = owner.post(&links, &json!({})).await.expect(201).json["data"]["token"].as_str().unwrap().to_owned();
    let of_link = app.anonymous().ask(&format!("/share/{link}/queries.csv"), &days).await.expect(200);
    for (operation, file, line) in [
        ("export", ask(&app, "export").await, "\r\n\"a;'=cmd|' /C calc'!A0;b\","),
        ("query-count-raw", ask(&app, "query-count-raw").await, "\r\n2026-10-05,\"a;'=cmd|' /C calc'!A0;b\","),
        ("of a link", String::from_utf8(of_link.bytes).unwrap(), "\r\n\"a;'=cmd|' /C calc'!A0;b\","),
    ] {
        assert!(file.contains(line), "{operation}: {file:.300}");
        assert!(file.contains("\"'=1+1\"") && file.contains("\"'@SUM(A1)\""), "{operation}: {file:.900}");
        let runs =
            |cell: &str| cell.trim_start_matches(['\u{200b}', '\u{b}', ' ']).starts_with(['=', '+', '@', '\u{ff1d}']);
        assert!(!file.split([';', ',', '\n', '\t', '"']).any(runs), "{operation}: {file:.900}");
    }
}

#[tokio::test]
async fn a_file_without_a_counted_day_is_refused() {
    let people = People::new().await;
    let open = ("2026-11-19", "2026-11-21");
    for (case, more) in [
        (Case::of(SMALL, open), &[][..]),
        (Case::of(SMALL, WEEK).against(open), &[]),
        (Case::of(SMALL, open).against(WEEK), &[("dataState", "all")]),
    ] {
        let answer = case.ask(&people, "export", more).await.expect(409);
        assert_eq!(answer.code(), "not_final_yet");
        assert!(answer.hint().starts_with("The last day with final numbers is 2026-11-18."), "{}", answer.hint());
    }
    Case::of(SMALL, open).ask(&people, "query-count-raw", &[]).await.expect(409);
    let fresh = Case::of(SMALL, open).ask(&people, "export", &[("dataState", "all")]).await.expect(200);
    assert_eq!(fresh.header("x-window"), "2026-11-19/2026-11-21");
}

#[tokio::test]
async fn a_file_is_called_after_what_is_in_it() {
    let people = People::new().await;
    for (site, host) in [(SMALL, "quietmeadow.test"), (SOFTWARE, "www.ledgerline.example")] {
        for table in TABLES {
            let answer = Case::of(site, DAY).against(WEEK).ask(&people, "export", &[("table", table)]).await;
            let name = file_name(&answer.expect(200));
            let has = |part: &str| name.to_lowercase().replace(['-', '_'], "").contains(&part.to_lowercase());
            assert!(name.contains(host) && has(table), "{name}");
            assert!(name.contains(DAY.0), "{name}");
        }
        let name = file_name(&Case::of(site, WEEK).ask(&people, "export", &[]).await.expect(200));
        assert!(name.contains(WEEK.0) && name.contains(WEEK.1), "{name}");
    }
    let asker = people.asker(SMALL);
    let answer = asker.actor.get(&format!("/api/properties/{}/export", asker.property)).await.expect(200);
    let name = file_name(&answer);
    assert!(name.contains("2026-10-22") && name.contains(LAST_FINAL), "the default window: {name}");
    assert_eq!(
        Sheet::of(&answer).rows.len(),
        Case::of(SMALL, ("2026-10-22", "2026-11-18")).rows("queries", 5000).known.0
    );
}
