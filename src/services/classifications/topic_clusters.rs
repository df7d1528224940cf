//! Topic clusters: saved classifications of queries.

use api::{
    classifications::{TopicCluster, TopicClusterInput},
    models::FilterDimension,
};
use chrono::{DateTime, Utc};
use entity::topic_cluster::{self, Column, Entity};
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
        records::{IfMatch, Others, etag, found, trimmed},
    },
};

/// The most of them, and what they are called.
const ROOM: (u64, &str) = (500, "topic clusters of the property");

/// What the conditions of a topic cluster are about.
const DIMENSION: FilterDimension = FilterDimension::Query;

/// A property's topic clusters, by name.
pub async fn list(db: &impl ConnectionTrait, access: &PropertyAccess) -> Result<Vec<TopicCluster>, Error> {
    let rows = Entity::of_property(access.property().id).all(db).await?;
    beside(move || rows.iter().map(wire).collect()).await?
}

/// Saves a topic cluster.
pub async fn create(
    transaction: &impl ConnectionTrait,
    access: &PropertyAccess,
    input: TopicClusterInput,
    (id, now): (Uuid, DateTime<Utc>),
) -> Result<TopicCluster, Error> {
    let conditions = conditions::stored(DIMENSION, input.conditions).await?;
    let property_id = access.hold(transaction).await?;
    let (key, text) = (Some((Column::NameKey, entity::key(&input.name))), Some(Column::Conditions));
    let others = Others::read(transaction, Entity::of_property(property_id), key, text).await?;
    others.check_room(ROOM)?;
    others.check_bytes("conditions", conditions.len(), ROOM.1)?;
    others.check_name(&input.name)?;
    let row = topic_cluster::ActiveModel {
        id: Set(id),
        property_id: Set(property_id),
        name: Set(trimmed(&input.name)),
        name_key: Set(entity::key(&input.name)),
        color: Set(input.color),
        conditions: Set(conditions),
        created_at: Set(now),
        updated_at: Set(now),
    };
    wire(&row.insert(transaction).await?)
}

/// Replaces a topic cluster.
pub async fn replace(
    transaction: &impl ConnectionTrait,
    access: &PropertyAccess,
    (id, if_match): (Uuid, &IfMatch),
    input: TopicClusterInput,
    now: DateTime<Utc>,
) -> Result<TopicCluster, Error> {
    let property_id = access.hold(transaction).await?;
    let row = found(transaction, Entity::one_of_property(property_id, id), if_match).await?;
    let conditions = conditions::stored(DIMENSION, input.conditions).await?;
    let (key, text) = (Some((Column::NameKey, entity::key(&input.name))), Some(Column::Conditions));
    let others = Entity::of_property(property_id).filter(Column::Id.ne(id));
    let others = Others::read(transaction, others, key, text).await?;
    if conditions.len() > row.conditions.len() {
        others.check_bytes("conditions", conditions.len(), ROOM.1)?;
    }
    others.check_name(&input.name)?;
    let mut row = row.into_active_model();
    row.name = Set(trimmed(&input.name));
    row.name_key = Set(entity::key(&input.name));
    row.color = Set(input.color);
    row.conditions = Set(conditions);
    row.updated_at = Set(now);
    wire(&row.update(transaction).await?)
}

/// Deletes a topic cluster.
pub async fn delete(
    transaction: &impl ConnectionTrait,
    access: &PropertyAccess,
    (id, if_match): (Uuid, &IfMatch),
) -> Result<(), Error> {
    let property_id = access.hold(transaction).await?;
    found(transaction, Entity::one_of_property(property_id, id), if_match).await?.delete(transaction).await?;
    Ok(())
}

fn wire(row: &topic_cluster::Model) -> Result<TopicCluster, Error> {
    Ok(TopicCluster {
        id: row.id,
        name: row.name.clone(),
        color: row.color.clone(),
        conditions: conditions::wire(&row.conditions)?,
        etag: etag(row),
        created_at: row.created_at,
        updated_at: row.updated_at,
    })
}
