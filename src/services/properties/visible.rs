//! The tracked properties that a person can see: their own, and those that a grant to their verified e-mail address covers.
//!
//! The grant is part of the join, so no property of an owner is read that the person does not see. Owners and search accounts are few, and
//! are read once each.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, LazyLock},
};

use api::models::Role;
use chrono::{DateTime, Utc};
use common::names::sites;
use entity::{property, property_preference, property_tag, search_account, tag, team_grant, user};
use sea_orm::{
    ColumnTrait as _, ConnectionTrait, DbErr, EntityTrait as _, FromQueryResult, QueryFilter as _, QueryOrder as _,
    QueryResult, QuerySelect as _, Statement,
};
use uuid::Uuid;

use crate::{
    config::Config,
    error::{Error, Lack, Responsible},
    services::{
        access::{PropertyAccess, facts::columns, responsible, role_of, shown, verified_email_key},
        users::{Member, plans::Entitlement},
    },
};

/// A tracked property in a person's list.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedProperty {
    /// The property.
    pub property: property::Model,
    /// The person's role on it.
    pub role: Role,
    /// True if the person marked it as a favourite.
    pub favorite: bool,
    /// True if the person hid it.
    pub hidden: bool,
    /// The person's tags on it, in the person's order.
    pub tag_ids: Vec<Uuid>,
    /// The reason why its owner's plan does not open it to the person, if so.
    pub lack: Option<Lack>,
    /// The search account whose grant reads it.
    pub account: Arc<search_account::Model>,
    /// The person whose plan and search account it uses.
    pub responsible: Responsible,
    /// The name of the owner as the team shows it, if it is not the person.
    pub owner_name: Option<String>,
    /// The verified e-mail address of the owner, if it is not the person.
    pub owner_email: Option<String>,
}

impl ListedProperty {
    /// Returns a property to which the person has access, as the list has it. Executes two statements.
    ///
    /// # Errors
    /// The database cannot answer.
    pub async fn admitted(db: &impl ConnectionTrait, access: &PropertyAccess) -> Result<Self, DbErr> {
        let (person, property) = (access.user_id(), access.property().id);
        let marks = property_preference::Entity::find_by_id((person, property)).one(db).await?;
        let mut tags = tags_of(db, person, Some(property)).await?;
        Ok(Self {
            favorite: marks.as_ref().is_some_and(|marks| marks.favorite),
            hidden: marks.is_some_and(|marks| marks.hidden),
            tag_ids: tags.remove(&property).unwrap_or_default(),
            ..Self::unmarked(access)
        })
    }

    /// Returns a property to which the person has access, without the person's marks and tags.
    #[must_use]
    pub fn unmarked(access: &PropertyAccess) -> Self {
        let (owner_name, owner_email) = access.shown_owner();
        Self {
            property: access.property().clone(),
            role: access.role(),
            favorite: false,
            hidden: false,
            tag_ids: Vec::new(),
            lack: None,
            account: access.account().clone(),
            responsible: access.responsible(),
            owner_name: owner_name.map(str::to_owned),
            owner_email: owner_email.map(str::to_owned),
        }
    }
}

/// Returns the tracked properties that a person can see: favourites first, then by site.
///
/// # Errors
/// The database cannot answer.
pub async fn visible(
    db: &impl ConnectionTrait,
    config: &Config,
    member: &Member,
    now: DateTime<Utc>,
) -> Result<Vec<ListedProperty>, Error> {
    let user = &member.user;
    let found = rows(db, &VISIBLE, member, now).await?;
    let found: Vec<Found> = found.iter().map(Found::of).collect::<Result<_, DbErr>>()?;
    let owners = Owners::of(db, config, user, &found, now).await?;
    let accounts = accounts(db, &found).await?;
    let mut tags = tags_of(db, user.id, None).await?;
    let mut listed: Vec<_> = found
        .into_iter()
        .filter_map(|found| {
            let property = found.property;
            // An owner or an account that was deleted in between has no property any more.
            let owner = owners.known.get(&property.user_id)?;
            let account = accounts.get(&property.account_id)?.clone();
            Some(ListedProperty {
                role: found.role,
                favorite: found.favorite,
                hidden: found.hidden,
                tag_ids: tags.remove(&property.id).unwrap_or_default(),
                lack: owner.entitlement.lack(found.role != Role::Owner, owners.longer(property.id)),
                account,
                responsible: owner.responsible.clone(),
                owner_name: owner.name.clone(),
                owner_email: owner.email.clone(),
                property,
            })
        })
        .collect();
    listed.sort_by_cached_key(|listed| usual_order(listed.favorite, &listed.property.site_url, listed.property.id));
    Ok(listed)
}

/// Favourites first, then by site.
fn usual_order(favorite: bool, site_url: &str, id: Uuid) -> (bool, String, String, Uuid) {
    (!favorite, sites::name(site_url), site_url.to_owned(), id)
}

/// A tracked property that a person can see, by what it is called.
#[derive(Debug, FromQueryResult)]
pub struct VisibleSite {
    /// The id of the property.
    pub id: Uuid,
    /// Its site URL.
    pub site_url: String,
    /// True if the person marked it as a favourite.
    favorite: Option<bool>,
}

/// Returns the sites of the properties that [`visible`] returns, in the same order. Executes one statement.
///
/// # Errors
/// The database cannot answer.
pub async fn visible_sites(
    db: &impl ConnectionTrait,
    member: &Member,
    now: DateTime<Utc>,
) -> Result<Vec<VisibleSite>, DbErr> {
    let mut sites = unordered_sites(db, member, now).await?;
    sites.sort_by_cached_key(|site| usual_order(site.favorite.unwrap_or_default(), &site.site_url, site.id));
    Ok(sites)
}

/// Returns the sites that [`visible_sites`] returns, in no order.
///
/// # Errors
/// The database cannot answer.
pub async fn unordered_sites(
    db: &impl ConnectionTrait,
    member: &Member,
    now: DateTime<Utc>,
) -> Result<Vec<VisibleSite>, DbErr> {
    let found = rows(db, &VISIBLE_SITES, member, now).await?;
    found.iter().map(|row| VisibleSite::from_query_result(row, "")).collect()
}

/// Executes one of the statements below for a person.
async fn rows(
    db: &impl ConnectionTrait,
    sql: &str,
    member: &Member,
    now: DateTime<Utc>,
) -> Result<Vec<QueryResult>, DbErr> {
    let email_key = verified_email_key(&member.user, now).unwrap_or_default();
    let values = [member.user.id.into(), email_key.into()];
    db.query_all_raw(Statement::from_sql_and_values(db.get_database_backend(), sql, values)).await
}

static VISIBLE: LazyLock<String> = LazyLock::new(|| of_visible(&columns::<property::Entity>("p")));

static VISIBLE_SITES: LazyLock<String> = LazyLock::new(|| of_visible("p.id, p.site_url"));

/// Selects `columns` of the tracked properties `p` of a person (`$1`) and of those that a grant to the person's verified e-mail address
/// (`$2`) covers, with the role of the grant and the person's marks. `CROSS JOIN` makes `SQLite` begin with the grant.
fn of_visible(columns: &str) -> String {
    let select = |role: &str, tables: &str, condition: &str| {
        format!(
            "SELECT {columns}, {role} AS role, f.favorite, f.hidden FROM {tables} \
             LEFT JOIN property_preference f ON f.property_id = p.id AND f.user_id = $1 WHERE p.tracked AND {condition}"
        )
    };
    let granted = "p.user_id = g.owner_id AND g.email_key = $2 AND g.owner_id <> $1";
    let of_all = format!("g.all_properties AND {granted}");
    let of_named = format!("NOT g.all_properties AND c.grant_id = g.id AND p.id = c.property_id AND {granted}");
    [
        select("CAST(NULL AS text)", "property p", "p.user_id = $1"),
        select("g.role", "team_grant g CROSS JOIN property p", &of_all),
        select("g.role", "team_grant g CROSS JOIN team_grant_property c CROSS JOIN property p", &of_named),
    ]
    .join(" UNION ALL ")
}

/// A row of [`VISIBLE`].
struct Found {
    property: property::Model,
    role: Role,
    favorite: bool,
    hidden: bool,
}

impl Found {
    fn of(row: &QueryResult) -> Result<Self, DbErr> {
        Ok(Self {
            property: property::Model::from_query_result(row, "p_")?,
            role: row.try_get::<Option<team_grant::Role>>("", "role")?.map_or(Role::Owner, role_of),
            favorite: row.try_get::<Option<bool>>("", "favorite")?.unwrap_or_default(),
            hidden: row.try_get::<Option<bool>>("", "hidden")?.unwrap_or_default(),
        })
    }
}

/// The owners of listed properties.
struct Owners {
    known: HashMap<Uuid, Owner>,
    /// The number of the owner's properties that have been tracked for longer, of each property whose owner's plan counts them.
    longer: HashMap<Uuid, u64>,
}

/// An owner as the list shows it.
struct Owner {
    entitlement: Entitlement,
    responsible: Responsible,
    name: Option<String>,
    email: Option<String>,
}

impl Owners {
    async fn of(
        db: &impl ConnectionTrait,
        config: &Config,
        reader: &user::Model,
        found: &[Found],
        now: DateTime<Utc>,
    ) -> Result<Self, DbErr> {
        let others: BTreeSet<Uuid> =
            found.iter().map(|found| found.property.user_id).filter(|owner| *owner != reader.id).collect();
        let others = if others.is_empty() {
            Vec::new()
        } else {
            user::Entity::find().filter(user::Column::Id.is_in(others)).all(db).await?
        };
        let owner = |owner: &user::Model| {
            let (name, email) = if owner.id == reader.id { (None, None) } else { shown(owner) };
            let owned = Owner {
                entitlement: Entitlement::of(config, owner, now),
                responsible: responsible(owner, reader.id),
                name: name.map(str::to_owned),
                email: email.map(str::to_owned),
            };
            (owner.id, owned)
        };
        let known: HashMap<Uuid, Owner> = [reader].into_iter().chain(&others).map(owner).collect();
        let limits = known.iter().filter_map(|(id, owner)| Some((*id, owner.entitlement.tracked_properties?)));
        let longer = tracked_longer(db, beyond(db, limits.collect()).await?).await?;
        Ok(Self { known, longer })
    }

    fn longer(&self, property: Uuid) -> u64 {
        self.longer.get(&property).copied().unwrap_or_default()
    }
}

/// Returns the owners who track more properties than their plan has. Most have none beyond it, and then no property has to be counted.
async fn beyond(db: &impl ConnectionTrait, limits: HashMap<Uuid, u32>) -> Result<Vec<Uuid>, DbErr> {
    use property::Column::{Tracked, UserId};
    if limits.is_empty() {
        return Ok(Vec::new());
    }
    let tracked =
        property::Entity::find().select_only().column(UserId).column_as(property::Column::Id.count(), "tracked");
    let tracked = tracked.filter(UserId.is_in(limits.keys().copied())).filter(Tracked.eq(true)).group_by(UserId);
    let counts: Vec<(Uuid, i64)> = tracked.into_tuple().all(db).await?;
    let is_beyond = |(owner, count): &(Uuid, i64)| limits.get(owner).is_some_and(|limit| *count > i64::from(*limit));
    Ok(counts.into_iter().filter(is_beyond).map(|(owner, _)| owner).collect())
}

/// Returns for each tracked property of `owners` how many properties its owner has tracked for longer.
async fn tracked_longer(db: &impl ConnectionTrait, owners: Vec<Uuid>) -> Result<HashMap<Uuid, u64>, DbErr> {
    use property::Column::{Id, Tracked, TrackedAt, UserId};
    if owners.is_empty() {
        return Ok(HashMap::new());
    }
    let tracked = property::Entity::find().select_only().columns([UserId, Id]);
    let tracked = tracked.filter(UserId.is_in(owners)).filter(Tracked.eq(true));
    let tracked = tracked.order_by_asc(UserId).order_by_asc(TrackedAt).order_by_asc(Id);
    let ordered: Vec<(Uuid, Uuid)> = tracked.into_tuple().all(db).await?;
    let by_owner = ordered.chunk_by(|a, b| a.0 == b.0);
    Ok(by_owner.flat_map(|own| own.iter().map(|(_, property)| *property).zip(0..)).collect())
}

/// Returns the search accounts of listed properties.
async fn accounts(
    db: &impl ConnectionTrait,
    found: &[Found],
) -> Result<HashMap<Uuid, Arc<search_account::Model>>, DbErr> {
    let ids: BTreeSet<Uuid> = found.iter().map(|found| found.property.account_id).collect();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let accounts = search_account::Entity::find().filter(search_account::Column::Id.is_in(ids)).all(db).await?;
    Ok(accounts.into_iter().map(|account| (account.id, Arc::new(account))).collect())
}

/// Returns a person's tags on each property, or on the one with this id, in the person's order.
async fn tags_of(
    db: &impl ConnectionTrait,
    user_id: Uuid,
    property: Option<Uuid>,
) -> Result<HashMap<Uuid, Vec<Uuid>>, DbErr> {
    let mut tagged = property_tag::Entity::of_user(user_id);
    if let Some(property) = property {
        tagged = tagged.filter(property_tag::Column::PropertyId.eq(property));
    }
    let tagged = tagged.order_by_asc(tag::Column::Position).order_by_asc(tag::Column::NameKey).all(db).await?;
    let mut tags: HashMap<Uuid, Vec<Uuid>> = HashMap::new();
    for row in tagged {
        tags.entry(row.property_id).or_default().push(row.tag_id);
    }
    Ok(tags)
}
