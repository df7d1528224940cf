//! The deletion of a person, in one transaction: all their rows, and every mention of them in other rows.

use chrono::{DateTime, Utc};
use entity::{account, property, provider_connection, search_account, team_grant, user};
use sea_orm::{
    ColumnTrait as _, ConnectionTrait as _, DbBackend, EntityTrait as _, QueryFilter as _, QueryOrder as _,
    QuerySelect as _, sea_query::LockType,
};
use store::{database, erasure, transaction::Transaction};
use uuid::Uuid;

use super::{
    Privacy, pending,
    tables::{Mention, Ownership, Person, TABLES},
};
use crate::{
    error::{Disconnection, Error},
    services::{audit::Event, search_accounts, users},
};

/// The cached data of a person who is gone.
#[derive(Debug)]
pub(super) struct Gone {
    pub accounts: Vec<Uuid>,
    pub properties: Vec<Uuid>,
    pub providers: Vec<Uuid>,
}

impl Privacy {
    /// Deletes a person and notes their departure. Returns `None` if they are gone already.
    pub(super) async fn erase(&self, user: &user::Model) -> Result<Option<Gone>, Error> {
        let (now, db) = (self.search.clock.now(), &self.search.writer);
        let tx = database::begin(db).await?;
        // The stored record, because the address may have changed since the request was admitted.
        let user = match users::lock(&tx, user.id).await {
            Err(Error::NotFound) => return Ok(None),
            user => user?,
        };
        let person = Person::new(&user, now);
        let account = account::Entity::find_by_id(person.account()).one(&tx).await?;
        let person = person.with_account(account);
        let properties = lock_what_others_use(&tx, &person).await?;
        let accounts = self.keep_grants(&tx, &user, now).await?;
        self.end_received_grants(&tx, &person, now).await?;
        let providers = provider_connection::Entity::of_user(user.id).all(&tx).await?;
        let providers = providers.into_iter().map(|connection| connection.id).collect();
        for table in TABLES {
            if let Ownership::Deleted { of, .. } = table.rows {
                let sql = format!("DELETE FROM {} WHERE {of}", table.name);
                // The mentions of a table that comes later are taken out first: the person's row is the last of all.
                if table.name == "users" {
                    take_out_mentions(&tx, &person).await?;
                }
                tx.execute_raw(person.fill(tx.get_database_backend(), &sql)).await?;
            }
        }
        self.departures.note(&tx, &user.issuer, &user.subject, now).await?;
        erasure::mark(&tx).await?;
        tx.commit().await?;
        Ok(Some(Gone { accounts, properties, providers }))
    }

    /// Stores the grants of the person's search accounts for their revocation. A grant that another person of this service uses too
    /// is left alone, because the search engine knows only one for both. Returns the accounts.
    async fn keep_grants(&self, tx: &Transaction, user: &user::Model, now: DateTime<Utc>) -> Result<Vec<Uuid>, Error> {
        let own = search_accounts::of_user(tx, user.id).await?;
        // If two people leave at the same time, the second sees that the first is gone, and revokes the grant of both.
        let subjects: Vec<String> = own.iter().map(|account| account.subject.clone()).collect();
        let same = search_account::Entity::find().filter(search_account::Column::Subject.is_in(subjects));
        same.order_by_asc(search_account::Column::Id).lock(LockType::Update).all(tx).await?;
        for account in &own {
            if search_accounts::disconnection(account) == Some(Disconnection::Revoked)
                || search_accounts::is_connected_by_others(tx, user.id, &account.subject).await?
            {
                continue;
            }
            // A grant that no key opens cannot be revoked, and must not keep the person here.
            if let Ok(Some(token)) = search_accounts::refresh_token(&self.search.secrets, account) {
                pending::add(tx, &self.search.secrets, self.random.id(now), &token, now).await?;
            }
        }
        Ok(own.into_iter().map(|account| account.id).collect())
    }

    /// Tells people who gave the person a role that the grant has ended.
    async fn end_received_grants(&self, tx: &Transaction, person: &Person, now: DateTime<Utc>) -> Result<(), Error> {
        for email_key in person.email_keys() {
            for grant in team_grant::Entity::to_email(email_key).all(tx).await? {
                Event::left(grant.owner_id).note(tx, self.random.id(now), now).await?;
            }
        }
        Ok(())
    }
}

/// Locks the rows that others hold while they wait for the person's row, and then that row against all who refer to it. In any other
/// order, two transactions could wait for each other. Returns the person's properties.
///
/// A writer of a property locks the property and the grant that allows it, and then refers to its author. The person's own writes lock
/// the person first.
async fn lock_what_others_use(tx: &Transaction, person: &Person) -> Result<Vec<Uuid>, Error> {
    let own = property::Entity::find().filter(property::Column::UserId.eq(person.id));
    let own = own.order_by_asc(property::Column::Id).lock(LockType::NoKeyUpdate).all(tx).await?;
    let grants =
        "SELECT id FROM team_grant WHERE owner_id = :user OR email_key IN (:email, :address) ORDER BY id FOR UPDATE";
    if tx.get_database_backend() == DbBackend::Postgres {
        tx.execute_raw(person.fill(DbBackend::Postgres, grants)).await?;
    }
    user::Entity::find_by_id(person.id).lock(LockType::Update).one(tx).await?;
    Ok(own.into_iter().map(|property| property.id).collect())
}

async fn take_out_mentions(tx: &Transaction, person: &Person) -> Result<(), Error> {
    for table in TABLES {
        for Mention { of, set, .. } in table.mentions {
            let sql = format!("UPDATE {} SET {set} WHERE {of}", table.name);
            tx.execute_raw(person.fill(tx.get_database_backend(), &sql)).await?;
        }
    }
    Ok(())
}
