//! Access to properties. A value of these types proves the right that it names.

pub mod facts;
pub mod own;
mod people;
mod view;

use std::{ops::Deref, sync::Arc};

use api::models::{Feature, Role};
use chrono::{DateTime, Utc};
use entity::{property, search_account, team_grant, user};
use sea_orm::{
    ColumnTrait as _, ConnectionTrait, DbBackend, DbErr, EntityTrait as _, QueryFilter as _, QuerySelect as _,
    Statement, sea_query::LockType,
};
use store::transaction::Transaction;
use uuid::Uuid;

use self::facts::{LinkFacts, PropertyFacts, covers};
pub use self::{
    people::{Authors, name_of, responsible, shown, verified_email_key},
    view::View,
};
use super::users::plans::Entitlement;
use crate::{
    config::Config,
    error::{Error, Responsible},
};

/// The length of a hyphenated UUID, the only form that ids have here.
const HYPHENATED: usize = 36;

/// A tracked property that its owner's plan opens to the reader: the owner, a member or the reader of a share link.
#[derive(Debug, Clone)]
pub struct ReadableProperty {
    facts: Arc<PropertyFacts>,
    entitlement: Entitlement,
    /// The user who reads, or `None` for the reader of a share link.
    user_id: Option<Uuid>,
    /// What the share link shows, or `None` for a user.
    view: Option<Arc<View>>,
}

impl ReadableProperty {
    fn paid(
        config: &Config,
        facts: Arc<PropertyFacts>,
        user_id: Option<Uuid>,
        now: DateTime<Utc>,
    ) -> Result<Self, Error> {
        let entitlement = Entitlement::of(config, &facts.owner, now);
        let is_member = user_id.is_some_and(|user| user != facts.property.user_id);
        let lack = entitlement.lack(is_member, facts.longer);
        let readable = Self { facts, entitlement, user_id, view: None };
        match lack {
            None => Ok(readable),
            Some(lack) => Err(Error::SubscriptionRequired { by: readable.responsible(), lack }),
        }
    }

    /// The property.
    #[must_use]
    pub fn property(&self) -> &property::Model {
        &self.facts.property
    }

    /// The search account whose grant reads the property.
    #[must_use]
    pub fn account(&self) -> &Arc<search_account::Model> {
        &self.facts.account
    }

    /// The features and limits of the owner's plan.
    #[must_use]
    pub fn entitlement(&self) -> &Entitlement {
        &self.entitlement
    }

    /// The user who reads, or `None` for the reader of a share link.
    #[must_use]
    pub fn reader(&self) -> Option<Uuid> {
        self.user_id
    }

    /// What the share link binds its reader to, or `None` for a user.
    #[must_use]
    pub fn view(&self) -> Option<&View> {
        self.view.as_deref()
    }

    /// Returns the person whose plan and search account the property uses. The reader of a share link learns no name.
    #[must_use]
    pub fn responsible(&self) -> Responsible {
        match self.user_id {
            Some(reader) => responsible(&self.facts.owner, reader),
            None => Responsible::Owner(None),
        }
    }

    /// Fails if the owner's plan does not include `feature`.
    pub fn require_feature(&self, feature: Feature) -> Result<(), Error> {
        self.entitlement.require(feature, || self.responsible())
    }
}

/// Proof that a property is tracked, paid for and visible to a user, and that the user's role is sufficient.
#[derive(Debug, Clone)]
pub struct PropertyAccess {
    readable: ReadableProperty,
    user: Arc<user::Model>,
    role: Role,
    /// The minimum role.
    needed: Role,
}

impl PropertyAccess {
    /// Returns the access of `user` to the property requested, for an operation that needs the role `needed`. An unknown, untracked
    /// or invisible property is the same 404. Checks for 404, then 403, then 402: a plan is not sold for what the role refuses.
    pub fn of(
        config: &Config,
        user: &Arc<user::Model>,
        property: Option<&Arc<PropertyFacts>>,
        needed: Role,
        now: DateTime<Utc>,
    ) -> Result<Self, Error> {
        let facts = property.ok_or(Error::NotFound)?;
        let role = if facts.property.user_id == user.id {
            Role::Owner
        } else {
            let grant = facts.grant.as_ref().filter(|_| verified_email_key(user, now).is_some());
            role_of(grant.ok_or(Error::NotFound)?.role)
        };
        require(role, needed)?;
        let readable = ReadableProperty::paid(config, facts.clone(), Some(user.id), now)?;
        Ok(Self { readable, user: user.clone(), role, needed })
    }

    /// The caller's role on the property.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// The caller.
    #[must_use]
    pub fn user_id(&self) -> Uuid {
        self.user.id
    }

    /// The name and the e-mail address of the owner as members are shown them. Nothing for the owner.
    #[must_use]
    pub fn shown_owner(&self) -> (Option<&str>, Option<&str>) {
        if self.role == Role::Owner { (None, None) } else { shown(&self.readable.facts.owner) }
    }

    /// Names the authors of records of the property. Nothing is read to name the caller and the owner.
    ///
    /// # Errors
    /// The database cannot answer.
    pub async fn authors(&self, db: &impl ConnectionTrait, ids: Vec<Option<Uuid>>) -> Result<Authors, DbErr> {
        Authors::named(db, &[&*self.user, &*self.readable.facts.owner], ids).await
    }

    /// The id of the grant that the role comes from, or `None` for the owner.
    #[must_use]
    pub fn grant_id(&self) -> Option<Uuid> {
        self.grant().map(|grant| grant.id)
    }

    /// The id of that grant, if it has never been used.
    #[must_use]
    pub fn new_grant(&self) -> Option<Uuid> {
        self.grant().filter(|grant| grant.accepted_at.is_none()).map(|grant| grant.id)
    }

    fn grant(&self) -> Option<&team_grant::Model> {
        self.readable.facts.grant.as_ref()
    }

    /// Locks the property's row (`FOR NO KEY UPDATE`) until the transaction ends. Then re-checks tracking, the member's role and the
    /// grant's properties, which may have changed while waiting for the lock. Returns the property's id.
    ///
    /// The lock permits writes of rows that refer to the property. A person's tags are written under the lock of that person, and
    /// two transactions that wait for each other's lock would end in a deadlock.
    pub async fn lock(&self, tx: &Transaction) -> Result<Uuid, Error> {
        let id = self.property().id;
        let (backend, Some(grant_id)) = (tx.get_database_backend(), self.grant_id()) else {
            let row = property::Entity::find_by_id(id).filter(property::Column::Tracked.eq(true));
            row.lock(LockType::NoKeyUpdate).one(tx).await?.ok_or(Error::NotFound)?;
            return Ok(id);
        };
        let lock = if backend == DbBackend::Postgres { " FOR NO KEY UPDATE OF p FOR SHARE OF g" } else { "" };
        let sql = format!(
            "SELECT g.role, g.updated_at FROM property p JOIN team_grant g ON g.owner_id = p.user_id \
             WHERE p.id = $1 AND p.tracked AND g.id = $2{lock}"
        );
        let ask = Statement::from_sql_and_values(backend, sql, [id.into(), grant_id.into()]);
        let row = tx.query_one_raw(ask).await?.ok_or(Error::NotFound)?;
        require(role_of(row.try_get("", "role")?), self.needed)?;
        let changed_at: DateTime<Utc> = row.try_get("", "updated_at")?;
        if self.grant().is_some_and(|grant| grant.updated_at != changed_at) {
            self.check_covered(tx, grant_id).await?;
        }
        Ok(id)
    }

    /// Fails if the grant no longer covers the property. The statement that waits for the lock cannot tell, because it reads other
    /// tables as they were before.
    async fn check_covered(&self, tx: &Transaction, grant_id: Uuid) -> Result<(), Error> {
        let sql = format!("SELECT 1 FROM team_grant g WHERE g.id = $1 AND {}", covers("g", "$2"));
        let values = [grant_id.into(), self.property().id.into()];
        let ask = Statement::from_sql_and_values(tx.get_database_backend(), sql, values);
        tx.query_one_raw(ask).await?.map(|_| ()).ok_or(Error::NotFound)
    }
}

/// Fails if `role` is lower than `needed`.
fn require(role: Role, needed: Role) -> Result<(), Error> {
    if role >= needed { Ok(()) } else { Err(Error::RoleTooLow { needed, at: None }) }
}

impl Deref for PropertyAccess {
    type Target = ReadableProperty;

    fn deref(&self) -> &ReadableProperty {
        &self.readable
    }
}

/// A property as the reader of a share link sees it. No service that writes accepts it.
#[derive(Debug, Clone)]
pub struct SharedProperty {
    readable: ReadableProperty,
    /// The link's name.
    pub name: Option<String>,
    /// The time at which the link expires.
    pub expires_at: Option<DateTime<Utc>>,
    /// What the link binds its readers to.
    pub view: Arc<View>,
}

impl SharedProperty {
    /// Returns the property behind a link that is neither revoked nor expired, if its owner's plan includes share links. All other
    /// cases, including an unknown link, are the same 404.
    pub fn of(config: &Config, facts: Option<&LinkFacts>, now: DateTime<Utc>) -> Result<Self, Error> {
        let LinkFacts { link, property } = facts.ok_or(Error::NotFound)?;
        if link.revoked_at.is_some() || link.expires_at.is_some_and(|end| end <= now) {
            return Err(Error::NotFound);
        }
        let readable = ReadableProperty::paid(config, property.clone(), None, now);
        let readable = readable.ok().filter(|readable| readable.require_feature(Feature::ShareLinks).is_ok());
        let view = Arc::new(View::of(link)?);
        let readable = ReadableProperty { view: Some(view.clone()), ..readable.ok_or(Error::NotFound)? };
        Ok(Self { readable, name: link.name.clone(), expires_at: link.expires_at, view })
    }
}

impl Deref for SharedProperty {
    type Target = ReadableProperty;

    fn deref(&self) -> &ReadableProperty {
        &self.readable
    }
}

/// Returns whether a person sees a tracked property of somebody else, by a grant.
pub async fn is_member(
    db: &impl ConnectionTrait,
    person: &user::Model,
    property: Uuid,
    now: DateTime<Utc>,
) -> Result<bool, Error> {
    let Some(email_key) = verified_email_key(person, now) else { return Ok(false) };
    let sql = format!(
        "SELECT 1 FROM property p JOIN team_grant g ON g.owner_id = p.user_id \
         WHERE p.id = $1 AND p.tracked AND g.email_key = $2 AND {}",
        covers("g", "p.id")
    );
    let ask = Statement::from_sql_and_values(db.get_database_backend(), sql, [property.into(), email_key.into()]);
    Ok(db.query_one_raw(ask).await?.is_some())
}

/// Parses the id in a path. Rejects every form of a UUID but the hyphenated one.
#[must_use]
pub fn parse_id(text: &str) -> Option<Uuid> {
    Some(text).filter(|text| text.len() == HYPHENATED).and_then(|text| Uuid::try_parse(text).ok())
}

/// Converts a granted role to an API role.
pub(super) fn role_of(granted: team_grant::Role) -> Role {
    match granted {
        team_grant::Role::Viewer => Role::Viewer,
        team_grant::Role::Editor => Role::Editor,
        team_grant::Role::Admin => Role::Admin,
    }
}

#[cfg(test)]
mod tests;
