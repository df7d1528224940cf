//! Saved conditions: segments on pages, topic clusters on queries, filter presets on any dimension.
//!
//! Conditions that no question could use are rejected when they are saved.

use api::{
    classifications::ClassificationCondition,
    models::{Dimension, FilterCondition, MAX_CONDITIONS_BYTES},
};
use common::compute::beside;
use search_engine::{Expression, PlanError, Predicate, filter, plan};
use serde::Serialize;

use crate::error::Error;

/// Validates the conditions of a classification on `dimension` and returns them as stored JSON.
pub async fn stored(dimension: Dimension, conditions: Vec<ClassificationCondition>) -> Result<String, Error> {
    let json = json("conditions", &conditions)?;
    let check = move || check_plannable("conditions", &on(dimension, &conditions));
    beside(check).await??;
    Ok(json)
}

/// Validates the conditions of a filter preset and returns them as stored JSON.
pub async fn stored_filters(filters: Vec<FilterCondition>) -> Result<String, Error> {
    let json = json("filters", &filters)?;
    beside(move || check_plannable("filters", &filters)).await??;
    Ok(json)
}

fn json(field: &str, conditions: &[impl Serialize]) -> Result<String, Error> {
    let json = serde_json::to_string(conditions).map_err(Error::internal)?;
    if json.len() > MAX_CONDITIONS_BYTES {
        return Err(Error::invalid(format!(
            "{field}: at most 60,000 bytes as JSON are kept, and these take {}; shorten the values or use fewer conditions",
            json.len()
        )));
    }
    Ok(json)
}

/// Converts the conditions to filters on `dimension`.
#[must_use]
pub fn on(dimension: Dimension, conditions: &[ClassificationCondition]) -> Vec<FilterCondition> {
    let condition = |saved: &ClassificationCondition| FilterCondition {
        dimension,
        operator: saved.operator,
        value: saved.value.clone(),
        logic: saved.logic,
    };
    conditions.iter().map(condition).collect()
}

/// Parses stored conditions.
pub fn from_stored(json: &str) -> Result<Vec<ClassificationCondition>, Error> {
    serde_json::from_str(json).map_err(Error::internal)
}

/// Fails if a condition is invalid or if no plan answers the conditions. `field` is their place in the body.
fn check_plannable(field: &str, conditions: &[FilterCondition]) -> Result<(), Error> {
    for (index, condition) in conditions.iter().enumerate() {
        filter::check(condition).map_err(|allowed| Error::invalid(format!("{field}[{index}]: {allowed}")))?;
    }
    // The planner's hint names the parameter `filters`.
    plan(&Predicate::of(vec![Expression::of(conditions)]))
        .map(drop)
        .map_err(|PlanError::TooComplex(hint)| Error::FilterTooComplex(hint.replacen("filters", field, 1)))
}
