//! Sign-in with a password, by a link that sets one, and its change. An unknown account, one without a password and a wrong password take the same work
//! and give the same result.

use common::addresses::ClientAddress;
use entity::account;
use http::HeaderMap;
use sea_orm::{ColumnTrait, DbErr, EntityTrait, QueryFilter, sea_query::Expr};
use store::database;
use telemetry::events::SignIn;

use super::{
    ending::{end_everything, end_links},
    links,
    password::{self, PasswordError, Queue},
    with_email,
};
use crate::{
    IdentityProvider,
    response::OAuthError,
    sessions::{Begun, SignedIn},
};

/// The reason why a password was not accepted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Rejected {
    /// There is no such account, or the password is wrong.
    #[error("the address or the password is wrong")]
    Wrong,
    /// The password is right, but the person may no longer sign in.
    #[error("the person may no longer sign in")]
    Unwelcome,
    /// Too many attempts: seconds to wait.
    #[error("too many attempts")]
    TooMany(u64),
    /// Too many passwords are being verified.
    #[error("busy")]
    Busy,
    /// The database does not respond, or a stored hash cannot be read.
    #[error(transparent)]
    Failed(OAuthError),
}

impl Rejected {
    fn outcome(&self) -> SignIn {
        match self {
            Self::Wrong => SignIn::WrongPassword,
            Self::Unwelcome => SignIn::Refused,
            Self::TooMany(_) | Self::Busy => SignIn::Limited,
            Self::Failed(_) => SignIn::Failed,
        }
    }
}

impl From<DbErr> for Rejected {
    fn from(error: DbErr) -> Self {
        Self::Failed(error.into())
    }
}

impl From<OAuthError> for Rejected {
    fn from(error: OAuthError) -> Self {
        match error {
            OAuthError::TooMany(seconds) => Self::TooMany(seconds),
            error => Self::Failed(error),
        }
    }
}

impl From<PasswordError> for Rejected {
    fn from(error: PasswordError) -> Self {
        match error {
            PasswordError::Busy => Self::Busy,
            PasswordError::Failed(reason) => Self::Failed(OAuthError::Internal(reason)),
        }
    }
}

/// A sign-in that succeeded.
pub(crate) struct Entered {
    /// The session.
    pub begun: Begun,
    /// The value of the cookie by which the browser is known from now on.
    pub device: String,
}

/// A password that was set by a link.
pub(crate) struct SetByLink {
    /// The account.
    pub account: account::Model,
    /// The sign-in of the browser that set it. `None` if the person may no longer sign in.
    pub entered: Option<Entered>,
}

impl IdentityProvider {
    /// Sets the password whose hash is given by the link with this `token`, and signs in the browser that sent it. Everything that the person
    /// had running ends. Returns `None` if the link can no longer be used.
    pub(crate) async fn set_by_link(
        &self,
        headers: &HeaderMap,
        token: &str,
        password_hash: String,
    ) -> Result<Option<SetByLink>, DbErr> {
        let (former, now) = (self.presented_session(headers).await?, self.clock.now());
        let transaction = database::begin(&self.db).await?;
        let Some(account) = links::spend(&transaction, token, password_hash, now).await? else { return Ok(None) };
        let begun = if self.is_welcome(&transaction, &account).await? {
            account::Entity::update_many()
                .col_expr(account::Column::LastSignInAt, Expr::value(now))
                .filter(account::Column::Id.eq(account.id))
                .exec(&transaction)
                .await?;
            Some(self.renew(&transaction, headers, former, &account.id.to_string(), now).await?)
        } else {
            None
        };
        transaction.commit().await?;
        let entered = begun.map(|begun| Entered { begun, device: self.device_knowing(headers, &account) });
        Ok(Some(SetByLink { account, entered }))
    }

    /// Signs a browser in with a password. Counts an attempt that fails.
    pub(crate) async fn enter(
        &self,
        headers: &HeaderMap,
        address: &ClientAddress,
        email: &str,
        password: &str,
    ) -> Result<Entered, Rejected> {
        let entered = self.admit(headers, address, email, password).await;
        if let Err(rejected) = &entered {
            self.events.note_sign_in(rejected.outcome());
        }
        entered
    }

    async fn admit(
        &self,
        headers: &HeaderMap,
        address: &ClientAddress,
        email: &str,
        password: &str,
    ) -> Result<Entered, Rejected> {
        let account = with_email(&self.db, email).await?;
        let rehashed = self.prove(headers, address, email, account.as_ref(), password).await?;
        let account = account.ok_or(Rejected::Wrong)?;
        if !self.is_welcome(&self.db, &account).await? {
            return Err(Rejected::Unwelcome);
        }
        let begun = self.begin_session(headers, &account, rehashed).await?.ok_or(Rejected::Wrong)?;
        Ok(Entered { begun, device: self.device_knowing(headers, &account) })
    }

    /// Counts the attempt and verifies the password. Returns a new hash if the stored one is outdated.
    async fn prove(
        &self,
        headers: &HeaderMap,
        address: &ClientAddress,
        email: &str,
        account: Option<&account::Model>,
        password: &str,
    ) -> Result<Option<String>, Rejected> {
        let device = account.and_then(|account| self.known_device(headers, account));
        self.attempts.guess(email, address, device).await?;
        let stored = account.and_then(|account| account.password_hash.as_deref());
        let queue = device.map_or_else(|| Queue::Strangers(address.clone()), |_| Queue::Known);
        let verified = password::verify(password, stored, queue).await?;
        if !verified.matches {
            return Err(Rejected::Wrong);
        }
        if device.is_none() {
            self.attempts.was_right(address).await?;
        }
        let outdated = verified.is_outdated.then(|| password::hash(password, self.random.bytes(), Queue::Known));
        Ok(match outdated {
            Some(rehashing) => Some(rehashing.await?),
            None => None,
        })
    }

    /// Changes the password of the person in `signed_in`. The browser stays signed in, with a new session; everything else that the
    /// person has running ends. The new password must have been judged.
    pub(crate) async fn change_password(
        &self,
        headers: &HeaderMap,
        address: &ClientAddress,
        signed_in: &SignedIn,
        account: &account::Model,
        (current, new): (&str, &str),
    ) -> Result<Entered, Rejected> {
        self.prove(headers, address, &account.email, Some(account), current).await?;
        let hash = password::hash(new, self.random.bytes(), Queue::Known).await?;
        let (transaction, now) = (database::begin(&self.db).await?, self.clock.now());
        let changed = account::Entity::update_many()
            .col_expr(account::Column::PasswordHash, Expr::value(hash))
            .col_expr(account::Column::PasswordChangedAt, Expr::value(now))
            .col_expr(account::Column::UpdatedAt, Expr::value(now))
            .filter(account::Column::Id.eq(account.id))
            .filter(account::Column::PasswordHash.eq(account.password_hash.clone()))
            .exec(&transaction)
            .await?;
        if changed.rows_affected != 1 {
            return Err(Rejected::Wrong);
        }
        let (kept, begun) = self.move_session(&transaction, &signed_in.session).await?;
        end_links(&transaction, account.id, now).await?;
        end_everything(&transaction, &signed_in.session.subject, Some(kept), now).await?;
        transaction.commit().await?;
        let account = account::Model { password_changed_at: now, ..account.clone() };
        Ok(Entered { begun, device: self.device_knowing(headers, &account) })
    }
}
