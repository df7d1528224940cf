//! One transaction for all that a request writes.

use std::sync::Arc;

use sea_orm::{DatabaseConnection, DatabaseTransaction, DbBackend};
use tokio::sync::OnceCell;

use super::database::{self, Statements};
use crate::error::Error;

/// A transaction that begins when it is first needed. Dropped without [`UnitOfWork::commit`], it leaves nothing behind.
#[derive(Debug)]
pub struct UnitOfWork {
    db: DatabaseConnection,
    statements: Statements,
    open: OnceCell<Arc<DatabaseTransaction>>,
}

impl UnitOfWork {
    /// Nothing is begun yet.
    #[must_use]
    pub fn new(db: DatabaseConnection, statements: Statements) -> Self {
        Self { db, statements, open: OnceCell::new() }
    }

    /// The transaction. Who shares it must drop it before it is committed or rolled back.
    ///
    /// # Errors
    /// Where the database does not begin one.
    pub async fn transaction(&self) -> Result<&Arc<DatabaseTransaction>, Error> {
        let begin = async || {
            self.statements.add();
            database::begin(&self.db).await.map(Arc::new)
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
        if let Some((transaction, statements)) = self.close()? {
            statements.add();
            transaction.commit().await?;
        }
        Ok(())
    }

    /// Takes back what was written.
    ///
    /// # Errors
    /// Where the database does not roll back; it will when the connection closes.
    pub async fn roll_back(self) -> Result<(), Error> {
        if let Some((transaction, statements)) = self.close()? {
            statements.add();
            transaction.rollback().await?;
        }
        Ok(())
    }

    /// The transaction, where one was begun and nobody shares it any more.
    fn close(self) -> Result<Option<(DatabaseTransaction, Statements)>, Error> {
        let Some(transaction) = self.open.into_inner() else { return Ok(None) };
        let transaction = Arc::into_inner(transaction);
        let transaction = transaction.ok_or_else(|| Error::internal("an operation kept its transaction"))?;
        Ok(Some((transaction, self.statements)))
    }
}
