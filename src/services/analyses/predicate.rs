//! Branded keywords, segments and topic clusters, as predicates over search data.

use api::models::{Classification, FilterCondition, Filters, Slice};
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

/// Returns the predicate of a slice and the name of its classification. A share link's own conditions, the classification and the
/// filters are each in brackets.
pub async fn of(
    db: &impl ConnectionTrait,
    access: &ReadableProperty,
    slice: &Slice,
) -> Result<(Predicate, Option<String>), Error> {
    let mut predicate = pinned(db, access).await?;
    let (own, name) = expressions(db, access, slice.classification, slice.filters.as_ref()).await?;
    predicate.expressions.extend(own);
    Ok((predicate, name))
}

/// Returns the predicate of the conditions by which a share link narrows every question.
///
/// # Errors
/// [`Error::NotFound`], as for an unknown link, if one of them refers to a record that is gone.
pub async fn pinned(db: &impl ConnectionTrait, access: &ReadableProperty) -> Result<Predicate, Error> {
    let Some(view) = access.view().filter(|view| view.narrows()) else { return Ok(Predicate::default()) };
    match expressions(db, access, view.classification, view.filters.as_ref()).await {
        Ok((expressions, _)) => Ok(Predicate { kept: expressions.len(), ..Predicate::of(expressions) }),
        Err(error @ (Error::Internal(_) | Error::Overloaded(_) | Error::DatabaseUnavailable(_))) => Err(error),
        Err(_) => Err(Error::NotFound),
    }
}

/// Returns the expressions of a classification and of filters, and the name of the classification.
async fn expressions(
    db: &impl ConnectionTrait,
    access: &ReadableProperty,
    classification: Option<Classification>,
    filters: Option<&Filters>,
) -> Result<(Vec<Expression>, Option<String>), Error> {
    let (mut expressions, mut name) = (Vec::new(), None);
    if let Some(classification) = classification {
        let classified = classified(db, access, classification).await?;
        expressions.push(classified.expression);
        name = classified.name;
    }
    let filters = filters.map_or(&[][..], |filters| &filters.0);
    if !filters.is_empty() {
        let filters = filters.to_vec();
        expressions.push(beside(move || checked(&filters)).await??);
    }
    Ok((expressions, name))
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
