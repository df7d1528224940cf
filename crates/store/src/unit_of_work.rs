//! One transaction for all writes of a request.

use std::{sync::Arc, time::Instant};

use crate::transaction::Transaction;
use sea_orm::{DatabaseConnection, DbBackend, DbErr};
use telemetry::traces::Span;
use tokio::sync::OnceCell;

use super::database::{self, OpenDatabase, Statements};

/// A transaction that begins on first use. Dropping it without [`UnitOfWork::commit`] rolls it back.
#[derive(Debug)]
pub struct UnitOfWork {
    db: DatabaseConnection,
    statements: Statements,
    open: OnceCell<Arc<Transaction>>,
}

impl UnitOfWork {
    /// Creates the unit of work without beginning a transaction.
    #[must_use]
    pub fn new(store: &OpenDatabase) -> Self {
        let OpenDatabase { writer, statements, .. } = store.clone();
        Self { db: writer, statements, open: OnceCell::new() }
    }

    /// Returns the transaction, which begins on first use. Drop the reference before committing or rolling back.
    ///
    /// # Errors
    /// The database cannot begin a transaction.
    pub async fn transaction(&self) -> Result<&Arc<Transaction>, DbErr> {
        let begin = async || {
            self.statements.add();
            let asked = Instant::now();
            let begun = self.span("BEGIN").around(database::begin(&self.db)).await;
            self.statements.meter.note_wait(asked.elapsed());
            begun.map(Arc::new)
        };
        self.open.get_or_try_init(begin).await
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
    pub async fn commit(self) -> Result<(), DbErr> {
        let span = self.span("COMMIT");
        if let Some((transaction, statements)) = self.close()? {
            statements.add();
            span.around(transaction.commit()).await?;
        }
        Ok(())
    }

    /// Rolls the transaction back, if it has begun.
    ///
    /// # Errors
    /// The database cannot roll back. It will do so when the connection closes.
    pub async fn roll_back(self) -> Result<(), DbErr> {
        if let Some((transaction, statements)) = self.close()? {
            statements.add();
            transaction.rollback().await?;
        }
        Ok(())
    }

    fn span(&self, operation: &'static str) -> Span {
        Span::database(database::system(self.backend()), operation)
    }

    /// Returns the transaction, if one was begun and nobody shares it any more.
    fn close(self) -> Result<Option<(Transaction, Statements)>, DbErr> {
        let Some(transaction) = self.open.into_inner() else { return Ok(None) };
        let transaction = Arc::into_inner(transaction);
        let transaction = transaction.ok_or_else(|| DbErr::Custom("an operation kept its transaction".to_owned()))?;
        Ok(Some((transaction, self.statements)))
    }
}
