//! Errors of the store and of what is kept in it.

use sea_orm::DbErr;

/// The reason why the store cannot do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database failed.
    #[error(transparent)]
    Database(#[from] DbErr),
    /// A setting, or an argument of an operator's command, cannot be used. The text names it and the way out.
    #[error("{0}")]
    Refused(String),
    /// Something stored cannot be used.
    #[error("{0}")]
    Broken(Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// A setting or an argument that cannot be used. `hint` names it and the way out.
    pub fn refused(hint: impl Into<String>) -> Self {
        Self::Refused(hint.into())
    }

    /// Something stored that cannot be used.
    pub fn broken(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Broken(why.into())
    }
}
