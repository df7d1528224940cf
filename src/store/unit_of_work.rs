//! One transaction for all that a request writes.

use sea_orm::{DatabaseConnection, DatabaseTransaction, DbBackend};
use tokio::sync::OnceCell;

use super::database::{self, Statements};
use crate::error::Error;

/// A transaction that begins when it is first needed. Dropped without [`UnitOfWork::commit`], it leaves nothing behind.
#[derive(Debug)]
pub struct UnitOfWork {
    db: DatabaseConnection,
    statements: Statements,
    open: OnceCell<DatabaseTransaction>,
}

impl UnitOfWork {
    /// Nothing is begun yet.
    #[must_use]
    pub fn new(db: DatabaseConnection, statements: Statements) -> Self {
        Self { db, statements, open: OnceCell::new() }
    }

    /// The transaction.
    ///
    /// # Errors
    /// Where the database does not begin one.
    pub async fn transaction(&self) -> Result<&DatabaseTransaction, Error> {
        let begin = || {
            self.statements.add();
            database::begin(&self.db)
        };
        Ok(self.open.get_or_try_init(begin).await?)
    }

    /// The kind of database.
    #[must_use]
    pub fn backend(&self) -> DbBackend {
        self.db.get_database_backend()
    }

    /// Makes what was written last.
    ///
    /// # Errors
    /// Where the database does not commit.
    pub async fn commit(self) -> Result<(), Error> {
        if let Some(transaction) = self.open.into_inner() {
            self.statements.add();
            transaction.commit().await?;
        }
        Ok(())
    }

    /// Takes back what was written.
    ///
    /// # Errors
    /// Where the database does not roll back; it will when the connection closes.
    pub async fn roll_back(self) -> Result<(), Error> {
        if let Some(transaction) = self.open.into_inner() {
            self.statements.add();
            transaction.rollback().await?;
        }
        Ok(())
    }
}
