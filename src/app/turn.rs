//! Turns at work that one replica at a time does.

use sea_orm::{ConnectionTrait as _, DatabaseConnection, DbBackend, DbErr, Statement};
use uuid::Uuid;

/// Takes the turn, unless another replica has had it within `$2` minutes, by the clock of the server. The id stands for the work.
const TAKE: &str = "INSERT INTO replica (id, settings, seen_at) VALUES ($1, '{}', now())
    ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at WHERE replica.seen_at < now() - $2 * interval '1 minute'";

/// Returns whether this replica works now. On `SQLite` there is one. On `PostgreSQL` the first that comes does, and nobody else for so many
/// minutes.
pub(super) async fn takes_turn(db: &DatabaseConnection, work: Uuid, minutes: u32) -> Result<bool, DbErr> {
    if db.get_database_backend() != DbBackend::Postgres {
        return Ok(true);
    }
    let values = [work.into(), f64::from(minutes).into()];
    let turn = Statement::from_sql_and_values(DbBackend::Postgres, TAKE, values);
    Ok(db.execute_raw(turn).await?.rows_affected() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_replica_works_at_a_time() {
        let db = test_data::database().await;
        let is_one = db.get_database_backend() != DbBackend::Postgres;
        let (work, other) = (Uuid::nil(), Uuid::from_u128(1));
        assert!(takes_turn(&db, work, 14).await.unwrap());
        assert_eq!(takes_turn(&db, work, 14).await.unwrap(), is_one, "another one has just worked");
        assert!(takes_turn(&db, other, 14).await.unwrap(), "at something else");
        assert!(takes_turn(&db, work, 0).await.unwrap(), "who has the turn keeps it");
        if !is_one {
            let later = "UPDATE replica SET seen_at = seen_at - interval '15 minutes'";
            db.execute_raw(Statement::from_string(DbBackend::Postgres, later)).await.unwrap();
            assert!(takes_turn(&db, work, 14).await.unwrap());
        }
    }
}
