//! Combinations that the search engine refuses, with its known error messages.

use super::request::{Aggregation, DataState, Dimension, FilterDimension, Operator, Request};
use crate::error::ApiError;
use crate::world::SearchType;

/// Maximum length of an expression, in characters.
const LONGEST_EXPRESSION: usize = 4_096;

/// Returns 400 if a rule forbids `request`.
pub(super) fn check(request: &Request) -> Result<(), ApiError> {
    grouping(request)?;
    hours(request)?;
    feeds(request)?;
    aggregation(request)?;
    expressions(request)
}

fn grouping(request: &Request) -> Result<(), ApiError> {
    let dimensions = &request.dimensions;
    if dimensions.iter().enumerate().any(|(index, dimension)| dimensions[..index].contains(dimension)) {
        return Err(ApiError::bad_request("Duplicate dimensions are not allowed."));
    }
    if request.groups(Dimension::SearchAppearance) && dimensions.len() > 1 {
        let message = "Cannot group by search appearance dimension together with another dimension.";
        return Err(ApiError::bad_request(message));
    }
    if request.groups(Dimension::Date) && request.groups(Dimension::Hour) {
        return Err(ApiError::bad_request("Request cannot be grouped by both date and hour"));
    }
    Ok(())
}

fn hours(request: &Request) -> Result<(), ApiError> {
    match (request.groups(Dimension::Hour), request.data_state == DataState::HourlyAll) {
        (true, false) => Err(ApiError::bad_request("Grouping by HOUR requires setting dataState=HOURLY_ALL")),
        (false, true) => Err(ApiError::bad_request("Setting dataState=HOURLY_ALL requires grouping by HOUR")),
        _ => Ok(()),
    }
}

fn feeds(request: &Request) -> Result<(), ApiError> {
    let search_type = request.search_type;
    let refuse = |how: &str, what: &str| {
        Err(ApiError::bad_request(&format!("Request for {} cannot be {how} by {what}", search_type.wire_name())))
    };
    if search_type.is_feed() {
        if request.groups(Dimension::Query) {
            return refuse("grouped", "query");
        }
        if request.filters_on(FilterDimension::Query) {
            return refuse("filtered", "query");
        }
    }
    if search_type == SearchType::Discover {
        if request.groups(Dimension::Device) {
            return refuse("grouped", "device");
        }
        if request.filters_on(FilterDimension::Device) {
            return refuse("filtered", "device");
        }
    }
    Ok(())
}

fn aggregation(request: &Request) -> Result<(), ApiError> {
    let paged = request.groups(Dimension::Page) || request.filters_on(FilterDimension::Page);
    let refuse = |name: &str| {
        let message = format!("'{name}' is not a valid aggregation type in the context of the request.");
        Err(ApiError::invalid_parameter(&message, "aggregation_type"))
    };
    match request.aggregation {
        Aggregation::ByProperty if paged || request.search_type.is_feed() => refuse("BY_PROPERTY"),
        Aggregation::ByNewsShowcasePanel => {
            let showcase = |filter: &super::request::RawFilter| {
                filter.dimension == FilterDimension::SearchAppearance && filter.expression == "NEWS_SHOWCASE"
            };
            let allowed = request.filters.iter().any(showcase) && !paged && request.search_type.is_feed();
            if allowed { Ok(()) } else { refuse("BY_NEWS_SHOWCASE_PANEL") }
        }
        _ => Ok(()),
    }
}

fn expressions(request: &Request) -> Result<(), ApiError> {
    for filter in &request.filters {
        if filter.expression.chars().count() > LONGEST_EXPRESSION {
            return Err(ApiError::bad_request("The filter expression is longer than 4096 characters."));
        }
        if filter.dimension == FilterDimension::SearchAppearance {
            let upper = filter.expression.chars().all(|c| c.is_ascii_uppercase() || c == '_');
            let compared = matches!(filter.operator, Operator::Equals | Operator::NotEquals | Operator::NotContains);
            if !upper || !compared || filter.expression.is_empty() {
                let message = format!("Invalid value at 'search_appearance', \"{}\"", filter.expression);
                return Err(ApiError::invalid_parameter(&message, "search_appearance"));
            }
        }
    }
    Ok(())
}
