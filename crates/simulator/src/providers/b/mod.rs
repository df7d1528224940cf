//! Simulated provider B, wire-compatible with Ahrefs v3. Requests are GETs, answers have one key and no envelope. The
//! cost of an answer is in its headers.

mod columns;
mod filter;
mod keywords;
mod links;
mod params;
mod subscription;
mod table;

use poem::http::StatusCode;
use serde_json::{Value, json};

use self::params::Params;
use self::table::LEAST;
use super::accounts::{self, Account, Standing};
use super::answer::ProviderAnswer;
use super::calls::ProviderB;
use super::market::Research;
use crate::fault::FaultKind;
use crate::settings::ErrorBodies;
use crate::state::{Shared, bearer};

/// An answer before it is paid for.
struct Found {
    key: &'static str,
    value: Value,
    rows: usize,
    /// Units of one row.
    units: u64,
    /// Units of the answer.
    cost: u64,
}

impl Found {
    /// An answer that is one object.
    fn single(key: &'static str, value: Value, units: u64) -> Self {
        Self { key, value, rows: 1, units, cost: units.max(LEAST) }
    }
}

/// A refused request.
#[derive(Debug)]
struct Refusal {
    status: StatusCode,
    message: String,
    /// The gateway in front of the API refuses with a list, the API with an object.
    by_gateway: bool,
}

impl Refusal {
    fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), by_gateway: false }
    }

    fn gateway(status: StatusCode, message: &str) -> Self {
        Self { by_gateway: true, ..Self::new(status, message) }
    }

    fn bad(message: String) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "Not found")
    }

    fn out_of_units(cost: u64, left: u64) -> Self {
        let message = format!("API units limit reached. Expected usage: {cost}, API units left: {left}.");
        Self::new(StatusCode::FORBIDDEN, message)
    }

    fn without_plan() -> Self {
        Self::new(StatusCode::FORBIDDEN, "Insufficient plan")
    }

    fn rate_limit() -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, "Too many requests")
    }

    fn answer(self, bodies: ErrorBodies) -> ProviderAnswer {
        let as_list = match bodies {
            ErrorBodies::Measured => self.by_gateway,
            ErrorBodies::Objects => false,
            ErrorBodies::Arrays => true,
        };
        let body = if as_list { json!(["Error", self.message]) } else { json!({ "error": self.message }) };
        let answer = ProviderAnswer::json(self.status, &body);
        if self.status == StatusCode::TOO_MANY_REQUESTS { answer.with("retry-after", &30) } else { answer }
    }
}

/// The data from which a request is answered.
struct Asked<'a> {
    research: Research<'a>,
    params: Params,
}

/// Answers a request.
pub(super) fn answer(
    shared: &Shared,
    call: Option<ProviderB>,
    authorization: Option<&str>,
    query: &str,
) -> ProviderAnswer {
    let bodies = shared.conflicts.error_bodies;
    respond(shared, call, authorization, query).unwrap_or_else(|refusal| refusal.answer(bodies))
}

fn respond(
    shared: &Shared,
    call: Option<ProviderB>,
    authorization: Option<&str>,
    query: &str,
) -> Result<ProviderAnswer, Refusal> {
    let strikes = |kind| shared.controls.strikes(kind);
    let free = call == Some(ProviderB::LimitsAndUsage);
    if strikes(FaultKind::Error500) {
        return Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "Internal server error"));
    }
    if strikes(FaultKind::Rate429) {
        return Err(Refusal::rate_limit());
    }
    let header = authorization.ok_or_else(|| Refusal::gateway(StatusCode::FORBIDDEN, "Forbidden"))?;
    let account = bearer(header).and_then(accounts::key);
    let account = account.ok_or_else(|| Refusal::gateway(StatusCode::UNAUTHORIZED, "Unauthorized"))?;
    let call = call.ok_or_else(Refusal::not_found)?;
    match account.standing {
        Standing::WithoutPlan => return Err(Refusal::without_plan()),
        Standing::Limited => return Err(Refusal::rate_limit()),
        _ if !free && strikes(FaultKind::Quota403) => return Err(Refusal::out_of_units(LEAST, 0)),
        _ if !free && strikes(FaultKind::Permission403) => return Err(Refusal::without_plan()),
        _ => {}
    }
    let today = shared.now().today;
    let research = Research { world: &shared.drawn.world, market: shared.drawn.market(), today };
    let asked = Asked { research, params: Params::parse(query, today) };
    asked.params.one_of("output", &["json"])?;
    let found = match call {
        ProviderB::LimitsAndUsage => {
            return Ok(ProviderAnswer::json(StatusCode::OK, &subscription::limits_and_usage(shared, account)));
        }
        ProviderB::KeywordOverview => keywords::overview(&asked),
        ProviderB::MatchingTerms => keywords::matching(&asked),
        ProviderB::RelatedTerms => keywords::related(&asked),
        ProviderB::SearchSuggestions => keywords::suggestions(&asked),
        ProviderB::VolumeHistory => keywords::volume_history(&asked),
        ProviderB::BacklinksStats => links::stats(&asked),
        ProviderB::DomainRating => links::rating(&asked),
        ProviderB::AllBacklinks => links::backlinks(&asked),
        ProviderB::Refdomains => links::refdomains(&asked),
        ProviderB::OrganicKeywords => keywords::organic(&asked),
    }?;
    billed(shared, account, &found)
}

/// Takes the units of an answer off the account, and says so in its headers.
fn billed(shared: &Shared, account: &Account, found: &Found) -> Result<ProviderAnswer, Refusal> {
    let cost = found.cost;
    if !shared.controls.spend(account.name, cost, account.credit) {
        let left = account.credit.saturating_sub(shared.controls.spent(account.name));
        return Err(Refusal::out_of_units(cost, left));
    }
    let body = json!({ (found.key): found.value });
    Ok(ProviderAnswer::json(StatusCode::OK, &body)
        .with("x-api-rows", &found.rows)
        .with("x-api-units-cost-row", &found.units)
        .with("x-api-units-cost-total", &cost)
        .with("x-api-units-cost-total-actual", &cost)
        .with("x-api-cache", &"no_cache"))
}
