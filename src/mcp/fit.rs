//! Keeps an answer small: cuts its lists from their end, and tells the coverage of a list that is cut of the rows that are left.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// The most bytes of an answer whose call names no `limit`, text and structured content together: 4,000 tokens of three bytes.
pub const BUDGET: usize = 12_000;

/// The lists of periods. They are never cut: without its end a series would mislead.
const SERIES: [&str; 3] = ["series", "previousSeries", "trend"];

/// The parts of an answer whose lists are cut: JSON pointer and place.
const PARTS: [(&str, &str); 4] = [
    ("/data", "data"),
    ("/meta/suggestions", "meta.suggestions"),
    ("/meta/overlaps", "meta.overlaps"),
    ("/meta/late", "meta.late"),
];

/// A list that an answer shows in part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// Its place, such as `data.tables.countries`. Lists in rows of a list have the place `data.queries[].pages` together.
    pub list: String,
    /// The rows shown.
    pub shown: usize,
    /// All rows.
    pub rows: usize,
}

impl Cut {
    /// The name of the list, as the text calls it.
    #[must_use]
    pub fn name(&self) -> &str {
        let name = self.list.rsplit('.').next().unwrap_or_default();
        if name == "data" { "rows" } else { name }
    }
}

/// Cuts each list after as many rows as `most` gives for its place. Returns the lists that were longer.
pub fn cut(answer: &mut Value, most: &dyn Fn(&str) -> usize) -> Vec<Cut> {
    let mut cutter = Cutter { most, cuts: BTreeMap::new(), removed: BTreeMap::new() };
    for (pointer, place) in PARTS {
        if let Some(part) = answer.pointer_mut(pointer) {
            cutter.part(part, place);
        }
    }
    let Cutter { cuts, removed, .. } = cutter;
    for (coverage, removed) in removed {
        if let Some(Value::Object(coverage)) = answer.pointer_mut(&coverage) {
            removed.narrow(coverage);
        }
    }
    let is_cut = cuts.get("data").is_some_and(|cut| cut.shown < cut.rows);
    if is_cut && let Some(has_more) = answer.pointer_mut("/meta/hasMore") {
        *has_more = json!(true);
    }
    cuts.into_values().filter(|cut| cut.shown < cut.rows).collect()
}

/// Returns the number of rows of the longest list that can be cut.
#[must_use]
pub fn longest(answer: &Value) -> usize {
    fn of(value: &Value) -> usize {
        match value {
            Value::Array(items) => items.iter().map(of).max().unwrap_or_default().max(items.len()),
            Value::Object(fields) => {
                let lists = fields.iter().filter(|(name, _)| !SERIES.contains(&name.as_str()));
                lists.map(|(_, value)| of(value)).max().unwrap_or_default()
            }
            _ => 0,
        }
    }
    PARTS.iter().filter_map(|(pointer, _)| answer.pointer(pointer)).map(of).max().unwrap_or_default()
}

/// Removes the series of an answer. Returns whether there were any.
pub fn remove_series(value: &mut Value) -> bool {
    let fields = match value {
        Value::Array(items) => return remove_each(items),
        Value::Object(fields) => fields,
        _ => return false,
    };
    let before = fields.len();
    fields.retain(|name, _| !SERIES.contains(&name.as_str()));
    let is_shorter = fields.len() < before;
    remove_each(fields.values_mut()) || is_shorter
}

/// Removes the series of every value. Returns whether there were any.
fn remove_each<'v>(values: impl IntoIterator<Item = &'v mut Value>) -> bool {
    let mut found = false;
    for value in values {
        found |= remove_series(value);
    }
    found
}

/// Cuts lists, and counts what it removes.
struct Cutter<'a> {
    most: &'a dyn Fn(&str) -> usize,
    /// All lists by their place.
    cuts: BTreeMap<String, Cut>,
    /// The rows removed, by the JSON pointer of the coverage that counts it.
    removed: BTreeMap<String, Removed>,
}

/// Rows of a table that were removed.
#[derive(Debug, Default)]
struct Removed {
    rows: i64,
    clicks: i64,
}

impl Cutter<'_> {
    fn part(&mut self, value: &mut Value, place: &str) {
        match value {
            Value::Array(items) => self.list(items, place),
            Value::Object(fields) => self.fields(fields, place),
            _ => {}
        }
    }

    fn fields(&mut self, fields: &mut Map<String, Value>, place: &str) {
        let mut left_out = Vec::new();
        for (name, value) in fields.iter_mut().filter(|(_, value)| value.is_array() || value.is_object()) {
            let before = value.as_array().map_or(0, Vec::len);
            self.part(value, &format!("{place}.{name}"));
            let removed = before - value.as_array().map_or(0, Vec::len);
            if removed > 0 {
                let counter = if name == "rows" { "leftOut".to_owned() } else { format!("{name}LeftOut") };
                left_out.push((counter, removed as u64));
            }
        }
        if !left_out.is_empty()
            && let Some(has_more) = fields.get_mut("hasMore")
        {
            *has_more = json!(true);
        }
        for (counter, removed) in left_out {
            if let Some(count) = fields.get_mut(&counter)
                && let Some(before) = count.as_u64()
            {
                *count = json!(before + removed);
            }
        }
    }

    fn list(&mut self, items: &mut Vec<Value>, place: &str) {
        if place.rsplit('.').next().is_some_and(|name| SERIES.contains(&name)) {
            return;
        }
        let rows = items.len();
        let removed = items.split_off(rows.min((self.most)(place)));
        let cut = Cut { list: place.to_owned(), shown: 0, rows: 0 };
        let cut = self.cuts.entry(place.to_owned()).or_insert(cut);
        cut.shown += items.len();
        cut.rows += rows;
        self.count(&removed, place);
        let place = format!("{place}[]");
        for item in items {
            self.part(item, &place);
        }
    }

    /// Counts removed rows, and the rows of the lists in them.
    fn count(&mut self, rows: &[Value], place: &str) {
        let counted = self.removed.entry(coverage_of(place)).or_default();
        counted.rows += i64::try_from(rows.len()).unwrap_or(i64::MAX);
        counted.clicks += rows.iter().filter_map(clicks).sum::<i64>();
        for (name, value) in rows.iter().filter_map(Value::as_object).flatten() {
            if let Value::Array(items) = value {
                self.count(items, &format!("{place}[].{name}"));
            }
        }
    }
}

impl Removed {
    /// Reduces a coverage to the rows that are left.
    fn narrow(&self, coverage: &mut Map<String, Value>) {
        if self.rows == 0 {
            return;
        }
        let number = |coverage: &Map<String, Value>, name: &str| coverage.get(name).and_then(Value::as_i64);
        if let Some(shown) = number(coverage, "rowsShown") {
            coverage.insert("rowsShown".to_owned(), json!(shown - self.rows));
        }
        coverage.insert("hasMore".to_owned(), json!(true));
        let Some(before) = number(coverage, "clicks").filter(|clicks| *clicks > 0) else { return };
        let clicks = before - self.clicks;
        coverage.insert("clicks".to_owned(), json!(clicks));
        for share in ["clicksShare", "sliceShare"] {
            if let Some(of) = coverage.get(share).and_then(Value::as_f64) {
                coverage.insert(share.to_owned(), json!(of * clicks as f64 / before as f64));
            }
        }
    }
}

/// The clicks of a row in the current window.
fn clicks(row: &Value) -> Option<i64> {
    let found = [&row["clicks"], &row["current"]["clicks"], &row["headline"]["current"]["clicks"]];
    found.into_iter().find_map(Value::as_i64)
}

/// Returns the JSON pointer of the coverage that counts the rows of the list at `place`.
fn coverage_of(place: &str) -> String {
    let names: Vec<&str> = place.split('.').collect();
    let table = match names.as_slice() {
        ["data", "explanation", table, ..] => return format!("/data/explanation/coverage/{table}"),
        ["data"] => "countries",
        [.., "queries[]", "pages"] => "queryPages",
        [.., "opportunities" | "new" | "lost" | "unknown" | "moving"] => "queries",
        [.., name] => name,
        [] => "",
    };
    format!("/meta/coverage/{table}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cuts all lists after so many rows.
    fn cut_all(answer: &mut Value, rows: usize) -> Vec<Cut> {
        cut(answer, &|_| rows)
    }

    fn shown(list: &str, shown: usize, rows: usize) -> Cut {
        Cut { list: list.to_owned(), shown, rows }
    }

    #[test]
    fn lists_are_cut_from_their_end() {
        let mut answer = json!({
            "data": { "tables": { "queries": [{ "key": "a" }, { "key": "b" }, { "key": "c" }], "devices": [{ "key": "d" }] } },
            "meta": { "labels": ["a", "b", "c"], "suggestions": [1, 2, 3] },
        });
        assert_eq!(longest(&answer), 3);
        let cuts = cut_all(&mut answer, 2);
        assert_eq!(cuts, [shown("data.tables.queries", 2, 3), shown("meta.suggestions", 2, 3)]);
        let expected = json!({
            "data": { "tables": { "queries": [{ "key": "a" }, { "key": "b" }], "devices": [{ "key": "d" }] } },
            "meta": { "labels": ["a", "b", "c"], "suggestions": [1, 2] },
        });
        assert_eq!(answer, expected);
        assert_eq!(cut_all(&mut answer, 2), []);
    }

    #[test]
    fn each_list_has_its_own_bound() {
        let mut answer = json!({ "data": { "a": [1, 2], "b": [1, 2] } });
        assert_eq!(cut(&mut answer, &|place| if place == "data.b" { 1 } else { usize::MAX }), [shown("data.b", 1, 2)]);
        assert_eq!(answer, json!({ "data": { "a": [1, 2], "b": [1] } }));
    }

    #[test]
    fn series_are_whole_or_left_out() {
        let point = json!({ "date": "2026-11-16", "buckets": [1, 2, 3] });
        let mut answer = json!({ "data": { "visibility": { "index": 1, "series": [point, point] } } });
        assert_eq!(longest(&answer), 0);
        cut_all(&mut answer, 1);
        assert_eq!(answer["data"]["visibility"]["series"], json!([point, point]));
        assert!(remove_series(&mut answer));
        assert_eq!(answer, json!({ "data": { "visibility": { "index": 1 } } }));
        assert!(!remove_series(&mut answer));
        let mut rows = json!({ "rows": [{ "keyword": "a", "trend": [1, 2] }] });
        assert!(remove_series(&mut rows));
        assert_eq!(rows, json!({ "rows": [{ "keyword": "a" }] }));
    }

    #[test]
    fn the_coverage_of_a_list_that_is_cut_tells_of_the_rows_shown() {
        let country = |key: &str, clicks: Value| json!({ "key": key, "clicks": clicks });
        let rows = [
            country("usa", json!(60)),
            country("gbr", json!(20)),
            country("deu", json!(20)),
            country("fra", Value::Null),
        ];
        let mut answer = json!({
            "data": { "tables": { "countries": rows } },
            "meta": { "coverage": { "countries": {
                "rowsShown": 4, "rowsMatched": 4, "rowsKnown": 3, "hasMore": false, "clicks": 100, "clicksShare": 0.5, "sliceShare": 1.0,
                "knownShare": 0.75,
            } } },
        });
        assert_eq!(cut_all(&mut answer, 2), [shown("data.tables.countries", 2, 4)]);
        let expected = json!({
            "rowsShown": 2, "rowsMatched": 4, "rowsKnown": 3, "hasMore": true, "clicks": 80, "clicksShare": 0.4, "sliceShare": 0.8,
            "knownShare": 0.75,
        });
        assert_eq!(answer["meta"]["coverage"]["countries"], expected);
    }

    #[test]
    fn lists_in_rows_count_with_their_rows() {
        let page = |clicks: i64| json!({ "page": "p", "clicks": clicks });
        let query = |clicks: &[i64]| json!({ "clicks": clicks.iter().sum::<i64>(), "pages": clicks.iter().map(|clicks| page(*clicks)).collect::<Vec<_>>() });
        let mut answer = json!({
            "data": { "queries": [query(&[5, 3, 1]), query(&[4, 2]), query(&[1, 1])] },
            "meta": { "coverage": {
                "queries": { "rowsShown": 3, "clicks": 17, "clicksShare": 0.17 },
                "queryPages": { "rowsShown": 7, "clicks": 17, "clicksShare": 0.17 },
            } },
        });
        let cuts = cut_all(&mut answer, 2);
        assert_eq!(cuts, [shown("data.queries", 2, 3), shown("data.queries[].pages", 4, 5)]);
        let coverage = &answer["meta"]["coverage"];
        assert_eq!((&coverage["queries"]["rowsShown"], &coverage["queries"]["clicks"]), (&json!(2), &json!(15)));
        assert_eq!((&coverage["queryPages"]["rowsShown"], &coverage["queryPages"]["clicks"]), (&json!(4), &json!(14)));
    }

    #[test]
    fn an_explanation_counts_what_it_leaves_out() {
        let row = |clicks: i64| json!({ "clicksChange": 1, "current": { "clicks": clicks } });
        let lost = json!({ "clicksChange": -9 });
        let mut answer = json!({ "data": { "explanation": {
            "queries": { "gains": { "rows": [row(9), row(5)], "leftOut": 4 }, "losses": { "rows": [lost, lost], "leftOut": 0 } },
            "events": [{}, {}, {}], "eventsLeftOut": 1,
            "coverage": { "queries": { "rowsShown": 4, "clicks": 14, "clicksShare": 0.14 } },
        } } });
        cut_all(&mut answer, 1);
        let explanation = &answer["data"]["explanation"];
        assert_eq!(explanation["queries"]["gains"], json!({ "rows": [row(9)], "leftOut": 5 }));
        assert_eq!(explanation["queries"]["losses"]["leftOut"], 1);
        assert_eq!(explanation["eventsLeftOut"], 3);
        let coverage = &explanation["coverage"]["queries"];
        assert_eq!((&coverage["rowsShown"], &coverage["clicks"]), (&json!(2), &json!(9)));
    }
}
