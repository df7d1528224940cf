//! Exchanges of a code or a refresh token for tokens.
//!
//! An honest client repeats an exchange whose answer was lost, and programs that share what they store make it at the same time. So an
//! exchange can be repeated for a short time, and gives the same refresh token again, as long as nobody has used that. Later, somebody
//! holds a copy, and the grant ends (RFC 9700 section 4.14.2).

use chrono::{DateTime, TimeDelta, Utc};
use common::digest::sha256_hex;
use entity::{
    oauth_grant::Model as Grant,
    refresh_token,
    token_exchange::{ActiveModel, Column, Entity, Model},
};
use sea_orm::{ActiveValue::Set, ColumnTrait, ConnectionTrait, DatabaseConnection, DbErr, EntityTrait, QueryFilter};

use super::{IdentityProvider, family::Family};

/// The time in which an exchange can be repeated.
const REPEATABLE: TimeDelta = TimeDelta::seconds(30);

/// The refresh token that an exchange gives.
pub(super) struct Renewal {
    pub family: Family,
    pub token: String,
}

impl Renewal {
    /// The token that `presented` is exchanged for: of its family, or the first one of a new family. Nobody can make it from `presented`
    /// without the salt, nor from the salt alone.
    fn new(presented: &str, family: Option<Family>, salt: &str) -> Self {
        let part = |name: &str| sha256_hex(&format!("{salt}.{name}.{presented}"));
        let family = family.unwrap_or_else(|| Family::named(part("family")));
        let token = family.token(&part("token"));
        Self { family, token }
    }
}

impl IdentityProvider {
    /// Records the exchange of a code, and returns the first refresh token of a family.
    pub(super) async fn exchange_code(
        &self,
        db: &impl ConnectionTrait,
        grant: &Grant,
        code: &str,
    ) -> Result<Renewal, DbErr> {
        self.exchange(db, grant, code, None).await
    }

    /// Records the exchange of a refresh token, and returns the next one.
    pub(super) async fn exchange_token(
        &self,
        db: &impl ConnectionTrait,
        grant: &Grant,
        token: &str,
        family: Family,
    ) -> Result<Renewal, DbErr> {
        self.exchange(db, grant, token, Some(family)).await
    }

    async fn exchange(
        &self,
        db: &impl ConnectionTrait,
        grant: &Grant,
        presented: &str,
        family: Option<Family>,
    ) -> Result<Renewal, DbErr> {
        let (salt, now) = (self.random.token(), self.clock.now());
        let earlier = Entity::delete_many().filter(Column::GrantId.eq(grant.id));
        earlier.filter(Column::ExchangedAt.lt(now - REPEATABLE)).exec(db).await?;
        let renewal = Renewal::new(presented, family, &salt);
        let hash = sha256_hex(presented);
        let row = ActiveModel { hash: Set(hash), grant_id: Set(grant.id), salt: Set(salt), exchanged_at: Set(now) };
        Entity::insert(row).exec_without_returning(db).await?;
        Ok(renewal)
    }

    /// Returns what the exchange of `presented` gave, if it can be repeated. `refreshes` says whether it gave a refresh token.
    pub(super) async fn repeat_exchange(
        &self,
        presented: &str,
        family: Option<Family>,
        refreshes: bool,
    ) -> Result<Option<Renewal>, DbErr> {
        let Some(exchange) = find(&self.db, presented).await? else { return Ok(None) };
        let renewal = Renewal::new(presented, family, &exchange.salt);
        let stored = async || refresh_token::Entity::find_by_id(sha256_hex(&renewal.token)).one(&self.db).await;
        let is_unused = !refreshes || stored().await?.is_some();
        Ok(is_repeatable(exchange.exchanged_at, is_unused, self.clock.now()).then_some(renewal))
    }
}

/// Returns the exchange of a code or refresh token, if it is still stored.
pub(super) async fn find(db: &DatabaseConnection, presented: &str) -> Result<Option<Model>, DbErr> {
    Entity::find_by_id(sha256_hex(presented)).one(db).await
}

/// Deletes exchanges that cannot be repeated. Returns their number.
pub(super) async fn sweep(db: &DatabaseConnection, now: DateTime<Utc>) -> Result<u64, DbErr> {
    Ok(Entity::delete_many().filter(Column::ExchangedAt.lt(now - REPEATABLE)).exec(db).await?.rows_affected)
}

/// Returns whether an exchange can be repeated. `is_unused` says that the refresh token it gave was not used. A clock that was set back
/// does not make the time longer.
fn is_repeatable(exchanged_at: DateTime<Utc>, is_unused: bool, now: DateTime<Utc>) -> bool {
    is_unused && (now - exchanged_at).abs() <= REPEATABLE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exchange_is_repeated_soon_and_while_its_token_is_unused() {
        let start = DateTime::UNIX_EPOCH;
        for (seconds, is_unused, repeatable) in [
            (0, true, true),
            (1, true, true),
            (30, true, true),
            (31, true, false),
            (86_400, true, false),
            (-10, true, true),
            (-7_200, true, false),
            (0, false, false),
            (30, false, false),
        ] {
            let now = start + TimeDelta::seconds(seconds);
            assert_eq!(is_repeatable(start, is_unused, now), repeatable, "{seconds} {is_unused}");
        }
    }

    #[test]
    fn the_next_token_follows_from_token_and_salt_and_keeps_its_family() {
        let next = |presented: &str, salt: &str| Renewal::new(presented, Family::of(presented), salt).token;
        assert_eq!(next("family.one", "salt"), next("family.one", "salt"));
        assert!(next("family.one", "salt").starts_with("family."));
        assert_ne!(next("family.one", "salt"), next("family.two", "salt"));
        assert_ne!(next("family.one", "salt"), next("family.one", "other"));
        let first = Renewal::new("code", None, "salt");
        assert_eq!(Family::of(&first.token).map(|family| family.hash()), Some(first.family.hash()));
        assert_ne!(first.token, Renewal::new("code", None, "other").token);
    }
}
