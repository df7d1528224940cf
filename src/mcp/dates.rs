//! Replaces the named period of a tool call by dates, once the caller's right to the property is established.
//!
//! A period may end with the data, so the search engine has to be asked. That must not happen for a property that the caller cannot
//! see, so the period comes with the request and is replaced behind authorization.

use std::sync::Arc;

use analytics::period::Period;
use api::{
    error::ApiError,
    models::{Feature, Window},
};
use poem::{
    Endpoint, EndpointExt as _, IntoResponse, Request, Response, Result,
    endpoint::BoxEndpoint,
    http::{Method, Uri},
};
use serde_json::{Map, Value, json};

use crate::{
    error::Error,
    services::{access::PropertyAccess, analyses::search_data::SearchData},
};

/// The named period of a call, as request data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Named {
    /// The period of the window.
    pub period: Option<Period>,
    /// True if today stands in for the last final day, because the answer holds no search data.
    pub by_calendar: bool,
}

/// Wraps `operations` for tools: the plan must include the tool endpoint, and a named period becomes dates.
pub fn dated(search: SearchData, operations: impl Endpoint<Output = Response> + 'static) -> BoxEndpoint<'static> {
    let search = Arc::new(search);
    operations.around(move |next, request| replace(search.clone(), next, request)).boxed()
}

async fn replace<E: Endpoint>(search: Arc<SearchData>, next: Arc<E>, mut request: Request) -> Result<Response> {
    if let Some(access) = request.data::<Arc<PropertyAccess>>().cloned() {
        access.require_feature(Feature::ToolEndpoint).map_err(ApiError::from)?;
        let named = request.data::<Named>().copied().unwrap_or_default();
        if let Some(window) = named.window(&search, &access).await.map_err(ApiError::from)? {
            if *request.method() == Method::GET {
                *request.uri_mut() = with_window(request.uri(), window).map_err(ApiError::from)?;
            } else {
                let question = request.take_body().into_bytes().await?;
                request.set_body(in_body(&question, window).map_err(ApiError::from)?);
            }
        }
    }
    next.call(request).await.map(IntoResponse::into_response)
}

impl Named {
    /// Returns the window of the named period, if there is one.
    async fn window(&self, search: &SearchData, access: &PropertyAccess) -> Result<Option<Window>, Error> {
        let Some(period) = self.period else { return Ok(None) };
        let today = search.clock.pacific_today();
        let last_final = if period.ends_with_the_data() && !self.by_calendar {
            search.last_final(&search.site(access)?).await?.last_final_date
        } else {
            today
        };
        Ok(Some(period.window(today, last_final)))
    }
}

/// Returns the body of a question with the dates of its window.
fn in_body(question: &[u8], window: Window) -> Result<String, Error> {
    let mut fields: Map<String, Value> = serde_json::from_slice(question).map_err(Error::internal)?;
    fields.insert("startDate".to_owned(), json!(window.start_date));
    fields.insert("endDate".to_owned(), json!(window.end_date));
    Ok(Value::Object(fields).to_string())
}

fn with_window(uri: &Uri, window: Window) -> Result<Uri, Error> {
    let given = uri.query().map(|query| format!("{query}&")).unwrap_or_default();
    let dates = format!("startDate={}&endDate={}", window.start_date, window.end_date);
    format!("{}?{given}{dates}", uri.path()).parse().map_err(Error::internal)
}
