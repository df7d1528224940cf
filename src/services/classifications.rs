//! Branded keywords, segments and topic clusters, as predicates over search data.

use api::models::{Classification, FilterCondition, FilterDimension, FilterLogic, FilterOperator, Slice};
use entity::{branded_keyword, segment, topic_cluster};
use sea_orm::ConnectionTrait;
use serde::{Deserialize, Serialize};

use super::access::PropertyAccess;
use crate::{
    error::Error,
    search_engine::{Condition, Expression, Predicate, brand, filter},
};

/// One stored condition of a segment (on page) or a topic cluster (on query).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredCondition {
    /// How it compares.
    pub operator: FilterOperator,
    /// With what.
    pub value: String,
    /// How it joins the one before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logic: Option<FilterLogic>,
}

/// The predicate of a slice: the classification and the filters, each bracketed.
pub async fn predicate(db: &impl ConnectionTrait, access: &PropertyAccess, slice: &Slice) -> Result<Predicate, Error> {
    let mut expressions = Vec::new();
    if let Some(classification) = slice.classification {
        expressions.push(classified(db, access, classification).await?);
    }
    let filters = slice.filters.as_ref().map_or(&[][..], |filters| &filters.0);
    for (index, condition) in filters.iter().enumerate() {
        filter::check(condition)
            .map_err(|allowed| Error::invalid(format!("filters: condition {}: {allowed}", index + 1)))?;
    }
    if !filters.is_empty() {
        expressions.push(Expression::of(filters));
    }
    Ok(Predicate(expressions))
}

async fn classified(
    db: &impl ConnectionTrait,
    access: &PropertyAccess,
    classification: Classification,
) -> Result<Expression, Error> {
    let property = access.property().id;
    match classification {
        Classification::Branded => Ok(Expression(vec![vec![Condition::Branded(needed_brand(db, access).await?)]])),
        Classification::NonBranded => {
            Ok(Expression(vec![vec![Condition::NonBranded(needed_brand(db, access).await?)]]))
        }
        Classification::Segment(id) => {
            let found = segment::Entity::one_of_property(property, id).one(db).await?.ok_or(Error::NotFound)?;
            stored(FilterDimension::Page, &found.conditions)
        }
        Classification::TopicCluster(id) => {
            let found = topic_cluster::Entity::one_of_property(property, id).one(db).await?.ok_or(Error::NotFound)?;
            stored(FilterDimension::Query, &found.conditions)
        }
    }
}

/// The expression that finds the property's branded queries; `None` on a property without branded keywords.
pub async fn brand(db: &impl ConnectionTrait, access: &PropertyAccess) -> Result<Option<String>, Error> {
    let keywords = branded_keyword::Entity::of_property(access.property().id).all(db).await?;
    let terms: Vec<String> = keywords.into_iter().map(|row| row.keyword).collect();
    if terms.is_empty() {
        return Ok(None);
    }
    let expression = brand::expression(&terms).ok_or_else(|| {
        Error::FilterTooComplex("classification: the branded keywords make too long an expression".to_owned())
    })?;
    Ok(Some(expression))
}

/// The same for what cannot do without.
pub async fn needed_brand(db: &impl ConnectionTrait, access: &PropertyAccess) -> Result<String, Error> {
    brand(db, access).await?.ok_or_else(|| {
        Error::invalid(
            "classification: the property has no branded keywords; add some at /api/properties/{id}/branded-keywords",
        )
    })
}

fn stored(dimension: FilterDimension, json: &str) -> Result<Expression, Error> {
    let conditions: Vec<StoredCondition> = serde_json::from_str(json).map_err(Error::internal)?;
    let conditions: Vec<FilterCondition> = conditions
        .into_iter()
        .map(|stored| FilterCondition {
            dimension,
            operator: stored.operator,
            value: stored.value,
            logic: stored.logic,
        })
        .collect();
    if conditions.is_empty() {
        return Err(Error::internal("a stored classification without conditions"));
    }
    Ok(Expression::of(&conditions))
}
