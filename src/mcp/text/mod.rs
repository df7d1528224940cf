//! The readable text of an answer: what was asked, what the data covers, and the rows as tables.
//!
//! Every text of the answer is quoted, so that a reader can tell data from words of the service.

mod explanation;
mod table;

use std::fmt::Write as _;

use serde_json::{Map, Value};

pub use self::explanation::left_out;

/// Returns the text of an answer that is cleaned and rounded.
#[must_use]
pub fn readable(answer: &Value) -> String {
    let mut text = String::new();
    if let Some(meta) = answer.get("meta").and_then(Value::as_object) {
        about(meta, &mut text);
    }
    if let Some(data) = answer.get("data") {
        section("", data, &mut text);
    }
    text
}

/// Returns the line of the answer's warnings, if there are any.
#[must_use]
pub fn warnings(answer: &Value) -> Option<String> {
    let warnings = answer.pointer("/meta/warnings")?.as_array()?.iter().map(|warning| {
        let days = range(warning).map(|days| format!(" ({days})")).unwrap_or_default();
        format!("{}{days}: {}", warning["code"].as_str().unwrap_or_default(), inline(&warning["text"]))
    });
    Some(format!("Warnings: {}", warnings.collect::<Vec<_>>().join(" | ")))
}

/// Writes the coverage of the answer.
fn about(meta: &Map<String, Value>, out: &mut String) {
    if let Some(window) = meta.get("window").and_then(range) {
        line(out, &format!("Window: {window}"));
    }
    if let Some(window) = meta.get("compareWindow").and_then(range) {
        line(out, &format!("Compared with: {window}"));
    }
    if let Some(found) = meta.get("days") {
        days(found, out);
    }
    for (name, value) in meta {
        match name.as_str() {
            // The structured content repeats the question, to be sent again.
            "window" | "compareWindow" | "days" | "status" | "question" | "warnings" => {}
            "coverage" => coverage(value, out),
            _ => line(out, &format!("{name}: {}", inline(value))),
        }
    }
}

fn range(window: &Value) -> Option<String> {
    Some(format!("{} to {}", window["startDate"].as_str()?, window["endDate"].as_str()?))
}

/// Writes which days the numbers leave out.
fn days(days: &Value, out: &mut String) {
    for window in ["current", "previous"] {
        let open: Vec<&str> =
            days[window]["notFinal"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        if !open.is_empty() {
            line(out, &format!("Days of the {window} window that are not final: {}", open.join(", ")));
        }
    }
    if days["compared"]["shortened"] == true
        && let (Some(now), Some(before)) = (range(&days["compared"]["current"]), range(&days["compared"]["previous"]))
    {
        line(out, &format!("Totals and rows count as many final days of both: {now} with {before}"));
    } else if days.get("previous").is_some() && days.get("compared").is_none() {
        line(out, "Nothing is counted: one of the windows has no final day");
    }
}

/// Writes for each table how much of the whole its rows are.
fn coverage(coverage: &Value, out: &mut String) {
    for (table, of) in coverage.as_object().into_iter().flatten() {
        if of["available"] == false {
            line(out, &format!("Table {table}: not available - {}", inline(&of["reason"])));
            continue;
        }
        let rows = [("rowsShown", "shown"), ("rowsMatched", "matched"), ("rowsKnown", "known")];
        let rows = rows.iter().filter_map(|(name, what)| Some(format!("{what} {}", of[*name].as_u64()?)));
        let mut said = format!("Table {table}: rows {}", rows.collect::<Vec<_>>().join(", "));
        let by_page = if of["aggregation"] == "byPage" { ", counted by page" } else { "" };
        let shares = [
            ("clicksShare", "the property's"),
            ("sliceShare", "the slice's"),
            ("knownShare", "the property's in all known rows"),
        ];
        let known: Vec<_> = shares.iter().filter_map(|(name, whose)| Some((of[*name].as_f64()?, *whose))).collect();
        for (index, (share, whose)) in known.iter().enumerate() {
            let before = if index == 0 { "; clicks: " } else { ", " };
            let _ = write!(said, "{before}{:.1} % of {whose}", share * 100.0);
        }
        if !known.is_empty() {
            said.push_str(by_page);
        }
        if of["orderExact"] == false {
            said.push_str("; rows that could not be read may belong before or among these");
        }
        if of["totalRowsCapped"] == true {
            said.push_str("; the search engine may have more rows than could be read");
        }
        line(out, &said);
    }
}

/// Writes a part of the answer under its name: a list as a table, an object as its fields.
fn section(name: &str, value: &Value, out: &mut String) {
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
                if path == "explanation" {
                    explanation::explained(value, out);
                } else {
                    section(&path, value, out);
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
        Value::Array(items) => items.iter().map(inline).collect::<Vec<_>>().join("; "),
        Value::Object(fields) => {
            let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{name} {}", inline(value))).collect();
            format!("({})", fields.join(", "))
        }
        Value::Null => "-".to_owned(),
        other => other.to_string(),
    }
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn days_that_are_left_out_are_named() {
        let days = |days: &Value| readable(&json!({ "meta": { "days": days } }));
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
        let answer = json!({
            "data": {
                "totals": { "clicks": 76, "ctr": 0.0837, "change": { "clicks": { "absolute": 8 } } },
                "tables": { "queries": [
                    { "key": "a | \"b\"", "clicks": 3, "change": { "clicks": { "absolute": -2, "percent": null } } },
                    { "key": "Status: fine", "clicks": null },
                ], "pages": [] },
            },
            "meta": {
                "window": { "startDate": "2026-10-22", "endDate": "2026-11-18" },
                "status": "no_search_data",
                "coverage": {
                    "pages": { "available": true, "rowsKnown": 9, "knownShare": 0.75 },
                    "queries": { "available": true, "rowsShown": 2, "rowsMatched": 30, "rowsKnown": 40, "clicksShare": 0.25, "sliceShare": 0.5, "knownShare": 0.75, "totalRowsCapped": true },
                },
            },
        });
        let expected = "Window: 2026-10-22 to 2026-11-18\n\
            Table pages: rows known 9; clicks: 75.0 % of the property's in all known rows\n\
            Table queries: rows shown 2, matched 30, known 40; clicks: 25.0 % of the property's, 50.0 % of the slice's, 75.0 % of the property's in all known rows; the search engine may have more rows than could be read\n\
            totals: clicks=76 ctr=0.0837\n\
            totals.change.clicks: absolute=8\n\
            \n\
            tables.queries (2), changes in parentheses\n\
            key | clicks\n\
            \"a | \\\"b\\\"\" | 3 (-2)\n\
            \"Status: fine\" | -\n\
            \n\
            tables.pages (0)\n";
        assert_eq!(readable(&answer), expected);
    }
}
