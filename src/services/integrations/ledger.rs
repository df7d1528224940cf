//! Keeps account of questions: their charges, and the state of the credentials that they showed.

use async_trait::async_trait;
use common::{clock::Clock, secrets::Secrets};
use entity::provider_connection::{self, State};
use sea_orm::{DatabaseConnection, EntityTrait as _};
use seo::{Amount, Holder, Ledger, Refusal, SeoError};

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
fn shown(error: &SeoError) -> Option<State> {
    match error {
        SeoError::Refused(Refusal::Wrong) => Some(State::Invalid),
        SeoError::Refused(Refusal::Unverified) => Some(State::Unverified),
        SeoError::Refused(Refusal::Blocked) => Some(State::Blocked),
        SeoError::OutOfCredit(_) => Some(State::OutOfCredit),
        SeoError::RateLimited { .. } => Some(State::RateLimited),
        SeoError::Refused(Refusal::WithoutPlan)
        | SeoError::Unavailable(_)
        | SeoError::NotAccepted(_)
        | SeoError::Fault(_) => None,
    }
}

#[async_trait]
impl Ledger for Books {
    async fn note(&self, holder: &Holder, outcome: Result<Option<Amount>, &SeoError>) {
        let seen = match outcome {
            Ok(cost) => Seen { state: State::Ok, standing: None, spent: cost.unwrap_or_default() },
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
