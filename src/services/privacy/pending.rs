//! Grants of people who deleted their data, until the search engine has revoked them.

use chrono::{DateTime, TimeDelta, Utc};
use common::secrets::Secrets;
use entity::pending_revocation::{ActiveModel, Column, Entity, Model};
use sea_orm::{
    ActiveValue::Set, ColumnTrait as _, DatabaseConnection, DbErr, EntityTrait as _, QueryFilter as _, QueryOrder as _,
    QuerySelect as _,
};
use search_engine::{Oauth, SearchEngineError};
use secrecy::SecretString;
use store::{
    resealing::{self, SealedColumn},
    transaction::Transaction,
};
use uuid::Uuid;

use crate::error::Error;

/// The name of the table.
const TABLE: &str = "pending_revocation";

/// The time after which a grant that could not be revoked is given up. The person can remove it at the search engine.
pub const KEEP: TimeDelta = TimeDelta::days(30);

/// The number of grants that are tried in one round.
const ROUND: u64 = 100;

/// The number of failures that end a round.
const MAX_FAILURES: u32 = 5;

/// Stores a grant for its revocation.
pub async fn add(tx: &Transaction, secrets: &Secrets, id: Uuid, token: &str, now: DateTime<Utc>) -> Result<(), DbErr> {
    let sealed = secrets.seal(token.as_bytes(), &context(&id));
    let row = ActiveModel { id: Set(id), sealed: Set(sealed), created_at: Set(now) };
    Entity::insert(row).exec_without_returning(tx).await.map(|_| ())
}

/// Revokes stored grants, oldest first, and forgets the revoked ones. Ends when the search engine has failed to answer some
/// times. A grant that it refuses, or that no key opens, holds up no other. Returns the number of revoked grants.
pub async fn revoke(db: &DatabaseConnection, secrets: &Secrets, oauth: &Oauth) -> Result<u64, Error> {
    let (mut revoked, mut failed) = (0, 0);
    for waiting in Entity::find().order_by_asc(Column::Id).limit(ROUND).all(db).await? {
        let Some(token) = opened(secrets, &waiting) else {
            tracing::error!("no key opens a grant of somebody who has left");
            continue;
        };
        match oauth.revoke(&token).await {
            Ok(()) => {
                Entity::delete_by_id(waiting.id).exec(db).await?;
                revoked += 1;
            }
            Err(error) => {
                tracing::warn!(%error, "a grant of somebody who has left could not be revoked; it is tried again");
                failed += u32::from(matches!(error, SearchEngineError::Unavailable { .. }));
            }
        }
        if failed == MAX_FAILURES {
            break;
        }
    }
    Ok(revoked)
}

fn opened(secrets: &Secrets, waiting: &Model) -> Option<SecretString> {
    let token = secrets.open(&waiting.sealed, &context(&waiting.id)).ok()?;
    String::from_utf8(token).ok().map(SecretString::from)
}

/// Gives up grants that could not be revoked for long. Returns their number.
pub async fn sweep(db: &DatabaseConnection, now: DateTime<Utc>) -> Result<u64, DbErr> {
    let given_up = Entity::delete_many().filter(Column::CreatedAt.lt(now - KEEP)).exec(db).await?.rows_affected;
    if given_up > 0 {
        tracing::error!(given_up, "grants of people who have left could not be revoked at the search engine");
    }
    Ok(given_up)
}

/// Seals every grant again that is not under the current secrets key. Returns their number.
pub async fn reseal(tx: &Transaction, secrets: &Secrets) -> Result<u64, Error> {
    let place = SealedColumn::<Entity> { name: TABLE, id: Column::Id, sealed: Column::Sealed };
    Ok(resealing::reseal(tx, secrets, place, context).await?)
}

/// The row that a sealed grant is bound to. It names nobody.
fn context(id: &Uuid) -> String {
    format!("{TABLE}/{id}")
}

#[cfg(test)]
mod tests {
    use common::random::Random;
    use secrecy::ExposeSecret as _;
    use store::database::begin;
    use test_data::{database, noon};

    use super::*;

    #[tokio::test]
    async fn a_grant_is_given_up_after_thirty_days_and_outlives_a_new_secrets_key() {
        let (db, random) = (database().await, Random::seeded(1));
        let tx = begin(&db).await.unwrap();
        let old = Secrets::new([7; 32], random.clone());
        add(&tx, &old, random.id(noon()), "granted", noon()).await.unwrap();
        let new = Secrets::new([8; 32], random.clone()).with_previous(Some([7; 32]));
        assert_eq!(reseal(&tx, &new).await.unwrap(), 1);
        tx.commit().await.unwrap();
        let stored = Entity::find().one(&db).await.unwrap().unwrap();
        let other = Model { id: random.id(noon()), ..stored.clone() };
        let opens = |row: &Model| opened(&new, row).map(|token| token.expose_secret().to_owned());
        assert_eq!((opens(&stored).as_deref(), opens(&other)), (Some("granted"), None), "it opens in its row alone");
        let opened = Secrets::new([8; 32], random).open(&stored.sealed, &context(&stored.id)).unwrap();
        assert_eq!(opened, b"granted");
        assert_eq!(sweep(&db, noon() + KEEP).await.unwrap(), 0);
        assert_eq!(sweep(&db, noon() + KEEP + TimeDelta::seconds(1)).await.unwrap(), 1);
    }
}
