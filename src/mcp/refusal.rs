//! Makes the result of a tool call that was refused: the reason and the way out.

use api::error::{ApiError, ErrorBody};
use common::plain_text;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::json;

use super::{answer::meta_object, state::AnswerState};

/// The field of `_meta` that holds a refusal for programs.
const REFUSAL: &str = "sightline/error";

/// Returns the result of a call that was refused: the reason and the way out.
#[must_use]
pub fn refused(refusal: &ApiError, state: Option<AnswerState>) -> CallToolResult {
    let body = cleaned(refusal);
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
    CallToolResult::error(vec![ContentBlock::text(text)]).with_meta(Some(meta_object(REFUSAL, error, state)))
}

/// Returns the texts of a refusal. A hint is a sentence of the service that may quote what others wrote, so it is cleaned; it keeps its
/// length, because it lists what is allowed.
#[must_use]
pub fn cleaned(refusal: &ApiError) -> ErrorBody {
    let body = refusal.body();
    ErrorBody { hint: body.hint.as_deref().map(plain_text::clean), ..body }
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

#[cfg(test)]
mod tests {
    use api::error::Code;

    use super::*;

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
            let text = serde_json::to_value(&result).unwrap()["content"][0]["text"].as_str().unwrap().to_owned();
            assert!(text.starts_with(&format!("Error {}", refusal.code.as_str())) && text.contains(way_out), "{text}");
            assert_eq!(result.meta.unwrap()[REFUSAL]["code"], refusal.code.as_str());
        }
    }
}
