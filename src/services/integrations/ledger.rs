//! Keeps account of questions: their charges, and the state of the credentials that they showed.

use async_trait::async_trait;
use common::{clock::Clock, secrets::Secrets};
use entity::provider_connection::{self, CredentialsState};
use sea_orm::{DatabaseConnection, EntityTrait as _};
use seo::{AccountRefusal, Amount, Holder, Ledger, SeoError};

use super::store::{self, Seen};
use crate::error::Error;

/// The accounts in the database.
pub struct Books {
    /// The write connection.
    pub db: DatabaseConnection,
    /// The key of stored credentials.
    pub secrets: Secrets,
    /// The clock.
    pub clock: Clock,
}

/// The state that a failed question shows, or `None` if it shows nothing about the credentials. A plan may lack one kind of
/// question only.
fn shown(error: &SeoError) -> Option<CredentialsState> {
    match error {
        SeoError::Refused(AccountRefusal::Wrong) => Some(CredentialsState::Invalid),
        SeoError::Refused(AccountRefusal::Unverified) => Some(CredentialsState::Unverified),
        SeoError::Refused(AccountRefusal::Blocked) => Some(CredentialsState::Blocked),
        SeoError::OutOfCredit(_) => Some(CredentialsState::OutOfCredit),
        SeoError::RateLimited { .. } => Some(CredentialsState::RateLimited),
        SeoError::Refused(AccountRefusal::WithoutPlan)
        | SeoError::Unavailable(_)
        | SeoError::NotAccepted(_)
        | SeoError::Fault(_) => None,
    }
}

#[async_trait]
impl Ledger for Books {
    async fn note(&self, holder: &Holder, outcome: Result<Option<Amount>, &SeoError>) {
        let seen = match outcome {
            Ok(cost) => Seen { state: CredentialsState::Ok, standing: None, spent: cost.unwrap_or_default() },
            Err(error) => match shown(error) {
                Some(state) => Seen { state, standing: None, spent: Amount::ZERO },
                None => return,
            },
        };
        let noted = async {
            let row = provider_connection::Entity::find_by_id(holder.connection).one(&self.db).await?;
            let Some(row) = row else { return Ok::<_, Error>(()) };
            if store::holder(&self.secrets, &row)? == *holder {
                store::note(&self.db, &row, seen, self.clock.now()).await?;
            }
            Ok(())
        };
        if let Err(error) = noted.await {
            tracing::warn!(connection = %holder.connection, %error, "a charge could not be noted");
        }
    }
}
