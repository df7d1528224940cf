//! The accounts that may read a property's site beside its own: those of its owner, and those of people to whom the owner granted it.
//!
//! One statement finds them, so who has lost a grant, a connection or the site is none of them from the next request on.

use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use common::secrets::Secrets;
use entity::search_account;
use sea_orm::{ConnectionTrait as _, DatabaseConnection, DbErr, FromQueryResult as _, Statement};
use search_engine::{Account, SiteUrl};
use uuid::Uuid;

use super::refresh_token;
use crate::{
    error::Error,
    services::{
        access::facts::{columns, covers},
        users::addresses,
    },
};

/// Selects the connected accounts that list the site `$2` of the property that the account `$1` reads, but for accounts that are the same at the
/// search engine, which counts them as one. They belong to the owner, or to the holder of an address verified and stated after `$3`, who has
/// used a grant that covers the property.
static OTHERS: LazyLock<String> = LazyLock::new(|| {
    format!(
        "WITH asked AS (SELECT p.id, p.user_id, p.site_url, own.subject FROM property p \
         JOIN search_account own ON own.id = p.account_id \
         WHERE p.account_id = $1 AND p.site_url = $2 AND p.tracked), \
         person AS (SELECT asked.user_id AS id FROM asked \
         UNION SELECT u.id FROM asked JOIN team_grant g ON g.owner_id = asked.user_id AND g.accepted_at IS NOT NULL \
         JOIN users u ON u.email_key = g.email_key AND u.email_verified AND u.email_stated_at > $3 \
         WHERE {}) \
         SELECT {} FROM asked CROSS JOIN person \
         JOIN property q ON q.user_id = person.id AND q.site_url = asked.site_url \
         JOIN property_account l ON l.property_id = q.id AND l.account_id <> $1 AND l.lost_at IS NULL \
         JOIN search_account a ON a.id = l.account_id AND a.status = 'connected' AND a.refresh_token IS NOT NULL \
         AND a.subject <> asked.subject \
         ORDER BY a.user_id <> asked.user_id, a.id",
        covers("g", "asked.id"),
        columns::<search_account::Entity>("a"),
    )
});

/// Returns the accounts that may read `site` beside `account`, which reads it: the owner's first, then the oldest.
pub(super) async fn of(
    db: &DatabaseConnection,
    secrets: &Secrets,
    account: Uuid,
    site: &SiteUrl,
    now: DateTime<Utc>,
) -> Result<Vec<Account>, Error> {
    let mut others = Vec::new();
    for row in rows(db, account, site, now).await? {
        if let Some(token) = refresh_token(secrets, &row)? {
            others.push(Account { id: row.id, refresh_token: token.into(), connected_at: row.connected_at });
        }
    }
    Ok(others)
}

async fn rows(
    db: &DatabaseConnection,
    account: Uuid,
    site: &SiteUrl,
    now: DateTime<Utc>,
) -> Result<Vec<search_account::Model>, DbErr> {
    let values = [account.into(), site.0.as_str().into(), (now - addresses::COUNTS_FOR).into()];
    let rows = db.query_all_raw(Statement::from_sql_and_values(db.get_database_backend(), &*OTHERS, values)).await?;
    rows.iter().map(|row| search_account::Model::from_query_result(row, "a_")).collect()
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use entity::{
        property, property_account,
        team_grant::{self, Role},
        user,
    };
    use sea_orm::{ActiveModelTrait as _, ActiveValue::Set, EntityTrait as _, ModelTrait as _, QueryFilter as _};
    use sea_orm::{ColumnTrait as _, sea_query::Expr};
    use store::database;
    use test_data::noon;

    use super::*;
    use crate::{
        services::search_accounts::{disconnect, mark_refused, sites},
        testing::World,
    };

    const SITE: &str = "https://shared.test/";

    /// The owner and a member with the same site, each with an account of their own that lists it.
    struct Team {
        world: World,
        property: Uuid,
        member: Uuid,
        account: search_account::Model,
    }

    impl Team {
        /// The member has used a grant on the property.
        async fn new() -> Self {
            let world = World::new().await;
            let property = world.add_property(world.owner, SITE, true).await;
            let member = world.add_person("member", true).await;
            let account = world.add_account(member, "member").await;
            world.add_property(member, SITE, false).await;
            // An unrelated person's account lists it as well.
            world.add_property(world.stranger, SITE, true).await;
            world.grant("member@demo.test", Role::Viewer, &[property]).await;
            let team = Self { world, property, member, account };
            assert!(team.others().await.is_empty(), "nobody has used the grant");
            team.accept(Some(noon())).await;
            team
        }

        async fn accept(&self, at: Option<DateTime<Utc>>) {
            let accepted = team_grant::Entity::update_many().col_expr(team_grant::Column::AcceptedAt, Expr::value(at));
            accepted.exec(&self.world.db).await.unwrap();
        }

        async fn others_at(&self, now: DateTime<Utc>) -> Vec<Uuid> {
            let own = self.world.account(self.world.owner).await.id;
            let found = rows(&self.world.db, own, &SiteUrl(SITE.to_owned()), now).await.unwrap();
            found.into_iter().map(|account| account.id).collect()
        }

        async fn others(&self) -> Vec<Uuid> {
            self.others_at(noon()).await
        }
    }

    #[tokio::test]
    async fn accounts_of_the_owner_and_of_members_read_a_site_and_those_of_others_never() {
        let team = Team::new().await;
        let (world, members) = (&team.world, team.account.id);
        assert_eq!(team.others().await, [members]);

        let second = world.add_account(world.owner, "second").await;
        assert_eq!(team.others().await, [members], "it does not list the site");
        let listing = property_account::ActiveModel {
            property_id: Set(team.property),
            account_id: Set(second.id),
            permission_level: Set("siteRestrictedUser".into()),
            lost_at: Set(None),
        };
        property_account::Entity::insert(listing).exec_without_returning(&world.db).await.unwrap();
        assert_eq!(team.others().await, [second.id, members], "the owner's first");

        let same = world.account(world.owner).await.subject;
        let renamed = search_account::ActiveModel { id: Set(members), subject: Set(same), ..Default::default() };
        renamed.update(&world.db).await.unwrap();
        assert_eq!(team.others().await, [second.id], "the search engine counts it as the owner's own");

        let stranger = world.account(world.stranger).await.id;
        let of_stranger = rows(&world.db, stranger, &SiteUrl(SITE.to_owned()), noon()).await.unwrap();
        assert!(of_stranger.is_empty(), "nobody reads for an unrelated person");
        let elsewhere = rows(&world.db, team.account.id, &SiteUrl(SITE.to_owned()), noon()).await.unwrap();
        assert!(elsewhere.is_empty(), "the owner gave the member a right, and got none");
    }

    /// Each case ends the use of a member's account, in a team of its own.
    #[tokio::test]
    async fn what_is_withdrawn_ends_the_use_of_an_account_at_once() {
        for what in ["grant", "property", "address", "listing", "refused", "disconnected", "person", "tracking"] {
            let team = Team::new().await;
            let (db, account) = (&team.world.db, &team.account);
            match what {
                "grant" => {
                    team_grant::Entity::delete_many().exec(db).await.unwrap();
                }
                "property" => {
                    entity::team_grant_property::Entity::delete_many().exec(db).await.unwrap();
                }
                "address" => {
                    let row =
                        user::ActiveModel { id: Set(team.member), email_verified: Set(false), ..Default::default() };
                    row.update(db).await.unwrap();
                }
                "listing" => {
                    let lost = property_account::Entity::update_many()
                        .col_expr(property_account::Column::LostAt, Expr::value(Some(noon())))
                        .filter(property_account::Column::AccountId.eq(account.id));
                    lost.exec(db).await.unwrap();
                }
                "refused" => {
                    let reason = crate::error::Disconnection::Revoked;
                    mark_refused(db, account, reason, "ended", noon()).await.unwrap();
                }
                "disconnected" => {
                    let tx = database::begin(db).await.unwrap();
                    disconnect(&tx, &team.world.random, account, noon()).await.unwrap();
                    sites::choose(&tx, team.member, noon()).await.unwrap();
                    tx.commit().await.unwrap();
                }
                "person" => {
                    property::Entity::delete_many()
                        .filter(property::Column::UserId.eq(team.member))
                        .exec(db)
                        .await
                        .unwrap();
                    account.clone().delete(db).await.unwrap();
                    user::Entity::delete_by_id(team.member).exec(db).await.unwrap();
                }
                _ => {
                    let row =
                        property::ActiveModel { id: Set(team.property), tracked: Set(false), ..Default::default() };
                    row.update(db).await.unwrap();
                }
            }
            assert!(team.others().await.is_empty(), "{what}");
        }
    }

    #[tokio::test]
    async fn an_address_that_no_token_states_any_more_ends_it_after_a_week() {
        let team = Team::new().await;
        let week = addresses::COUNTS_FOR;
        assert_eq!(team.others_at(noon() + week - TimeDelta::seconds(1)).await, [team.account.id]);
        assert!(team.others_at(noon() + week).await.is_empty());
    }
}
