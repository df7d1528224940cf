//! Use of grants: the time when the holder first used a grant, and the share links made under it.

use sea_orm_migration::prelude::*;

use crate::schema::{index, timestamp_with_time_zone_null as instant_null, uuid_null};

#[derive(DeriveMigrationName)]
pub struct Migration;

/// Sets the grant of existing links: the one that the property's owner made to the address of the link's creator.
const MADE_UNDER: &str = "
    UPDATE share_link SET grant_id = (
        SELECT team_grant.id FROM team_grant
        JOIN property ON property.user_id = team_grant.owner_id
        JOIN users ON users.email_key = team_grant.email_key AND users.email_verified
        WHERE property.id = share_link.property_id AND users.id = share_link.created_by
            AND users.id <> property.user_id
    )";

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.alter_table(Table::alter().table("team_grant").add_column(instant_null("accepted_at")).take()).await?;
        manager.alter_table(Table::alter().table("share_link").add_column(uuid_null("grant_id")).take()).await?;
        manager.get_connection().execute_unprepared(MADE_UNDER).await?;
        index(manager, "share_link", &["grant_id"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_index(Index::drop().name("ix_share_link_grant_id").table("share_link").to_owned()).await?;
        manager.alter_table(Table::alter().table("share_link").drop_column("grant_id").take()).await?;
        manager.alter_table(Table::alter().table("team_grant").drop_column("accepted_at").take()).await
    }
}
