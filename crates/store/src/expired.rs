//! Deletes expired rows in batches, so that other writers have their turn between two of them, and no statement takes long.

use sea_orm::{
    ColumnTrait as _, ConnectionTrait, DbErr, EntityTrait, QueryFilter as _, QuerySelect as _, QueryTrait as _,
    sea_query::IntoCondition,
};

/// The most rows of a batch.
pub const BATCH: u64 = 5_000;

/// Deletes the rows of `E` for which `condition` holds. `key` is a column that names few rows. Returns the number of deleted rows.
///
/// # Errors
/// The database cannot delete them. Batches before stay deleted.
pub async fn delete<E: EntityTrait>(
    db: &impl ConnectionTrait,
    key: E::Column,
    condition: impl IntoCondition,
) -> Result<u64, DbErr> {
    let (condition, mut deleted) = (condition.into_condition(), 0);
    loop {
        let some = E::find().select_only().column(key).filter(condition.clone()).limit(BATCH).into_query();
        // The condition again, because a key may name a row for which it does not hold.
        let batch = E::delete_many().filter(condition.clone()).filter(key.in_subquery(some)).exec(db).await?;
        deleted += batch.rows_affected;
        if batch.rows_affected < BATCH {
            return Ok(deleted);
        }
    }
}
