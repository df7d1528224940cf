//! Records the access that a person gives to a client. Grants end in [`identity::grants`].

use common::rate_limit::Rate;
use entity::{
    account, issuer_session,
    oauth_grant::{ActiveModel, Entity},
};
use identity::audit_notes::{self, Allowed};
use sea_orm::{ActiveValue::Set, DbErr, EntityTrait, QuerySelect as _, sea_query::LockType};
use store::{database, transaction::Transaction};
use uuid::Uuid;

use super::{
    IdentityProvider,
    clients::{self, Client, Recipient},
    consents::Choice,
    issue,
    request::{Access, AuthorizationRequest, ReturnAddress},
    response::{OAuthError, refused},
};

pub use identity::grants::{counts, end, end_all, find, of_client, of_subject};

/// Authorizations of one person in an hour, in all browsers and for all clients.
const MAX_PER_HOUR: u32 = 120;

/// The reason why a client is authorized.
#[derive(Debug, Clone, Copy)]
pub(super) enum Basis {
    /// The person allows it now, and so much.
    Allowed(Choice),
    /// The person has allowed it before.
    Remembered,
    /// Nobody is asked: the service itself signs somebody in, or a demo person signs in without a page.
    Unasked,
}

impl IdentityProvider {
    /// Records that `subject`, in the session given, gave the client of `address` the access in `asked`, and returns the
    /// authorization code. `None` if the person has meanwhile withdrawn the consent that it rests on.
    pub(super) async fn grant(
        &self,
        address: &ReturnAddress,
        asked: &AuthorizationRequest,
        subject: &str,
        session: Option<&issuer_session::Model>,
        basis: Basis,
    ) -> Result<Option<String>, OAuthError> {
        let tx = database::begin(&self.db).await?;
        let recorded = self.record_grant(&tx, &address.recipient(), &asked.access, subject, session, basis).await?;
        let Some(id) = recorded else { return Ok(None) };
        let code = self.issue_code(&tx, id, &address.redirect_uri, asked).await?;
        tx.commit().await?;
        Ok(Some(code))
    }

    /// Records a grant and returns its id. `None` if the person has meanwhile withdrawn the consent that it rests on. Consent and grant
    /// are stored together, so that no grant is without the choice that bounds it.
    pub(super) async fn record_grant(
        &self,
        tx: &Transaction,
        to: &Recipient<'_>,
        access: &Access,
        subject: &str,
        session: Option<&issuer_session::Model>,
        basis: Basis,
    ) -> Result<Option<Uuid>, OAuthError> {
        let now = self.clock.now();
        let grant = ActiveModel {
            id: Set(self.random.id(now)),
            client_id: Set(to.client.id.clone()),
            subject: Set(subject.to_owned()),
            scope: Set(access.scope.clone()),
            resources: Set(serde_json::to_string(&access.resources).unwrap_or_default()),
            issuer_session_id: Set(session.map(|session| session.id)),
            auth_time: Set(session.map(|session| session.auth_time)),
            created_at: Set(now),
            expires_at: Set(now + issue::ACCESS_TOKEN_LIFETIME),
            refresh_family: Set(None),
            ended_at: Set(None),
        };
        self.hold(tx, subject).await?;
        match basis {
            Basis::Allowed(choice) => self.take_consent(tx, subject, to, access, choice).await?,
            Basis::Remembered if !self.is_remembered(tx, subject, to, access).await? => return Ok(None),
            Basis::Remembered | Basis::Unasked => {}
        }
        Ok(Some(Entity::insert(grant).exec(tx).await?.last_insert_id))
    }

    /// Returns an access token of a demo person for `scope`, as the program's own client gets it by the code flow.
    ///
    /// # Errors
    /// There is no such person here, or the database cannot answer.
    pub async fn demo_token(&self, name: &str, scope: &str) -> Result<String, OAuthError> {
        let gone = || refused("access_denied", "There is no such demo person.");
        let demo = self.settings.demo_by_name(name).ok_or_else(gone)?;
        let client = self.client(clients::CLI).await?.ok_or_else(gone)?;
        let to = Recipient { client: &client, place: String::new() };
        let access = Access { scope: scope.to_owned(), resources: self.settings.audiences.clone() };
        let tx = database::begin(&self.db).await?;
        let granted = self.record_grant(&tx, &to, &access, demo.subject, None, Basis::Unasked).await?;
        tx.commit().await?;
        let grant = find(&self.db, granted.ok_or_else(gone)?).await?.ok_or_else(gone)?;
        let person = self.person(demo.subject).await?.ok_or_else(gone)?;
        self.access_token(&grant, &person, scope, &access.resources).await
    }

    /// Remembers the consent, and notes it in the audit trail.
    async fn take_consent(
        &self,
        tx: &Transaction,
        subject: &str,
        to: &Recipient<'_>,
        access: &Access,
        choice: Choice,
    ) -> Result<(), DbErr> {
        let allowance = self.remember_consent(tx, subject, to, access, choice).await?;
        let Client { id, name, .. } = to.client;
        let allowed = Allowed { application: name.as_ref().unwrap_or(id), scope: &access.scope, allowance };
        let now = self.clock.now();
        audit_notes::note(tx, subject, allowed, self.random.id(now), now).await
    }

    /// Counts an authorization of the person, and returns whether there is room for it. Each leaves rows for a day.
    pub(super) async fn counts_authorization(&self, subject: &str) -> Result<bool, OAuthError> {
        let Some(counts) = &self.counts else { return Ok(true) };
        match counts.count(&format!("authorized/{subject}"), Rate::per_hour(MAX_PER_HOUR)).await {
            Ok(()) => Ok(true),
            Err(OAuthError::TooMany(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Locks the account of `subject` until the transaction ends, so that nothing is stored for a person who deletes their data
    /// meanwhile.
    pub(super) async fn hold(&self, tx: &Transaction, subject: &str) -> Result<(), OAuthError> {
        let Ok(id) = Uuid::try_parse(subject) else { return Ok(()) };
        let held = account::Entity::find_by_id(id).lock(LockType::KeyShare).one(tx).await?;
        held.map(|_| ()).ok_or_else(|| refused("access_denied", "The person is gone."))
    }
}
