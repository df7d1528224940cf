//! Conditions that are saved: segments on pages, topic clusters on queries, filter presets on anything.
//!
//! What no question could be asked with is refused when it is saved, not when it is used.

use api::{
    classifications::ClassificationCondition,
    models::{FilterCondition, FilterDimension},
};

use super::classifications::StoredCondition;
use crate::{
    error::Error,
    search_engine::{Expression, PlanError, Predicate, filter, plan},
};

/// Conditions as they are stored, once they are known to mean something and to be plannable on `dimension`.
pub fn stored(dimension: FilterDimension, conditions: &[ClassificationCondition]) -> Result<String, Error> {
    let written: Vec<FilterCondition> = conditions
        .iter()
        .map(|condition| FilterCondition {
            dimension,
            operator: condition.operator,
            value: condition.value.clone(),
            logic: condition.logic,
        })
        .collect();
    check_plannable("conditions", &written)?;
    let stored: Vec<StoredCondition> = conditions
        .iter()
        .map(|condition| StoredCondition {
            operator: condition.operator,
            value: condition.value.clone(),
            logic: condition.logic,
        })
        .collect();
    serde_json::to_string(&stored).map_err(Error::internal)
}

/// Stored conditions as answers say them.
pub fn wire(json: &str) -> Result<Vec<ClassificationCondition>, Error> {
    let stored: Vec<StoredCondition> = serde_json::from_str(json).map_err(Error::internal)?;
    let wire = |stored: StoredCondition| ClassificationCondition {
        operator: stored.operator,
        value: stored.value,
        logic: stored.logic,
    };
    Ok(stored.into_iter().map(wire).collect())
}

/// Refuses conditions that mean nothing or that no plan answers. `field` is where they stand in the body.
pub fn check_plannable(field: &str, conditions: &[FilterCondition]) -> Result<(), Error> {
    for (index, condition) in conditions.iter().enumerate() {
        filter::check(condition).map_err(|allowed| Error::invalid(format!("{field}[{index}]: {allowed}")))?;
    }
    // The planner speaks of the parameter that a question has its conditions in.
    plan(&Predicate(vec![Expression::of(conditions)]))
        .map(drop)
        .map_err(|PlanError::TooComplex(hint)| Error::FilterTooComplex(hint.replacen("filters", field, 1)))
}
