//! Branded keywords, segments and topic clusters, as predicates over search data.

use api::models::{Classification, FilterCondition, Slice};
use common::compute::beside;
use entity::{
    branded_keyword,
    classification::{self, Kind},
};
use sea_orm::ConnectionTrait;
use search_engine::{Condition, Expression, Predicate, brand, filter};
use uuid::Uuid;

use crate::{
    error::Error,
    services::{
        access::ReadableProperty,
        classifications::{conditions, dimension},
    },
};

/// An expression of saved conditions, and their name if they have one.
struct Classified {
    expression: Expression,
    name: Option<String>,
}

impl From<Condition> for Classified {
    fn from(condition: Condition) -> Self {
        Self { expression: Expression(vec![vec![condition]]), name: None }
    }
}

/// Returns the predicate of a slice, its classification and its filters, each in brackets, and the name of the classification.
pub async fn of(
    db: &impl ConnectionTrait,
    access: &ReadableProperty,
    slice: &Slice,
) -> Result<(Predicate, Option<String>), Error> {
    let (mut expressions, mut name) = (Vec::new(), None);
    if let Some(classification) = slice.classification {
        let classified = classified(db, access, classification).await?;
        expressions.push(classified.expression);
        name = classified.name;
    }
    let filters = slice.filters.as_ref().map_or(&[][..], |filters| &filters.0);
    if !filters.is_empty() {
        let filters = filters.to_vec();
        expressions.push(beside(move || checked(&filters)).await??);
    }
    Ok((Predicate::of(expressions), name))
}

/// Validates filters. This takes time, because it parses regular expressions.
fn checked(filters: &[FilterCondition]) -> Result<Expression, Error> {
    for (index, condition) in filters.iter().enumerate() {
        filter::check(condition)
            .map_err(|allowed| Error::invalid(format!("filters: condition {}: {allowed}", index + 1)))?;
    }
    Ok(Expression::of(filters))
}

async fn classified(
    db: &impl ConnectionTrait,
    access: &ReadableProperty,
    classification: Classification,
) -> Result<Classified, Error> {
    let property = access.property().id;
    match classification {
        Classification::Branded => Ok(Condition::Branded(needed_brand(db, access).await?).into()),
        Classification::NonBranded => Ok(Condition::NonBranded(needed_brand(db, access).await?).into()),
        Classification::Segment(id) => saved(db, property, Kind::Segment, id).await,
        Classification::TopicCluster(id) => saved(db, property, Kind::TopicCluster, id).await,
    }
}

/// Returns the expression that matches the property's branded queries, or `None` if the property has no branded keywords.
pub async fn brand(db: &impl ConnectionTrait, access: &ReadableProperty) -> Result<Option<String>, Error> {
    let keywords = branded_keyword::Entity::of_property(access.property().id).all(db).await?;
    let terms: Vec<String> = keywords.into_iter().map(|row| row.keyword).collect();
    if terms.is_empty() {
        return Ok(None);
    }
    let expression = brand::expression(&terms).ok_or_else(|| {
        Error::FilterTooComplex("classification: the expression of the branded keywords is too long".to_owned())
    })?;
    Ok(Some(expression))
}

/// Like [`brand()`], but fails if the property has no branded keywords.
pub async fn needed_brand(db: &impl ConnectionTrait, access: &ReadableProperty) -> Result<String, Error> {
    brand(db, access).await?.ok_or_else(|| {
        Error::invalid(
            "classification: the property has no branded keywords; add some at /api/properties/{id}/branded-keywords",
        )
    })
}

/// Returns the expression and the name of a segment or topic cluster of the property.
async fn saved(db: &impl ConnectionTrait, property: Uuid, kind: Kind, id: Uuid) -> Result<Classified, Error> {
    let Some(found) = classification::Entity::one_of_property(property, kind, id).one(db).await? else {
        let what = match kind {
            Kind::Segment => "segment",
            Kind::TopicCluster => "topic cluster",
        };
        return Err(Error::NoSuch { hint: format!("classification: the property has no {what} with this id") });
    };
    let conditions = conditions::on(dimension(kind), &conditions::from_stored(&found.conditions)?);
    if conditions.is_empty() {
        return Err(Error::internal("a stored classification without conditions"));
    }
    Ok(Classified { expression: Expression::of(&conditions), name: Some(found.name) })
}
