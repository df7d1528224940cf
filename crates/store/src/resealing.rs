//! Seals stored secrets again, under the current key.

use std::fmt::Display;

use crate::{Error, transaction::Transaction};
use common::secrets::Secrets;
use sea_orm::{
    ColumnTrait, EntityTrait, QueryFilter as _, QueryOrder as _, QuerySelect as _, TryGetable, Value, sea_query::Expr,
};

/// Rows that are in memory at once.
const BATCH: u64 = 200;

/// A column that holds sealed values.
pub struct SealedColumn<E: EntityTrait> {
    /// The name of the table.
    pub name: &'static str,
    /// The primary key.
    pub id: E::Column,
    /// The sealed column. It may be null.
    pub sealed: E::Column,
}

/// Seals every value of a column again that is not under the current key. `context` binds the value of a row to it. Returns the number of
/// changed rows.
///
/// # Errors
/// [`Error::Refused`] names the row that neither key opens. The caller rolls back.
pub async fn reseal<E, K>(
    tx: &Transaction,
    secrets: &Secrets,
    place: SealedColumn<E>,
    context: impl Fn(&K) -> String,
) -> Result<u64, Error>
where
    E: EntityTrait,
    K: TryGetable + Display + Clone + Into<Value> + Send,
{
    let (mut changed, mut after) = (0, None::<K>);
    loop {
        let mut rows = E::find().filter(place.sealed.is_not_null()).order_by_asc(place.id).limit(BATCH);
        if let Some(last) = after {
            rows = rows.filter(place.id.gt(last));
        }
        let rows = rows.select_only().column(place.id).column(place.sealed);
        let rows: Vec<(K, Vec<u8>)> = rows.into_tuple().all(tx).await?;
        let Some((last, _)) = rows.last() else { return Ok(changed) };
        after = Some(last.clone());
        for (id, sealed) in rows {
            let again = secrets.reseal(&sealed, &context(&id)).map_err(|_| unknown_key(place.name, &id))?;
            let Some(again) = again else { continue };
            // A value that was replaced meanwhile is under the current key, and stays.
            let updated = E::update_many()
                .col_expr(place.sealed, Expr::value(again))
                .filter(place.id.eq(id))
                .filter(place.sealed.eq(sealed))
                .exec(tx)
                .await?;
            changed += updated.rows_affected;
        }
    }
}

fn unknown_key(table: &str, id: &impl Display) -> Error {
    Error::refused(format!(
        "secrets.previous_key: neither the current nor the previous key opens {table} {id}, and nothing was changed. Name the \
         key that this database was last used with"
    ))
}
