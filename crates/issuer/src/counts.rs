//! Counts attempts in the database, so that all replicas share a limit. The algorithm is that of the rate limits of callers
//! ([`common::rate_limit`]).

use chrono::{DateTime, Utc};
use common::{addresses::ClientAddress, clock::Clock, rate_limit::Rate, secrets::Secrets};
use entity::attempt::{Column, Entity};
use sea_orm::{
    ColumnTrait, ConnectionTrait as _, DatabaseConnection, DbErr, EntityTrait, QueryFilter, Statement, Value,
    sea_query::Expr,
};

use crate::response::OAuthError;

/// The context of the keyed hashes.
const CONTEXT: &str = "attempt";

/// Counts an attempt (`$1`) at a time (`$2`) that costs an interval (`$3`), unless the caller would then be ahead of the end of the burst
/// (`$4`). Returns a row if it was counted.
const COUNT: &str = "INSERT INTO attempt (key, full_at) VALUES ($1, $2 + $3) ON CONFLICT (key) DO UPDATE \
     SET full_at = CASE WHEN attempt.full_at > $2 THEN attempt.full_at ELSE $2 END + $3 \
     WHERE attempt.full_at + $3 <= $4 RETURNING full_at";

/// The counts.
#[derive(Clone)]
pub struct Counts {
    db: DatabaseConnection,
    secrets: Secrets,
    clock: Clock,
}

impl Counts {
    pub fn new(db: DatabaseConnection, secrets: Secrets, clock: Clock) -> Self {
        Self { db, secrets, clock }
    }

    /// Counts an attempt of `key`, the kind and the caller.
    ///
    /// # Errors
    /// [`OAuthError::TooMany`] if there were too many. The attempt is not counted then.
    pub async fn count(&self, key: &str, rate: Rate) -> Result<(), OAuthError> {
        let (key, now) = (self.secrets.digest(key.as_bytes(), CONTEXT), nanoseconds(self.clock.now()));
        let (interval, end) = (whole(rate.interval().as_nanos()), now + whole(rate.whole_burst().as_nanos()));
        let values: [Value; 4] = [key.as_str().into(), now.into(), interval.into(), end.into()];
        let count = Statement::from_sql_and_values(self.db.get_database_backend(), COUNT, values);
        if self.db.query_one_raw(count).await?.is_some() {
            return Ok(());
        }
        // A count of a longer limit, or from before the clock was set back, makes nobody wait longer than this limit. So a refusal stores
        // the cut time.
        let full_at = Entity::find_by_id(&key).one(&self.db).await?.map_or(now, |found| found.full_at);
        if full_at > end {
            let cut = Entity::update_many().col_expr(Column::FullAt, Expr::value(end));
            cut.filter(Column::Key.eq(&key)).filter(Column::FullAt.gt(end)).exec(&self.db).await?;
        }
        let full_at = full_at.min(end);
        let wait = (full_at + interval - end).max(1);
        Err(OAuthError::TooMany(u64::try_from(wait).unwrap_or_default().div_ceil(SECOND)))
    }
}

/// Limits on attempts of one kind, each as attempts in an hour and at once.
pub struct OfClients {
    /// The kind, for the keys.
    pub kind: &'static str,
    /// The attempts of one address: a /64 of IPv6.
    pub address: (u32, u32),
    /// The attempts of one network ([`ClientAddress::network`]): a /48 of IPv6.
    pub network: (u32, u32),
    /// The attempts of all clients together, before each network has `beyond` only.
    pub altogether: (u32, u32),
    /// The attempts of one network although there were too many, so that a flood from many networks shuts out no other.
    pub beyond: (u32, u32),
}

impl Counts {
    /// Counts an attempt of a client against its address, its network and all clients together.
    ///
    /// # Errors
    /// [`OAuthError::TooMany`].
    pub async fn count_client(&self, limits: &OfClients, client: &ClientAddress) -> Result<(), OAuthError> {
        let kind = limits.kind;
        let count = async |what: &str, (per_hour, burst)| {
            self.count(&format!("{kind}/{what}"), Rate::hourly(per_hour, burst)).await
        };
        count(&format!("address/{client}"), limits.address).await?;
        count(&format!("network/{}", client.network()), limits.network).await?;
        match count("altogether", limits.altogether).await {
            Err(OAuthError::TooMany(_)) => self.count_beyond(kind, client, limits.beyond).await,
            counted => counted,
        }
    }

    /// Takes an attempt of a client back from the counts of its address and its network.
    pub async fn uncount_client(&self, limits: &OfClients, client: &ClientAddress) -> Result<(), OAuthError> {
        use sea_orm::ExprTrait as _;
        for (key, (per_hour, burst)) in [
            (format!("{}/address/{client}", limits.kind), limits.address),
            (format!("{}/network/{}", limits.kind, client.network()), limits.network),
        ] {
            let (key, rate) = (self.secrets.digest(key.as_bytes(), CONTEXT), Rate::hourly(per_hour, burst));
            let earlier = Expr::col(Column::FullAt).sub(whole(rate.interval().as_nanos()));
            let uncounted = Entity::update_many().col_expr(Column::FullAt, earlier);
            uncounted.filter(Column::Key.eq(key)).exec(&self.db).await?;
        }
        Ok(())
    }

    /// Counts an attempt of a network although there were too many of all clients together: so many in an hour, and at once.
    ///
    /// # Errors
    /// [`OAuthError::TooMany`].
    pub async fn count_beyond(
        &self,
        kind: &str,
        client: &ClientAddress,
        (per_hour, burst): (u32, u32),
    ) -> Result<(), OAuthError> {
        self.count(&format!("{kind}/beyond/{}", client.network()), Rate::hourly(per_hour, burst)).await
    }
}

const SECOND: u64 = 1_000_000_000;

/// Deletes counts of callers who have their whole burst again. Returns their number.
pub async fn sweep(db: &DatabaseConnection, now: DateTime<Utc>) -> Result<u64, DbErr> {
    Ok(Entity::delete_many().filter(Column::FullAt.lte(nanoseconds(now))).exec(db).await?.rows_affected)
}

fn nanoseconds(time: DateTime<Utc>) -> i64 {
    time.timestamp_nanos_opt().unwrap_or_default()
}

fn whole(nanoseconds: u128) -> i64 {
    i64::try_from(nanoseconds).unwrap_or(i64::MAX / 4)
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use common::random::Random;
    use sea_orm::PaginatorTrait as _;
    use test_data::database;

    use super::*;

    async fn counts() -> (Counts, common::clock::Hand) {
        let (clock, hand) = Clock::manual(test_data::noon());
        (Counts::new(database().await, Secrets::new([7; 32], Random::seeded(1)), clock), hand)
    }

    /// The seconds to wait, or none.
    async fn waits(counts: &Counts, key: &str, rate: Rate) -> Option<u64> {
        match counts.count(key, rate).await {
            Ok(()) => None,
            Err(OAuthError::TooMany(seconds)) => Some(seconds),
            Err(error) => panic!("{error}"),
        }
    }

    #[tokio::test]
    async fn two_replicas_share_a_limit_and_callers_do_not() {
        let (one, hand) = counts().await;
        let other = one.clone();
        let rate = Rate::hourly(60, 3);
        for counts in [&one, &other, &one] {
            assert_eq!(waits(counts, "a", rate).await, None);
        }
        assert_eq!((waits(&one, "a", rate).await, waits(&other, "a", rate).await), (Some(60), Some(60)));
        assert_eq!(waits(&one, "b", rate).await, None);
        hand.advance(TimeDelta::seconds(60));
        assert_eq!((waits(&other, "a", rate).await, waits(&one, "a", rate).await), (None, Some(60)));
    }

    #[tokio::test]
    async fn attempts_at_the_same_time_are_all_counted() {
        let (counts, _) = counts().await;
        let rate = Rate::per_hour(10);
        let tries = (0..30).map(|_| waits(&counts, "a", rate));
        let allowed = futures_util::future::join_all(tries).await.into_iter().filter(Option::is_none).count();
        assert_eq!(allowed, 10);
    }

    #[tokio::test]
    async fn nobody_waits_longer_than_a_lowered_limit_says() {
        let (counts, _) = counts().await;
        for _ in 0..40 {
            assert_eq!(waits(&counts, "a", Rate::per_hour(40)).await, None);
        }
        assert_eq!(waits(&counts, "a", Rate::hourly(60, 2)).await, Some(60));
    }

    #[tokio::test]
    async fn what_is_stored_names_nobody_and_is_swept_when_the_burst_is_whole() {
        let (counts, hand) = counts().await;
        assert_eq!(waits(&counts, "account/ann@corp.test", Rate::hourly(60, 3)).await, None);
        let stored = Entity::find().one(&counts.db).await.unwrap().unwrap();
        assert!(stored.key.len() == 43 && !stored.key.contains("ann"), "{}", stored.key);
        assert_eq!(sweep(&counts.db, counts.clock.now()).await.unwrap(), 0);
        hand.advance(TimeDelta::seconds(60));
        assert_eq!(sweep(&counts.db, counts.clock.now()).await.unwrap(), 1);
        assert_eq!(Entity::find().count(&counts.db).await.unwrap(), 0);
    }
}
