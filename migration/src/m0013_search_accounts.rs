//! One property per person and site, the search accounts that list it, and the time of an account's state.
//!
//! Until now a site that two accounts of a person list was two properties. They become one: the one that is tracked, longest
//! tracked or oldest keeps its id, and the records of the others move to it.

use sea_orm_migration::prelude::*;

use crate::schema::{drop_all, index, join_table, string, timestamp_with_time_zone_null as instant_null, unique};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        manager
            .alter_table(Table::alter().table("search_account").add_column(instant_null("status_at")).take())
            .await?;
        db.execute_unprepared("UPDATE search_account SET status_at = updated_at WHERE status <> 'connected'").await?;

        let mut listing = join_table("property_account", ("property_id", "property"), ("account_id", "search_account"));
        listing.col(string("permission_level")).col(instant_null("lost_at"));
        manager.create_table(listing).await?;
        index(manager, "property_account", &["account_id"]).await?;
        db.execute_unprepared(LISTED).await?;
        merge(manager).await?;

        manager.drop_index(Index::drop().name("uq_property_account_id_site_url").table("property").to_owned()).await?;
        unique(manager, "property", &["user_id", "site_url"]).await?;
        index(manager, "property", &["account_id"]).await
    }

    /// Properties that were merged stay merged.
    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for name in ["ix_property_account_id", "uq_property_user_id_site_url"] {
            manager.drop_index(Index::drop().name(name).table("property").to_owned()).await?;
        }
        unique(manager, "property", &["account_id", "site_url"]).await?;
        drop_all(manager, &["property_account"]).await?;
        manager.alter_table(Table::alter().table("search_account").drop_column("status_at").take()).await
    }
}

/// Lists every property for its account.
const LISTED: &str = "INSERT INTO property_account (property_id, account_id, permission_level, lost_at)
    SELECT id, account_id, permission_level, lost_at FROM property";

/// The properties to merge, numbered, each with the one that stays.
const TWINS: &str = "CREATE TABLE property_twin AS SELECT id, kept, row_number() OVER (ORDER BY id) AS number FROM (
        SELECT id, first_value(id) OVER (
            PARTITION BY user_id, site_url
            ORDER BY CASE WHEN tracked THEN 0 ELSE 1 END, CASE WHEN tracked_at IS NULL THEN 1 ELSE 0 END, tracked_at,
                created_at, id
        ) AS kept FROM property
    ) AS twins WHERE id <> kept";

/// Moves the records of the properties to merge. `{same}` holds for a record whose name stands on the property that stays, or on
/// one that is merged into it earlier.
const MOVES: [&str; 14] = [
    "UPDATE annotation SET property_id = t.kept FROM property_twin t WHERE annotation.property_id = t.id",
    "UPDATE share_link SET property_id = t.kept FROM property_twin t WHERE share_link.property_id = t.id",
    "DELETE FROM branded_keyword WHERE {same branded_keyword.keyword_key}",
    "UPDATE branded_keyword SET property_id = t.kept FROM property_twin t WHERE branded_keyword.property_id = t.id",
    "UPDATE segment SET name = substr(name, 1, 80) || {mark segment}, name_key = name_key || {mark segment}
        WHERE {same segment.name_key}",
    "UPDATE segment SET property_id = t.kept FROM property_twin t WHERE segment.property_id = t.id",
    "UPDATE topic_cluster SET name = substr(name, 1, 80) || {mark topic_cluster}, name_key = name_key || {mark topic_cluster}
        WHERE {same topic_cluster.name_key}",
    "UPDATE topic_cluster SET property_id = t.kept FROM property_twin t WHERE topic_cluster.property_id = t.id",
    "INSERT INTO property_preference (user_id, property_id, favorite, hidden)
        SELECT p.user_id, t.kept, p.favorite, p.hidden FROM property_preference p
        JOIN property_twin t ON t.id = p.property_id WHERE true ON CONFLICT DO NOTHING",
    "INSERT INTO property_tag (tag_id, property_id) SELECT p.tag_id, t.kept FROM property_tag p
        JOIN property_twin t ON t.id = p.property_id WHERE true ON CONFLICT DO NOTHING",
    "INSERT INTO team_grant_property (grant_id, property_id) SELECT p.grant_id, t.kept FROM team_grant_property p
        JOIN property_twin t ON t.id = p.property_id WHERE true ON CONFLICT DO NOTHING",
    "INSERT INTO property_account (property_id, account_id, permission_level, lost_at)
        SELECT t.kept, p.account_id, p.permission_level, p.lost_at FROM property_account p
        JOIN property_twin t ON t.id = p.property_id WHERE true ON CONFLICT DO NOTHING",
    "DELETE FROM property WHERE id IN (SELECT id FROM property_twin)",
    // Not before the others are gone: an account must not have the same site twice.
    READER,
];

/// The account that reads a merged property is the one that lists it, is connected, has the best permission or is the oldest.
const READER: &str = "UPDATE property SET (account_id, permission_level, lost_at) = (
        SELECT l.account_id, l.permission_level, l.lost_at
        FROM property_account l JOIN search_account a ON a.id = l.account_id WHERE l.property_id = property.id
        ORDER BY CASE WHEN l.lost_at IS NULL THEN 0 ELSE 1 END, CASE a.status WHEN 'connected' THEN 0 ELSE 1 END,
            CASE l.permission_level WHEN 'siteOwner' THEN 0 WHEN 'siteFullUser' THEN 1 ELSE 2 END, a.id
        LIMIT 1
    ) WHERE id IN (SELECT kept FROM property_twin)";

/// Fills in `{same table.column}` and `{mark table}`.
fn filled(sql: &str) -> String {
    let mut text = sql.to_owned();
    for (table, column) in [("branded_keyword", "keyword_key"), ("segment", "name_key"), ("topic_cluster", "name_key")]
    {
        let same = format!(
            "EXISTS (SELECT 1 FROM property_twin t JOIN {table} k ON k.{column} = {table}.{column}
                LEFT JOIN property_twin o ON o.id = k.property_id
                WHERE t.id = {table}.property_id
                    AND (k.property_id = t.kept OR (o.kept = t.kept AND o.number < t.number)))"
        );
        let mark = format!(
            "(SELECT ' (merged ' || CAST(t.number AS text) || ')' FROM property_twin t WHERE t.id = {table}.property_id)"
        );
        text = text.replace(&format!("{{same {table}.{column}}}"), &same);
        text = text.replace(&format!("{{mark {table}}}"), &mark);
    }
    text
}

async fn merge(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let db = manager.get_connection();
    db.execute_unprepared("DROP TABLE IF EXISTS property_twin").await?;
    db.execute_unprepared(TWINS).await?;
    for sql in MOVES {
        db.execute_unprepared(&filled(sql)).await?;
    }
    db.execute_unprepared("DROP TABLE property_twin").await?;
    Ok(())
}
