//! Tags: each person's own labels on properties, in the person's own order.
//!
//! Positions count from 0 without gaps. Adding or removing a tag moves the later ones.

use std::{collections::HashSet, ops::RangeInclusive, sync::LazyLock};

use api::{
    privacy::AuditAction,
    tags::{PropertyTags, Tag, TagInput, TagUpdate, TaggedProperty},
};
use chrono::{DateTime, Utc};
use common::{compute::beside_unless, names::sites};
use entity::{
    property_tag,
    tag::{self, Column, Entity},
};
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, ExprTrait as _, FromQueryResult,
    IntoActiveModel, ModelTrait, QueryFilter, QuerySelect as _, Statement, Value, prelude::Expr,
};
use serde::Serialize;
use store::transaction::Transaction;
use uuid::Uuid;

use super::{
    access::{facts::covers, verified_email_key},
    audit::Event,
    change::{AT_ONCE, Limit, MemberChange, Others, PropertyChange, etag, insert_all, name_key, trimmed},
    properties,
    users::{self, Member},
};
use crate::error::Error;

/// The maximum number of tags of a person.
const MAX_TAGS: Limit = Limit { max: 10_000, noun: "tags" };

/// The maximum number of tags converted on the calling thread.
const FEW: usize = 200;

/// The maximum number of properties of a tag.
const MAX_PROPERTIES: u64 = 1_000;

/// Returns a person's tags, in order.
pub async fn list(db: &impl ConnectionTrait, member: &Member, now: DateTime<Utc>) -> Result<Vec<Tag>, Error> {
    let counted = counted(db, member, None, now).await?;
    Ok(beside_unless(counted.len() <= FEW, move || counted.into_iter().map(to_api).collect()).await?)
}

/// Returns one of a person's tags.
pub async fn one(db: &impl ConnectionTrait, member: &Member, id: Uuid, now: DateTime<Utc>) -> Result<Tag, Error> {
    counted(db, member, Some(id), now).await?.pop().map(to_api).ok_or(Error::NotFound)
}

/// Creates a tag at the position requested, or at the end.
pub async fn create(change: &MemberChange, input: TagInput) -> Result<Tag, Error> {
    let user_id = change.lock().await?.id;
    let same_key = Column::NameKey.eq(name_key(&input.name));
    let others = Others::read(change.tx(), Entity::of_user(user_id), Some(same_key), None).await?;
    others.check_room(MAX_TAGS)?;
    others.check_name(&input.name)?;
    let end = i32::try_from(others.count).map_err(Error::internal)?;
    let position = Ord::min(place(input.order).unwrap_or(end), end);
    if position < end {
        shift(change, position..=i32::MAX, 1).await?;
    }
    let row = tag::ActiveModel {
        id: Set(change.new_id()),
        user_id: Set(user_id),
        name: Set(trimmed(&input.name)),
        name_key: Set(name_key(&input.name)),
        position: Set(position),
        created_at: Set(change.now),
        updated_at: Set(change.now),
    };
    Ok(to_api(Counted { tag: row.insert(change.tx()).await?, carried: 0 }))
}

/// Renames a tag, moves it to another position, or both.
pub async fn update(change: &MemberChange, id: Uuid, input: TagUpdate) -> Result<Tag, Error> {
    let user_id = change.lock().await?.id;
    let row = Entity::one_of_user(user_id, id).one(change.tx()).await?.ok_or(Error::NotFound)?;
    change.check(&state(&row))?;
    if input.name.is_none() && input.order.is_none() {
        return Err(Error::invalid("body: changes nothing; send name, order or both"));
    }
    let same_key = input.name.as_deref().map(|name| Column::NameKey.eq(name_key(name)));
    let others = Entity::of_user(user_id).filter(Column::Id.ne(id));
    let others = Others::read(change.tx(), others, same_key, None).await?;
    if let Some(name) = &input.name {
        others.check_name(name)?;
    }
    let last = i32::try_from(others.count).map_err(Error::internal)?;
    let (from, to) = (row.position, place(input.order).map_or(row.position, |place| Ord::min(place, last)));
    if to < from {
        shift(change, to..=from - 1, 1).await?;
    } else if to > from {
        shift(change, from + 1..=to, -1).await?;
    }
    let mut row = row.into_active_model();
    if let Some(name) = input.name {
        row.name = Set(trimmed(&name));
        row.name_key = Set(name_key(&name));
    }
    row.position = Set(to);
    row.updated_at = Set(change.now);
    let tag = row.update(change.tx()).await?;
    let carried = counted(change.tx(), &change.by, Some(id), change.now).await?.pop().map_or(0, |tag| tag.carried);
    Ok(to_api(Counted { tag, carried }))
}

/// Deletes a tag. Its properties are kept.
pub async fn delete(change: &MemberChange, id: Uuid) -> Result<(), Error> {
    let user_id = change.lock().await?.id;
    let row = Entity::one_of_user(user_id, id).one(change.tx()).await?.ok_or(Error::NotFound)?;
    change.check(&state(&row))?;
    let position = row.position;
    change.note(Event::own(user_id, AuditAction::TagDeleted).record(&row.name)).await?;
    row.delete(change.tx()).await?;
    shift(change, position + 1..=i32::MAX, -1).await
}

/// Returns the properties with a tag that the person can see, by site.
pub async fn properties(
    db: &impl ConnectionTrait,
    member: &Member,
    id: Uuid,
    now: DateTime<Utc>,
) -> Result<Vec<TaggedProperty>, Error> {
    Entity::one_of_user(member.user.id, id).one(db).await?.ok_or(Error::NotFound)?;
    let carrying = property_tag::Entity::find().filter(property_tag::Column::TagId.eq(id)).all(db).await?;
    let carrying: HashSet<Uuid> = carrying.into_iter().map(|row| row.property_id).collect();
    let visible = properties::visible_sites(db, member, now).await?;
    let mut tagged: Vec<TaggedProperty> = visible
        .into_iter()
        .filter(|site| carrying.contains(&site.id))
        .map(|site| TaggedProperty { id: site.id, name: sites::name(&site.site_url), site_url: site.site_url })
        .collect();
    tagged.sort_by(|a, b| (&a.name, &a.site_url, a.id).cmp(&(&b.name, &b.site_url, b.id)));
    Ok(tagged)
}

/// Sets the properties of a tag to exactly the given ones, or changes nothing.
///
/// # Errors
/// [`Error::NotFound`] if the tag is not the person's; [`Error::NoSuch`] if the person cannot see one of the properties.
pub async fn replace_properties(
    change: &MemberChange,
    id: Uuid,
    wanted: &[Uuid],
) -> Result<Vec<TaggedProperty>, Error> {
    let user_id = change.lock().await?.id;
    Entity::one_of_user(user_id, id).one(change.tx()).await?.ok_or(Error::NotFound)?;
    let visible = properties::visible_sites(change.tx(), &change.by, change.now).await?;
    let visible: HashSet<Uuid> = visible.into_iter().map(|site| site.id).collect();
    Error::check_named("propertyIds", wanted, &visible, "the properties that you can see")?;
    property_tag::Entity::delete_many().filter(property_tag::Column::TagId.eq(id)).exec(change.tx()).await?;
    attach(change.tx(), wanted.iter().map(|property| (id, *property))).await?;
    self::properties(change.tx(), &change.by, id, change.now).await
}

/// Sets the caller's tags on a property to exactly the given ones, or changes nothing.
///
/// # Errors
/// [`Error::NoSuch`] if one of the tags is not the caller's.
pub async fn replace_of_property(change: &PropertyChange, wanted: &[Uuid]) -> Result<PropertyTags, Error> {
    let (user_id, property) = (change.by.user_id(), change.by.property().id);
    users::lock(change.tx(), user_id).await?;
    let own: Vec<Uuid> = Entity::of_user(user_id).all(change.tx()).await?.into_iter().map(|row| row.id).collect();
    Error::check_named("tagIds", wanted, &own.iter().copied().collect(), "your tags")?;
    let wanted: HashSet<Uuid> = wanted.iter().copied().collect();
    let tag_ids: Vec<Uuid> = own.iter().copied().filter(|tag| wanted.contains(tag)).collect();
    property_tag::Entity::delete_many()
        .filter(property_tag::Column::PropertyId.eq(property))
        .filter(property_tag::Column::TagId.in_subquery(own_tags(user_id)))
        .exec(change.tx())
        .await?;
    attach(change.tx(), tag_ids.iter().map(|tag| (*tag, property))).await?;
    check_not_full(change.tx(), &tag_ids).await?;
    Ok(PropertyTags { id: property, tag_ids })
}

/// Fails if a tag is on more properties than [`MAX_PROPERTIES`].
async fn check_not_full(tx: &Transaction, tag_ids: &[Uuid]) -> Result<(), Error> {
    use property_tag::Column::{PropertyId, TagId};
    for tag_ids in tag_ids.chunks(AT_ONCE) {
        let carried = property_tag::Entity::find().select_only().column(TagId).filter(TagId.is_in(tag_ids.to_vec()));
        let full = carried.group_by(TagId).having(PropertyId.count().gt(MAX_PROPERTIES));
        if let Some(tag) = full.into_tuple::<Uuid>().one(tx).await? {
            return Err(Error::invalid(format!(
                "tagIds: {tag} is already on {MAX_PROPERTIES} properties, the maximum"
            )));
        }
    }
    Ok(())
}

fn own_tags(user_id: Uuid) -> sea_orm::sea_query::SelectStatement {
    let mut own = sea_orm::sea_query::Query::select();
    own.column(Column::Id).from(Entity).and_where(Column::UserId.eq(user_id)).take()
}

async fn attach(tx: &Transaction, pairs: impl Iterator<Item = (Uuid, Uuid)>) -> Result<(), Error> {
    let row = |(tag_id, property_id)| property_tag::ActiveModel { tag_id: Set(tag_id), property_id: Set(property_id) };
    insert_all(tx, pairs.map(row).collect()).await
}

/// Moves the tags between two positions, both inclusive.
async fn shift(change: &MemberChange, places: RangeInclusive<i32>, by: i32) -> Result<(), Error> {
    let moved = Expr::col(Column::Position).add(by);
    let between = Column::Position.between(*places.start(), *places.end());
    let update = Entity::update_many().col_expr(Column::Position, moved);
    update.filter(Column::UserId.eq(change.by.user.id)).filter(between).exec(change.tx()).await?;
    Ok(())
}

fn place(order: Option<u32>) -> Option<i32> {
    order.map(|order| i32::try_from(order).unwrap_or(i32::MAX))
}

/// Selects a person's (`$1`) tags, each with the number of its properties that the person can see: their own, and those of a grant
/// to the person's verified e-mail address (`$2`). The rule is that of [`properties::visible`].
static COUNTED: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT t.*, (SELECT count(*) FROM property_tag c JOIN property p ON p.id = c.property_id AND p.tracked \
         LEFT JOIN team_grant g ON g.owner_id = p.user_id AND g.email_key = $2 \
         WHERE c.tag_id = t.id AND (p.user_id = $1 OR {})) AS carried FROM tag t WHERE t.user_id = $1",
        covers("g", "p.id")
    )
});

/// A tag and the number of its properties that the person can see.
#[derive(Debug, FromQueryResult)]
struct Counted {
    #[sea_orm(nested)]
    tag: tag::Model,
    carried: i64,
}

/// Returns a person's tags, or the one with this id, in order.
async fn counted(
    db: &impl ConnectionTrait,
    member: &Member,
    id: Option<Uuid>,
    now: DateTime<Utc>,
) -> Result<Vec<Counted>, Error> {
    let user = &member.user;
    let email_key = verified_email_key(user, now).unwrap_or_default();
    let one = if id.is_some() { " AND t.id = $3" } else { "" };
    let values: Vec<Value> = [user.id.into(), email_key.into()].into_iter().chain(id.map(Value::from)).collect();
    let sql = format!("{}{one} ORDER BY t.position, t.name_key", *COUNTED);
    let ask = Statement::from_sql_and_values(db.get_database_backend(), sql, values);
    Ok(Counted::find_by_statement(ask).all(db).await?)
}

/// Returns the state that `If-Match` covers. It excludes the position, which changes when other tags move.
fn state(row: &tag::Model) -> impl Serialize {
    (row.id, &row.name, row.created_at, row.updated_at)
}

fn to_api(Counted { tag, carried }: Counted) -> Tag {
    let etag = etag(&state(&tag));
    Tag {
        id: tag.id,
        etag,
        name: tag.name,
        order: u32::try_from(tag.position).unwrap_or_default(),
        rows_matched: u64::try_from(carried).unwrap_or_default(),
        created_at: tag.created_at.into(),
        updated_at: tag.updated_at.into(),
    }
}
