//! Branded keywords, segments and topic clusters, as predicates over search data.

use api::{
    models::{Classification, FilterCondition, Filters, Slice},
    sharing::PinnedClassification,
};
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

const NO_KEYWORDS: &str =
    "classification: the property has no branded keywords; add some at /api/properties/{id}/branded-keywords";

/// Returns the predicate of a slice and the name of its classification. A share link's own conditions, the classification and the
/// filters are each in brackets.
pub async fn of(
    db: &impl ConnectionTrait,
    access: &ReadableProperty,
    slice: &Slice,
) -> Result<(Predicate, Option<String>), Error> {
    let mut predicate = pinned(db, access).await?;
    let mut name = None;
    if let Some(classification) = slice.classification {
        let (meaning, named) = meaning(db, access.property().id, classification).await?;
        predicate.expressions.push(expression(classification, &meaning)?);
        name = named;
    }
    predicate.expressions.extend(of_filters(slice.filters.as_ref()).await?);
    Ok((predicate, name))
}

/// Returns the predicate of the conditions by which a share link narrows every question.
///
/// # Errors
/// [`Error::NotFound`], as for an unknown link, if the link is not yet pinned and its classification is gone.
pub async fn pinned(db: &impl ConnectionTrait, access: &ReadableProperty) -> Result<Predicate, Error> {
    let Some(view) = access.view().filter(|view| view.narrows()) else { return Ok(Predicate::default()) };
    let expressions = async {
        let classified = match (view.classification, &view.pinned) {
            (Some(classification), Some(pinned)) => Some(expression(classification, pinned)?),
            (Some(classification), None) => {
                Some(expression(classification, &meaning(db, access.property().id, classification).await?.0)?)
            }
            (None, _) => None,
        };
        Ok(classified.into_iter().chain(of_filters(view.filters.as_ref()).await?).collect::<Vec<_>>())
    };
    match expressions.await {
        Ok(expressions) => Ok(Predicate { kept: expressions.len(), ..Predicate::of(expressions) }),
        Err(error @ (Error::Internal(_) | Error::Overloaded(_) | Error::DatabaseUnavailable(_))) => Err(error),
        Err(_) => Err(Error::NotFound),
    }
}

/// Returns the expression of filters, if there are any.
async fn of_filters(filters: Option<&Filters>) -> Result<Option<Expression>, Error> {
    let Some(filters) = filters.filter(|filters| !filters.0.is_empty()) else { return Ok(None) };
    let filters = filters.0.clone();
    Ok(Some(beside(move || checked(&filters)).await??))
}

/// Validates filters. This takes time, because it parses regular expressions.
fn checked(filters: &[FilterCondition]) -> Result<Expression, Error> {
    for (index, condition) in filters.iter().enumerate() {
        filter::check(condition)
            .map_err(|allowed| Error::invalid(format!("filters: condition {}: {allowed}", index + 1)))?;
    }
    Ok(Expression::of(filters))
}

/// Returns what a classification of the property stands for now, and its name if it has one.
///
/// # Errors
/// There is no such record.
pub async fn meaning(
    db: &impl ConnectionTrait,
    property: Uuid,
    classification: Classification,
) -> Result<(PinnedClassification, Option<String>), Error> {
    match classification {
        Classification::Branded | Classification::NonBranded => {
            let keywords = keywords(db, property).await?;
            if keywords.is_empty() {
                return Err(Error::invalid(NO_KEYWORDS));
            }
            Ok((PinnedClassification { conditions: None, keywords: Some(keywords) }, None))
        }
        Classification::Segment(id) => saved(db, property, Kind::Segment, id).await,
        Classification::TopicCluster(id) => saved(db, property, Kind::TopicCluster, id).await,
    }
}

/// Returns the expression of what a classification stands for.
fn expression(classification: Classification, meaning: &PinnedClassification) -> Result<Expression, Error> {
    let one = |condition| Expression(vec![vec![condition]]);
    let brand = || brand_of(meaning.keywords.as_deref().unwrap_or_default());
    let kind = match classification {
        Classification::Branded => return Ok(one(Condition::Branded(brand()?))),
        Classification::NonBranded => return Ok(one(Condition::NonBranded(brand()?))),
        Classification::Segment(_) => Kind::Segment,
        Classification::TopicCluster(_) => Kind::TopicCluster,
    };
    let conditions = conditions::on(dimension(kind), meaning.conditions.as_deref().unwrap_or_default());
    if conditions.is_empty() {
        return Err(Error::internal("a stored classification without conditions"));
    }
    Ok(Expression::of(&conditions))
}

async fn keywords(db: &impl ConnectionTrait, property: Uuid) -> Result<Vec<String>, Error> {
    let keywords = branded_keyword::Entity::of_property(property).all(db).await?;
    Ok(keywords.into_iter().map(|row| row.keyword).collect())
}

fn brand_of(keywords: &[String]) -> Result<String, Error> {
    brand::expression(keywords).ok_or_else(|| {
        Error::FilterTooComplex("classification: the expression of the branded keywords is too long".to_owned())
    })
}

/// Returns the expression that matches the property's branded queries, or `None` if the property has no branded keywords.
pub async fn brand(db: &impl ConnectionTrait, access: &ReadableProperty) -> Result<Option<String>, Error> {
    let keywords = keywords(db, access.property().id).await?;
    (!keywords.is_empty()).then(|| brand_of(&keywords)).transpose()
}

/// Returns the conditions and the name of a segment or topic cluster of the property.
async fn saved(
    db: &impl ConnectionTrait,
    property: Uuid,
    kind: Kind,
    id: Uuid,
) -> Result<(PinnedClassification, Option<String>), Error> {
    let Some(found) = classification::Entity::one_of_property(property, kind, id).one(db).await? else {
        let what = match kind {
            Kind::Segment => "segment",
            Kind::TopicCluster => "topic cluster",
        };
        return Err(Error::NoSuch { hint: format!("classification: the property has no {what} with this id") });
    };
    let conditions = Some(conditions::from_stored(&found.conditions)?);
    Ok((PinnedClassification { conditions, keywords: None }, Some(found.name)))
}
