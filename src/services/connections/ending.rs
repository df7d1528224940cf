//! The end of a connection, by its owner.

use entity::{property_account, search_account};
use secrecy::SecretString;
use store::database;
use telemetry::traces::Current;
use uuid::Uuid;

use super::SearchConnections;
use crate::{
    error::Error,
    services::search_accounts::{self, disconnection},
};

/// The fate of the access at the search engine, after the account was disconnected here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The search engine has ended it too, or had already.
    There,
    /// The search engine did not answer. The person must remove the access there.
    HereOnly,
    /// Another person of this service has connected the same account. Revoking the one grant would disconnect that person too.
    Shared,
}

impl SearchConnections {
    /// Disconnects an account. The grant is revoked and forgotten and everything cached of the account is dropped. Its properties
    /// stay; another account of the person reads them if it can. The work continues if the caller leaves.
    pub async fn disconnect(&self, user_id: Uuid, id: Uuid) -> Result<Ended, Error> {
        let account = search_accounts::one_of_user(&self.search.db, user_id, id).await?;
        let connections = self.clone();
        tokio::spawn(Current::get().around(async move { connections.end(&account).await }))
            .await
            .map_err(Error::internal)?
    }

    async fn end(&self, account: &search_account::Model) -> Result<Ended, Error> {
        // A refresh holds the account while the search engine answers. Who cannot have it ends nothing.
        search_accounts::wait_until_free(&self.search.writer, account.id).await?;
        let ended = self.revoke(account).await?;
        let tx = database::begin(&self.search.writer).await?;
        search_accounts::disconnect(&tx, &self.random, account, self.search.clock.now()).await?;
        tx.commit().await?;
        self.syncs.forget(account.id);
        self.search.reader.forget_account(account.id);
        let listings = property_account::Entity::of_account(account.id).all(&self.search.db).await?;
        let properties: Vec<Uuid> = listings.into_iter().map(|listing| listing.property_id).collect();
        self.search.answers.forget(&properties);
        Ok(ended)
    }

    /// Revokes the grant first: a grant that is forgotten can no longer be revoked.
    async fn revoke(&self, account: &search_account::Model) -> Result<Ended, Error> {
        let search = &self.search;
        if search_accounts::is_connected_by_others(&search.db, account.user_id, &account.subject).await? {
            return Ok(Ended::Shared);
        }
        let token = search_accounts::refresh_token(&search.secrets, account)?;
        let Some(token) = token.filter(|_| disconnection(account) != Some(crate::error::Disconnection::Revoked)) else {
            return Ok(Ended::There);
        };
        match search.reader.engine().oauth().revoke(&SecretString::from(token)).await {
            Ok(()) => Ok(Ended::There),
            Err(error) => {
                tracing::warn!(account = %account.id, %error, "a grant could not be revoked at the search engine");
                Ok(Ended::HereOnly)
            }
        }
    }
}
