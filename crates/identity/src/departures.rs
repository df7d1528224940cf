//! Departures: people who deleted their data. A keyed hash of issuer and subject is all that stays: as long as a token from before
//! could be presented, so that none brings the person back, and apart from that for a year, so that nobody gets a new trial by leaving.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use common::{
    random::Random,
    secrets::{Key, Secrets},
};
use entity::{
    departure::{ActiveModel, Column, Entity},
    departure_key, former_trial,
};
use hmac::{Hmac, Mac as _};
use sea_orm::{
    ActiveValue::Set, ColumnTrait, ConnectionTrait, DatabaseConnection, DbErr, EntityTrait, QueryFilter,
    sea_query::OnConflict,
};
use sha2::Sha256;
use store::{
    Error,
    resealing::{self, SealedColumn},
    transaction::Transaction,
};

use super::{Claims, token::LEEWAY};

/// The time for which a person who left gets no new trial.
pub const NO_NEW_TRIAL_FOR: TimeDelta = TimeDelta::days(365);

/// The id of the one key, and the context that it is sealed for.
const KEY: &str = "departure";

/// The refusal to start with a secrets key that does not open the stored key, which every database holds from its first start on.
const OTHER_KEY: &str = "secrets.key: is not the key of this database, whose sealed values it cannot open. Give every replica the key \
     with which the database was first used, or, while it is being replaced, that one as secrets.previous_key";

/// Hashes people and knows who has left. The key is in the database, sealed, so that a new secrets key leaves the hashes valid.
#[derive(Clone)]
pub struct Departures(Arc<Key>);

impl Departures {
    /// Hashes with this key.
    #[must_use]
    pub fn new(key: Key) -> Self {
        Self(Arc::new(key))
    }

    /// Hashes with the key of the database, which is made at first start.
    ///
    /// # Errors
    /// The database cannot answer, or the secrets key is not the one of this database.
    pub async fn open(db: &DatabaseConnection, secrets: &Secrets, random: &Random) -> Result<Self, Error> {
        let row = departure_key::ActiveModel {
            id: Set(KEY.to_owned()),
            sealed: Set(secrets.seal(&random.bytes::<32>(), KEY)),
        };
        // If two replicas start at the same time, one stores its key, and both read that one.
        let stored = departure_key::Entity::find_by_id(KEY).one(db).await?;
        if stored.is_none() {
            let first = departure_key::Entity::insert(row).on_conflict_do_nothing_on([departure_key::Column::Id]);
            first.exec_without_returning(db).await?;
        }
        let stored = departure_key::Entity::find_by_id(KEY).one(db).await?;
        let stored = stored.ok_or_else(|| Error::broken("a key just inserted is not there"))?;
        let key = secrets.open(&stored.sealed, KEY).map_err(|_| Error::refused(OTHER_KEY))?;
        let key = key.try_into().map_err(|_| Error::broken("the stored key of departures has another length"))?;
        Ok(Self::new(key))
    }

    /// Returns whether the database has its key, which it gets at its first start.
    ///
    /// # Errors
    /// The database cannot answer.
    pub async fn has_key(db: &impl ConnectionTrait) -> Result<bool, DbErr> {
        Ok(departure_key::Entity::find_by_id(KEY).one(db).await?.is_some())
    }

    /// Returns the hash of a person: HMAC-SHA-256 in lower-case hex.
    ///
    /// # Panics
    /// Never: HMAC takes keys of any length.
    #[must_use]
    pub fn hash(&self, issuer: &str, subject: &str) -> String {
        #[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
        let mut mac = Hmac::<Sha256>::new_from_slice(self.0.as_slice()).expect("a key of 32 bytes");
        for part in [issuer, subject] {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part.as_bytes());
        }
        format!("{:x}", mac.finalize().into_bytes())
    }

    /// Stores that a person leaves, and that their trial is used up.
    pub async fn note(&self, tx: &Transaction, issuer: &str, subject: &str, now: DateTime<Utc>) -> Result<(), DbErr> {
        let (person, left_at) = (self.hash(issuer, subject), now);
        let row = ActiveModel { person: Set(person.clone()), left_at: Set(left_at) };
        let again = OnConflict::column(Column::Person).update_column(Column::LeftAt).to_owned();
        Entity::insert(row).on_conflict(again).exec_without_returning(tx).await?;
        let row = former_trial::ActiveModel { person: Set(person), left_at: Set(left_at) };
        let again =
            OnConflict::column(former_trial::Column::Person).update_column(former_trial::Column::LeftAt).to_owned();
        former_trial::Entity::insert(row).on_conflict(again).exec_without_returning(tx).await.map(|_| ())
    }

    /// Returns whether a person left so recently that they get no new trial.
    pub async fn had_trial(
        &self,
        db: &impl ConnectionTrait,
        issuer: &str,
        subject: &str,
        now: DateTime<Utc>,
    ) -> Result<bool, DbErr> {
        let found = former_trial::Entity::find_by_id(self.hash(issuer, subject)).one(db).await?;
        Ok(found.is_some_and(|former| now < former.left_at + NO_NEW_TRIAL_FOR))
    }

    /// Returns the time at which a person left, if that is still known.
    pub async fn left_at(
        &self,
        db: &impl ConnectionTrait,
        issuer: &str,
        subject: &str,
    ) -> Result<Option<DateTime<Utc>>, DbErr> {
        let found = Entity::find_by_id(self.hash(issuer, subject)).one(db).await?;
        Ok(found.map(|departure| departure.left_at))
    }
}

/// Returns whether `claims` rest on a sign-in before the person left at `left_at`, or do not say when the sign-in was. A token that
/// was refreshed since is one of those. Times of sign-in have whole seconds, and one in the second of the departure is before it.
#[must_use]
pub fn is_from_before(claims: &Claims, left_at: DateTime<Utc>) -> bool {
    claims.auth_time.is_none_or(|signed_in_at| signed_in_at.timestamp() <= left_at.timestamp())
}

/// Deletes departures from before every token that is still accepted, and former trials from before the year. Returns the number of
/// deleted rows.
pub async fn sweep(db: &impl ConnectionTrait, max_token_age: TimeDelta, now: DateTime<Utc>) -> Result<u64, DbErr> {
    let limit = now - max_token_age - LEEWAY;
    let departures = Entity::delete_many().filter(Column::LeftAt.lt(limit)).exec(db).await?;
    let trials = former_trial::Entity::delete_many();
    let trials = trials.filter(former_trial::Column::LeftAt.lt(now - NO_NEW_TRIAL_FOR)).exec(db).await?;
    Ok(departures.rows_affected + trials.rows_affected)
}

/// Seals the key again if it is not under the current secrets key. Returns the number of changed rows.
pub async fn reseal(tx: &Transaction, secrets: &Secrets) -> Result<u64, Error> {
    use departure_key::{Column, Entity};
    let place = SealedColumn::<Entity> { name: "departure_key", id: Column::Id, sealed: Column::Sealed };
    resealing::reseal(tx, secrets, place, |_: &String| KEY.to_owned()).await
}

#[cfg(test)]
mod tests {
    use store::database::begin;
    use test_data::{database, noon};

    use super::*;

    fn claims(auth_time: Option<DateTime<Utc>>) -> Claims {
        Claims { issuer: "i".into(), subject: "s".into(), email: None, name: None, issued_at: noon(), auth_time }
    }

    #[test]
    fn only_a_later_sign_in_counts() {
        let seconds = TimeDelta::seconds;
        for (signed_in_at, before) in
            [(None, true), (Some(noon() - seconds(1)), true), (Some(noon()), true), (Some(noon() + seconds(1)), false)]
        {
            assert_eq!(is_from_before(&claims(signed_in_at), noon()), before, "{signed_in_at:?}");
        }
        assert!(is_from_before(&claims(Some(noon())), noon() + TimeDelta::milliseconds(900)));
    }

    #[test]
    fn a_hash_needs_the_key_and_keeps_issuer_and_subject_apart() {
        let (one, other) = (Departures::new([1; 32]), Departures::new([2; 32]));
        assert_eq!(one.hash("a", "b"), one.hash("a", "b"));
        for different in [one.hash("ab", ""), one.hash("b", "a"), other.hash("a", "b")] {
            assert_ne!(one.hash("a", "b"), different);
        }
    }

    #[tokio::test]
    async fn a_departure_outlives_old_tokens_and_a_new_secrets_key() {
        let (db, random) = (database().await, Random::seeded(1));
        let old = Secrets::new([7; 32], random.clone());
        let departures = Departures::open(&db, &old, &random).await.unwrap();
        let tx = begin(&db).await.unwrap();
        departures.note(&tx, "i", "s", noon()).await.unwrap();
        let new = Secrets::new([8; 32], random.clone()).with_previous(Some([7; 32]));
        assert_eq!(reseal(&tx, &new).await.unwrap(), 1);
        tx.commit().await.unwrap();

        let again = Departures::open(&db, &Secrets::new([8; 32], random.clone()), &random).await.unwrap();
        assert_eq!(again.left_at(&db, "i", "s").await.unwrap(), Some(noon()));
        assert_eq!(again.left_at(&db, "i", "other").await.unwrap(), None);
        let age = TimeDelta::hours(24);
        assert_eq!(sweep(&db, age, noon() + age + LEEWAY).await.unwrap(), 0);
        assert_eq!(sweep(&db, age, noon() + age + LEEWAY + TimeDelta::seconds(1)).await.unwrap(), 1);
        assert_eq!(again.left_at(&db, "i", "s").await.unwrap(), None);
    }

    #[tokio::test]
    async fn a_replica_with_another_secrets_key_is_refused() {
        let (db, random) = (database().await, Random::seeded(1));
        let open = async |secrets: Secrets| Departures::open(&db, &secrets, &random).await.map(drop);
        open(Secrets::new([7; 32], random.clone())).await.unwrap();
        let refused = open(Secrets::new([8; 32], random.clone())).await.unwrap_err();
        assert!(matches!(&refused, Error::Refused(why) if why.starts_with("secrets.key: is not")), "{refused}");
        open(Secrets::new([8; 32], random.clone()).with_previous(Some([7; 32]))).await.unwrap();
        open(Secrets::new([7; 32], random.clone())).await.unwrap();
    }

    #[tokio::test]
    async fn a_former_trial_is_kept_for_a_year() {
        let (db, departures) = (database().await, Departures::new([7; 32]));
        let tx = begin(&db).await.unwrap();
        departures.note(&tx, "i", "s", noon()).await.unwrap();
        tx.commit().await.unwrap();
        let had_trial = async |subject, now| departures.had_trial(&db, "i", subject, now).await.unwrap();
        let (age, second) = (TimeDelta::hours(24), TimeDelta::seconds(1));
        let year = noon() + NO_NEW_TRIAL_FOR;
        assert!(had_trial("s", year - second).await && !had_trial("s", year).await);
        assert!(!had_trial("other", noon()).await);
        assert_eq!(sweep(&db, age, year).await.unwrap(), 1, "the departure");
        assert!(had_trial("s", noon()).await);
        assert_eq!(sweep(&db, age, year + second).await.unwrap(), 1, "the former trial");
        assert!(!had_trial("s", noon()).await);
    }
}
