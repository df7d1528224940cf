//! Filter presets: sets of conditions that a person saved.

use api::{
    filters::{FilterPreset, FilterPresetInput},
    models::FilterCondition,
    privacy::AuditAction,
};
use common::compute::beside;
use entity::filter_preset::{self, Column, Entity};
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, ConnectionTrait, IntoActiveModel, ModelTrait, QueryFilter,
};
use uuid::Uuid;

use super::{
    audit::Event,
    change::{Limit, MemberChange, Others, etag, name_key, trimmed},
    classifications::conditions::stored_filters,
    users::Member,
};
use crate::error::Error;

/// The maximum number of filter presets of a person.
const MAX_PRESETS: Limit = Limit { max: 500, noun: "filter presets" };

/// Returns a person's presets, by name.
pub async fn list(db: &impl ConnectionTrait, member: &Member) -> Result<Vec<FilterPreset>, Error> {
    let rows = Entity::of_user(member.user.id).all(db).await?;
    beside(move || rows.iter().map(to_api).collect()).await?
}

/// Returns one of a person's presets.
pub async fn one(db: &impl ConnectionTrait, member: &Member, id: Uuid) -> Result<FilterPreset, Error> {
    to_api(&Entity::one_of_user(member.user.id, id).one(db).await?.ok_or(Error::NotFound)?)
}

/// Saves a preset.
pub async fn create(change: &MemberChange, input: FilterPresetInput) -> Result<FilterPreset, Error> {
    let filters = stored_filters(input.filters).await?;
    let user_id = change.lock().await?.id;
    let same_key = Column::NameKey.eq(name_key(&input.name));
    let others = Entity::of_user(user_id);
    let others = Others::read(change.tx(), others, Some(same_key), Some(Column::Filters)).await?;
    others.check_room(MAX_PRESETS)?;
    others.check_bytes("filters", filters.len(), MAX_PRESETS)?;
    others.check_name(&input.name)?;
    let row = filter_preset::ActiveModel {
        id: Set(change.new_id()),
        user_id: Set(user_id),
        name: Set(trimmed(&input.name)),
        name_key: Set(name_key(&input.name)),
        filters: Set(filters),
        created_at: Set(change.now),
        updated_at: Set(change.now),
    };
    to_api(&row.insert(change.tx()).await?)
}

/// Replaces a preset's name and conditions.
pub async fn replace(change: &MemberChange, id: Uuid, input: FilterPresetInput) -> Result<FilterPreset, Error> {
    let user_id = change.lock().await?.id;
    let row = change.current(Entity::one_of_user(user_id, id)).await?;
    let filters = stored_filters(input.filters).await?;
    let same_key = Column::NameKey.eq(name_key(&input.name));
    let others = Entity::of_user(user_id).filter(Column::Id.ne(id));
    let others = Others::read(change.tx(), others, Some(same_key), Some(Column::Filters)).await?;
    if filters.len() > row.filters.len() {
        others.check_bytes("filters", filters.len(), MAX_PRESETS)?;
    }
    others.check_name(&input.name)?;
    let mut row = row.into_active_model();
    row.name = Set(trimmed(&input.name));
    row.name_key = Set(name_key(&input.name));
    row.filters = Set(filters);
    row.updated_at = Set(change.now);
    to_api(&row.update(change.tx()).await?)
}

/// Deletes a preset.
pub async fn delete(change: &MemberChange, id: Uuid) -> Result<(), Error> {
    let user_id = change.lock().await?.id;
    let row = change.current(Entity::one_of_user(user_id, id)).await?;
    let event = Event::own(user_id, AuditAction::FilterPresetDeleted).record(&row.name);
    row.delete(change.tx()).await?;
    change.note(event).await
}

pub(super) fn to_api(row: &filter_preset::Model) -> Result<FilterPreset, Error> {
    let filters: Vec<FilterCondition> = serde_json::from_str(&row.filters).map_err(Error::internal)?;
    Ok(FilterPreset {
        id: row.id,
        name: row.name.clone(),
        filters,
        etag: etag(row),
        created_at: row.created_at.into(),
        updated_at: row.updated_at.into(),
    })
}
