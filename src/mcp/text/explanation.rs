//! The explanation of a change in clicks, in words and short tables.

use std::fmt::Write as _;

use api::{
    analytics::{
        BrandChange, Contributor, CurveSource, Effects, ExplainedBrand, ExplainedEvent, ExplainedHeadline,
        ExplainedTable, Explanation, RowTally,
    },
    models::{Metrics, TableCoverage},
};

use super::{line, quoted, shown_form, word};

/// An alternative partition of a change, in the order of the text.
struct Partition<'a> {
    /// The name of its list.
    list: &'static str,
    /// The name of a row.
    name: &'static str,
    /// The parts of the remainder.
    remainder: &'static str,
    table: Option<&'a ExplainedTable>,
    coverage: &'a TableCoverage,
}

/// Returns the partitions of an explanation.
fn partitions(explanation: &Explanation) -> [Partition<'_>; 4] {
    let Explanation { queries, pages, countries, devices, coverage, .. } = explanation;
    [
        (
            "queries",
            "query",
            "anonymised queries, queries that were not read, unknown ones",
            queries,
            &coverage.queries,
        ),
        ("pages", "page", "pages that were not read, unknown ones", pages, &coverage.pages),
        ("countries", "country", "countries that were not read", countries, &coverage.countries),
        ("devices", "device", "devices that were not read", devices, &coverage.devices),
    ]
    .map(|(list, name, remainder, table, coverage)| Partition {
        list,
        name,
        remainder,
        table: table.as_ref(),
        coverage,
    })
}

/// Writes an explanation.
pub(super) fn explained(explanation: &Explanation, out: &mut String) {
    let change = explanation.clicks_change;
    headline(&explanation.headline, out);
    line(out, &format!("\nClicks changed by {change:+}. The split is arithmetic; it names no causes."));
    effects(explanation, out);
    line(
        out,
        &format!(
            "\nEach list below adds up to {change:+} by itself. The lists are alternatives: do not add one to another."
        ),
    );
    brand(explanation.brand.as_ref(), out);
    for partition in partitions(explanation) {
        if let Some(table) = partition.table {
            sums(&partition, table, change, out);
            rows(table, out);
        } else {
            let reason = partition.coverage.reason.as_deref().map_or_else(|| "-".to_owned(), quoted);
            line(out, &format!("\nBy {}: not available - {reason}", partition.name));
        }
    }
    events(&explanation.events, out);
}

/// Writes the headline. Names in it are those of sites and pages.
fn headline(headline: &ExplainedHeadline, out: &mut String) {
    line(out, &format!("\nIn short: {}", quoted(&headline.text)));
    for part in &headline.parts {
        line(out, &format!("- {}", quoted(&part.text)));
    }
    for check in &headline.checks {
        line(out, &format!("- check ({}): {}", word(&check.code), quoted(&check.text)));
    }
}

/// Returns which lists of an explanation are shown in part: the gains and losses of a partition together.
pub fn left_out(explanation: &Explanation) -> Vec<String> {
    let tables = partitions(explanation).into_iter().filter_map(|partition| {
        let ExplainedTable { gains, losses, .. } = partition.table?;
        Some((partition.list, gains.rows.len() + losses.rows.len(), gains.left_out + losses.left_out))
    });
    let events = ("events", explanation.events.len(), explanation.events_left_out);
    let cut = tables.chain([events]).filter(|(_, _, left_out)| *left_out > 0);
    cut.map(|(list, shown, left_out)| format!("explanation.{list} {shown} of {}", shown as u64 + left_out)).collect()
}

fn effects(explanation: &Explanation, out: &mut String) {
    let Effects { demand, rate, position, ctr } = explanation.effects;
    line(out, &format!("- demand {}: more or fewer impressions", effect(demand)));
    let Some(position) = position else {
        line(out, &format!("- CTR {}: position and the rest cannot be told apart here", effect(rate)));
        return;
    };
    let curve = match explanation.curve {
        Some(CurveSource::Own) => "the property's own CTR curve",
        _ => "a general CTR curve",
    };
    line(out, &format!("- position {}: what {curve} expects of changed positions of queries", effect(position)));
    line(
        out,
        &format!(
            "- rest of the CTR {}: snippets, the mix of queries, and queries whose position is not known",
            known_effect(ctr)
        ),
    );
}

fn brand(brand: Option<&ExplainedBrand>, out: &mut String) {
    let Some(ExplainedBrand { branded, non_branded, remainder }) = brand else {
        line(out, "\nBy brand: not available - it needs branded keywords and a search type with queries");
        return;
    };
    line(
        out,
        &format!(
            "\nBy brand: branded {:+}, non-branded {:+}, remainder {:+} (queries that the search engine does not name)",
            branded.clicks_change, non_branded.clicks_change, remainder.clicks_change
        ),
    );
    line(out, "part | change | demand | position | rest | clicks before > now");
    for (part, BrandChange { clicks_change, effects, current, previous }) in
        [("branded", branded), ("nonBranded", non_branded)]
    {
        let effects = split(effects, true);
        line(out, &format!("{part} | {clicks_change:+} | {effects} | {} > {}", previous.clicks, current.clicks));
    }
}

/// Writes how the rows of a partition add up.
fn sums(partition: &Partition<'_>, table: &ExplainedTable, change: i64, out: &mut String) {
    let [gains, losses] = [("gains", &table.gains), ("losses", &table.losses)].map(|(side, list)| {
        let rows = list.rows.len() as u64 + list.left_out;
        format!("{side} {:+} (rows: {rows})", list.clicks_change)
    });
    let (Partition { name, remainder, .. }, left) = (partition, table.remainder.clicks_change);
    let mut said = format!("\nBy {name}: {gains}, {losses}, remainder {left:+} ({remainder})");
    if let Some(difference) = table.counting_difference {
        let _ = write!(said, ", other counting by page {difference:+}");
    }
    let [new, lost] = [("new", table.new), ("lost", table.lost)]
        .map(|(part, RowTally { rows, clicks_change })| format!("{rows} {part} ({clicks_change:+})"));
    let ExplainedTable { unchanged, unknown, .. } = table;
    let _ = write!(said, ", sum {change:+}. Rows: {new}, {lost}, {unchanged} unchanged, {unknown} unknown.");
    if let Some(share) = partition.coverage.known_share {
        let _ = write!(said, " All known rows hold {:.1} % of the property's clicks.", share * 100.0);
    }
    line(out, &said);
}

/// Writes the rows of a partition, gains before losses.
fn rows(table: &ExplainedTable, out: &mut String) {
    let mut rows = table.gains.rows.iter().chain(&table.losses.rows).peekable();
    if rows.peek().is_none() {
        return;
    }
    let by_position = table.effects.position.is_some();
    let effects = if by_position { "demand | position | rest" } else { "demand | CTR" };
    line(out, &format!("key | presence | change | {effects} | clicks before > now | impressions before > now"));
    for row in rows {
        let cells = [
            quoted(&row.key) + &shown_form(&row.key),
            word(&row.presence),
            format!("{:+}", row.clicks_change),
            split(&row.effects, by_position),
            before_and_now(row, |metrics| metrics.clicks),
            before_and_now(row, |metrics| metrics.impressions),
        ];
        line(out, &cells.join(" | "));
    }
}

fn events(events: &[ExplainedEvent], out: &mut String) {
    if events.is_empty() {
        line(out, "\nNo annotation falls into the windows.");
        return;
    }
    line(out, "\nAnnotations in the windows. They are events, not causes:");
    for event in events {
        let end = event.end_date.map(|end| format!(" to {end}")).unwrap_or_default();
        let page = event.source_url.as_deref().map(|url| format!(", see {}", quoted(url))).unwrap_or_default();
        line(out, &format!("- {}{end} ({}): {}{page}", event.date, word(&event.overlaps), quoted(&event.text)));
    }
}

/// Returns the cells of a split. Where the position effect of some rows is not known, all of the rate is in the last cell.
fn split(effects: &Effects, by_position: bool) -> String {
    let Effects { demand, rate, position, ctr } = *effects;
    if !by_position {
        return format!("{} | {}", effect(demand), effect(rate));
    }
    format!("{} | {} | {}", effect(demand), known_effect(position), effect(ctr.unwrap_or(rate)))
}

fn before_and_now(row: &Contributor, metric: fn(&Metrics) -> u64) -> String {
    let [before, now] = [&row.previous, &row.current]
        .map(|metrics| metrics.as_ref().map_or_else(|| "-".to_owned(), |metrics| metric(metrics).to_string()));
    format!("{before} > {now}")
}

/// Writes a part of a change with its sign and one decimal.
fn effect(number: f64) -> String {
    let rounded = format!("{number:+.1}");
    if rounded == "-0.0" { "+0.0".to_owned() } else { rounded }
}

fn known_effect(number: Option<f64>) -> String {
    number.map_or_else(|| "-".to_owned(), effect)
}

#[cfg(test)]
mod tests {
    use poem_openapi::types::ParseFromJSON as _;
    use serde_json::{Value, json};

    use super::*;

    fn remainder(change: i64) -> Value {
        json!({ "clicksChange": change, "clicks": 0, "impressions": 0, "previousClicks": 0, "previousImpressions": 0 })
    }

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
            "unchanged": 7, "both": { "rows": 0, "clicksChange": 0 }, "new": { "rows": 1, "clicksChange": 2 }, "lost": { "rows": 0, "clicksChange": 0 }, "unknown": 3,
            "remainder": remainder(-1),
        })
    }

    fn explanation() -> Explanation {
        let by_brand = |change: i64| {
            let effects = json!({ "demand": 1.0, "rate": 2.0, "position": 0.5, "ctr": 1.5 });
            let metrics = |clicks: u64| json!({ "clicks": clicks, "impressions": 9 });
            json!({ "clicksChange": change, "effects": effects, "previous": metrics(1), "current": metrics(2) })
        };
        let mut pages = table(false);
        pages["countingDifference"] = json!(0);
        let explanation = json!({
            "headline": {
                "text": "shop.test gained 4 clicks (+40%), because search shows it more often.",
                "parts": [{ "text": "/a: +6 clicks" }], "checks": [{ "code": "one_part", "text": "Look there first." }],
            },
            "clicksChange": 4, "effects": { "demand": 5.0, "rate": -1.0, "position": -2.25, "ctr": 1.25 }, "curve": "own",
            "brand": { "branded": by_brand(1), "nonBranded": by_brand(2), "remainder": remainder(1) },
            "queries": table(true), "pages": pages,
            "events": [{ "id": uuid::Uuid::nil(), "source": "user", "date": "2026-11-16", "endDate": "2026-11-17", "text": "Sale", "sourceUrl": "https://a.test/", "overlaps": "current" }],
            "eventsLeftOut": 1,
            "coverage": {
                "queries": { "available": true, "knownShare": 0.5 }, "pages": { "available": true },
                "countries": { "available": false, "reason": "not here" }, "devices": { "available": false },
            },
        });
        Explanation::parse_from_json(Some(explanation)).unwrap()
    }

    #[test]
    fn the_change_is_told_in_words_and_sums() {
        let mut text = String::new();
        explained(&explanation(), &mut text);
        let expected = [
            "",
            "In short: \"shop.test gained 4 clicks (+40%), because search shows it more often.\"",
            "- \"/a: +6 clicks\"",
            "- check (one_part): \"Look there first.\"",
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
    }
}
