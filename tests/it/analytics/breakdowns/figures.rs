//! Compares the numbers of a response with the expected ones.

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, NaiveDate};
use serde_json::{Value, json};

use super::{CEILING, Case, LAST_FINAL, ordered};
use crate::support::oracle::{Count, Sum, Tally, coverage_said, days_said, tally};

/// An expected row of a table.
#[derive(Debug)]
pub struct Row {
    pub key: String,
    pub now: Option<Sum>,
    pub before: Option<Sum>,
    /// Present only with a comparison.
    pub presence: Option<&'static str>,
}

/// The expected rows of a table, and the known rows of both windows with their clicks in the window.
pub struct ExpectedTable {
    pub rows: Vec<Row>,
    pub known: Tally,
    /// True if one of the windows has more.
    pub capped: bool,
}

impl ExpectedTable {
    /// The table of the rows known of both windows, of which each has at most `ceiling`.
    pub fn of(now: &[(String, Sum)], before: Option<&[(String, Sum)]>, ceiling: usize, limit: usize) -> Self {
        let only = |other: usize, name| if other == ceiling { "unknown" } else { name };
        let was: HashMap<String, Sum> = before.into_iter().flatten().cloned().collect();
        let is: HashMap<String, Sum> = now.iter().cloned().collect();
        let current = now.iter().map(|(key, sum)| {
            let earlier = was.get(key).copied();
            let presence = if earlier.is_some() { "both" } else { only(was.len(), "new") };
            Row { key: key.clone(), now: Some(*sum), before: earlier, presence: before.is_some().then_some(presence) }
        });
        let gone = before.into_iter().flatten().filter(|(key, _)| !is.contains_key(key));
        let presence = Some(only(now.len(), "lost"));
        let gone = gone.map(|(key, sum)| Row { key: key.clone(), now: None, before: Some(*sum), presence });
        let mut rows: Vec<Row> = current.chain(gone).collect();
        let known = tally(rows.iter().map(|row| row.now.unwrap_or_default()));
        rows.truncate(limit);
        Self { rows, known, capped: now.len() == ceiling || was.len() == ceiling }
    }

    /// The rows listed.
    pub fn shown(&self) -> Tally {
        tally(self.rows.iter().map(|row| row.now.unwrap_or_default()))
    }
}

impl Case {
    /// The expected rows of a table: the first `limit` of the rows of the window and, after them, rows that only the other window
    /// has.
    pub fn rows(&self, table: &str, limit: usize) -> ExpectedTable {
        let ceiling = if matches!(table, "queries" | "pages") { CEILING } else { usize::MAX };
        let known = |window| ordered(self.table(table, window)).into_iter().take(ceiling).collect::<Vec<_>>();
        let before = self.compared().map(|[_, before]| known(before));
        ExpectedTable::of(&known(self.counted()), before.as_deref(), ceiling, limit)
    }

    /// Checks a metrics object.
    #[track_caller]
    pub fn metrics(&self, said: &Value, sum: Sum) {
        assert_eq!(said["clicks"], sum.clicks, "clicks of {said} in {self:?}");
        assert_eq!(said["impressions"], sum.impressions, "impressions of {said} in {self:?}");
        assert!(same(&said["ctr"], sum.ctr()), "ctr of {said} is not {:?} in {self:?}", sum.ctr());
        let position = self.position(sum);
        assert!(same(&said["position"], position), "position of {said} is not {position:?} in {self:?}");
    }

    /// The average position. Feeds have none.
    pub fn position(&self, sum: Sum) -> Option<f64> {
        sum.position().filter(|_| !self.search_type.is_feed())
    }

    /// Checks the change from `before` to `now`.
    #[track_caller]
    pub fn change(&self, said: &Value, now: Sum, before: Sum) {
        let counts = [("clicks", now.clicks, before.clicks), ("impressions", now.impressions, before.impressions)];
        for (name, now, before) in counts {
            let absolute = now.cast_signed() - before.cast_signed();
            assert_eq!(said[name]["absolute"], absolute, "{name} of {said} in {self:?}");
            let percent = (before > 0).then(|| 100.0 * absolute as f64 / before as f64);
            assert!(same(&said[name]["percent"], percent), "{name} of {said} is not {percent:?} in {self:?}");
        }
        let ratios = [("ctr", now.ctr(), before.ctr()), ("position", self.position(now), self.position(before))];
        for (name, now, before) in ratios {
            let absolute = now.zip(before).map(|(now, before)| now - before);
            assert!(same(&said[name]["absolute"], absolute), "{name} of {said} is not {absolute:?} in {self:?}");
        }
    }

    /// Checks totals, which always include the comparison window if there is anything to compare, and are null where no day is
    /// counted.
    #[track_caller]
    pub fn totals(&self, said: &Value, now: Sum, before: Option<Sum>) {
        if !self.is_counted() {
            return assert!(said.is_null(), "{said} in {self:?}");
        }
        self.metrics(said, now);
        let is = before.is_some();
        assert_eq!((said.get("previous").is_some(), said.get("change").is_some()), (is, is), "{said}");
        if let Some(before) = before {
            self.metrics(&said["previous"], before);
            self.change(&said["change"], now, before);
        }
    }

    /// Checks the rows of a table and their order.
    #[track_caller]
    pub fn table_rows(&self, said: &Value, expected: &[Row]) {
        let said = said.as_array().unwrap();
        let keys = |keys: Vec<&str>| keys.join("\n");
        let found = keys(said.iter().map(|row| row["key"].as_str().unwrap()).collect());
        assert_eq!(found, keys(expected.iter().map(|row| row.key.as_str()).collect()), "{self:?}");
        for (row, expected) in said.iter().zip(expected) {
            if let Some(now) = expected.now {
                self.metrics(row, now);
            } else {
                let metrics = ["clicks", "impressions", "ctr", "position"];
                assert!(metrics.iter().all(|name| row.get(name) == Some(&Value::Null)), "{row} in {self:?}");
            }
            assert_eq!(row.get("presence").and_then(Value::as_str), expected.presence, "{row} in {self:?}");
            assert_eq!(row.get("previous").is_some(), expected.before.is_some(), "{row} in {self:?}");
            if let Some(before) = expected.before {
                self.metrics(&row["previous"], before);
            }
            let is_known = expected.presence.is_some_and(|presence| presence != "unknown");
            assert_eq!(row.get("change").is_some(), is_known, "{row} in {self:?}");
            if is_known {
                self.change(&row["change"], expected.now.unwrap_or_default(), expected.before.unwrap_or_default());
            }
        }
    }

    /// Checks a daily series: every day, with zeros for days without data.
    #[track_caller]
    pub fn series(&self, said: &Value, days: &[NaiveDate], sums: &BTreeMap<NaiveDate, Sum>) {
        let points = said.as_array().unwrap_or_else(|| panic!("no series but {said} in {self:?}"));
        let dates: Vec<&str> = points.iter().map(|point| point["date"].as_str().unwrap()).collect();
        assert_eq!(dates, days.iter().map(ToString::to_string).collect::<Vec<_>>(), "{self:?}");
        for (point, date) in points.iter().zip(days) {
            self.metrics(point, sums.get(date).copied().unwrap_or_default());
        }
    }

    /// Checks the coverage of a table.
    #[track_caller]
    pub fn coverage(&self, said: &Value, table: &str, shown: Tally, known: Tally) {
        let capped = matches!(table, "queries" | "pages") && known.0 == CEILING;
        self.coverage_of(said, table, capped, (shown, known));
    }

    /// The same for a list that was cut or not.
    #[track_caller]
    pub fn coverage_of(&self, said: &Value, table: &str, capped: bool, rows: (Tally, Tally)) {
        let ceiling = if matches!(table, "queries" | "pages") { CEILING } else { 25_000 };
        self.coverage_counted(said, self.count_of(table), (capped, ceiling), rows);
    }

    /// The same for rows that are counted so, and read up to a ceiling.
    #[track_caller]
    pub fn coverage_counted(&self, said: &Value, count: Count, capped: (bool, usize), (shown, known): (Tally, Tally)) {
        let clicks = |case: &Self| case.total(count, self.counted()).clicks;
        let (property, slice) = (clicks(&self.of_everything()), clicks(&self.without_query_conditions()));
        let mut expected = coverage_said(count, capped, (Some((shown, Some(known.0))), known), property, slice);
        // With alternatives, the question without conditions on queries is not well defined.
        if self.wishes.iter().skip(1).any(|wish| wish.or) {
            expected["sliceShare"] = said["sliceShare"].clone();
        }
        if !self.is_counted() {
            expected.as_object_mut().unwrap().remove("clicks");
        }
        assert_eq!(*said, expected, "coverage in {self:?}");
    }

    /// Checks the metadata of a response.
    #[track_caller]
    pub fn meta(&self, said: &Value, count: Count) {
        let range = |(start, end)| json!({ "startDate": start, "endDate": end });
        assert_eq!(said["window"], range(self.window), "{self:?}");
        assert_eq!(said.get("compareWindow").cloned(), self.before.map(range), "{self:?}");
        assert_eq!(said["days"], days_said(self.window, self.before, LAST_FINAL), "{self:?}");
        assert_eq!(
            (&said["searchType"], &said["aggregation"]),
            (&self.search_type_name().into(), &name_of(count).into())
        );
        assert_eq!(said["freshness"]["lastFinalDate"], LAST_FINAL);
        let some = self.total(count, self.counted()).impressions > 0;
        let status = match (self.is_counted(), some) {
            (false, _) => "not_final_yet",
            (true, true) => "analysed",
            (true, false) => "no_search_data",
        };
        assert_eq!(said["status"], status, "{self:?}");
        assert!(DateTime::parse_from_rfc3339(said["cachedAt"].as_str().unwrap()).is_ok(), "{said}");
    }
}

/// The API's name of an aggregation.
pub fn name_of(count: Count) -> &'static str {
    if count == Count::ByPage { "byPage" } else { "byProperty" }
}

/// Returns whether a number equals the expected one, up to rounding. A missing number is null.
fn same(said: &Value, expected: Option<f64>) -> bool {
    match (said, expected) {
        (Value::Null, None) => true,
        (said, Some(expected)) => {
            said.as_f64().is_some_and(|said| (said - expected).abs() <= 1e-9 * expected.abs() + 1e-12)
        }
        _ => false,
    }
}
