//! One transaction for all writes of a request.

use sea_orm::{DatabaseConnection, DatabaseTransaction, DbBackend};
use tokio::sync::OnceCell;

use super::database::{self, Statements};
use crate::error::Error;

/// A transaction that begins on first use. Dropping it without [`UnitOfWork::commit`] rolls it back.
#[derive(Debug)]
pub struct UnitOfWork {
    db: DatabaseConnection,
    statements: Statements,
    open: OnceCell<DatabaseTransaction>,
}

impl UnitOfWork {
    /// Creates the unit of work without beginning a transaction.
    #[must_use]
    pub fn new(db: DatabaseConnection, statements: Statements) -> Self {
        Self { db, statements, open: OnceCell::new() }
    }

    /// The transaction, begun on first use.
    ///
    /// # Errors
    /// The database cannot begin one.
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

    /// Commits the transaction, if it has begun.
    ///
    /// # Errors
    /// The database cannot commit.
    pub async fn commit(self) -> Result<(), Error> {
        if let Some(transaction) = self.open.into_inner() {
            self.statements.add();
            transaction.commit().await?;
        }
        Ok(())
    }

    /// Rolls the transaction back, if it has begun.
    ///
    /// # Errors
    /// The database cannot roll back. It will do so when the connection closes.
    pub async fn roll_back(self) -> Result<(), Error> {
        if let Some(transaction) = self.open.into_inner() {
            self.statements.add();
            transaction.rollback().await?;
        }
        Ok(())
    }
}
