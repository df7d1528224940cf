//! Replaces the named periods of a tool call by dates, once the caller's right to the property is established.
//!
//! A period may end with the data, so the search engine has to be asked. That must not happen for a property that the caller cannot
//! see, so the periods come with the request and are replaced behind authorization.

use std::sync::Arc;

use api::{
    error::ApiError,
    models::{Feature, Window},
};
use chrono::NaiveDate;
use poem::{Endpoint, EndpointExt as _, IntoResponse, Request, Response, Result, endpoint::BoxEndpoint, http::Uri};

use super::period::{Against, Period};
use crate::{
    error::Error,
    services::{
        access::PropertyAccess,
        analyses::{question::last_days, search_data::SearchData},
    },
};

/// The length of the default window, in days.
const DEFAULT_DAYS: i64 = 28;

/// The named periods of a call, as request data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Named {
    /// The period of the window.
    pub period: Option<Period>,
    /// The relation of the comparison window to the window.
    pub against: Option<Against>,
    /// The window, if the call gave its dates.
    pub window: Option<Window>,
    /// True if today stands in for the last final day, because the answer holds no search data.
    pub by_calendar: bool,
}

/// Wraps `operations` for tools: the plan must include the tool endpoint, and named periods become dates.
pub fn dated(search: SearchData, operations: impl Endpoint<Output = Response> + 'static) -> BoxEndpoint<'static> {
    let search = Arc::new(search);
    operations.around(move |next, request| replace(search.clone(), next, request)).boxed()
}

async fn replace<E: Endpoint>(search: Arc<SearchData>, next: Arc<E>, mut request: Request) -> Result<Response> {
    if let Some(access) = request.data::<Arc<PropertyAccess>>().cloned() {
        access.require_feature(Feature::ToolEndpoint).map_err(ApiError::from)?;
        let named = request.data::<Named>().copied().unwrap_or_default();
        let dates = named.dates(&search, &access).await.map_err(ApiError::from)?;
        if !dates.is_empty() {
            let uri = with_query(request.uri(), &dates).map_err(ApiError::from)?;
            *request.uri_mut() = uri;
        }
    }
    next.call(request).await.map(IntoResponse::into_response)
}

impl Named {
    /// Returns the query parameters that stand for the named periods.
    async fn dates(
        &self,
        search: &SearchData,
        access: &PropertyAccess,
    ) -> Result<Vec<(&'static str, NaiveDate)>, Error> {
        if self.period.is_none() && self.against.is_none() {
            return Ok(Vec::new());
        }
        let today = search.clock.pacific_today();
        let needs_data = self.window.is_none() && self.period.is_none_or(Period::ends_with_the_data);
        let last_final = if needs_data && !self.by_calendar {
            search.last_final(&search.site(access)?).await?.last_final_date
        } else {
            today
        };
        let window = match (self.window, self.period) {
            (Some(window), _) => window,
            (None, Some(period)) => period.window(today, last_final),
            (None, None) => last_days(last_final, DEFAULT_DAYS),
        };
        let mut dates = Vec::new();
        if self.window.is_none() {
            dates.extend([("startDate", window.start_date), ("endDate", window.end_date)]);
        }
        if let Some(against) = self.against {
            let before = against.window(window);
            dates.extend([("compareStart", before.start_date), ("compareEnd", before.end_date)]);
        }
        Ok(dates)
    }
}

fn with_query(uri: &Uri, dates: &[(&str, NaiveDate)]) -> Result<Uri, Error> {
    let dates: Vec<String> = dates.iter().map(|(name, date)| format!("{name}={date}")).collect();
    let given = uri.query().map(|query| format!("{query}&")).unwrap_or_default();
    format!("{}?{given}{}", uri.path(), dates.join("&")).parse().map_err(Error::internal)
}
