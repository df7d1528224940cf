//! Throughput of answers that need no upstream request, beside a bare poem route that sends the same bytes.

use serde_json::{Value, json};

use crate::{
    Measured, bare,
    figure::Figure,
    load::{self, ROUNDS},
    setting::{Engine, LARGE, Setting, window},
};

/// Number of the user's tags.
const TAGS: usize = 20;

/// The measured reads: description, path, and the minimum ratio to the baseline.
fn cases(setting: &Setting) -> [(&'static str, String, f64); 5] {
    let (start, end) = window(0, 28);
    let totals = format!("/api/properties/{}/performance?startDate={start}&endDate={end}", setting.property);
    [
        ("GET /api", "/api".to_owned(), 0.3),
        ("a list of 20 tags", "/api/tags".to_owned(), 0.12),
        ("totals and series, warm", totals, 0.25),
        ("scope=all, 5,000 + 5,000 rows, warm", setting.path(window(0, 28)), 0.8),
        ("the list of properties, warm", "/api/properties".to_owned(), 0.0),
    ]
}

/// Runs the measurement.
pub async fn measure() -> Measured<Vec<Figure>> {
    let engine = Engine::start(0)?;
    let setting = Setting::start(&engine, LARGE, &[]).await?;
    for number in 0..TAGS {
        setting.post("/api/tags", &json!({ "name": format!("Tag {number}") })).await?;
    }
    let mut figures = Vec::new();
    for (name, path, aim) in cases(&setting) {
        let body = setting.get(&path).await?;
        if path.contains("scope=all") {
            check_rows(&body)?;
        }
        figures.push(compare(&setting, name, &path, &body, aim)?);
    }
    Ok(figures)
}

fn check_rows(body: &[u8]) -> Measured<()> {
    let json: Value = serde_json::from_slice(body)?;
    let rows = |table: &str| json["data"]["tables"][table].as_array().map_or(0, Vec::len);
    match (rows("queries"), rows("pages")) {
        (5_000, 5_000) => Ok(()),
        (queries, pages) => Err(format!("the answer has {queries} queries and {pages} pages").into()),
    }
}

fn compare(setting: &Setting, name: &str, path: &str, body: &[u8], aim: f64) -> Measured<Figure> {
    let (bare, _file) = bare::start(body)?;
    let (mut of_service, mut of_bare) = (Vec::new(), Vec::new());
    for _ in 0..=ROUNDS {
        of_bare.push(load::reads(bare.address, "/", "", body.len())?);
        of_service.push(load::reads(setting.server.address, path, &setting.token, body.len())?);
    }
    let (bare, service) = (load::median(of_bare.split_off(1)), load::median(of_service.split_off(1)));
    let ratio = service / bare;
    Ok(Figure {
        name: format!("{name} ({:.1} kB)", body.len() as f64 / 1e3),
        value: format!("{service:.0}/s"),
        baseline: format!("{bare:.0}/s bare route"),
        ratio: format!("{ratio:.2}"),
        aim: (aim > 0.0).then(|| (format!("≥ {aim}"), ratio >= aim)),
    })
}
