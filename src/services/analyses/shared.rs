//! The performance answer for readers of share links: what a link binds them to, and what it refuses.

use api::{
    analytics::{PropertyPerformanceParams, Scope},
    models::{Classification, Dimension, Question, WindowParams},
    sharing::{SharedPerformanceAnswer, SharedPerformanceMeta},
};
use common::names::sites;

use super::{
    performance::{Answer, Kind, answered},
    predicate,
    prepared::Prepared,
    search_data::SearchData,
    windows::oldest_day,
};
use crate::{
    error::Error,
    services::access::{SharedProperty, View},
};

/// The refusal of everything about a table that a link hides. It is the same whatever was asked, so that it tells nothing.
const HIDDEN: &str = "scope, sort, explain, classification, filters, metricFilters: this link hides the table of queries or of \
                      pages, and one of these is about it; leave it out, and ask for scope=all instead of scope=tables";

/// The refusal of other days than those that a link is bound to.
const FIXED_DAYS: &str = "startDate, endDate, compare, compareStart, compareEnd, explain, usual: this link shows fixed days and \
                          compares them with no others; leave these out";

/// The refusals that would tell what a link's own conditions are about.
const WITH_OWN_CONDITIONS: [&str; 2] = [
    "filters: together with the link's own conditions, these cannot be answered; use fewer conditions, or a shorter window",
    "searchType: this kind of search lacks what the link, or a filter or classification, is about; use another",
];

/// Computes the performance for the reader of a share link.
pub async fn performance(
    search: &SearchData,
    shared: &SharedProperty,
    params: &PropertyPerformanceParams,
) -> Result<Prepared<SharedPerformanceAnswer>, Error> {
    let view = &*shared.view;
    check_alive(search, shared, view).await?;
    check(view, params)?;
    let params = bound(view, params);
    let (site, name) = (sites::name(&shared.property().site_url), shared.name.clone());
    let (link_name, link_expires_at) = (name.clone(), shared.expires_at.map(Into::into));
    let kind = Kind { analysis: "shared", about: &(name, shared.expires_at) };
    let (fixed_window, show) = (view.window.is_some(), view.show.clone());
    let envelope = move |Answer { data, meta: answer, coverage }, question| {
        let meta = SharedPerformanceMeta {
            answer,
            question,
            coverage,
            site,
            link_name,
            link_expires_at,
            fixed_window,
            show: show.clone(),
        };
        SharedPerformanceAnswer { data, meta }
    };
    answered(search, shared, &params, kind, envelope).await.map_err(|error| concealed(view, error))
}

/// Fails with the error of an unknown link if the link's own subset of the traffic is gone, or its own days are.
async fn check_alive(search: &SearchData, shared: &SharedProperty, view: &View) -> Result<(), Error> {
    let oldest = oldest_day(search.clock.pacific_today());
    if view.window.is_some_and(|window| window.start_date < oldest) {
        return Err(Error::NotFound);
    }
    predicate::pinned(&search.db, shared).await.map(drop)
}

/// Fails if a question is about a table that the link hides, or about other days than the link's own.
fn check(view: &View, params: &PropertyPerformanceParams) -> Result<(), Error> {
    let question = &params.performance.question;
    if view.hidden().any(|dimension| is_about(params, dimension)) {
        return Err(Error::invalid(HIDDEN));
    }
    let Some(window) = view.window else { return Ok(()) };
    let is_other = question.window.window().is_some_and(|asked| asked != window);
    if is_other || question.comparison.is_asked() || params.explain || params.usual {
        return Err(Error::invalid(FIXED_DAYS));
    }
    Ok(())
}

/// Returns whether a question is about a dimension, or about the table of its rows. An order is about every table.
fn is_about(params: &PropertyPerformanceParams, dimension: Dimension) -> bool {
    let (asked, slice) = (&params.performance, &params.performance.question.slice);
    let classified = slice.classification.map(|classification| match classification {
        Classification::Segment(_) => Dimension::Page,
        Classification::Branded | Classification::NonBranded | Classification::TopicCluster(_) => Dimension::Query,
    });
    params.explain
        || asked.scope == Scope::Tables
        || asked.order.sort.is_some()
        || asked.order.metric_filters.iter().flat_map(|filters| &filters.0).any(|filter| filter.is_on(dimension))
        || slice.filters.iter().flat_map(|filters| &filters.0).any(|condition| condition.dimension == dimension)
        || classified == Some(dimension)
}

/// Returns the question about the link's own days, if it has any.
fn bound(view: &View, params: &PropertyPerformanceParams) -> PropertyPerformanceParams {
    let mut params = params.clone();
    let Question { window, .. } = &mut params.performance.question;
    if let Some(own) = view.window {
        *window = WindowParams { data_state: window.data_state, ..own.into() };
    }
    params
}

/// Returns an error that does not tell what the link's own conditions are about.
fn concealed(view: &View, error: Error) -> Error {
    let [conditions, search_type] = WITH_OWN_CONDITIONS;
    match error {
        Error::FilterTooComplex(_) if view.narrows() => Error::FilterTooComplex(conditions.to_owned()),
        Error::NotAvailableForSearchType(_) if view.narrows() => {
            Error::NotAvailableForSearchType(search_type.to_owned())
        }
        error => error,
    }
}
