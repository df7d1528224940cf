//! The state of a subscription and its period. A trial is a state of the plan that is tried.

use sea_orm_migration::prelude::*;

use crate::schema::{string, timestamp_with_time_zone_null as instant_null};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let state = string("plan_state").default("active").take();
        for column in [state, instant_null("period_starts_at"), instant_null("period_ends_at")] {
            manager.alter_table(Table::alter().table("users").add_column(column).take()).await?;
        }
        // Trials were of the plan `pro`, and began when the person first signed in.
        let trials = "UPDATE users SET plan = 'pro', plan_state = 'trialing', period_starts_at = created_at \
                      WHERE plan = 'none' AND trial_ends_at IS NOT NULL";
        manager.get_connection().execute_unprepared(trials).await?;
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let trials = "UPDATE users SET plan = 'none' WHERE plan_state = 'trialing'";
        manager.get_connection().execute_unprepared(trials).await?;
        for column in ["plan_state", "period_starts_at", "period_ends_at"] {
            manager.alter_table(Table::alter().table("users").drop_column(column).take()).await?;
        }
        Ok(())
    }
}
