//! Search analytics: parses and validates a request like the search engine, and answers it from the world.

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

/// Answers the body of a `searchAnalytics/query` about `site` as JSON text.
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

impl World {
    /// Returns the JSON response to `body` about `site` at noon of the Pacific day `today`. For measurements and tests
    /// without a server.
    ///
    /// # Errors
    /// Returns the text of the error response, if the site is unknown or the search engine would refuse the request.
    pub fn answer(&self, site: &str, body: &str, today: NaiveDate) -> Result<String, String> {
        let site = self.site(site).ok_or_else(|| format!("no site {site}"))?;
        let now = Now { today, hour: 12 };
        query(self, site, body.as_bytes(), now, Conflicts::default()).map_err(|error| error.to_string())
    }
}
