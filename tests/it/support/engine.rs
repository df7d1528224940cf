//! Answers of the simulated search engine itself, asked without the service: the truth about days that are not final.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{app::TestApp, oracle::Sum, whole::Whole as _};

/// The rows of a question in web search that counts all days, by their keys.
pub async fn engine(
    app: &TestApp,
    site: &str,
    who: &str,
    (start, end): (&str, &str),
    by: &[&str],
) -> BTreeMap<Vec<String>, Sum> {
    let state = if by.contains(&"hour") { "hourly_all" } else { "all" };
    let escaped: String = url::form_urlencoded::byte_serialize(site.as_bytes()).collect();
    let url = format!("{}/webmasters/v3/sites/{escaped}/searchAnalytics/query", app.simulator().url());
    let (http, mut rows) = (sightline::app::http_client().unwrap(), Vec::new());
    loop {
        let body = json!({
            "startDate": start, "endDate": end, "dimensions": by, "dataState": state, "rowLimit": 25_000, "startRow": rows.len(),
        });
        let answer = http.post(&url).bearer_auth(format!("sim-{who}")).json(&body).send().await.unwrap();
        assert!(answer.status().is_success(), "{}", answer.whole_text().await.unwrap());
        let answer: Value = answer.whole_json().await.unwrap();
        let page = answer["rows"].as_array().cloned().unwrap_or_default();
        let last = page.len() < 25_000;
        rows.extend(page);
        if last {
            break;
        }
    }
    let key = |row: &Value| {
        row["keys"].as_array().into_iter().flatten().map(|key| key.as_str().unwrap().to_owned()).collect()
    };
    rows.iter().map(|row| (key(row), sum(row))).collect()
}

fn sum(row: &Value) -> Sum {
    let number = |name: &str| row[name].as_f64().unwrap();
    let whole = |number: f64| format!("{number:.0}").parse().unwrap();
    Sum {
        clicks: whole(number("clicks")),
        impressions: whole(number("impressions")),
        positions: whole((number("position") * number("impressions")).round()),
    }
}
