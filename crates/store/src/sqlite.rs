//! Connections to a `SQLite` file that can no longer be trusted.

use sea_orm::ConnectOptions;
use sqlx::{Connection as _, pool::PoolConnectionMetadata, sqlite::SqliteConnection};

use crate::failures::Failures;

/// Replaces connections before they are used again: those inside a transaction, and those that were open when a statement failed.
///
/// `SQLite` rolls a transaction back by itself when the disk is full or fails. The driver then cannot roll back what is no longer there, and
/// counts the transaction as open: it would begin the next one with a savepoint, in a transaction that never ends. It
/// counts it as ended only when `SQLite` has ended it. A database in memory is lost with its connection, so failures are not counted there.
pub(crate) fn replace_broken(options: &mut ConnectOptions, failures: Option<Failures>) {
    options.map_sqlx_sqlite_before_acquire(move |connection, metadata| {
        let sound = is_sound(connection, &metadata, failures.as_ref());
        Box::pin(async move { Ok(sound) })
    });
}

fn is_sound(connection: &SqliteConnection, metadata: &PoolConnectionMetadata, failures: Option<&Failures>) -> bool {
    let last = failures.and_then(Failures::age);
    !connection.is_in_transaction() && last.is_none_or(|age| metadata.age < age)
}
