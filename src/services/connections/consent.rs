//! The code grant by which a person connects a search account.

use search_engine::{Consent, SearchEngineError, TokenAnswer, UserInfo};
use secrecy::ExposeSecret as _;
use url::Url;
use uuid::Uuid;

use super::SearchConnections;
use crate::{
    error::Error,
    services::search_accounts::{self, Connection},
};

/// One attempt to connect an account.
#[derive(Debug, Clone, Copy)]
pub struct Attempt<'a> {
    /// The person who began it.
    pub user_id: Uuid,
    /// The value that the browser brings back.
    pub state: &'a str,
    /// The PKCE verifier.
    pub verifier: &'a str,
    /// The account to reconnect. `None` connects any account.
    pub account: Option<Uuid>,
}

/// The outcome of a consent.
#[derive(Debug, PartialEq, Eq)]
pub enum Answered {
    /// The account is connected.
    Connected(Uuid),
    /// The search engine gave no refresh token, because the person consented before. It gives one if asked for consent again.
    /// Holds the account's e-mail address.
    AskAgain(Option<String>),
}

/// The reason why an account was not connected. Nothing was stored.
#[derive(Debug, thiserror::Error)]
pub enum NotConnected {
    /// The person did not allow reading search data.
    #[error("the grant does not allow reading")]
    ScopeMissing,
    /// The person chose another account than the one to reconnect.
    #[error("another account was chosen")]
    OtherAccount {
        /// The account to reconnect.
        expected: String,
        /// The account that was chosen.
        chosen: String,
    },
    /// The code is invalid or has expired.
    #[error("the code was refused: {0}")]
    CodeRefused(String),
    /// The search engine refuses the deployment's client.
    #[error("the search engine refuses this deployment: {0}")]
    Misconfigured(String),
    /// The search engine does not answer.
    #[error("the search engine does not answer: {0}")]
    Unavailable(String),
    /// A fault of this service, or the account to reconnect does not exist.
    #[error(transparent)]
    Failed(#[from] Error),
}

impl From<SearchEngineError> for NotConnected {
    fn from(error: SearchEngineError) -> Self {
        match error {
            SearchEngineError::Disconnected(said) => Self::CodeRefused(said),
            SearchEngineError::Misconfigured(said) => Self::Misconfigured(said),
            other => Self::Unavailable(other.to_string()),
        }
    }
}

impl SearchConnections {
    /// Returns the search engine's consent page for an attempt. `again` asks for consent although it was given before, which gives a
    /// new refresh token. `hint` is the account to preselect.
    pub async fn consent_page(
        &self,
        attempt: Attempt<'_>,
        again: bool,
        hint: Option<&str>,
    ) -> Result<Url, NotConnected> {
        let known = search_accounts::of_user(&self.search.db, attempt.user_id).await?;
        let renewed = match attempt.account {
            Some(id) => Some(known.iter().find(|account| account.id == id).ok_or(Error::NotFound)?),
            None => None,
        };
        let prompt = match (again || renewed.is_some(), known.is_empty()) {
            (true, _) => Some("consent"),
            (false, false) => Some("select_account"),
            (false, true) => None,
        };
        let login_hint = hint.or(renewed.and_then(|account| account.email.as_deref()));
        let Attempt { state, verifier, .. } = attempt;
        let consent = Consent { redirect_uri: &self.redirect_uri, state, verifier, prompt, login_hint };
        Ok(self.search.reader.engine().oauth().authorize_url(&consent)?)
    }

    /// Exchanges the code of a consent, checks what was granted and by whom, stores the grant and begins the first sync.
    pub async fn connect(&self, attempt: Attempt<'_>, code: &str) -> Result<Answered, NotConnected> {
        let oauth = self.search.reader.engine().oauth();
        let tokens = oauth.exchange(code, &self.redirect_uri, attempt.verifier).await?;
        if !tokens.may_read() {
            let who = oauth.userinfo(&tokens.access_token).await.ok();
            self.discard(&tokens, who.as_ref()).await;
            return Err(NotConnected::ScopeMissing);
        }
        let who = oauth.userinfo(&tokens.access_token).await?;
        self.check_expected(attempt, &tokens, &who).await?;
        let refresh_token = tokens.refresh_token.as_ref().map(|token| token.expose_secret().to_owned());
        if refresh_token.is_none() && !self.has_grant(attempt.user_id, &who.sub).await? {
            return Ok(Answered::AskAgain(who.email));
        }
        let connection = Connection { subject: who.sub.clone(), email: who.email.clone(), refresh_token };
        let search = &self.search;
        let now = search.clock.now();
        let stored =
            search_accounts::connect(&search.writer, &search.secrets, &self.random, now, attempt.user_id, &connection);
        let account = match stored.await {
            Ok(account) => account,
            Err(error) => {
                // The person may have left meanwhile. Nobody could revoke the grant later.
                self.discard(&tokens, Some(&who)).await;
                return Err(error.into());
            }
        };
        // Data of a former grant, such as refused sites, says nothing about this one.
        search.reader.engine().forget_account(account.id);
        let id = account.id;
        self.sync_in_background(account);
        Ok(Answered::Connected(id))
    }

    /// Fails if the person chose another account than the one to reconnect.
    async fn check_expected(
        &self,
        attempt: Attempt<'_>,
        tokens: &TokenAnswer,
        who: &UserInfo,
    ) -> Result<(), NotConnected> {
        let Some(id) = attempt.account else { return Ok(()) };
        let expected = search_accounts::one_of_user(&self.search.db, attempt.user_id, id).await?;
        if expected.subject == who.sub {
            return Ok(());
        }
        self.discard(tokens, Some(who)).await;
        Err(NotConnected::OtherAccount {
            expected: expected.email.unwrap_or(expected.subject),
            chosen: who.email.clone().unwrap_or_else(|| who.sub.clone()),
        })
    }

    /// Returns whether a usable refresh token of this account is stored.
    async fn has_grant(&self, user_id: Uuid, subject: &str) -> Result<bool, Error> {
        let known = search_accounts::of_user(&self.search.db, user_id).await?;
        Ok(known.iter().any(|own| own.subject == subject && search_accounts::disconnection(own).is_none()))
    }

    /// Revokes a grant that is not stored. The search engine knows one grant for each account, so the grant of an account that is
    /// connected here is left alone. The outcome changes nothing for the person.
    async fn discard(&self, tokens: &TokenAnswer, who: Option<&UserInfo>) {
        if let Some(who) = who {
            let connected = search_accounts::is_connected(&self.search.db, &who.sub).await;
            if connected.unwrap_or(true) {
                return;
            }
        }
        let token = tokens.refresh_token.as_ref().unwrap_or(&tokens.access_token);
        if let Err(error) = self.search.reader.engine().oauth().revoke(token).await {
            tracing::warn!(%error, "a grant that is not kept could not be revoked");
        }
    }
}
