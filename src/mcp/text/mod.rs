//! The readable text of an answer: what was asked, what the data covers, and the rows as tables.
//!
//! Every text of the answer is quoted, so that a reader can tell data from words of the service.

mod explanation;
mod table;

use std::fmt::Write as _;

use api::{
    analytics::{AnswerDays, Explanation},
    models::{Aggregation, DateRange, TableCoverage, Warning},
};
use common::names::pages;
use poem_openapi::types::ToJSON;
use serde_json::{Map, Value};

use super::{
    clean::clean_text,
    meta::{Meta, read},
};

pub use self::explanation::left_out;

/// An answer that is cleaned and rounded, as its text tells it.
pub struct Told<'a> {
    answer: &'a Value,
    meta: &'a Meta,
    /// The coverage of each table.
    pub coverage: Vec<(&'a str, TableCoverage)>,
    /// The explanation of a change in clicks.
    pub explanation: Option<Explanation>,
}

impl<'a> Told<'a> {
    /// Reads the parts of `answer` that the text tells in words.
    #[must_use]
    pub fn of(answer: &'a Value, meta: &'a Meta) -> Self {
        let tables = answer["meta"]["coverage"].as_object().into_iter().flatten();
        let coverage = tables.filter_map(|(table, of)| Some((table.as_str(), read(of)?))).collect();
        Self { answer, meta, coverage, explanation: read(&answer["data"]["explanation"]) }
    }

    /// Returns the text.
    #[must_use]
    pub fn readable(&self) -> String {
        let mut text = String::new();
        about(self.meta, &mut text);
        if let Some(fields) = self.answer.get("meta").and_then(Value::as_object) {
            self.others(fields, &mut text);
        }
        if let Some(data) = self.answer.get("data") {
            section("", data, self.explanation.as_ref(), &mut text);
        }
        text
    }

    /// Returns the line of the answer's warnings, if there are any.
    #[must_use]
    pub fn warnings(&self) -> Option<String> {
        let warnings: Vec<String> = self.meta.warnings.iter().map(warning).collect();
        (!warnings.is_empty()).then(|| format!("Warnings: {}", warnings.join(" | ")))
    }

    /// Writes the metadata that no sentence tells.
    fn others(&self, meta: &Map<String, Value>, out: &mut String) {
        for (name, value) in meta {
            match name.as_str() {
                // The structured content repeats the question, to be sent again.
                "window" | "compareWindow" | "days" | "status" | "question" | "warnings" => {}
                "coverage" if !self.coverage.is_empty() => {
                    self.coverage.iter().for_each(|(table, of)| coverage(table, of, out));
                }
                _ => line(out, &format!("{name}: {}", inline(value))),
            }
        }
    }
}

fn warning(warning: &Warning) -> String {
    let days = warning.start_date.zip(warning.end_date).map(|(start, end)| format!(" ({start} to {end})"));
    format!("{}{}: {}", warning.code.as_str(), days.unwrap_or_default(), quoted(&clean_text(&warning.text)))
}

/// Writes the windows of an answer, and the days that it counts.
fn about(meta: &Meta, out: &mut String) {
    for (name, window) in [("Window", meta.window), ("Compared with", meta.compare_window)] {
        if let Some(window) = window {
            line(out, &format!("{name}: {}", range(window)));
        }
    }
    if let Some(analysis) = &meta.analysis {
        days(&analysis.days, out);
    }
}

fn range(window: DateRange) -> String {
    format!("{} to {}", window.start_date, window.end_date)
}

/// Writes which days the numbers leave out.
fn days(days: &AnswerDays, out: &mut String) {
    for (window, of) in [("current", Some(&days.current)), ("previous", days.previous.as_ref())] {
        let open: Vec<String> = of.iter().flat_map(|of| &of.not_final).map(ToString::to_string).collect();
        if !open.is_empty() {
            line(out, &format!("Days of the {window} window that are not final: {}", open.join(", ")));
        }
    }
    match days.compared {
        Some(compared) if compared.shortened => {
            let (now, before) = (range(compared.current), range(compared.previous));
            line(out, &format!("Totals and rows count as many final days of both: {now} with {before}"));
        }
        None if days.previous.is_some() => line(out, "Nothing is counted: one of the windows has no final day"),
        _ => {}
    }
}

/// Writes how much of the whole the rows of a table are.
fn coverage(table: &str, of: &TableCoverage, out: &mut String) {
    if !of.available {
        let reason = of.reason.as_deref().map_or_else(|| "-".to_owned(), quoted);
        line(out, &format!("Table {table}: not available - {reason}"));
        return;
    }
    let rows = [(of.rows_shown, "shown"), (of.rows_matched, "matched"), (of.rows_known, "known")];
    let rows = rows.iter().filter_map(|(rows, what)| Some(format!("{what} {}", (*rows)?)));
    let mut said = format!("Table {table}: rows {}", rows.collect::<Vec<_>>().join(", "));
    let shares = [
        (of.clicks_share, "the property's"),
        (of.slice_share, "the slice's"),
        (of.known_share, "the property's in all known rows"),
    ];
    let known: Vec<_> = shares.iter().filter_map(|(share, whose)| Some(((*share)?, *whose))).collect();
    for (index, (share, whose)) in known.iter().enumerate() {
        let before = if index == 0 { "; clicks: " } else { ", " };
        let _ = write!(said, "{before}{:.1} % of {whose}", share * 100.0);
    }
    if !known.is_empty() && of.aggregation == Some(Aggregation::ByPage) {
        said.push_str(", counted by page");
    }
    if of.order_exact == Some(false) {
        said.push_str("; rows that could not be read may belong before or among these");
    }
    if let (Some(true), Some(ceiling)) = (of.total_rows_capped, of.rows_ceiling) {
        let _ = write!(said, "; at most {ceiling} rows of a window are read, and the search engine may have more");
    }
    line(out, &said);
}

/// Writes a part of the answer under its name: a list as a table, an object as its fields.
fn section(name: &str, value: &Value, explanation: Option<&Explanation>, out: &mut String) {
    match value {
        Value::Array(rows) if rows.is_empty() || rows.iter().any(Value::is_object) => table::table(name, rows, out),
        Value::Object(fields) => {
            let (plain, nested): (Vec<_>, Vec<_>) = fields.iter().partition(|(_, value)| is_plain(value));
            let plain: Vec<String> = plain.iter().map(|(field, value)| format!("{field}={}", inline(value))).collect();
            if !plain.is_empty() {
                let title = if name.is_empty() { String::new() } else { format!("{name}: ") };
                line(out, &format!("{title}{}", plain.join(" ")));
            }
            for (field, value) in nested {
                let path = if name.is_empty() { field.clone() } else { format!("{name}.{field}") };
                match explanation {
                    Some(explanation) if path == "explanation" => explanation::explained(explanation, out),
                    _ => section(&path, value, explanation, out),
                }
            }
        }
        other => line(out, &format!("{}: {}", if name.is_empty() { "rows" } else { name }, inline(other))),
    }
}

fn is_plain(value: &Value) -> bool {
    match value {
        Value::Object(_) => false,
        Value::Array(items) => !items.is_empty() && items.iter().all(|item| !item.is_object()),
        _ => true,
    }
}

/// Writes a value in one line. Texts are quoted.
fn inline(value: &Value) -> String {
    match value {
        Value::Array(items) if items.is_empty() => "none".to_owned(),
        Value::Array(items) => items.iter().map(inline).collect::<Vec<_>>().join("; "),
        Value::Object(fields) => {
            let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{name} {}", inline(value))).collect();
            format!("({})", fields.join(", "))
        }
        Value::Null => "-".to_owned(),
        other => other.to_string(),
    }
}

/// Returns in parentheses how the address of a page is shown to people, if that differs from the address. A filter takes the address.
fn shown_form(key: &str) -> String {
    let address = Some(key).filter(|key| key.starts_with("https://") || key.starts_with("http://"));
    let shown = address.and_then(pages::shown_form).map(|shown| format!(" (shown as {})", quoted(&shown)));
    shown.unwrap_or_default()
}

/// Writes a text in quotes.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Returns the name of a value of an enum.
fn word(value: &impl ToJSON) -> String {
    value.to_json().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The text of an answer to an analysis whose metadata has these fields, too.
    fn readable(data: &Value, more: &Value) -> String {
        let mut meta = json!({
            "window": { "startDate": "2026-10-22", "endDate": "2026-11-18" },
            "days": { "current": { "counted": 28, "notFinal": [] } }, "searchType": "web", "aggregation": "byProperty",
            "freshness": { "lastFinalDate": "2026-11-18", "timeZone": "America/Los_Angeles" },
            "cachedAt": "2026-11-21T12:00:00.000Z", "status": "no_search_data",
        });
        meta.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = json!({ "data": data, "meta": meta });
        let text = Told::of(&answer, &Meta::of(&answer)).readable();
        let is_plain = |line: &&str| {
            ["searchType: ", "aggregation: ", "freshness: ", "cachedAt: "].iter().all(|name| !line.starts_with(name))
        };
        text.split_inclusive('\n').filter(is_plain).collect()
    }

    #[test]
    fn days_that_are_left_out_are_named() {
        let days = |days: &Value| {
            let text = readable(&json!({}), &json!({ "days": days }));
            text.strip_prefix("Window: 2026-10-22 to 2026-11-18\n").unwrap().to_owned()
        };
        let whole = json!({ "counted": 7, "notFinal": [] });
        let cut = json!({ "counted": 5, "notFinal": ["2026-11-19", "2026-11-20"] });
        let range = |start: &str, end: &str| json!({ "startDate": start, "endDate": end });
        let compared = json!({
            "current": range("2026-11-14", "2026-11-18"), "previous": range("2026-11-07", "2026-11-11"), "shortened": true,
        });
        assert_eq!(days(&json!({ "current": whole })), "");
        assert_eq!(
            days(&json!({ "current": cut, "previous": whole, "compared": compared })),
            "Days of the current window that are not final: 2026-11-19, 2026-11-20\n\
             Totals and rows count as many final days of both: 2026-11-14 to 2026-11-18 with 2026-11-07 to 2026-11-11\n"
        );
        assert!(days(&json!({ "current": cut, "previous": whole })).contains("Nothing is counted"));
    }

    #[test]
    fn tables_are_compact_and_texts_quoted() {
        let data = json!({
                "totals": { "clicks": 76, "ctr": 0.0837, "change": { "clicks": { "absolute": 8 } } },
                "tables": { "queries": [
                    { "key": "a | \"b\"", "clicks": 3, "change": { "clicks": { "absolute": -2, "percent": null } } },
                    { "key": "Status: fine", "clicks": null },
                ], "pages": [] },
        });
        let coverage = json!({
                "coverage": {
                    "pages": { "available": true, "rowsKnown": 9, "knownShare": 0.75 },
                    "queries": { "available": true, "rowsShown": 2, "rowsMatched": 30, "rowsKnown": 40, "clicksShare": 0.25, "sliceShare": 0.5, "knownShare": 0.75, "rowsCeiling": 40, "totalRowsCapped": true },
                },
        });
        let expected = "Window: 2026-10-22 to 2026-11-18\n\
            Table pages: rows known 9; clicks: 75.0 % of the property's in all known rows\n\
            Table queries: rows shown 2, matched 30, known 40; clicks: 25.0 % of the property's, 50.0 % of the slice's, 75.0 % of the property's in all known rows; at most 40 rows of a window are read, and the search engine may have more\n\
            totals: clicks=76 ctr=0.0837\n\
            totals.change.clicks: absolute=8\n\
            \n\
            tables.queries (2), changes in parentheses\n\
            key | clicks\n\
            \"a | \\\"b\\\"\" | 3 (-2)\n\
            \"Status: fine\" | -\n\
            \n\
            tables.pages (0)\n";
        assert_eq!(readable(&data, &coverage), expected);
    }
}
