//! From a question as it was asked to one that can be read: whose account, which site, which days, which predicate.

use api::models::{Comparison, Freshness, Slice, Window, WindowParams};
use chrono::{Months, NaiveDate, TimeDelta};

use super::{
    predicate,
    search_data::{SearchData, SearchSite},
};
use crate::{
    compute::beside,
    error::Error,
    search_engine::{Aggregation, DataState, Dimension, LastFinal, Part, Plan, Predicate, SearchType, plan},
    services::access::ReadableProperty,
};

/// Days of the default window.
const DEFAULT_DAYS: i64 = 28;

/// How far back the search engine keeps data.
const HISTORY_MONTHS: u32 = 16;

/// A question whose every part is settled.
#[derive(Debug, Clone)]
pub struct Settled {
    /// The site, and the account that may read it.
    pub site: SearchSite,
    /// The window.
    pub window: Window,
    /// The window to compare with.
    pub compare: Option<Window>,
    /// The kind of search.
    pub search_type: SearchType,
    /// Which part of the traffic.
    pub predicate: Predicate,
}

/// Settles the parameters that analytics operations share. Refusals name the parameter.
pub async fn settle(
    search: &SearchData,
    access: &ReadableProperty,
    window: &WindowParams,
    comparison: &Comparison,
    slice: &Slice,
) -> Result<Settled, Error> {
    let today = search.clock.pacific_today();
    if let Some(asked) = window.window() {
        check_reach("startDate", "endDate", asked, today)?;
    }
    if let Some(asked) = comparison.window() {
        check_reach("compareStart", "compareEnd", asked, today)?;
    }
    let search_type = SearchType::from(slice.search_type);
    let predicate = predicate::of(&search.db, access, slice).await?;
    check_available(search_type, &predicate)?;
    let site = search.site(access)?;
    let window = match window.window() {
        Some(asked) => asked,
        None => last_days(search.last_final(&site).await?.last_final_date, DEFAULT_DAYS),
    };
    Ok(Settled { site, window, compare: comparison.window(), search_type, predicate })
}

/// The `days` days that end on `end`.
#[must_use]
pub fn last_days(end: NaiveDate, days: i64) -> Window {
    Window { start_date: end - TimeDelta::days(days - 1), end_date: end }
}

/// The first day of which the search engine still has data.
#[must_use]
pub fn oldest_day(today: NaiveDate) -> NaiveDate {
    today - Months::new(HISTORY_MONTHS)
}

fn check_reach(start_name: &str, end_name: &str, window: Window, today: NaiveDate) -> Result<(), Error> {
    let oldest = oldest_day(today);
    if window.end_date > today {
        return Err(Error::invalid(format!("{end_name}: must not be after today, {today} in America/Los_Angeles")));
    }
    if window.start_date < oldest {
        return Err(Error::invalid(format!(
            "{start_name}: must not be before {oldest}; the search engine keeps {HISTORY_MONTHS} months"
        )));
    }
    Ok(())
}

fn check_available(search_type: SearchType, predicate: &Predicate) -> Result<(), Error> {
    let missing = predicate.dimensions().into_iter().find(|dimension| !search_type.has(*dimension));
    let Some(dimension) = missing else { return Ok(()) };
    Err(Error::NotAvailableForSearchType(format!(
        "searchType: {}, so no filter or classification can be on it",
        lacks(search_type, dimension)
    )))
}

/// `discover has no query`.
#[must_use]
pub fn lacks(search_type: SearchType, dimension: Dimension) -> String {
    format!("{} has no {}", search_type.wire_name(), dimension.wire_name())
}

impl Settled {
    /// The plan that answers the whole predicate.
    pub async fn plan(&self) -> Result<Plan, Error> {
        planned(self.predicate.clone()).await
    }

    /// The plan that answers the predicate without its query conditions: what a coverage share divides by.
    pub async fn plan_without_queries(&self) -> Result<Plan, Error> {
        planned(self.predicate.without_queries()).await
    }

    /// How the question's requests count: `byPage` for all of them as soon as one condition names a page or a search
    /// appearance, so that the numbers of one answer are of one kind.
    #[must_use]
    pub fn aggregation(&self) -> Aggregation {
        let by_page = self.predicate.forces_by_page() || !self.search_type.has_by_property();
        if by_page { Aggregation::ByPage } else { Aggregation::ByProperty }
    }

    /// One upstream question about `window`.
    #[must_use]
    pub fn part(&self, window: Window, dimensions: &[Dimension], cap: usize) -> Part {
        let by_page = dimensions.contains(&Dimension::Page) || self.aggregation() == Aggregation::ByPage;
        Part {
            dimensions: dimensions.to_vec(),
            start: window.start_date,
            end: window.end_date,
            search_type: self.search_type,
            aggregation: by_page.then_some(Aggregation::ByPage),
            data_state: DataState::Final,
            cap,
        }
    }
}

/// The plan that answers a predicate. Many conditions take time to combine.
pub async fn planned(predicate: Predicate) -> Result<Plan, Error> {
    if predicate.0.is_empty() {
        return Ok(plan(&predicate)?);
    }
    Ok(beside(move || plan(&predicate)).await??)
}

/// How recent the data is, as answers say it.
#[must_use]
pub fn freshness(found: &LastFinal) -> Freshness {
    Freshness {
        last_final_date: found.last_final_date,
        first_incomplete_date: found.first_incomplete_date,
        time_zone: "America/Los_Angeles".to_owned(),
    }
}
