//! Maps the HTTP layer's own errors to the error codes of the API.

use api::error::{ApiError, Code};
use poem::{
    error::{MethodNotAllowedError, NotFoundError, ReadBodyError},
    http::StatusCode,
};
use poem_openapi::error::{ContentTypeError, ParseParamError, ParsePathError, ParseRequestPayloadError};
use store::unavailable;

/// Returns the API error for any error. Text of the HTTP layer reaches the client only if it describes the client's own input.
#[must_use]
pub fn of(error: &poem::Error) -> ApiError {
    if let Some(typed) = error.downcast_ref::<ApiError>() {
        typed.clone()
    } else if let Some(parameter) = error.downcast_ref::<ParseParamError>() {
        ApiError::invalid(parameter.name, &parameter.reason)
    } else if let Some(payload) = error.downcast_ref::<ParseRequestPayloadError>() {
        ApiError::new(Code::InvalidRequest).hint(body_hint(&payload.reason))
    } else if error.is::<NotFoundError>() || error.is::<ParsePathError>() || error.is::<poem::error::ParsePathError>() {
        ApiError::new(Code::NotFound)
    } else if error.is::<MethodNotAllowedError>() {
        ApiError::new(Code::MethodNotAllowed)
    } else if error.is::<ContentTypeError>() {
        ApiError::new(Code::UnsupportedMediaType).hint("Content-Type: application/json")
    } else if let Some(ReadBodyError::PayloadTooLarge) = error.downcast_ref::<ReadBodyError>() {
        ApiError::new(Code::PayloadTooLarge)
    } else {
        by_status(error)
    }
}

fn by_status(error: &poem::Error) -> ApiError {
    let code = match error.status() {
        StatusCode::UNAUTHORIZED => Code::Unauthorized,
        StatusCode::NOT_FOUND => Code::NotFound,
        StatusCode::METHOD_NOT_ALLOWED => Code::MethodNotAllowed,
        StatusCode::PAYLOAD_TOO_LARGE => Code::PayloadTooLarge,
        StatusCode::UNSUPPORTED_MEDIA_TYPE => Code::UnsupportedMediaType,
        status if status.is_client_error() => Code::InvalidRequest,
        StatusCode::SERVICE_UNAVAILABLE => {
            tracing::warn!("unavailable: {error}");
            return ApiError::new(Code::Unavailable).retry_after(unavailable::RETRY_AFTER);
        }
        _ => return ApiError::new(Code::Internal).hint(error.to_string()),
    };
    ApiError::new(code)
}

/// Reduces `failed to parse "Input": failed to parse "string": Expected … (occurred while parsing "name")` to the field and the
/// problem. Removes the names of internal types.
fn body_hint(reason: &str) -> String {
    const WHERE: &str = " (occurred while parsing \"";
    let (what, places) = reason.split_once(WHERE).unwrap_or((reason, ""));
    let mut what = what;
    while let Some(rest) = what.strip_prefix("failed to parse \"") {
        what = rest.split_once("\": ").map_or("not of the right type", |(_, rest)| rest);
    }
    let mut fields: Vec<&str> = places.split(WHERE).map(|place| place.trim_end_matches("\")")).collect();
    fields.retain(|field| !field.is_empty());
    fields.reverse();
    let field = if fields.is_empty() { "body".to_owned() } else { fields.join(".") };
    format!("{field}: {what}").chars().take(500).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_on_a_body_names_the_field_and_not_our_types() {
        let cases = [
            (
                "failed to parse \"TrackingSelection\": failed to parse \"array_string(uuid)\": Expected input type \
                 \"string\", found 1. (occurred while parsing \"propertyIds\")",
                "propertyIds: Expected input type \"string\", found 1.",
            ),
            (
                "parse JSON error: EOF while parsing a value at line 1 column 0",
                "body: parse JSON error: EOF while parsing a value at line 1 column 0",
            ),
            (
                "failed to parse \"SegmentInput\": wrong (occurred while parsing \"operator\") (occurred while parsing \"conditions\")",
                "conditions.operator: wrong",
            ),
        ];
        for (reason, hint) in cases {
            assert_eq!(body_hint(reason), hint);
        }
    }
}
