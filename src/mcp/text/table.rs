//! Lists as tables. A row that is compared has each metric with its change in one cell, because the metric before follows from both.

use serde_json::{Map, Value};

use super::{inline, line, shown_form};

/// Writes a list under its name, a row a line. Columns are the fields of all rows.
pub(super) fn table(name: &str, rows: &[Value], out: &mut String) {
    let cells: Vec<Vec<(String, String)>> = rows.iter().map(flat).collect();
    let mut columns: Vec<&str> = Vec::new();
    for (column, _) in cells.iter().flatten() {
        if !columns.contains(&column.as_str()) {
            columns.push(column);
        }
    }
    let title = if name.is_empty() { "rows" } else { name };
    let is_compared = rows.iter().any(|row| row["previous"].is_object() || row["change"].is_object());
    let note = if is_compared { ", changes in parentheses" } else { "" };
    line(out, &format!("\n{title} ({}){note}", rows.len()));
    if !columns.is_empty() {
        line(out, &columns.join(" | "));
    }
    for row in &cells {
        let cell = |column: &&str| {
            row.iter().find(|(known, _)| known == column).map_or(String::new(), |(_, value)| value.clone())
        };
        line(out, &columns.iter().map(cell).collect::<Vec<_>>().join(" | "));
    }
}

/// Returns the cells of a row; an object in it becomes cells with dotted names.
fn flat(row: &Value) -> Vec<(String, String)> {
    let Some(fields) = row.as_object() else { return vec![("value".to_owned(), inline(row))] };
    let mut cells = Vec::new();
    for (name, value) in fields {
        if is_told(name, fields) {
            continue;
        }
        if value.is_object() {
            cells.extend(flat(value).into_iter().map(|(inner, cell)| (format!("{name}.{inner}"), cell)));
        } else {
            let address = value.as_str().filter(|_| ["key", "page"].contains(&name.as_str()));
            let shown = address.map(shown_form).unwrap_or_default();
            cells.push((name.clone(), format!("{}{shown}{}", inline(value), compared(name, fields))));
        }
    }
    cells
}

/// Returns whether other cells tell the field: it is the label of a key, or it holds the metrics before, or their changes.
fn is_told(name: &str, fields: &Map<String, Value>) -> bool {
    if name == "label" {
        return fields.contains_key("key") || fields.contains_key("country");
    }
    let metrics = if ["previous", "change"].contains(&name) { fields[name].as_object() } else { None };
    metrics.is_some_and(|metrics| metrics.keys().all(|metric| fields.contains_key(metric)))
}

/// Returns the change of a metric, or its former value without one.
fn compared(metric: &str, fields: &Map<String, Value>) -> String {
    let member = |name: &str| fields.get(name).and_then(|of| of.get(metric)).filter(|value| !value.is_null());
    let signed = |change: &Value| if change.as_f64().is_some_and(|change| change < 0.0) { "" } else { "+" };
    match (member("change").map(|change| &change["absolute"]), member("previous")) {
        (Some(change), _) if change.is_number() => format!(" ({}{change})", signed(change)),
        (_, Some(before)) => format!(" (before: {})", inline(before)),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_metric_is_printed_with_its_change() {
        let change = json!({ "clicks": { "absolute": 97, "percent": 1.4 }, "ctr": { "absolute": -0.0078 }, "position": { "absolute": 0 } });
        let rows = [
            json!({
                "key": "a", "clicks": 7042, "ctr": 0.5028, "position": 1.19,
                "previous": { "clicks": 6945, "ctr": 0.5106, "position": 1.19 }, "change": change, "presence": "both",
            }),
            json!({ "key": "b", "clicks": null, "ctr": null, "position": null, "previous": { "clicks": 3, "ctr": null }, "presence": "lost" }),
            json!({ "key": "c", "clicks": 1, "ctr": 0.5, "position": 3.5, "presence": "new" }),
        ];
        let mut text = String::new();
        table("tables.queries", &rows, &mut text);
        let expected = [
            "",
            "tables.queries (3), changes in parentheses",
            "key | clicks | ctr | position | presence",
            r#""a" | 7042 (+97) | 0.5028 (-0.0078) | 1.19 (+0) | "both""#,
            r#""b" | - (before: 3) | - | - | "lost""#,
            r#""c" | 1 | 0.5 | 3.5 | "new""#,
            "",
        ];
        assert_eq!(text, expected.join("\n"));
    }

    #[test]
    fn an_address_is_followed_by_how_it_is_shown() {
        let mut text = String::new();
        let rows = [
            json!({ "key": "https://a.test/%D7%A9%D7%9C", "clicks": 3 }),
            json!({ "key": "https://a.test/x", "clicks": 1 }),
        ];
        table("pages", &rows, &mut text);
        assert!(
            text.contains("\"https://a.test/%D7%A9%D7%9C\" (shown as \"a.test/של\") | 3\n\"https://a.test/x\" | 1\n"),
            "{text}"
        );
    }

    #[test]
    fn a_label_is_left_out_beside_its_key() {
        let mut text = String::new();
        table(
            "devices",
            &[json!({ "key": "MOBILE", "label": "Mobile", "clicks": 3 }), json!({ "label": "a" })],
            &mut text,
        );
        assert_eq!(text, "\ndevices (2)\nkey | clicks | label\n\"MOBILE\" | 3 | \n |  | \"a\"\n");
    }

    #[test]
    fn other_objects_become_columns() {
        let mut text = String::new();
        table("", &[json!({ "moved": { "other": 1 }, "owner": { "page": "p" } })], &mut text);
        assert_eq!(text, "\nrows (1)\nmoved.other | owner.page\n1 | \"p\"\n");
    }
}
