//! The explanation of a change in clicks, in words and short tables.

use std::fmt::Write as _;

use serde_json::Value;

use super::{inline, line};

/// The partitions, in the order of the text: field, name, what the remainder is.
const PARTITIONS: [(&str, &str, &str); 4] = [
    ("queries", "query", "anonymised queries, queries that were not read, unknown ones"),
    ("pages", "page", "pages that were not read, unknown ones"),
    ("countries", "country", "countries that were not read"),
    ("devices", "device", "devices that were not read"),
];

/// Writes an explanation.
pub(super) fn explained(explanation: &Value, out: &mut String) {
    let change = count(&explanation["clicksChange"]);
    line(out, &format!("\nClicks changed by {change}. The split is arithmetic; it names no causes."));
    effects(explanation, out);
    line(
        out,
        &format!(
            "\nEach list below adds up to {change} by itself. The lists are alternatives: do not add one to another."
        ),
    );
    brand(explanation, out);
    for (field, name, remainder) in PARTITIONS {
        let (partition, coverage) = (&explanation[field], &explanation["coverage"][field]);
        if partition.is_object() {
            sums(name, remainder, partition, coverage, &change, out);
            rows(partition, out);
        } else {
            line(out, &format!("\nBy {name}: not available - {}", inline(&coverage["reason"])));
        }
    }
    events(explanation, out);
}

/// Returns which lists of an explanation are shown in part: the gains and losses of a partition together.
pub fn left_out(explanation: &Value) -> Vec<String> {
    let partitions = PARTITIONS.iter().map(|(field, ..)| {
        let lists = ["gains", "losses"].map(|side| &explanation[field][side]);
        let shown = lists.map(|list| list["rows"].as_array().map_or(0, Vec::len)).iter().sum::<usize>();
        (*field, shown, lists.iter().filter_map(|list| list["leftOut"].as_u64()).sum::<u64>())
    });
    let events = explanation["events"].as_array().map_or(0, Vec::len);
    let events = ("events", events, explanation["eventsLeftOut"].as_u64().unwrap_or_default());
    let cut = partitions.chain([events]).filter(|(_, _, left_out)| *left_out > 0);
    cut.map(|(list, shown, left_out)| format!("explanation.{list} {shown} of {}", shown as u64 + left_out)).collect()
}

fn effects(explanation: &Value, out: &mut String) {
    let effects = &explanation["effects"];
    line(out, &format!("- demand {}: more or fewer impressions", effect(&effects["demand"])));
    if effects["position"].is_null() {
        line(out, &format!("- CTR {}: position and the rest cannot be told apart here", effect(&effects["rate"])));
        return;
    }
    let curve = if explanation["curve"] == "own" { "the property's own CTR curve" } else { "a general CTR curve" };
    line(
        out,
        &format!("- position {}: what {curve} expects of changed positions of queries", effect(&effects["position"])),
    );
    line(
        out,
        &format!(
            "- rest of the CTR {}: snippets, the mix of queries, and queries whose position is not known",
            effect(&effects["ctr"])
        ),
    );
}

fn brand(explanation: &Value, out: &mut String) {
    let brand = &explanation["brand"];
    if !brand.is_object() {
        line(out, "\nBy brand: not available - it needs branded keywords and a search type with queries");
        return;
    }
    let changes = ["branded", "nonBranded", "remainder"].map(|part| count(&brand[part]["clicksChange"]));
    line(
        out,
        &format!(
            "\nBy brand: branded {}, non-branded {}, remainder {} (queries that the search engine does not name)",
            changes[0], changes[1], changes[2]
        ),
    );
    line(out, "part | change | demand | position | rest | clicks before > now");
    for part in ["branded", "nonBranded"] {
        let of = &brand[part];
        let cells = [count(&of["clicksChange"]), split(&of["effects"], true), before_and_now(of, "clicks")];
        line(out, &format!("{part} | {}", cells.join(" | ")));
    }
}

/// Writes how the rows of a partition add up.
fn sums(name: &str, remainder: &str, partition: &Value, coverage: &Value, change: &str, out: &mut String) {
    let side = |side: &str| {
        let list = &partition[side];
        let rows = list["rows"].as_array().map_or(0, Vec::len) as u64 + list["leftOut"].as_u64().unwrap_or_default();
        format!("{side} {} (rows: {rows})", count(&list["clicksChange"]))
    };
    let mut said = format!(
        "\nBy {name}: {}, {}, remainder {} ({remainder})",
        side("gains"),
        side("losses"),
        count(&partition["remainder"]["clicksChange"])
    );
    if partition["countingDifference"].is_i64() {
        let _ = write!(said, ", other counting by page {}", count(&partition["countingDifference"]));
    }
    let _ = write!(said, ", sum {change}.");
    let tally =
        |part: &str| format!("{} {part} ({})", partition[part]["rows"], count(&partition[part]["clicksChange"]));
    let _ = write!(said, " Rows: {}, {}, ", tally("new"), tally("lost"));
    let _ = write!(said, "{} unchanged, {} unknown.", partition["unchanged"], partition["unknown"]);
    if let Some(share) = coverage["knownShare"].as_f64() {
        let _ = write!(said, " All known rows hold {:.1} % of the property's clicks.", share * 100.0);
    }
    line(out, &said);
}

/// Writes the rows of a partition, gains before losses.
fn rows(partition: &Value, out: &mut String) {
    let lists = ["gains", "losses"].map(|side| partition[side]["rows"].as_array().map_or(&[][..], Vec::as_slice));
    if lists.iter().all(|list| list.is_empty()) {
        return;
    }
    let by_position = partition["effects"]["position"].is_number();
    let effects = if by_position { "demand | position | rest" } else { "demand | CTR" };
    line(out, &format!("key | presence | change | {effects} | clicks before > now | impressions before > now"));
    for row in lists.into_iter().flatten() {
        let cells = [
            inline(&row["key"]),
            row["presence"].as_str().unwrap_or_default().to_owned(),
            count(&row["clicksChange"]),
            split(&row["effects"], by_position),
            before_and_now(row, "clicks"),
            before_and_now(row, "impressions"),
        ];
        line(out, &cells.join(" | "));
    }
}

fn events(explanation: &Value, out: &mut String) {
    let events = explanation["events"].as_array().map_or(&[][..], Vec::as_slice);
    if events.is_empty() {
        line(out, "\nNo annotation falls into the windows.");
        return;
    }
    line(out, "\nAnnotations in the windows. They are events, not causes:");
    for event in events {
        let end = event["endDate"].as_str().map(|end| format!(" to {end}")).unwrap_or_default();
        let (day, window) =
            (event["date"].as_str().unwrap_or_default(), event["overlaps"].as_str().unwrap_or_default());
        let page =
            event["sourceUrl"].as_str().map(|_| format!(", see {}", inline(&event["sourceUrl"]))).unwrap_or_default();
        line(out, &format!("- {day}{end} ({window}): {}{page}", inline(&event["text"])));
    }
}

/// Returns the cells of a split. Where the position effect of some rows is not known, all of the rate is in the last cell.
fn split(effects: &Value, by_position: bool) -> String {
    let demand = effect(&effects["demand"]);
    if !by_position {
        return format!("{demand} | {}", effect(&effects["rate"]));
    }
    let rest = if effects["ctr"].is_null() { &effects["rate"] } else { &effects["ctr"] };
    format!("{demand} | {} | {}", effect(&effects["position"]), effect(rest))
}

fn before_and_now(row: &Value, metric: &str) -> String {
    format!("{} > {}", inline(&row["previous"][metric]), inline(&row["current"][metric]))
}

/// Writes a number of clicks with its sign.
fn count(value: &Value) -> String {
    value.as_i64().map_or_else(|| inline(value), |number| format!("{number:+}"))
}

/// Writes a part of a change with its sign and one decimal.
fn effect(value: &Value) -> String {
    let Some(number) = value.as_f64() else { return inline(value) };
    let rounded = format!("{number:+.1}");
    if rounded == "-0.0" { "+0.0".to_owned() } else { rounded }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn table(by_position: bool) -> Value {
        let (position, ctr) = if by_position { (json!(-2.25), json!(0.04)) } else { (Value::Null, Value::Null) };
        let effects = json!({ "demand": 5.0, "rate": -2.0, "position": position, "ctr": ctr });
        let row = |key: &str, change: i64| {
            json!({
                "key": key, "presence": "both", "clicksChange": change, "effects": effects,
                "previous": { "clicks": 10, "impressions": 90 }, "current": { "clicks": 10 + change, "impressions": 100 },
            })
        };
        json!({
            "effects": effects,
            "gains": { "clicksChange": 9, "rows": [row("a | b", 6)], "leftOut": 2 },
            "losses": { "clicksChange": -4, "rows": [row("c", -4)], "leftOut": 0 },
            "unchanged": 7, "new": { "rows": 1, "clicksChange": 2 }, "lost": { "rows": 0, "clicksChange": 0 }, "unknown": 3,
            "remainder": { "clicksChange": -1 },
        })
    }

    fn explanation() -> Value {
        let by_brand = |change: i64| {
            let effects = json!({ "demand": 1.0, "rate": 2.0, "position": 0.5, "ctr": 1.5 });
            json!({ "clicksChange": change, "effects": effects, "previous": { "clicks": 1 }, "current": { "clicks": 2 } })
        };
        let mut pages = table(false);
        pages["countingDifference"] = json!(0);
        json!({
            "clicksChange": 4, "effects": { "demand": 5.0, "rate": -1.0, "position": -2.25, "ctr": 1.25 }, "curve": "own",
            "brand": { "branded": by_brand(1), "nonBranded": by_brand(2), "remainder": { "clicksChange": 1 } },
            "queries": table(true), "pages": pages,
            "events": [{ "date": "2026-11-16", "endDate": "2026-11-17", "text": "Sale", "sourceUrl": "https://a.test/", "overlaps": "current" }],
            "eventsLeftOut": 1,
            "coverage": {
                "queries": { "knownShare": 0.5 }, "countries": { "available": false, "reason": "not here" },
            },
        })
    }

    #[test]
    fn the_change_is_told_in_words_and_sums() {
        let mut text = String::new();
        explained(&explanation(), &mut text);
        let expected = [
            "",
            "Clicks changed by +4. The split is arithmetic; it names no causes.",
            "- demand +5.0: more or fewer impressions",
            "- position -2.2: what the property's own CTR curve expects of changed positions of queries",
            "- rest of the CTR +1.2: snippets, the mix of queries, and queries whose position is not known",
            "",
            "Each list below adds up to +4 by itself. The lists are alternatives: do not add one to another.",
            "",
            "By brand: branded +1, non-branded +2, remainder +1 (queries that the search engine does not name)",
            "part | change | demand | position | rest | clicks before > now",
            "branded | +1 | +1.0 | +0.5 | +1.5 | 1 > 2",
            "nonBranded | +2 | +1.0 | +0.5 | +1.5 | 1 > 2",
            "",
            "By query: gains +9 (rows: 3), losses -4 (rows: 1), remainder -1 (anonymised queries, queries that were not read, unknown ones), \
             sum +4. Rows: 1 new (+2), 0 lost (+0), 7 unchanged, 3 unknown. All known rows hold 50.0 % of the property's clicks.",
            "key | presence | change | demand | position | rest | clicks before > now | impressions before > now",
            "\"a | b\" | both | +6 | +5.0 | -2.2 | +0.0 | 10 > 16 | 90 > 100",
            "\"c\" | both | -4 | +5.0 | -2.2 | +0.0 | 10 > 6 | 90 > 100",
            "",
            "By page: gains +9 (rows: 3), losses -4 (rows: 1), remainder -1 (pages that were not read, unknown ones), other counting by \
             page +0, sum +4. Rows: 1 new (+2), 0 lost (+0), 7 unchanged, 3 unknown.",
            "key | presence | change | demand | CTR | clicks before > now | impressions before > now",
            "\"a | b\" | both | +6 | +5.0 | -2.0 | 10 > 16 | 90 > 100",
            "\"c\" | both | -4 | +5.0 | -2.0 | 10 > 6 | 90 > 100",
            "",
            "By country: not available - \"not here\"",
            "",
            "By device: not available - -",
            "",
            "Annotations in the windows. They are events, not causes:",
            "- 2026-11-16 to 2026-11-17 (current): \"Sale\", see \"https://a.test/\"",
            "",
        ];
        assert_eq!(text, expected.join("\n"));
    }

    #[test]
    fn what_is_not_listed_is_counted() {
        let expected = ["explanation.queries 2 of 4", "explanation.pages 2 of 4", "explanation.events 1 of 2"];
        assert_eq!(left_out(&explanation()), expected);
        assert_eq!(left_out(&Value::Null), Vec::<String>::new());
    }
}
