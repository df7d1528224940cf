//! Makes the result of a tool call from the answer of the operation, or from its refusal.

use api::error::ApiError;
use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::{Value, json};

use super::{
    catalogue::Declaration,
    clean::{ADVICE, clean},
    state::State,
    text::{left_out, readable, warnings},
};

/// The field of `_meta` that says how large an answer is.
const SIZE: &str = "sightline/size";
/// The field of `_meta` that holds a refusal for programs.
const REFUSAL: &str = "sightline/error";
/// The field of `_meta` that says the state of an answer for programs.
const STATE: &str = "sightline/state";
/// The number of bytes that count as one token. JSON with many numbers has about as many.
const BYTES_OF_TOKEN: usize = 3;

/// A list that an answer shows in part.
#[derive(Debug, PartialEq, Eq)]
pub struct Cut {
    /// Its place, such as `data.tables.countries`.
    pub list: String,
    /// The rows shown.
    pub shown: usize,
    /// All rows.
    pub rows: usize,
}

/// Returns the answer that a tool gives where the operation answers `answer`: cleaned, and with at most `rows` rows in the lists that
/// the operation does not bound. The coverage of a list that is cut tells of the rows shown. Every other value is that of the operation.
#[must_use]
pub fn given(tool: &Declaration, answer: Value, rows: usize) -> (Value, Vec<Cut>) {
    let mut answer = clean(answer);
    let cuts = tool.rows.cut.iter().filter_map(|pointer| {
        let list = answer.pointer_mut(pointer)?.as_array_mut()?;
        let all = list.len();
        if all <= rows {
            return None;
        }
        list.truncate(rows);
        let clicks: f64 = list.iter().filter_map(|row| row["clicks"].as_f64()).sum();
        let name = pointer.rsplit('/').next().unwrap_or_default();
        if let Some(coverage) = answer.pointer_mut(&format!("/meta/coverage/{name}")) {
            narrow(coverage, rows, clicks);
        }
        Some(Cut { list: pointer.trim_start_matches('/').replace('/', "."), shown: rows, rows: all })
    });
    let cuts = cuts.collect();
    (answer, cuts)
}

/// Makes the coverage of a table that of its first `rows` rows, which have so many `clicks`. Where rows overlap it says no clicks.
fn narrow(coverage: &mut Value, rows: usize, clicks: f64) {
    let all = coverage["clicks"].as_f64();
    let Some(fields) = coverage.as_object_mut() else { return };
    fields.insert("rowsShown".to_owned(), json!(rows));
    fields.insert("hasMore".to_owned(), json!(true));
    let Some(all) = all.filter(|all| *all > 0.0) else { return };
    for name in ["clicksShare", "sliceShare"] {
        if let Some(share) = fields.get(name).and_then(Value::as_f64) {
            fields.insert(name.to_owned(), json!(share * clicks / all));
        }
    }
    #[expect(clippy::cast_possible_truncation, reason = "a sum of whole numbers below 2^53")]
    fields.insert("clicks".to_owned(), json!(clicks as i64));
}

/// Returns the result of a call that the operation answered.
#[must_use]
pub fn success(tool: &Declaration, answer: Value, rows: usize, state: Option<State>) -> CallToolResult {
    let (answer, cuts) = given(tool, answer, rows);
    let body = readable(&answer);
    let structured = answer.to_string().len() / BYTES_OF_TOKEN;
    let omitted = cuts.iter().map(Cut::advice).chain(bounded(tool, &answer, &cuts));
    let omitted: Vec<String> = omitted.chain(left_out(&answer["data"]["explanation"])).collect();
    let warnings = warnings(&answer).map(|line| line + "\n").unwrap_or_default();
    let mut head =
        format!("{warnings}{ADVICE}\nRoughly {} tokens here, {structured} as JSON.\n", body.len() / BYTES_OF_TOKEN);
    let said = state.as_ref().map(State::line);
    for line in said.iter().chain(&omitted) {
        head.extend([line.as_str(), "\n"]);
    }
    let size = json!({
        "textTokens": (head.len() + body.len()) / BYTES_OF_TOKEN, "structuredTokens": structured, "leftOut": omitted,
    });
    let mut result = CallToolResult::success(vec![ContentBlock::text(format!("{head}\n{body}"))]);
    result.structured_content = Some(answer);
    result.with_meta(Some(meta(SIZE, size, state)))
}

impl Cut {
    fn advice(&self) -> String {
        format!("{}: {} of {} rows shown; a larger limit shows more.", self.list, self.shown, self.rows)
    }
}

/// Says which tables and lists the operation has bounded, by their coverage.
fn bounded(tool: &Declaration, answer: &Value, cuts: &[Cut]) -> Vec<String> {
    if tool.rows.parameters.is_empty() {
        return Vec::new();
    }
    let is_cut = |name: &str| cuts.iter().any(|cut| cut.list.rsplit('.').next() == Some(name));
    let coverage = answer.pointer("/meta/coverage").and_then(Value::as_object).into_iter().flatten();
    let bounded = coverage.filter(|(name, of)| of["hasMore"] == true && !is_cut(name));
    let bounded = bounded.filter_map(|(name, of)| {
        let (shown, matched) = (of["rowsShown"].as_u64()?, of["rowsMatched"].as_u64()?);
        Some(format!("{name}: {shown} of {matched} rows shown; a larger limit shows more."))
    });
    bounded.collect()
}

/// Returns the result of a call that was refused: what is wrong, and the way out.
#[must_use]
pub fn refused(refusal: &ApiError, state: Option<State>) -> CallToolResult {
    let body = refusal.body();
    let mut text = format!("Error {}: {}", refusal.code.as_str(), body.error);
    for (title, said) in [("", &body.hint), ("correlationId: ", &body.correlation_id)] {
        if let Some(said) = said {
            text.extend(["\n", title, said.as_str()]);
        }
    }
    text.extend(["\n", way_out(refusal).as_str()]);
    if let Some(state) = &state {
        text.extend(["\n", state.line().as_str()]);
    }
    let error = json!({
        "code": refusal.code.as_str(), "status": refusal.code.status().as_u16(), "hint": body.hint,
        "correlationId": body.correlation_id, "retryAfter": refusal.retry_after,
    });
    CallToolResult::error(vec![ContentBlock::text(text)]).with_meta(Some(meta(REFUSAL, error, state)))
}

/// Says whether the model can mend the call, or the person must act.
fn way_out(refusal: &ApiError) -> String {
    match refusal.code.status().as_u16() {
        400 | 413 | 415 | 422 => "Change the argument that the hint names, and call the tool again.".to_owned(),
        404 => "The person has nothing of this kind. list_properties gives the properties that they can see; other tools list records."
            .to_owned(),
        401 => "Sign in again.".to_owned(),
        503 => {
            let seconds = refusal.retry_after.unwrap_or(60);
            format!("Nothing is wrong with the call: try again in {seconds} seconds.")
        }
        500..=599 => "Nothing is wrong with the call: try again later, and report the correlationId if it persists.".to_owned(),
        _ => "Calling again does not help until somebody has acted: tell the person what the hint says.".to_owned(),
    }
}

fn meta(name: &str, value: Value, state: Option<State>) -> MetaObject {
    let mut meta = MetaObject::new();
    meta.insert(name.to_owned(), value);
    if let Some(state) = state {
        meta.insert(STATE.to_owned(), json!({ "name": state.name, "advice": state.advice }));
    }
    meta
}

#[cfg(test)]
mod tests {
    use api::error::Code;

    use super::*;
    use crate::mcp::catalogue;

    fn tool(name: &str) -> &'static Declaration {
        catalogue::all().into_iter().find(|tool| tool.name == name).unwrap()
    }

    fn text(result: &CallToolResult) -> String {
        serde_json::to_value(result).unwrap()["content"][0]["text"].as_str().unwrap().to_owned()
    }

    #[test]
    fn a_long_list_is_cut_and_says_so() {
        let answer = json!({ "data": [{ "keyword": "a" }, { "keyword": "b" }, { "keyword": "c" }] });
        let (shown, cuts) = given(tool("list_branded_keywords"), answer.clone(), 2);
        assert_eq!(shown, json!({ "data": [{ "keyword": "a" }, { "keyword": "b" }] }));
        assert_eq!(cuts, [Cut { list: "data".to_owned(), shown: 2, rows: 3 }]);
        let result = success(tool("list_branded_keywords"), answer.clone(), 2, None);
        assert!(text(&result).contains("data: 2 of 3 rows shown; a larger limit shows more."));
        assert_eq!(given(tool("list_branded_keywords"), answer.clone(), 3), (answer, Vec::new()));
    }

    #[test]
    fn the_coverage_of_a_list_that_is_cut_tells_of_the_rows_shown() {
        let country = |key: &str, clicks: u32| json!({ "key": key, "clicks": clicks });
        let answer = json!({
            "data": { "tables": { "countries": [country("usa", 60), country("gbr", 20), country("deu", 20)] } },
            "meta": { "coverage": { "countries": {
                "rowsShown": 3, "rowsMatched": 3, "rowsKnown": 3, "hasMore": false, "clicks": 100, "clicksShare": 0.5, "sliceShare": 1.0,
            } } },
        });
        let (shown, _) = given(tool("get_performance"), answer.clone(), 2);
        let expected = json!({
            "rowsShown": 2, "rowsMatched": 3, "rowsKnown": 3, "hasMore": true, "clicks": 80, "clicksShare": 0.4, "sliceShare": 0.8,
        });
        assert_eq!(shown["meta"]["coverage"]["countries"], expected);
        let mut overlapping = answer;
        overlapping["meta"]["coverage"]["countries"] =
            json!({ "rowsShown": 3, "rowsMatched": 3, "rowsKnown": 3, "hasMore": false });
        let (shown, _) = given(tool("get_performance"), overlapping, 2);
        let expected = json!({ "rowsShown": 2, "rowsMatched": 3, "rowsKnown": 3, "hasMore": true });
        assert_eq!(shown["meta"]["coverage"]["countries"], expected, "rows that overlap are not added up");
    }

    #[test]
    fn a_bounded_table_says_so() {
        let answer = json!({
            "data": [],
            "meta": { "coverage": {
                "countries": { "rowsShown": 25, "rowsMatched": 61, "rowsKnown": 70, "hasMore": true },
                "pages": { "rowsShown": 3, "rowsMatched": 3, "rowsKnown": 9, "hasMore": false },
            } },
        });
        let result = success(tool("get_countries"), answer, 25, None);
        let left_out = &result.meta.unwrap()[SIZE]["leftOut"];
        assert_eq!(*left_out, json!(["countries: 25 of 61 rows shown; a larger limit shows more."]));
    }

    #[test]
    fn a_list_says_how_many_rows_match() {
        let answer = |listed: usize| {
            json!({
                "data": { "queriesAnalysed": 900, "queries": vec![json!({}); listed] },
                "meta": { "coverage": { "queries": {
                    "rowsShown": listed, "rowsMatched": 3, "rowsKnown": 12_510, "hasMore": listed < 3,
                } } },
            })
        };
        for (listed, said) in [(2, json!(["queries: 2 of 3 rows shown; a larger limit shows more."])), (3, json!([]))] {
            let result = success(tool("find_cannibalization"), answer(listed), listed, None);
            assert_eq!(result.meta.unwrap()[SIZE]["leftOut"], said);
        }
    }

    #[test]
    fn a_table_that_is_cut_is_named_once() {
        let answer = json!({
            "data": { "tables": { "countries": [{}, {}, {}] } },
            "meta": { "coverage": { "countries": { "rowsShown": 3, "rowsMatched": 3, "rowsKnown": 3, "hasMore": false } } },
        });
        let result = success(tool("get_performance"), answer, 2, None);
        let said = json!(["data.tables.countries: 2 of 3 rows shown; a larger limit shows more."]);
        assert_eq!(result.meta.unwrap()[SIZE]["leftOut"], said);
    }

    #[test]
    fn refusals_say_who_must_act() {
        for (refusal, way_out) in [
            (ApiError::invalid("limit", "must be a whole number"), "Change the argument"),
            (ApiError::new(Code::NotFound), "list_properties gives"),
            (ApiError::new(Code::SubscriptionRequired), "tell the person"),
            (ApiError::new(Code::Forbidden), "tell the person"),
            (ApiError::new(Code::SearchAccountDisconnected), "tell the person"),
            (ApiError::new(Code::SearchEngineUnavailable).retry_after(7), "in 7 seconds"),
            (ApiError::new(Code::Internal), "try again later"),
        ] {
            let result = refused(&refusal, None);
            assert_eq!(result.is_error, Some(true));
            let text = text(&result);
            assert!(text.starts_with(&format!("Error {}", refusal.code.as_str())) && text.contains(way_out), "{text}");
            assert_eq!(result.meta.unwrap()[REFUSAL]["code"], refusal.code.as_str());
        }
    }
}
