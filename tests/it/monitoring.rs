//! The alerts and the dashboard in deploy/ name metrics that there are, and each alert has its paragraph.

use std::{collections::BTreeSet, fs, path::Path};

use regex::Regex;
use serde_json::Value;

use crate::metrics::documented;

fn read(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

/// The metrics that an expression names, under the names of docs/METRICS.md.
fn named(expression: &str) -> BTreeSet<String> {
    let metric = Regex::new(r"\b(?:sightline|process)_[a-z_]+\b").unwrap();
    let parts = Regex::new("_(?:bucket|sum|count)$").unwrap();
    metric.find_iter(expression).map(|name| parts.replace(name.as_str(), "").into_owned()).collect()
}

/// The parts of `text` between `start` and `end`.
fn between(text: &str, start: &str, end: &str) -> BTreeSet<String> {
    let rests = text.split(start).skip(1);
    rests.filter_map(|rest| rest.split_once(end)).map(|(name, _)| name.trim().to_owned()).collect()
}

#[test]
fn alerts_name_metrics_that_there_are_and_each_has_its_paragraph() {
    let (rules, metrics) = (read("deploy/prometheus/rules.yml"), documented());
    let alerts = between(&rules, "- alert:", "\n");
    assert!(alerts.len() > 10, "{alerts:?}");
    let unknown: Vec<String> = named(&rules).into_iter().filter(|name| !metrics.contains(name)).collect();
    assert_eq!(unknown, [] as [&str; 0]);
    let page = read("docs/OPERATING.md");
    let (_, told) = page.split_once("\n### Alerts\n").unwrap();
    let (told, _) = told.split_once("\n## ").unwrap();
    assert_eq!(between(told, "\n**", ".**"), alerts);
    for alert in alerts {
        let rule = rules.split("- alert:").find(|rule| rule.trim().starts_with(&format!("{alert}\n"))).unwrap();
        for part in ["expr: ", "labels: {severity: ", "summary: "] {
            assert!(rule.contains(part), "{alert} has no {part}");
        }
    }
}

#[test]
fn the_dashboard_shows_metrics_that_there_are_in_panels_that_do_not_overlap() {
    let dashboard: Value = serde_json::from_str(&read("deploy/grafana/dashboard.json")).unwrap();
    for part in ["uid", "title", "schemaVersion", "time", "templating"] {
        assert!(!dashboard[part].is_null(), "{part}");
    }
    let (panels, metrics) = (dashboard["panels"].as_array().unwrap(), documented());
    let (mut ids, mut taken, mut shown) = (BTreeSet::new(), BTreeSet::new(), 0);
    for panel in panels {
        let title = panel["title"].as_str().unwrap();
        assert!(ids.insert(panel["id"].as_u64().unwrap()), "{title}: its id is another panel's");
        let place = |name: &str| panel["gridPos"][name].as_u64().unwrap();
        assert!(place("x") + place("w") <= 24, "{title} is too wide");
        for x in place("x")..place("x") + place("w") {
            for y in place("y")..place("y") + place("h") {
                assert!(taken.insert((x, y)), "{title} lies over another panel");
            }
        }
        if panel["type"] == "row" {
            continue;
        }
        assert_eq!(panel["datasource"]["uid"], "${datasource}", "{title}");
        for target in panel["targets"].as_array().unwrap() {
            let of_target = named(target["expr"].as_str().unwrap());
            assert!(!of_target.is_empty() && of_target.is_subset(&metrics), "{title}: {of_target:?}");
            shown += 1;
        }
    }
    assert!(shown > 20, "{shown}");
}
