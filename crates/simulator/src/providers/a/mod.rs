//! Simulated provider A, wire-compatible with `DataForSEO` v3. Requests are lists with one task. Failures stand at three
//! levels: the HTTP status, the code of the answer and the code of the task. Most have HTTP status 200.

mod ads;
mod backlinks;
mod counts;
mod envelope;
mod fields;
mod filters;
mod keywords;
mod labs;
mod page;
mod user_data;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use poem::http::StatusCode;
use serde_json::{Map, Value, json};

use self::envelope::{Code, Envelope, TaskResult};
use super::accounts::{self, Account, Standing};
use super::answer::ProviderAnswer;
use super::calls::ProviderA;
use super::market::Research;
use crate::fault::FaultKind;
use crate::state::Shared;
use crate::world::rng::{child, named};

/// The answer of an endpoint to a task.
struct Found {
    result: Vec<Value>,
    /// Rows that are billed.
    rows: usize,
}

/// The reason why an endpoint has no result.
enum Failure {
    /// This field is not valid.
    Field(&'static str),
    /// There is nothing. Billed like an answer without rows.
    Nothing,
}

/// One task of a valid request, with the data for its answer.
struct Task<'a> {
    shared: &'a Shared,
    research: Research<'a>,
    fields: &'a Map<String, Value>,
}

impl Task<'_> {
    fn text(&self, name: &str) -> &str {
        self.fields.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    fn flag(&self, name: &str) -> Option<bool> {
        self.fields.get(name).and_then(Value::as_bool)
    }

    fn number(&self, name: &str) -> Option<usize> {
        self.fields.get(name).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok())
    }

    /// The field `name`, unless it is null.
    fn given(&self, name: &str) -> Option<&Value> {
        self.fields.get(name).filter(|value| !value.is_null())
    }
}

/// The account that a `Basic` header names.
fn signed_in(authorization: Option<&str>) -> Option<&'static Account> {
    let (scheme, encoded) = authorization?.split_once(' ')?;
    let decoded = BASE64_STANDARD.decode(encoded.trim()).ok()?;
    let text = String::from_utf8(decoded).ok()?;
    let (login, password) = text.split_once(':')?;
    if scheme.eq_ignore_ascii_case("basic") { accounts::login(login, password) } else { None }
}

/// Answers a request.
pub(super) fn answer(
    shared: &Shared,
    call: Option<ProviderA>,
    authorization: Option<&str>,
    body: &[u8],
) -> ProviderAnswer {
    let path = call.map_or("v3", ProviderA::path);
    let start = named(shared.drawn.market().seed(), path);
    let key = body.iter().fold(start, |key, byte| child(key, u64::from(*byte)));
    let envelope = Envelope { key, now: shared.now() };
    let strikes = |kind| shared.controls.strikes(kind);
    let free = call == Some(ProviderA::UserData);
    if strikes(FaultKind::Error500) {
        return envelope.refusal(StatusCode::INTERNAL_SERVER_ERROR, envelope::INTERNAL);
    }
    if strikes(FaultKind::Rate429) {
        return envelope.refusal(StatusCode::TOO_MANY_REQUESTS, envelope::RATE_LIMIT);
    }
    let Some(account) = signed_in(authorization) else {
        let refusal = envelope.refusal(StatusCode::UNAUTHORIZED, envelope::NOT_AUTHORIZED);
        return refusal.with("www-authenticate", &"Basic realm=\"Secure Area\"");
    };
    let Some(call) = call else {
        return envelope.refusal(StatusCode::NOT_FOUND, envelope::INVALID_PATH);
    };
    let alone = |status: StatusCode, code: Code, task: Code| {
        let data = echo(call, &Map::new());
        let task = envelope.task(1, call.path(), &data, &TaskResult::failed(task));
        envelope.tasks(status, code, &[task], 0)
    };
    match account.standing {
        Standing::Unverified => envelope.refusal(StatusCode::FORBIDDEN, envelope::NOT_VERIFIED),
        Standing::Limited => alone(StatusCode::OK, envelope::OK, envelope::RATE_LIMIT),
        _ if !free && strikes(FaultKind::Quota403) => {
            alone(StatusCode::PAYMENT_REQUIRED, envelope::PAYMENT_REQUIRED, envelope::PAYMENT_REQUIRED)
        }
        _ if !free && strikes(FaultKind::Permission403) => alone(StatusCode::OK, envelope::OK, envelope::ACCESS_DENIED),
        _ if free => {
            let outcome = TaskResult {
                code: envelope::OK.0,
                message: envelope::OK.1.to_owned(),
                cost: 0,
                result: Some(vec![user_data::account(shared, account)]),
            };
            let task = envelope.task(1, call.path(), &echo(call, &Map::new()), &outcome);
            envelope.tasks(StatusCode::OK, envelope::OK, &[task], 0)
        }
        _ => paid(shared, call, account, envelope, body),
    }
}

/// Answers a request that costs money.
fn paid(shared: &Shared, call: ProviderA, account: &Account, envelope: Envelope, body: &[u8]) -> ProviderAnswer {
    let tasks = match serde_json::from_slice::<Value>(body) {
        Ok(Value::Array(tasks)) if tasks.len() > 100 => {
            return envelope.refusal(StatusCode::OK, envelope::TOO_MANY_TASKS);
        }
        Ok(Value::Array(tasks)) if !tasks.is_empty() => tasks,
        Ok(Value::Array(_)) => return envelope.refusal(StatusCode::OK, envelope::DATA_EMPTY),
        Err(_) if body.is_empty() => return envelope.refusal(StatusCode::OK, envelope::DATA_EMPTY),
        _ => return envelope.refusal(StatusCode::OK, envelope::DATA_INVALID),
    };
    let none = Map::new();
    let mut outcomes = Vec::new();
    for (number, task) in (0u64..).zip(&tasks) {
        let fields = task.as_object().unwrap_or(&none);
        // Only the first task is worked on: live endpoints take one.
        let outcome = match number {
            0 if task.is_object() => work(shared, call, account, fields),
            0 => TaskResult::failed(envelope::DATA_INVALID),
            _ => TaskResult::failed(envelope::ONE_TASK),
        };
        outcomes.push((envelope.task(number + 1, call.path(), &echo(call, fields), &outcome), outcome));
    }
    let cost = outcomes.iter().map(|(_, outcome)| outcome.cost).sum();
    let broke = outcomes.iter().any(|(_, outcome)| outcome.code == envelope::PAYMENT_REQUIRED.0);
    let tasks: Vec<Value> = outcomes.into_iter().map(|(task, _)| task).collect();
    if broke {
        return envelope.tasks(StatusCode::PAYMENT_REQUIRED, envelope::PAYMENT_REQUIRED, &tasks, cost);
    }
    envelope.tasks(StatusCode::OK, envelope::OK, &tasks, cost)
}

fn work(shared: &Shared, call: ProviderA, account: &Account, fields: &Map<String, Value>) -> TaskResult {
    if let Err(name) = fields::check(call, fields) {
        return TaskResult::invalid_field(&name);
    }
    if account.standing == Standing::Broke {
        return TaskResult::failed(envelope::PAYMENT_REQUIRED);
    }
    let research = Research { world: &shared.drawn.world, market: shared.drawn.market(), today: shared.now().today };
    let task = Task { shared, research, fields };
    let found = match call {
        ProviderA::UserData => Err(Failure::Nothing),
        ProviderA::SearchVolume => ads::search_volume(&task),
        ProviderA::KeywordOverview => labs::overview(&task),
        ProviderA::KeywordSuggestions => labs::suggestions(&task),
        ProviderA::RelatedKeywords => labs::related(&task),
        ProviderA::BulkKeywordDifficulty => labs::difficulty(&task),
        ProviderA::BacklinksSummary => backlinks::summary(&task),
        ProviderA::Backlinks => backlinks::backlinks(&task),
        ProviderA::ReferringDomains => backlinks::referring_domains(&task),
        ProviderA::Anchors => backlinks::anchors(&task),
        ProviderA::BacklinksHistory => backlinks::history(&task),
    };
    let (code, result, rows) = match found {
        Err(Failure::Field(name)) => return TaskResult::invalid_field(name),
        Err(Failure::Nothing) => (envelope::NO_RESULTS, None, 0),
        Ok(found) => (envelope::OK, Some(found.result).filter(|result| !result.is_empty()), found.rows),
    };
    let doubled = task.flag("include_clickstream_data") == Some(true);
    let cost = price(call, rows) * if doubled { 2 } else { 1 };
    if !shared.controls.spend(account.name, cost, account.credit) {
        return TaskResult::failed(envelope::INSUFFICIENT_FUNDS);
    }
    TaskResult { code: code.0, message: code.1.to_owned(), cost, result }
}

/// The price of an answer with this many rows, in millionths of a US dollar.
fn price(call: ProviderA, rows: usize) -> u64 {
    let (base, row) = rate(call);
    base + row * rows as u64
}

/// The price of a request and of each row, in millionths of a US dollar.
fn rate(call: ProviderA) -> (u64, u64) {
    match call {
        ProviderA::UserData => (0, 0),
        ProviderA::SearchVolume => (75_000, 0),
        ProviderA::KeywordOverview
        | ProviderA::KeywordSuggestions
        | ProviderA::RelatedKeywords
        | ProviderA::BulkKeywordDifficulty => (10_000, 100),
        _ => (20_000, 30),
    }
}

/// The question of a task, as the vendor repeats it: without the fields that are null.
fn echo(call: ProviderA, fields: &Map<String, Value>) -> Map<String, Value> {
    let steps: Vec<&str> = call.path().split('/').filter(|step| *step != "live").collect();
    let mut data = Map::new();
    data.insert("api".to_owned(), json!(steps.get(1)));
    data.insert("function".to_owned(), json!(steps.last()));
    match steps.get(2) {
        Some(&"google") => data.insert("se_type".to_owned(), json!("google")),
        Some(&"google_ads") => data.insert("se".to_owned(), json!("google_ads")),
        _ => None,
    };
    data.extend(fields.iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| (name.clone(), value.clone())));
    data
}
