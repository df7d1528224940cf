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
pub(super) struct Done<T> {
    /// The charge in units.
    pub cost: Option<Amount>,
    /// What it says.
    pub found: T,
}

/// Reads a response to a request of this price. `found` reads the value of the answer's one `key`, which is `None` if the provider has no data. A
/// response without a value that it can read is no answer.
pub(super) fn read<T>(
    price: Price,
    key: &str,
    reply: &Reply,
    found: impl Fn(Option<&Value>) -> Option<T>,
) -> Result<Done<T>, Failure> {
    let found = match reply.status {
        200..300 if reply.body.get("error").is_none() => reply.body.get(key).and_then(|value| found(Some(value))),
        // No data for the target or day. Without the provider's own error the URL leads elsewhere, and the account always has data.
        404 if price == Price::Money && text_of(&reply.body).is_some() => found(None),
        _ => None,
    };
    // The provider does not say if it charges for failures on its side.
    let found = found.ok_or_else(|| Failure { error: refusal(reply), unpaid: false })?;
    Ok(Done { cost: cost(reply), found })
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
    use chrono::DateTime;
    use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
    use serde_json::json;

    use super::*;

    fn reply(status: u16, headers: &[(&'static str, &'static str)], body: Value) -> Reply {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        Reply { at: DateTime::UNIX_EPOCH, status, headers: headers.iter().map(pair).collect::<HeaderMap>(), body }
    }

    fn found(reply: &Reply) -> Done<Option<Value>> {
        read(Price::Money, "keywords", reply, |value| Some(value.cloned())).ok().unwrap()
    }

    fn failure(price: Price, reply: &Reply) -> (SeoError, bool) {
        let failure = read(price, "keywords", reply, |value| Some(value.cloned())).err().unwrap();
        (failure.error, failure.unpaid)
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
            (429, &[("retry-after", "0")], "Too many requests", limited(1)),
            (429, &[("retry-after", "Thu, 01 Jan 1970 00:00:45 GMT")], "Too many requests", limited(45)),
            (429, &[("retry-after", "soon")], "Too many requests", limited(60)),
            (429, &[("retry-after", "999999")], "Too many requests", limited(3_600)),
            (500, &[], "Internal", SeoError::Unavailable("HTTP 500 Internal".to_owned())),
            (503, &[], "Busy", SeoError::Unavailable("HTTP 503 Busy".to_owned())),
        ];
        for (status, headers, text, error) in cases {
            for body in [json!({ "error": text, "more": null }), json!(["Error", text])] {
                let failure = failure(Price::Money, &reply(*status, headers, body));
                assert_eq!(failure, (error.clone(), false), "{status} {text}");
            }
        }
    }

    #[test]
    fn an_unreadable_body_is_not_an_answer() {
        let cases = [
            (200, Value::Null),
            (200, json!(["Error", "x"])),
            (200, json!({ "error": "x" })),
            (200, json!({ "error": { "code": 500 } })),
            (200, json!({ "error": "x", "keywords": [] })),
            (200, json!({})),
            (200, json!({ "backlinks": [] })),
            (200, json!([[]])),
            (204, Value::Null),
            (404, Value::Null),
            (404, json!({ "detail": "Not Found" })),
            (404, json!(["Not", "here"])),
            (502, json!(3)),
        ];
        for (status, body) in cases {
            for price in [Price::Free, Price::Money] {
                let (error, _) = failure(price, &reply(status, &[], body.clone()));
                assert!(matches!(error, SeoError::Unavailable(_)), "{status} {body}");
            }
        }
        let missing = || reply(404, &[], json!({ "error": "Not found" }));
        assert!(matches!(failure(Price::Free, &missing()).0, SeoError::Unavailable(_)));
        let nothing = read(Price::Money, "keywords", &missing(), |value| Some(value.cloned())).ok().unwrap();
        assert_eq!((nothing.cost, nothing.found), (None, None), "there is no data for the target");
        let unread = read(Price::Money, "keywords", &reply(200, &[], json!({ "keywords": 7 })), |_| None::<()>);
        assert!(unread.is_err_and(|failure| matches!(failure.error, SeoError::Unavailable(_))));
    }

    #[test]
    fn the_charge_is_read_from_the_headers() {
        let charged = |headers: &[_]| found(&reply(200, headers, json!({ "keywords": [] }))).cost;
        let (total, actual) = (("x-api-units-cost-total", "50"), ("x-api-units-cost-total-actual", "0"));
        assert_eq!(charged(&[]), None);
        assert_eq!(charged(&[total]), Some(Amount(50_000_000)));
        assert_eq!(charged(&[total, actual]), Some(Amount::ZERO), "a repeated answer is free");
    }
}
