//! One transaction for all that a request writes.

use sea_orm::{ConnectionTrait as _, DatabaseConnection, DatabaseTransaction, DbBackend};
use tokio::sync::OnceCell;

use super::database;
use crate::error::Error;

/// A transaction that begins when it is first needed. Dropped without [`UnitOfWork::commit`], it leaves nothing behind.
#[derive(Debug)]
pub struct UnitOfWork {
    db: DatabaseConnection,
    open: OnceCell<DatabaseTransaction>,
    marked: bool,
}

/// Marks a state to go back to.
const MARK: &str = "SAVEPOINT mark";

/// Goes back to it.
const BACK: &str = "ROLLBACK TO SAVEPOINT mark";

impl UnitOfWork {
    /// Nothing is begun yet.
    #[must_use]
    pub fn new(db: DatabaseConnection) -> Self {
        Self { db, open: OnceCell::new(), marked: false }
    }

    /// The transaction.
    ///
    /// # Errors
    /// Where the database does not begin one.
    pub async fn transaction(&self) -> Result<&DatabaseTransaction, Error> {
        Ok(self.open.get_or_try_init(|| database::begin(&self.db)).await?)
    }

    /// The kind of database.
    #[must_use]
    pub fn backend(&self) -> DbBackend {
        self.db.get_database_backend()
    }

    /// The transaction, where it has begun.
    #[must_use]
    pub fn begun(&self) -> Option<&DatabaseTransaction> {
        self.open.get()
    }

    /// Marks the state that [`UnitOfWork::undo`] goes back to; before that, it is the one before the transaction.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub async fn mark(&mut self) -> Result<(), Error> {
        if let Some(transaction) = self.open.get() {
            transaction.execute_unprepared(MARK).await?;
            self.marked = true;
        }
        Ok(())
    }

    /// Takes back what was written since the mark. A transaction that had begun by then goes on and keeps its locks.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub async fn undo(self) -> Result<Self, Error> {
        match self.open.get() {
            Some(transaction) if self.marked => {
                transaction.execute_unprepared(BACK).await?;
                Ok(self)
            }
            _ => {
                let db = self.db.clone();
                self.roll_back().await?;
                Ok(Self::new(db))
            }
        }
    }

    /// Makes what was written last.
    ///
    /// # Errors
    /// Where the database does not commit.
    pub async fn commit(self) -> Result<(), Error> {
        if let Some(transaction) = self.open.into_inner() {
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
            transaction.rollback().await?;
        }
        Ok(())
    }
}
