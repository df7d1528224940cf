//! The people of a property: its owner as members see them, the authors of its records, and the address of a member.

use std::collections::{BTreeSet, HashMap};

use chrono::{DateTime, Utc};
use common::plain_text;
use entity::user;
use sea_orm::{ColumnTrait as _, ConnectionTrait, DbErr, EntityTrait as _, QueryFilter as _};
use uuid::Uuid;

use crate::{error::Responsible, services::users::addresses};

/// Returns the owner of a property as the person who must act, for `reader`.
#[must_use]
pub fn responsible(owner: &user::Model, reader: Uuid) -> Responsible {
    if owner.id == reader {
        return Responsible::Caller;
    }
    let name = match shown(owner) {
        (Some(name), Some(email)) => Some(format!("{name} ({email})")),
        (name, email) => name.or(email).map(str::to_owned),
    };
    Responsible::Owner(name.map(|name| plain_text::quoted(&name).into()))
}

/// Returns the name and the e-mail address that members are shown of an owner. An address that nobody verified is not shown.
#[must_use]
pub fn shown(owner: &user::Model) -> (Option<&str>, Option<&str>) {
    (owner.name.as_deref(), owner.email.as_deref().filter(|_| owner.email_verified))
}

/// Returns the name of a person, or else the address that the issuer has verified.
#[must_use]
pub fn name_of(user: &user::Model) -> Option<String> {
    let (name, email) = shown(user);
    name.or(email).map(str::to_owned)
}

/// The names of the authors of records.
#[derive(Debug, Clone, Default)]
pub struct Authors(HashMap<Uuid, String>);

impl Authors {
    /// Names the people with these `ids`. One statement reads the people outside `known`, if there are any.
    ///
    /// # Errors
    /// The database cannot answer.
    pub async fn named(
        db: &impl ConnectionTrait,
        known: &[&user::Model],
        ids: Vec<Option<Uuid>>,
    ) -> Result<Self, DbErr> {
        let others = ids.into_iter().flatten().filter(|id| known.iter().all(|user| user.id != *id));
        let others: BTreeSet<Uuid> = others.collect();
        let found = if others.is_empty() {
            Vec::new()
        } else {
            user::Entity::find().filter(user::Column::Id.is_in(others)).all(db).await?
        };
        let all = known.iter().copied().chain(&found);
        Ok(Self(all.filter_map(|user| Some((user.id, name_of(user)?))).collect()))
    }

    /// Returns the name of the author of a record, if it is known.
    #[must_use]
    pub fn name(&self, author: Option<Uuid>) -> Option<String> {
        self.0.get(&author?).cloned()
    }
}

/// Returns the address that grants are matched by, if the issuer verified it and a token stated it recently.
#[must_use]
pub fn verified_email_key(user: &user::Model, now: DateTime<Utc>) -> Option<&str> {
    let is_current = user.email_stated_at.is_some_and(|stated_at| now - stated_at < addresses::COUNTS_FOR);
    user.email_key.as_deref().filter(|_| user.email_verified && is_current)
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use test_data::{noon, person};

    use super::*;

    #[test]
    fn an_address_counts_for_a_week_after_it_was_stated() {
        let key = |email_verified: bool, email_stated_at: Option<DateTime<Utc>>| {
            let user = user::Model { email_verified, email_stated_at, ..person("ann") };
            verified_email_key(&user, noon()).is_some()
        };
        let second = TimeDelta::seconds(1);
        assert!(key(true, Some(noon())) && key(true, Some(noon() - addresses::COUNTS_FOR + second)));
        assert!(key(true, Some(noon() + second)), "the issuer's clock may be ahead");
        assert!(!key(true, Some(noon() - addresses::COUNTS_FOR)) && !key(true, None) && !key(false, Some(noon())));
    }
}
