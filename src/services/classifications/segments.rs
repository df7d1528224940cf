//! Segments: saved classifications of pages.

use api::{
    classifications::{Segment, SegmentInput},
    models::FilterDimension,
};
use entity::segment::{self, Column, Entity};
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, ConnectionTrait, IntoActiveModel, ModelTrait, QueryFilter,
};
use uuid::Uuid;

use super::conditions;
use crate::{
    compute::beside,
    error::Error,
    services::{
        access::PropertyAccess,
        change::{Limit, Others, PropertyChange, etag, trimmed},
    },
};

/// The maximum number of segments of a property.
const MAX_SEGMENTS: Limit = Limit { max: 500, noun: "segments of the property" };

/// The dimension of a segment's conditions.
const DIMENSION: FilterDimension = FilterDimension::Page;

/// Returns a property's segments, by name.
pub async fn list(db: &impl ConnectionTrait, access: &PropertyAccess) -> Result<Vec<Segment>, Error> {
    let rows = Entity::of_property(access.property().id).all(db).await?;
    beside(move || rows.iter().map(to_api).collect()).await?
}

/// Saves a segment.
pub async fn create(change: &PropertyChange, input: SegmentInput) -> Result<Segment, Error> {
    let conditions = conditions::stored(DIMENSION, input.conditions).await?;
    let property_id = change.lock().await?;
    let same_key = Column::NameKey.eq(entity::key(&input.name));
    let others = Entity::of_property(property_id);
    let others = Others::read(change.tx(), others, Some(same_key), Some(Column::Conditions)).await?;
    others.check_room(MAX_SEGMENTS)?;
    others.check_bytes("conditions", conditions.len(), MAX_SEGMENTS)?;
    others.check_name(&input.name)?;
    let row = segment::ActiveModel {
        id: Set(change.new_id()),
        property_id: Set(property_id),
        name: Set(trimmed(&input.name)),
        name_key: Set(entity::key(&input.name)),
        color: Set(input.color),
        conditions: Set(conditions),
        created_at: Set(change.now),
        updated_at: Set(change.now),
    };
    to_api(&row.insert(change.tx()).await?)
}

/// Replaces a segment.
pub async fn replace(change: &PropertyChange, id: Uuid, input: SegmentInput) -> Result<Segment, Error> {
    let property_id = change.lock().await?;
    let row = change.current(Entity::one_of_property(property_id, id)).await?;
    let conditions = conditions::stored(DIMENSION, input.conditions).await?;
    let same_key = Column::NameKey.eq(entity::key(&input.name));
    let others = Entity::of_property(property_id).filter(Column::Id.ne(id));
    let others = Others::read(change.tx(), others, Some(same_key), Some(Column::Conditions)).await?;
    if conditions.len() > row.conditions.len() {
        others.check_bytes("conditions", conditions.len(), MAX_SEGMENTS)?;
    }
    others.check_name(&input.name)?;
    let mut row = row.into_active_model();
    row.name = Set(trimmed(&input.name));
    row.name_key = Set(entity::key(&input.name));
    row.color = Set(input.color);
    row.conditions = Set(conditions);
    row.updated_at = Set(change.now);
    to_api(&row.update(change.tx()).await?)
}

/// Deletes a segment.
pub async fn delete(change: &PropertyChange, id: Uuid) -> Result<(), Error> {
    let property_id = change.lock().await?;
    change.current(Entity::one_of_property(property_id, id)).await?.delete(change.tx()).await?;
    Ok(())
}

fn to_api(row: &segment::Model) -> Result<Segment, Error> {
    Ok(Segment {
        id: row.id,
        name: row.name.clone(),
        color: row.color.clone(),
        conditions: conditions::from_stored(&row.conditions)?,
        etag: etag(row),
        created_at: row.created_at,
        updated_at: row.updated_at,
    })
}
