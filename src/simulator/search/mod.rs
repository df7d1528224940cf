//! Search analytics: reads a request as the search engine does, refuses what it refuses, and answers from the world.

mod answer;
mod evaluate;
mod filter;
mod freshness;
mod request;
mod rules;

use chrono::{Months, NaiveDate};
use serde_json::Value;

pub(crate) use freshness::Now;

use super::error::ApiError;
use super::settings::Conflicts;
use super::world::{Site, World};

/// Answers the body of a `searchAnalytics/query` about `site`, as JSON text.
pub(crate) fn query(
    world: &World,
    site: &Site,
    body: &[u8],
    now: Now,
    conflicts: Conflicts,
) -> Result<String, ApiError> {
    let value: Value =
        serde_json::from_slice(body).map_err(|_| ApiError::bad_request("Invalid JSON payload received."))?;
    let mut request = request::parse(&value)?;
    rules::check(&request)?;
    let oldest = now.today.checked_sub_months(Months::new(16)).unwrap_or(NaiveDate::MIN);
    if request.start < oldest {
        if conflicts.reject_old_start {
            let message = format!("'{}' is too far in the past. Data is kept for 16 months.", request.start);
            return Err(ApiError::invalid_parameter(&message, "start_date"));
        }
        request.start = oldest;
    }
    let table = evaluate::evaluate(world, site, &request, now);
    Ok(answer::write(site, &request, table, now, conflicts))
}
