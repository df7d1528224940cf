//! Exports and deletes everything that is stored about a person.

mod deletion;
mod export;
pub mod pending;
pub mod tables;

use std::{io, sync::Arc};

use bytes::Bytes;
use common::{places::Places, random::Random};
use entity::user;
use futures_util::stream::BoxStream;
use identity::{departures::Departures, token::Verifier};
use sea_orm::{DbErr, RuntimeErr};
use store::erasure;
use telemetry::traces::Current;
use uuid::Uuid;

use super::{analyses::search_data::SearchData, integrations::Integrations, users::Member};
use crate::error::Error;

/// The number of times that a deletion is tried which the database ended in favour of another transaction.
const ATTEMPTS: u32 = 5;

/// Exports and deletes people's data.
#[derive(Clone)]
pub struct Privacy {
    /// The database, the stored grants, and the caches.
    pub search: SearchData,
    /// The people who have left.
    pub departures: Departures,
    /// Remembers verified tokens, and with them their claims about people.
    pub verifier: Verifier,
    /// Answers of SEO providers.
    pub integrations: Integrations,
    /// A place for the export of each person: one at a time.
    pub exports: Places<Uuid>,
    /// The source of ids.
    pub random: Random,
}

impl Privacy {
    /// Exports and deletes what these parts store.
    #[must_use]
    pub fn new(
        search: SearchData,
        departures: Departures,
        verifier: Verifier,
        integrations: Integrations,
        random: Random,
    ) -> Self {
        Self { search, departures, verifier, integrations, exports: Places::new(1), random }
    }

    /// Returns everything that is stored about a person as JSON, `{ "data": … }` with an [`api::privacy::PersonalData`]. It is read
    /// while it is taken.
    ///
    /// # Errors
    /// [`Error::Overloaded`] if the person's other export does not end in time.
    pub async fn export(&self, member: &Arc<Member>) -> Result<BoxStream<'static, io::Result<Bytes>>, Error> {
        export::export(self, member).await
    }

    /// Deletes a person, drops their cached data, and begins to revoke their grants at the search engine. It goes on if the caller
    /// leaves.
    pub async fn delete(&self, member: &Member) -> Result<(), Error> {
        let (privacy, user) = (self.clone(), member.user.clone());
        tokio::spawn(Current::get().around(async move { privacy.delete_now(&user).await }))
            .await
            .map_err(Error::internal)?
    }

    async fn delete_now(&self, user: &user::Model) -> Result<(), Error> {
        let mut attempt = 1;
        let gone = loop {
            match self.erase(user).await {
                Err(Error::DatabaseUnavailable(error)) if attempt < ATTEMPTS && is_deadlock(&error) => attempt += 1,
                gone => break gone?,
            }
        };
        let Some(gone) = gone else { return Ok(()) };
        for account in gone.accounts {
            self.search.reader.forget_account(account);
        }
        self.search.answers.forget(&gone.properties);
        for connection in gone.providers {
            self.integrations.paid_answers.forget(connection);
        }
        self.verifier.forget(&user.issuer, &user.subject);
        match erasure::empty_log(&self.search.writer).await {
            Ok(true) => {}
            // The next sweep tries again.
            Ok(false) => tracing::info!("the write-ahead log is being read, and still holds what was deleted"),
            Err(error) => tracing::warn!(%error, "the write-ahead log still holds what was deleted"),
        }
        let privacy = self.clone();
        tokio::spawn(async move {
            if let Err(error) = privacy.revoke_pending().await {
                tracing::error!(%error, "grants of somebody who has left could not be revoked");
            }
        });
        Ok(())
    }

    /// Revokes the grants of people who have left, as far as the search engine answers. Returns their number.
    pub async fn revoke_pending(&self) -> Result<u64, Error> {
        let oauth = self.search.reader.engine().oauth();
        pending::revoke(&self.search.writer, &self.search.secrets, oauth).await
    }
}

/// Returns whether `PostgreSQL` ended the transaction because two waited for each other.
fn is_deadlock(error: &DbErr) -> bool {
    let (DbErr::Exec(error) | DbErr::Query(error)) = error else { return false };
    let RuntimeErr::SqlxError(error) = error else { return false };
    error.as_database_error().and_then(sqlx::error::DatabaseError::code).is_some_and(|code| code == "40P01")
}
