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

/// The measured calls of `get_performance`: description, arguments, the same question as a query, and the revision.
fn tools() -> [(&'static str, Value, &'static str, Revision); 4] {
    let (series, tables) = (json!({ "scope": "series" }), json!({ "scope": "tables" }));
    let of_series = "scope=series&queryLimit=25&pageLimit=25";
    let of_tables = "scope=tables&queryLimit=25&pageLimit=25";
    [
        ("tool: totals and series, warm", series.clone(), of_series, Revision::Handshake),
        ("tool: tables of 25 rows, warm", tables.clone(), of_tables, Revision::Handshake),
        ("tool without handshake: totals and series, warm", series, of_series, Revision::Stateless),
        ("tool without handshake: tables of 25 rows, warm", tables, of_tables, Revision::Stateless),
    ]
}

/// A revision of the protocol.
#[derive(Clone, Copy, PartialEq)]
enum Revision {
    /// 2025-11-25.
    Handshake,
    /// 2026-07-28.
    Stateless,
}

impl Revision {
    fn headers(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Handshake => &[("mcp-protocol-version", "2025-11-25")],
            Self::Stateless => {
                &[("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "get_performance")]
            }
        }
    }

    fn message(self, arguments: &Value) -> Value {
        let mut params = json!({ "name": "get_performance", "arguments": arguments });
        if self == Self::Stateless {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })
    }
}

/// Most times that a call may take of the time of the same REST request.
const MOST_TIMES: f64 = 2.0;

/// Measures a call of a tool beside the REST request for the same answer.
async fn compare_tool(
    setting: &Setting,
    name: &str,
    mut arguments: Value,
    query: &str,
    revision: Revision,
) -> Measured<Figure> {
    let (start, end) = window(0, 28);
    arguments["property"] = json!(setting.property);
    (arguments["startDate"], arguments["endDate"]) = (json!(start), json!(end));
    let message = revision.message(&arguments);
    let path = format!("/api/properties/{}/performance?{query}&startDate={start}&endDate={end}", setting.property);
    let (said, answer) = (setting.call(revision.headers(), &message).await?, setting.get(&path).await?);
    let structured: Value = serde_json::from_slice(&said)?;
    let answered: Value = serde_json::from_slice(&answer)?;
    // Tools round CTR and position.
    let clicks = |answer: &Value| answer["data"]["totals"]["clicks"].clone();
    if clicks(&structured["result"]["structuredContent"]) != clicks(&answered) || clicks(&answered).is_null() {
        return Err(format!("the tool does not say what the operation says: {structured}").into());
    }
    let (address, asked) = (setting.server.address, message.to_string());
    let (mut of_tool, mut of_rest) = (Vec::new(), Vec::new());
    for _ in 0..=ROUNDS {
        of_rest.push(load::reads(address, &path, &setting.token, answer.len())?);
        of_tool.push(load::calls(address, revision.headers(), &asked, &setting.token, said.len())?);
    }
    let (rest, tool) = (load::median(of_rest.split_off(1)), load::median(of_tool.split_off(1)));
    let times = rest / tool;
    Ok(Figure {
        name: format!("{name} ({:.1} kB)", said.len() as f64 / 1e3),
        value: format!("{tool:.0}/s"),
        baseline: format!("{rest:.0}/s the same REST answer ({:.1} kB)", answer.len() as f64 / 1e3),
        ratio: format!("{times:.2}"),
        aim: Some((format!("≤ {MOST_TIMES:.1}"), times <= MOST_TIMES)),
    })
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
    for (name, arguments, query, revision) in tools() {
        figures.push(compare_tool(&setting, name, arguments, query, revision).await?);
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
