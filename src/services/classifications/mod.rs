//! The classifications of a property: segments of pages, topic clusters of queries, and branded keywords.
//!
//! Segments and topic clusters differ in the dimension of their conditions only, so one piece of code stores both.

pub mod branded_keywords;
pub mod conditions;
pub mod names;

use api::{
    classifications::{
        ClassificationCondition, ClassificationPreviewInput, Segment, SegmentInput, TopicCluster, TopicClusterInput,
    },
    models::{Dimension, Name},
    privacy::AuditAction,
};
use common::compute::beside;
use entity::classification::{self, Column, Entity, Kind};
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, ConnectionTrait, IntoActiveModel, ModelTrait, QueryFilter,
};
use search_engine::Expression;
use uuid::Uuid;

use super::{
    access::{Authors, PropertyAccess},
    audit::Event,
    change::{Limit, Others, PropertyChange, etag, name_key, trimmed},
};
use crate::error::Error;

/// A classification as the API shows it: a [`Segment`] or a [`TopicCluster`].
pub trait Shown: Sized + Send + 'static {
    /// Its kind.
    const KIND: Kind;

    /// Returns the record with its parsed conditions and the name of its author.
    fn of(row: &classification::Model, conditions: Vec<ClassificationCondition>, created_by: Option<String>) -> Self;
}

/// The content of a classification.
#[derive(Debug)]
pub struct Content {
    name: Name,
    color: Option<String>,
    conditions: Vec<ClassificationCondition>,
}

/// Returns a property's classifications of one kind, by name.
pub async fn list<C: Shown>(db: &impl ConnectionTrait, access: &PropertyAccess) -> Result<Vec<C>, Error> {
    let rows = Entity::of_property(access.property().id, C::KIND).all(db).await?;
    let authors = access.authors(db, rows.iter().map(|row| row.created_by).collect()).await?;
    beside(move || rows.iter().map(|row| shown(row, &authors)).collect()).await?
}

/// Returns one of a property's classifications.
pub async fn one<C: Shown>(db: &impl ConnectionTrait, access: &PropertyAccess, id: Uuid) -> Result<C, Error> {
    let row = Entity::one_of_property(access.property().id, C::KIND, id).one(db).await?.ok_or(Error::NotFound)?;
    let authors = access.authors(db, vec![row.created_by]).await?;
    shown(&row, &authors)
}

/// Saves a classification.
pub async fn create<C: Shown>(change: &PropertyChange, content: impl Into<Content>) -> Result<C, Error> {
    let content = content.into();
    let conditions = conditions::stored(dimension(C::KIND), content.conditions).await?;
    let property_id = change.lock().await?;
    check_place::<C>(change.tx(), property_id, &content.name, &conditions, None).await?;
    let row = classification::ActiveModel {
        id: Set(change.new_id()),
        property_id: Set(property_id),
        created_by: Set(Some(change.by.user_id())),
        kind: Set(C::KIND),
        name: Set(trimmed(&content.name)),
        name_key: Set(name_key(&content.name)),
        color: Set(content.color),
        conditions: Set(conditions),
        created_at: Set(change.now),
        updated_at: Set(change.now),
    };
    written(change, &row.insert(change.tx()).await?).await
}

/// Replaces a classification.
pub async fn replace<C: Shown>(change: &PropertyChange, id: Uuid, content: impl Into<Content>) -> Result<C, Error> {
    let content = content.into();
    let property_id = change.lock().await?;
    let row = change.current(Entity::one_of_property(property_id, C::KIND, id)).await?;
    let conditions = conditions::stored(dimension(C::KIND), content.conditions).await?;
    check_place::<C>(change.tx(), property_id, &content.name, &conditions, Some(&row)).await?;
    let mut row = row.into_active_model();
    row.name = Set(trimmed(&content.name));
    row.name_key = Set(name_key(&content.name));
    row.color = Set(content.color);
    row.conditions = Set(conditions);
    row.updated_at = Set(change.now);
    written(change, &row.update(change.tx()).await?).await
}

/// Returns the matches of a classification with these conditions, or fails if they could not be saved.
pub async fn preview<C: Shown>(input: ClassificationPreviewInput) -> Result<Expression, Error> {
    let expression = Expression::of(&conditions::on(dimension(C::KIND), &input.conditions));
    conditions::stored(dimension(C::KIND), input.conditions).await?;
    Ok(expression)
}

/// Fails if the property has no room for a classification, or has another one of its name. `replaced` is the record whose place
/// it takes.
async fn check_place<C: Shown>(
    db: &impl ConnectionTrait,
    property_id: Uuid,
    name: &str,
    conditions: &str,
    replaced: Option<&classification::Model>,
) -> Result<(), Error> {
    let same_key = Column::NameKey.eq(name_key(name));
    let mut others = Entity::of_property(property_id, C::KIND);
    if let Some(row) = replaced {
        others = others.filter(Column::Id.ne(row.id));
    }
    let others = Others::read(db, others, Some(same_key), Some(Column::Conditions)).await?;
    if replaced.is_none() {
        others.check_room(limit(C::KIND))?;
    }
    if replaced.is_none_or(|row| conditions.len() > row.conditions.len()) {
        others.check_bytes("conditions", conditions.len(), limit(C::KIND))?;
    }
    others.check_name(name)
}

/// Deletes a classification.
pub async fn delete<C: Shown>(change: &PropertyChange, id: Uuid) -> Result<(), Error> {
    let property_id = change.lock().await?;
    let row = change.current(Entity::one_of_property(property_id, C::KIND, id)).await?;
    let action = match C::KIND {
        Kind::Segment => AuditAction::SegmentDeleted,
        Kind::TopicCluster => AuditAction::TopicClusterDeleted,
    };
    let event = Event::on(&change.by, action).record(&row.name);
    row.delete(change.tx()).await?;
    change.note(event).await
}

/// The dimension of the conditions of a kind.
#[must_use]
pub fn dimension(kind: Kind) -> Dimension {
    match kind {
        Kind::Segment => Dimension::Page,
        Kind::TopicCluster => Dimension::Query,
    }
}

/// The maximum number of classifications of a kind per property.
fn limit(kind: Kind) -> Limit {
    let noun = match kind {
        Kind::Segment => "segments of the property",
        Kind::TopicCluster => "topic clusters of the property",
    };
    Limit { max: 500, noun }
}

async fn written<C: Shown>(change: &PropertyChange, row: &classification::Model) -> Result<C, Error> {
    shown(row, &change.by.authors(change.tx(), vec![row.created_by]).await?)
}

pub(in crate::services) fn shown<C: Shown>(row: &classification::Model, authors: &Authors) -> Result<C, Error> {
    Ok(C::of(row, conditions::from_stored(&row.conditions)?, authors.name(row.created_by)))
}

macro_rules! shown_as {
    ($shown:ident, $input:ident, $kind:expr) => {
        impl Shown for $shown {
            const KIND: Kind = $kind;

            fn of(
                row: &classification::Model,
                conditions: Vec<ClassificationCondition>,
                created_by: Option<String>,
            ) -> Self {
                Self {
                    id: row.id,
                    name: row.name.clone(),
                    color: row.color.clone(),
                    conditions,
                    created_by,
                    etag: etag(row),
                    created_at: row.created_at.into(),
                    updated_at: row.updated_at.into(),
                }
            }
        }

        impl From<$input> for Content {
            fn from(input: $input) -> Self {
                let $input { name, color, conditions } = input;
                Self { name, color, conditions }
            }
        }
    };
}

shown_as!(Segment, SegmentInput, Kind::Segment);
shown_as!(TopicCluster, TopicClusterInput, Kind::TopicCluster);
