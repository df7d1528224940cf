//! E-mail addresses of people: the latest statement about an address, its lifetime and its holder.

use std::cmp::Reverse;

use chrono::{DateTime, TimeDelta, Utc};
use entity::user::{self, Column, Entity};
use sea_orm::{ColumnTrait, DatabaseConnection, EntityTrait, QueryFilter, sea_query::Expr};

use crate::error::Error;

/// The time for which an address counts after a token last stated it. It equals the lifetime of a browser session, the longest time
/// that a user continues without a new token.
pub const COUNTS_FOR: TimeDelta = TimeDelta::days(7);

/// Returns whether the statement of a token issued at `issued_at` replaces the known one. It must be newer. Of two tokens issued in
/// the same second, the one that withdraws the address wins.
pub(super) fn counts(known: &user::Model, verified: bool, issued_at: DateTime<Utc>) -> bool {
    known.email_stated_at.is_none_or(|stated_at| stated_at < issued_at || (stated_at == issued_at && !verified))
}

/// Ensures that at most one person has the address of `person` as verified: the one it was stated of last. Returns whether any row
/// changed.
///
/// The statement of `person` must be stored already. Two calls at once then see each other's statement and reach the same result.
pub(super) async fn settle(db: &DatabaseConnection, person: &user::Model, now: DateTime<Utc>) -> Result<bool, Error> {
    let Some(key) = person.email_key.as_deref().filter(|_| person.email_verified) else { return Ok(false) };
    let holders = Entity::verified_holders(key).all(db).await?;
    let last = holders.iter().max_by_key(|holder| (holder.email_stated_at, Reverse(holder.id))).map(|holder| holder.id);
    for former in holders.iter().filter(|holder| Some(holder.id) != last) {
        withdraw(db, former, now).await?;
    }
    Ok(holders.len() > 1)
}

/// Marks an address as unverified for its former holder, unless it has been stated again meanwhile.
async fn withdraw(db: &DatabaseConnection, former: &user::Model, now: DateTime<Utc>) -> Result<(), Error> {
    let same_statement = match former.email_stated_at {
        Some(stated_at) => Column::EmailStatedAt.eq(stated_at),
        None => Column::EmailStatedAt.is_null(),
    };
    Entity::update_many()
        .col_expr(Column::EmailVerified, Expr::value(false))
        .col_expr(Column::UpdatedAt, Expr::value(now))
        .filter(Column::Id.eq(former.id))
        .filter(same_statement)
        .exec(db)
        .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use test_data::{noon, person};
    use uuid::Uuid;

    use super::*;
    use crate::{services::users, testing::World};

    /// Covers an address whose time is unknown, and two statements of one time.
    #[tokio::test]
    async fn an_address_belongs_to_the_person_of_the_latest_token() {
        let world = World::new().await;
        let stated = |minutes: Option<i64>, subject: &str| user::Model {
            subject: subject.into(),
            email_stated_at: minutes.map(|minutes| noon() + TimeDelta::minutes(minutes)),
            ..person("seat")
        };
        let mut holders = Vec::new();
        for (minutes, subject) in [(None, "a"), (Some(2), "b"), (Some(2), "c"), (Some(1), "d")] {
            holders.push(world.insert(stated(minutes, subject)).await);
        }
        let load = async |id: Uuid| users::by_id(&world.db, id).await.unwrap();
        for settled in &holders {
            settle(&world.db, &load(*settled).await, noon()).await.unwrap();
            let mut verified = Vec::new();
            for id in &holders {
                verified.push(load(*id).await.email_verified);
            }
            assert_eq!(verified, [false, true, false, false], "of two of one moment, who was here first");
        }
    }
}
