//! Makes the result of a tool call from the answer of the operation.

use api::models::TableCoverage;
use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::{Value, json};

use super::{
    arguments::Size,
    catalogue::Declaration,
    clean::{ADVICE, clean},
    fit::{BUDGET, Cut, cut, longest, remove_series},
    meta::Meta,
    round::{RULE, round},
    state::AnswerState,
    text::{Told, left_out},
};

/// The field of `_meta` that says how large an answer is.
const SIZE: &str = "sightline/size";
/// The field of `_meta` that says the state of an answer for programs.
const STATE: &str = "sightline/state";
/// The number of bytes that count as one token. JSON with many numbers has about as many.
const BYTES_OF_TOKEN: usize = 3;

/// The answer of an operation, before it is cut and rounded.
struct Given<'a> {
    tool: &'a Declaration,
    answer: Value,
    meta: &'a Meta,
    size: Size,
    /// The argument that shows the series, if they were left out.
    series_by: Option<&'static str>,
    state: Option<&'a AnswerState>,
}

/// An answer as a model gets it.
struct Said {
    text: String,
    structured: Value,
    /// The bytes of `structured` as JSON.
    bytes: usize,
    /// The parts that are shown in part or not at all.
    left_out: Vec<String>,
}

/// Returns the result of a call that the operation answered: cleaned, rounded, and within the size that the call asks for.
///
/// The text and the structured content both hold rows, because some clients show a model only one of them. Where the call names no
/// `limit`, every list is cut to as many rows as fit [`BUDGET`].
#[must_use]
pub fn success(
    tool: &Declaration,
    answer: Value,
    meta: &Meta,
    size: Size,
    state: Option<AnswerState>,
) -> CallToolResult {
    let said = Given::of(tool, answer, meta, size, state.as_ref()).fitting();
    let size = json!({
        "textTokens": said.text.len() / BYTES_OF_TOKEN, "structuredTokens": said.bytes / BYTES_OF_TOKEN,
        "leftOut": said.left_out,
    });
    let mut result = CallToolResult::success(vec![ContentBlock::text(said.text)]);
    result.structured_content = Some(said.structured);
    result.with_meta(Some(meta_object(SIZE, size, state)))
}

impl<'a> Given<'a> {
    fn of(
        tool: &'a Declaration,
        mut answer: Value,
        meta: &'a Meta,
        size: Size,
        state: Option<&'a AnswerState>,
    ) -> Self {
        clean(&mut answer);
        let is_shorter = !size.has_series && remove_series(&mut answer["data"]);
        Self { tool, answer, meta, size, series_by: tool.series_by.filter(|_| is_shorter), state }
    }

    /// Returns the answer with all of its rows, or if it is too large with as many in each list as fit: first the same number in the
    /// text and in the structured content, then more in the text, where a row is short.
    fn fitting(&self) -> Said {
        let whole = self.said(usize::MAX, usize::MAX);
        if self.size.is_asked || whole.bytes() <= BUDGET {
            return whole;
        }
        let (structured, _) = self.largest(1, |rows| self.said(rows, rows));
        self.largest(structured, |rows| self.said(rows, structured)).1
    }

    /// Returns the largest number of rows whose answer fits, and that answer. It is `least` if none fits.
    fn largest(&self, least: usize, said: impl Fn(usize) -> Said) -> (usize, Said) {
        let (mut fits, mut found, mut too_many) = (least, said(least), longest(&self.answer) + 1);
        while too_many.saturating_sub(fits) > 1 {
            let rows = fits.midpoint(too_many);
            let tried = said(rows);
            if tried.bytes() <= BUDGET {
                (fits, found) = (rows, tried);
            } else {
                too_many = rows;
            }
        }
        (fits, found)
    }

    /// Returns the answer with at most so many rows in each list of the text, and of the structured content.
    fn said(&self, in_text: usize, in_structured: usize) -> Said {
        let (shown, cuts, is_rounded) = self.shown(in_text);
        let told = Told::of(&shown, self.meta);
        let left_out = self.left_out(&told, &cuts);
        let rule = if is_rounded { RULE } else { "" };
        let text = self.text(&told, &[sentence(&left_out, self.series_by).as_str(), rule]);
        let structured = if in_structured == in_text { shown } else { self.shown(in_structured).0 };
        Said { text, bytes: structured.to_string().len(), structured, left_out }
    }

    /// Cuts each list after `rows` rows, and lists that the operation does not bound after the requested number. Rounds the figures, and
    /// returns whether that changed any.
    fn shown(&self, rows: usize) -> (Value, Vec<Cut>, bool) {
        let mut answer = self.answer.clone();
        let is_bounded = |place: &str| !self.tool.rows.cut.contains(&place);
        let cuts = cut(&mut answer, &|place| if is_bounded(place) { rows } else { rows.min(self.size.rows) });
        let changes = round(&mut answer);
        (answer, cuts, changes)
    }

    fn text(&self, told: &Told<'_>, notes: &[&str]) -> String {
        let notes: Vec<&str> = notes.iter().copied().filter(|note| !note.is_empty()).collect();
        let notes = (!notes.is_empty()).then(|| format!("{}.", notes.join(". ")));
        let head = [told.warnings(), Some(ADVICE.to_owned()), self.state.map(AnswerState::line), notes];
        let mut text = head.into_iter().flatten().map(|line| line + "\n").collect::<String>() + "\n";
        text.push_str(&told.readable());
        text
    }

    /// Returns the lists that are shown in part, each with the rows shown and all rows.
    fn left_out(&self, told: &Told<'_>, cuts: &[Cut]) -> Vec<String> {
        let in_explanation = told.explanation.as_ref().map(left_out).unwrap_or_default();
        let bounded = bounded(self.tool, &told.coverage);
        let is_told = |cut: &&Cut| {
            cut.list.starts_with("data.explanation.")
                || bounded.iter().any(|part| part.starts_with(&format!("{} ", cut.name())))
        };
        let others = cuts.iter().filter(|cut| !is_told(cut));
        let others = others.map(|cut| format!("{} {} of {}", cut.name(), cut.shown, cut.rows));
        in_explanation.into_iter().chain(bounded.clone()).chain(others).collect()
    }
}

impl Said {
    /// The bytes of text and structured content together.
    fn bytes(&self) -> usize {
        self.text.len() + self.bytes
    }
}

/// Says what is left out, and which arguments show it.
fn sentence(left_out: &[String], series_by: Option<&str>) -> String {
    let lists =
        (!left_out.is_empty()).then(|| format!("Shown in part: {}; a larger limit shows more", left_out.join(", ")));
    let series = series_by.map(|argument| format!("Not shown: series; {argument} shows them"));
    lists.into_iter().chain(series).collect::<Vec<_>>().join(". ")
}

/// Says which tables the operation has bounded or that are cut, by their coverage.
fn bounded(tool: &Declaration, coverage: &[(&str, TableCoverage)]) -> Vec<String> {
    if tool.rows.parameters.is_empty() {
        return Vec::new();
    }
    let bounded = coverage.iter().filter(|(_, of)| of.has_more == Some(true));
    bounded.filter_map(|(name, of)| Some(format!("{name} {} of {}", of.rows_shown?, of.rows_matched?))).collect()
}

/// Returns the `_meta` of a result: `value` under `name`, and the state.
#[must_use]
pub fn meta_object(name: &str, value: Value, state: Option<AnswerState>) -> MetaObject {
    let mut meta = MetaObject::new();
    meta.insert(name.to_owned(), value);
    if let Some(state) = state {
        meta.insert(STATE.to_owned(), json!({ "name": state.name, "advice": state.advice }));
    }
    meta
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::catalogue;

    fn success(tool: &Declaration, answer: Value, size: Size) -> CallToolResult {
        let meta = Meta::of(&answer);
        super::success(tool, answer, &meta, size, None)
    }

    fn tool(name: &str) -> &'static Declaration {
        catalogue::all().into_iter().find(|tool| tool.name == name).unwrap()
    }

    fn text(result: &CallToolResult) -> String {
        serde_json::to_value(result).unwrap()["content"][0]["text"].as_str().unwrap().to_owned()
    }

    fn size(rows: usize, is_asked: bool) -> Size {
        Size { rows, is_asked, has_series: false }
    }

    /// The lists that an answer leaves out.
    fn left_out(result: &CallToolResult) -> &Value {
        &result.meta.as_ref().unwrap()[SIZE]["leftOut"]
    }

    fn bytes(result: &CallToolResult) -> usize {
        text(result).len() + result.structured_content.as_ref().unwrap().to_string().len()
    }

    #[test]
    fn a_long_list_is_cut_and_says_so() {
        let answer = json!({ "data": [{ "keyword": "a" }, { "keyword": "b" }, { "keyword": "c" }] });
        let result = success(tool("list_records"), answer.clone(), size(2, true));
        assert_eq!(result.structured_content, Some(json!({ "data": [{ "keyword": "a" }, { "keyword": "b" }] })));
        assert!(
            text(&result).contains("\nShown in part: rows 2 of 3; a larger limit shows more.\n"),
            "{}",
            text(&result)
        );
        let whole = success(tool("list_records"), answer.clone(), size(3, true));
        assert_eq!((whole.structured_content.as_ref(), left_out(&whole)), (Some(&answer), &json!([])));
        assert!(!text(&whole).contains("Shown in part"), "{}", text(&whole));
    }

    #[test]
    fn an_answer_without_a_limit_is_small() {
        let query =
            |number: usize| json!({ "key": format!("query {number}"), "clicks": 1000 - number, "ctr": 0.123_456_789 });
        let rows = |count: usize| (0..count).map(query).collect::<Vec<_>>();
        let answer = json!({
            "data": { "tables": { "queries": rows(400), "countries": rows(3) } },
            "meta": { "coverage": { "queries": { "available": true, "rowsShown": 400, "rowsMatched": 900, "clicks": 320_200 } } },
        });
        let result = success(tool("get_performance"), answer.clone(), size(400, false));
        let shown = result.structured_content.as_ref().unwrap();
        let queries = shown["data"]["tables"]["queries"].as_array().unwrap();
        assert!((BUDGET - 200..=BUDGET).contains(&bytes(&result)), "{} bytes", bytes(&result));
        let countries = 3;
        let in_text = text(&result).lines().filter(|line| line.starts_with("\"query ")).count() - countries;
        assert!(
            (queries.len()..queries.len() + 9).contains(&in_text),
            "{in_text} rows in the text, {} beside it",
            queries.len()
        );
        assert_eq!(*left_out(&result), json!([format!("queries {in_text} of 900")]));
        assert_eq!(shown["data"]["tables"]["countries"].as_array().unwrap().len(), 3);
        let clicks: i64 = queries.iter().map(|row| row["clicks"].as_i64().unwrap()).sum();
        let coverage = &shown["meta"]["coverage"]["queries"];
        assert_eq!((&coverage["rowsShown"], &coverage["clicks"]), (&json!(queries.len()), &json!(clicks)));
        let said = text(&result);
        assert_eq!(
            said.lines().filter(|line| line.starts_with("Shown in part: ") && line.contains(RULE)).count(),
            1,
            "{said}"
        );
        let asked = success(tool("get_performance"), answer, size(400, true));
        assert!(bytes(&asked) > BUDGET, "what was asked for is not cut");
    }

    #[test]
    fn series_are_shown_on_request() {
        let answer = json!({ "data": { "visibility": { "index": 31.896, "series": [{ "index": 30.1 }] } } });
        let insights = |has_series| {
            success(tool("get_query_insights"), answer.clone(), Size { rows: 10, is_asked: false, has_series })
        };
        let short = insights(false);
        assert_eq!(short.structured_content, Some(json!({ "data": { "visibility": { "index": 31.9 } } })));
        assert!(text(&short).contains("\nNot shown: series; granularity shows them. CTR"), "{}", text(&short));
        assert!(insights(true).structured_content.unwrap()["data"]["visibility"]["series"].is_array());
    }

    #[test]
    fn a_bounded_table_says_so() {
        let coverage = |shown: usize, more: bool| json!({ "available": true, "rowsShown": shown, "rowsMatched": 61, "rowsKnown": 12_510, "hasMore": more });
        for (more, said) in [(true, json!(["countries 25 of 61"])), (false, json!([]))] {
            let answer =
                json!({ "data": vec![json!({}); 25], "meta": { "coverage": { "countries": coverage(25, more) } } });
            assert_eq!(*left_out(&success(tool("get_countries"), answer, size(25, true))), said);
        }
    }

    #[test]
    fn a_table_that_is_cut_is_named_once() {
        let answer = json!({
            "data": { "tables": { "countries": [{}, {}, {}] } },
            "meta": { "coverage": { "countries": { "available": true, "rowsShown": 3, "rowsMatched": 3, "rowsKnown": 3, "hasMore": false } } },
        });
        let result = success(tool("get_performance"), answer, size(2, true));
        assert_eq!(*left_out(&result), json!(["countries 2 of 3"]));
    }
}
