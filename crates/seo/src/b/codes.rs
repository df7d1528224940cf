//! Provider B's refusals: an HTTP status, and a text in one of two spellings.

use serde_json::Value;

use crate::{
    AccountRefusal, Amount, Exhausted, Field, SeoError,
    wire::{Failure, Price, Reply},
};

/// Seconds to wait where the provider does not say.
const RATE_PAUSE: u64 = 60;

/// An answer.
#[derive(Debug)]
pub(super) struct Done {
    /// The charge in units.
    pub cost: Option<Amount>,
    /// The body, null if there is no data.
    pub body: Value,
}

/// Reads a response to a request of this price.
pub(super) fn read(price: Price, reply: &Reply) -> Result<Done, Failure> {
    match reply.status {
        200..300 if reply.body.is_object() && reply.body.get("error").is_none() => {
            Ok(Done { cost: cost(reply), body: reply.body.clone() })
        }
        // No data for the target or day. Without the provider's own error the URL leads elsewhere, and the account always has data.
        404 if price == Price::Money && text_of(&reply.body).is_some() => {
            Ok(Done { cost: cost(reply), body: Value::Null })
        }
        // The provider does not say if it charges for failures on its side.
        _ => Err(Failure { error: refusal(reply), unpaid: false }),
    }
}

/// The charge without free parts, such as repeated answers.
fn cost(reply: &Reply) -> Option<Amount> {
    let units =
        ["x-api-units-cost-total-actual", "x-api-units-cost-total"].into_iter().find_map(|name| reply.number(name));
    let units = i64::try_from(units?).ok()?;
    units.checked_mul(1_000_000).map(Amount)
}

fn refusal(reply: &Reply) -> SeoError {
    let said = said(&reply.body);
    let text = said.to_lowercase();
    match reply.status {
        400 | 422 => invalid(&text).unwrap_or_else(|| SeoError::Fault(format!("{} {said}", reply.status))),
        401 => SeoError::Refused(AccountRefusal::Wrong),
        402 => SeoError::OutOfCredit(Exhausted::Balance),
        403 | 429 if text.contains("units limit") => SeoError::OutOfCredit(Exhausted::Balance),
        403 => SeoError::Refused(AccountRefusal::WithoutPlan),
        429 => SeoError::RateLimited { retry_after: reply.retry_after(RATE_PAUSE) },
        status @ (405 | 414) => SeoError::Fault(format!("{status} {said}")),
        status => SeoError::Unavailable(format!("HTTP {status} {said}")),
    }
}

/// `bad argument 'country': …` names a value that a person chose.
fn invalid(text: &str) -> Option<SeoError> {
    let field = match text.split('\'').nth(1)? {
        "country" => Field::Country,
        "keywords" | "keyword" => Field::Keywords,
        "limit" => Field::Offset,
        _ => return None,
    };
    Some(SeoError::NotAccepted(field))
}

/// The text of `{"error": "…"}` or of `["Error", "…"]`.
fn text_of(body: &Value) -> Option<&str> {
    body["error"].as_str().or_else(|| body[1].as_str().filter(|_| body[0] == "Error"))
}

fn said(body: &Value) -> String {
    text_of(body).unwrap_or("without a text").to_owned()
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
    use serde_json::json;

    use super::*;

    fn reply(status: u16, headers: &[(&'static str, &'static str)], body: Value) -> Reply {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        Reply { status, headers: headers.iter().map(pair).collect::<HeaderMap>(), body }
    }

    #[test]
    fn every_refusal_is_understood_in_both_spellings() {
        let limited = |retry_after| SeoError::RateLimited { retry_after };
        let (wrong, plan) = (SeoError::Refused(AccountRefusal::Wrong), SeoError::Refused(AccountRefusal::WithoutPlan));
        let broke = SeoError::OutOfCredit(Exhausted::Balance);
        let units = "API units limit reached. Expected usage: 50, API units left: 0.";
        let fault = |text: &str| SeoError::Fault(text.to_owned());
        let cases: &[(u16, &[_], &str, SeoError)] = &[
            (400, &[], "bad select: column 'x' not found", fault("400 bad select: column 'x' not found")),
            (400, &[], "bad where: expected an object", fault("400 bad where: expected an object")),
            (400, &[], "bad argument 'country': expected two letters", SeoError::NotAccepted(Field::Country)),
            (400, &[], "bad argument 'keywords': too long", SeoError::NotAccepted(Field::Keywords)),
            (401, &[], "Unauthorized", wrong),
            (402, &[], "Payment required", broke.clone()),
            (403, &[], "Forbidden", plan.clone()),
            (403, &[], "Insufficient plan", plan),
            (403, &[], units, broke.clone()),
            (429, &[], units, broke),
            (429, &[("retry-after", "30")], "Too many requests", limited(30)),
            (429, &[("retry-after", "soon")], "Too many requests", limited(60)),
            (429, &[("retry-after", "999999")], "Too many requests", limited(3_600)),
            (500, &[], "Internal", SeoError::Unavailable("HTTP 500 Internal".to_owned())),
            (503, &[], "Busy", SeoError::Unavailable("HTTP 503 Busy".to_owned())),
        ];
        for (status, headers, text, error) in cases {
            for body in [json!({ "error": text, "more": null }), json!(["Error", text])] {
                let failure = read(Price::Money, &reply(*status, headers, body)).unwrap_err();
                assert_eq!((&failure.error, failure.unpaid), (error, false), "{status} {text}");
            }
        }
    }

    #[test]
    fn an_unreadable_body_is_not_an_answer() {
        let cases = [
            (200, Value::Null),
            (200, json!(["Error", "x"])),
            (200, json!({ "error": "x" })),
            (404, Value::Null),
            (404, json!({ "detail": "Not Found" })),
            (404, json!(["Not", "here"])),
            (502, json!(3)),
        ];
        for (status, body) in cases {
            for price in [Price::Free, Price::Money] {
                let failure = read(price, &reply(status, &[], body.clone())).unwrap_err();
                assert!(matches!(failure.error, SeoError::Unavailable(_)), "{status} {body}");
            }
        }
        let missing = || reply(404, &[], json!({ "error": "Not found" }));
        assert!(matches!(read(Price::Free, &missing()).unwrap_err().error, SeoError::Unavailable(_)));
        assert!(read(Price::Money, &missing()).is_ok(), "there is no data for the target");
    }

    #[test]
    fn the_charge_is_read_from_the_headers() {
        let charged =
            |headers: &[_]| read(Price::Money, &reply(200, headers, json!({ "keywords": null }))).ok().unwrap().cost;
        let (total, actual) = (("x-api-units-cost-total", "50"), ("x-api-units-cost-total-actual", "0"));
        assert_eq!(charged(&[]), None);
        assert_eq!(charged(&[total]), Some(Amount(50_000_000)));
        assert_eq!(charged(&[total, actual]), Some(Amount::ZERO), "a repeated answer is free");
        let nothing = read(Price::Money, &reply(404, &[], json!({ "error": "Not found" }))).ok().unwrap();
        assert_eq!((nothing.cost, nothing.body), (None, Value::Null));
    }
}
