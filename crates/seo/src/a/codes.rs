//! Provider A's codes. A failure stands at one of three levels: the HTTP status, the code of the answer, the code of the task.

use serde_json::Value;

use crate::{
    AccountRefusal, Amount, Exhausted, Field, SeoError, json,
    wire::{Failure, Reply},
};

/// Seconds after which a rate limit has passed.
const RATE_PAUSE: u64 = 60;

/// A successful task.
#[derive(Debug, PartialEq)]
pub(super) struct Done<T> {
    /// The charge.
    pub cost: Option<Amount>,
    /// The result.
    pub found: T,
}

/// The meaning of a code.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Meaning {
    Done,
    /// There is nothing to be found.
    Nothing,
    Failed(SeoError),
}

/// Reads a response. `found` reads the result of a task, which is `None` if there is nothing to be found. A response without a result that it
/// can read is no answer.
pub(super) fn read<T>(reply: &Reply, found: impl Fn(Option<&Value>) -> Option<T>) -> Result<Done<T>, Failure> {
    let (body, task) = (&reply.body, &reply.body["tasks"][0]);
    let cost = Amount::of(&body["cost"]).or_else(|| Amount::of(&task["cost"]));
    let code = match json::count(&body["status_code"]) {
        Some(20_000) => json::count(&task["status_code"]).map(|code| (code, task)),
        Some(code) => Some((code, body)),
        None => None,
    };
    let failed = |error| {
        // A rejected request is charged nothing if it says so.
        Failure { error, unpaid: cost == Some(Amount::ZERO) }
    };
    let meaning = code.map_or_else(
        || of_status(reply),
        |(code, at)| meaning(code, at["status_message"].as_str().unwrap_or_default()),
    );
    let found = match meaning {
        Meaning::Failed(error) => return Err(failed(error)),
        Meaning::Done | Meaning::Nothing if !(200..300).contains(&reply.status) => {
            return Err(failed(of_bad_status(reply)));
        }
        Meaning::Done => task.get("result").and_then(|result| found(Some(result))),
        Meaning::Nothing => found(None),
    };
    let found = found.ok_or_else(|| failed(SeoError::Unavailable("the task has no result".to_owned())))?;
    Ok(Done { cost, found })
}

fn meaning(code: u64, message: &str) -> Meaning {
    let refused = |refusal| Meaning::Failed(SeoError::Refused(refusal));
    let said = || format!("{code} {message}");
    match code {
        // 40106: the results are partial.
        20_000 | 40_106 => Meaning::Done,
        40_102 => Meaning::Nothing,
        40_100 => refused(AccountRefusal::Wrong),
        40_104 => refused(AccountRefusal::Unverified),
        40_201 => refused(AccountRefusal::Blocked),
        40_204 => refused(AccountRefusal::WithoutPlan),
        40_200 | 40_210 => Meaning::Failed(SeoError::OutOfCredit(Exhausted::Balance)),
        40_203 => Meaning::Failed(SeoError::OutOfCredit(Exhausted::DailyLimit)),
        40_202 | 40_209 => Meaning::Failed(SeoError::RateLimited { retry_after: RATE_PAUSE }),
        40_501 => Meaning::Failed(not_accepted(message).unwrap_or_else(|| SeoError::Fault(said()))),
        // 50100: not implemented.
        40_101 | 40_103 | 50_000..=50_099 | 50_101..60_000 => Meaning::Failed(SeoError::Unavailable(said())),
        _ => Meaning::Failed(SeoError::Fault(said())),
    }
}

/// `Invalid Field: 'location_code'.` names a value that a person chose.
fn not_accepted(message: &str) -> Option<SeoError> {
    let name = message.split('\'').nth(1)?;
    let field = match name {
        "location_code" => Field::Country,
        "language_code" => Field::Language,
        "keyword" | "keywords" => Field::Keywords,
        "offset" => Field::Offset,
        _ => return None,
    };
    Some(SeoError::NotAccepted(field))
}

/// The meaning of a response without a readable code.
fn of_status(reply: &Reply) -> Meaning {
    Meaning::Failed(of_bad_status(reply))
}

fn of_bad_status(reply: &Reply) -> SeoError {
    match reply.status {
        401 => SeoError::Refused(AccountRefusal::Wrong),
        402 => SeoError::OutOfCredit(Exhausted::Balance),
        429 => SeoError::RateLimited { retry_after: reply.retry_after(RATE_PAUSE) },
        status => SeoError::Unavailable(format!("HTTP {status} without a code")),
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use reqwest::header::HeaderMap;
    use serde_json::json;

    use super::*;

    fn reply(status: u16, body: Value) -> Reply {
        Reply { at: DateTime::UNIX_EPOCH, status, headers: HeaderMap::new(), body }
    }

    fn outcome(status: u16, body: Value) -> Result<Value, (SeoError, bool)> {
        let read = read(&reply(status, body), |result| Some(result.cloned().unwrap_or_default()));
        read.map(|done| done.found).map_err(|failure| (failure.error, failure.unpaid))
    }

    fn cost(body: Value) -> Option<Amount> {
        read(&reply(200, body), |_| Some(())).ok().unwrap().cost
    }

    fn unavailable(code: u64) -> SeoError {
        SeoError::Unavailable(format!("{code} as told"))
    }

    fn rows() -> Vec<(u64, SeoError)> {
        let (balance, day) = (SeoError::OutOfCredit(Exhausted::Balance), SeoError::OutOfCredit(Exhausted::DailyLimit));
        let limited = SeoError::RateLimited { retry_after: 60 };
        let mut rows = vec![
            (40_100, SeoError::Refused(AccountRefusal::Wrong)),
            (40_104, SeoError::Refused(AccountRefusal::Unverified)),
            (40_200, balance.clone()),
            (40_210, balance),
            (40_201, SeoError::Refused(AccountRefusal::Blocked)),
            (40_202, limited.clone()),
            (40_209, limited),
            (40_203, day),
            (40_204, SeoError::Refused(AccountRefusal::WithoutPlan)),
        ];
        rows.extend([40_101, 40_103, 50_000, 50_301, 50_303, 50_401].map(|code| (code, unavailable(code))));
        let faults = [20_100, 40_000, 40_006, 40_400, 40_401, 40_402, 40_501, 50_100, 12];
        rows.extend(faults.map(|code| (code, SeoError::Fault(format!("{code} as told")))));
        rows
    }

    #[test]
    fn every_code_is_understood_at_both_levels() {
        for (code, error) in rows() {
            let top = json!({ "status_code": code, "status_message": "as told", "cost": 0, "tasks": null });
            let task = json!({ "status_code": code, "status_message": "as told", "result": null });
            let inner = json!({ "status_code": 20000, "cost": 0, "tasks": [task] });
            for status in [200, 402, 403, 429, 500] {
                assert_eq!(outcome(status, top.clone()), Err((error.clone(), true)), "{code} {status}");
                assert_eq!(outcome(status, inner.clone()), Err((error.clone(), true)), "{code} {status}");
            }
        }
    }

    #[test]
    fn results_are_whole_partial_or_empty() {
        let body = |code: u64, result: Value| json!({ "status_code": 20000, "cost": 0.0101, "unknown": [1], "tasks": [{ "status_code": code, "result": result }] });
        assert_eq!(outcome(200, body(20_000, json!([1]))), Ok(json!([1])));
        assert_eq!(outcome(200, body(40_106, json!([1]))), Ok(json!([1])));
        assert_eq!(outcome(200, body(40_102, Value::Null)), Ok(Value::Null));
        assert_eq!(cost(body(40_102, Value::Null)), Some(Amount(10_100)));
        let charged = outcome(200, body(40_103, Value::Null)).unwrap_err();
        assert!(matches!(charged, (SeoError::Unavailable(_), false)), "it was charged, so it is not repeated");
        let inner = json!({ "status_code": 20000, "cost": null, "tasks": [{ "status_code": 20000, "cost": 0.02, "result": [] }] });
        assert_eq!(cost(inner), Some(Amount(20_000)));
    }

    #[test]
    fn a_task_without_a_result_is_no_answer() {
        let task = |fields: Value| json!({ "status_code": 20000, "cost": 0, "tasks": [fields] });
        for body in [
            json!({ "status_code": 20000, "cost": 0, "tasks": null }),
            json!({ "status_code": 20000, "cost": 0, "tasks": [] }),
            json!({ "status_code": 20000, "cost": 0, "tasks": [null] }),
            json!({ "status_code": 20000, "cost": 0, "tasks": {} }),
            json!({ "status_code": 20000, "cost": 0 }),
            task(json!({})),
            task(json!({ "result": [1] })),
            task(json!({ "status_code": 20000 })),
            task(json!({ "status_code": 40106 })),
            task(json!({ "status_code": 20000, "error": "x" })),
        ] {
            let failed = outcome(200, body.clone()).unwrap_err();
            assert!(matches!(failed, (SeoError::Unavailable(_), true)), "{body}: {failed:?}");
        }
        let refused = read(&reply(200, task(json!({ "status_code": 20000, "result": [1] }))), |_| None::<()>);
        let failure = refused.err().unwrap();
        assert!(matches!((failure.error, failure.unpaid), (SeoError::Unavailable(_), true)), "its result is none");
    }

    #[test]
    fn a_value_that_is_not_accepted_is_named() {
        let said = |name: &str| {
            json!({ "status_code": 20000, "cost": 0, "tasks": [
                { "status_code": 40501, "status_message": format!("Invalid Field: '{name}'.") }] })
        };
        let fields = [
            ("location_code", Field::Country),
            ("language_code", Field::Language),
            ("keywords", Field::Keywords),
            ("offset", Field::Offset),
        ];
        for (name, field) in fields {
            assert_eq!(outcome(200, said(name)), Err((SeoError::NotAccepted(field), true)));
        }
        assert!(matches!(outcome(200, said("filters")), Err((SeoError::Fault(_), true))));
    }

    #[test]
    fn a_response_without_a_code_is_judged_by_its_status() {
        let cases = [
            (401, SeoError::Refused(AccountRefusal::Wrong)),
            (402, SeoError::OutOfCredit(Exhausted::Balance)),
            (429, SeoError::RateLimited { retry_after: 60 }),
            (200, SeoError::Unavailable("HTTP 200 without a code".to_owned())),
            (502, SeoError::Unavailable("HTTP 502 without a code".to_owned())),
        ];
        for (status, error) in cases {
            for body in [Value::Null, json!([]), json!({ "status_code": "?" }), json!({ "tasks": [] })] {
                assert_eq!(outcome(status, body), Err((error.clone(), false)), "{status}");
            }
        }
    }
}
