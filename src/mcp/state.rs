//! The state of an answer, and what the person should do about it.

use api::{
    analytics::AnswerMeta,
    error::{ApiError, Code},
    models::{AnalysisStatus, DataState},
};
use common::plain_text;
use serde_json::Value;

use super::meta::Meta;

/// The state of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerState {
    /// Its name.
    pub name: &'static str,
    /// Its meaning and the way out for the person, as text that an assistant can pass on.
    pub advice: String,
}

/// The state of a person who has never connected a search account.
pub const NEVER_CONNECTED: &str = "never_connected";
/// The state of a search account that cannot be read.
pub const MUST_RECONNECT: &str = "must_reconnect";
/// The state of a person whose accounts are connected, but who sees no property.
pub const NOTHING_TRACKED: &str = "nothing_tracked";

impl AnswerState {
    /// The line of the text.
    #[must_use]
    pub fn line(&self) -> String {
        format!("State: {} - {}", self.name, self.advice)
    }

    /// Returns the state of an operation's answer, or `None` if it holds nothing that has one.
    #[must_use]
    pub fn of_answer(answer: &Value, meta: &Meta) -> Option<Self> {
        if let Some(analysis) = &meta.analysis {
            return Some(Self::of_analysis(analysis, meta.data_state));
        }
        let unread = answer["data"]
            .as_array()?
            .iter()
            .find(|entry| entry["access"] == Code::SearchAccountDisconnected.as_str())?;
        Self::must_reconnect(unread["hint"].as_str())
    }

    /// Returns the state of a refusal, or `None` if it does not concern a search account.
    #[must_use]
    pub fn of_refusal(refusal: &ApiError) -> Option<Self> {
        let is_disconnected = refusal.code == Code::SearchAccountDisconnected;
        is_disconnected.then(|| Self::must_reconnect(refusal.hint.as_deref())).flatten()
    }

    fn of_analysis(analysis: &AnswerMeta, data_state: DataState) -> Self {
        let last_final = analysis.freshness.last_final_date;
        let counts_all = data_state == DataState::All;
        let growing = analysis.days.current.not_final.len();
        let compares = analysis.days.previous.is_some();
        let (name, advice) = match analysis.status {
            AnalysisStatus::Analysed if growing == 0 => ("analysed", "numbers are final".to_owned()),
            AnalysisStatus::Analysed if compares => (
                "analysed",
                format!(
                    "numbers are final and end by {last_final}: {growing} later days of the window are not final, and a comparison counts \
                     final days only. With dataState=all they are in the series"
                ),
            ),
            AnalysisStatus::Analysed if counts_all => (
                "analysed",
                format!("numbers are final up to {last_final}; {growing} later days count, too, and still grow"),
            ),
            AnalysisStatus::Analysed => (
                "analysed",
                format!(
                    "numbers are final and end on {last_final}: {growing} later days of the window are not final and do not count. \
                     dataState=all counts them"
                ),
            ),
            AnalysisStatus::NoSearchData => (
                "no_search_data",
                "the search engine has nothing for these dates and conditions. Ask for a longer window or fewer conditions".to_owned(),
            ),
            AnalysisStatus::NotFinalYet if compares => (
                "not_final_yet",
                format!(
                    "nothing is compared, because one of the windows has no final day. Ask for days up to {last_final}, again in about three \
                     days, or without a comparison and with dataState=all for what is counted so far"
                ),
            ),
            AnalysisStatus::NotFinalYet => (
                "not_final_yet",
                format!(
                    "the search engine is still counting these days. Ask for days up to {last_final}, again in about three days, or with \
                     dataState=all for what is counted so far"
                ),
            ),
        };
        Self { name, advice }
    }

    fn must_reconnect(hint: Option<&str>) -> Option<Self> {
        Some(Self { name: MUST_RECONNECT, advice: plain_text::clean(hint?) })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_state_says_what_to_do() {
        let analysis = |status: &str| {
            json!({ "data": {}, "meta": {
                "window": { "startDate": "2026-11-14", "endDate": "2026-11-20" }, "searchType": "web", "aggregation": "byProperty",
                "cachedAt": "2026-11-21T12:00:00.000Z", "status": status, "days": { "current": { "counted": 7, "notFinal": [] } },
                "freshness": { "lastFinalDate": "2026-11-18", "timeZone": "America/Los_Angeles" },
            } })
        };
        let state_of = |answer: &Value| AnswerState::of_answer(answer, &Meta::of(answer));
        let of_days = |status: &str, state: &str| {
            let mut answer = analysis(status);
            answer["meta"]["question"] = json!({ "dataState": state });
            answer["meta"]["days"] = json!({ "current": { "counted": 5, "notFinal": ["2026-11-19", "2026-11-20"] } });
            answer
        };
        let of_comparison = |status: &str| {
            let mut answer = of_days(status, "all");
            answer["meta"]["days"]["previous"] = json!({ "counted": 7, "notFinal": [] });
            answer
        };
        let unread = json!({ "data": [
            { "access": "ok" }, { "access": "search_account_disconnected", "hint": "Reconnect." },
        ] });
        for (answer, name, advice) in [
            (analysis("analysed"), "analysed", "numbers are final"),
            (of_days("analysed", "final"), "analysed", "end on 2026-11-18: 2 later days of the window are not final"),
            (of_days("analysed", "all"), "analysed", "final up to 2026-11-18; 2 later days count, too"),
            (
                of_comparison("analysed"),
                "analysed",
                "2 later days of the window are not final, and a comparison counts final days only",
            ),
            (of_comparison("not_final_yet"), "not_final_yet", "without a comparison and with dataState=all"),
            (of_days("not_final_yet", "final"), "not_final_yet", "dataState=all for what is counted so far"),
            (analysis("no_search_data"), "no_search_data", "longer window"),
            (analysis("not_final_yet"), "not_final_yet", "up to 2026-11-18"),
            (unread, "must_reconnect", "Reconnect."),
        ] {
            let state = state_of(&answer).unwrap();
            assert!(state.name == name && state.advice.contains(advice), "{state:?}");
            assert_eq!(state.line(), format!("State: {name} - {}", state.advice));
        }
        for answer in [json!({ "data": [] }), json!({ "data": [{ "access": "ok" }] }), json!({ "data": {} })] {
            assert_eq!(state_of(&answer), None, "{answer}");
        }
    }

    #[test]
    fn only_refusals_of_accounts_have_a_state() {
        let ended = ApiError::new(Code::SearchAccountDisconnected).hint("Reconnect.");
        assert_eq!(AnswerState::of_refusal(&ended).unwrap().name, "must_reconnect");
        assert_eq!(AnswerState::of_refusal(&ApiError::new(Code::Forbidden).hint("Ask.")), None);
    }
}
