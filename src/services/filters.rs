//! Filter presets: sets of conditions that a person saved.

use api::{
    filters::{FilterPreset, FilterPresetInput},
    models::FilterCondition,
};
use chrono::{DateTime, Utc};
use entity::filter_preset::{self, Column, Entity};
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, ConnectionTrait, IntoActiveModel, ModelTrait, QueryFilter,
};
use uuid::Uuid;

use super::{
    classifications::conditions::stored_filters,
    records::{IfMatch, Others, etag, found, hold_user, trimmed},
};
use crate::{compute::beside, error::Error};

/// The most of them, and what they are called.
const ROOM: (u64, &str) = (500, "filter presets");

/// A person's presets, by name.
pub async fn list(db: &impl ConnectionTrait, user_id: Uuid) -> Result<Vec<FilterPreset>, Error> {
    let rows = Entity::of_user(user_id).all(db).await?;
    beside(move || rows.iter().map(wire).collect()).await?
}

/// Saves a preset.
pub async fn create(
    transaction: &impl ConnectionTrait,
    user_id: Uuid,
    input: FilterPresetInput,
    (id, now): (Uuid, DateTime<Utc>),
) -> Result<FilterPreset, Error> {
    let filters = stored_filters(input.filters).await?;
    hold_user(transaction, user_id).await?;
    let (key, text) = (Some((Column::NameKey, entity::key(&input.name))), Some(Column::Filters));
    let others = Others::read(transaction, Entity::of_user(user_id), key, text).await?;
    others.check_room(ROOM)?;
    others.check_bytes("filters", filters.len(), ROOM.1)?;
    others.check_name(&input.name)?;
    let row = filter_preset::ActiveModel {
        id: Set(id),
        user_id: Set(user_id),
        name: Set(trimmed(&input.name)),
        name_key: Set(entity::key(&input.name)),
        filters: Set(filters),
        created_at: Set(now),
        updated_at: Set(now),
    };
    wire(&row.insert(transaction).await?)
}

/// Replaces a preset's name and conditions.
pub async fn replace(
    transaction: &impl ConnectionTrait,
    user_id: Uuid,
    (id, if_match): (Uuid, &IfMatch),
    input: FilterPresetInput,
    now: DateTime<Utc>,
) -> Result<FilterPreset, Error> {
    hold_user(transaction, user_id).await?;
    let row = found(transaction, Entity::one_of_user(user_id, id), if_match).await?;
    let filters = stored_filters(input.filters).await?;
    let (key, text) = (Some((Column::NameKey, entity::key(&input.name))), Some(Column::Filters));
    let others = Others::read(transaction, Entity::of_user(user_id).filter(Column::Id.ne(id)), key, text).await?;
    if filters.len() > row.filters.len() {
        others.check_bytes("filters", filters.len(), ROOM.1)?;
    }
    others.check_name(&input.name)?;
    let mut row = row.into_active_model();
    row.name = Set(trimmed(&input.name));
    row.name_key = Set(entity::key(&input.name));
    row.filters = Set(filters);
    row.updated_at = Set(now);
    wire(&row.update(transaction).await?)
}

/// Deletes a preset.
pub async fn delete(
    transaction: &impl ConnectionTrait,
    user_id: Uuid,
    (id, if_match): (Uuid, &IfMatch),
) -> Result<(), Error> {
    hold_user(transaction, user_id).await?;
    found(transaction, Entity::one_of_user(user_id, id), if_match).await?.delete(transaction).await?;
    Ok(())
}

fn wire(row: &filter_preset::Model) -> Result<FilterPreset, Error> {
    let filters: Vec<FilterCondition> = serde_json::from_str(&row.filters).map_err(Error::internal)?;
    Ok(FilterPreset {
        id: row.id,
        name: row.name.clone(),
        filters,
        etag: etag(row),
        created_at: row.created_at,
        updated_at: row.updated_at,
    })
}
