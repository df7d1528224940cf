//! Somebody comes back from the provider: which account is theirs, and if they may sign in.

use chrono::{DateTime, Utc};
use common::mail_address;
use entity::account::{ActiveModel, Column, Entity, Model};
use http::HeaderMap;
use identity::relying_party::StatedAddress;
use sea_orm::{
    ActiveValue::Set, ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, SqlErr, sea_query::Expr,
};
use store::database;
use uuid::Uuid;

use super::Upstream;
use crate::{
    IdentityProvider,
    accounts::{
        ending::{end_everything, end_links},
        with_email,
    },
    sessions::Begun,
};

/// The provider's statement about the person.
#[derive(Debug)]
pub(crate) struct Arrival {
    pub issuer: String,
    pub subject: String,
    pub name: Option<String>,
    pub address: Option<StatedAddress>,
    /// The time when the person proved to the provider who they are.
    pub proven_at: DateTime<Utc>,
}

/// The reason why somebody may not sign in.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Turned {
    /// The provider has verified no address. The stated address is only shown to the person.
    #[error("the provider has verified no address")]
    NotVouchedFor(Option<String>),
    /// Nobody has invited the address.
    #[error("nobody has invited the address")]
    NotInvited(String),
    /// The address is that of another person's account.
    #[error("the address belongs to another account")]
    Taken(String),
}

/// The reason why no session has begun.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArrivalError {
    /// The person may not sign in.
    #[error(transparent)]
    Turned(#[from] Turned),
    /// The database does not respond.
    #[error(transparent)]
    Database(#[from] DbErr),
}

/// The judgement of an arrival. What a person who is turned away changes is committed, so that is no error, which rolls back.
enum Judged {
    /// The person may sign in; holds their account.
    Admitted(Uuid),
    Turned(Turned),
}

impl IdentityProvider {
    /// Begins a session of the person, if they may sign in.
    pub(crate) async fn arrive(
        &self,
        upstream: &Upstream,
        headers: &HeaderMap,
        arrival: &Arrival,
    ) -> Result<Begun, ArrivalError> {
        match self.try_to_arrive(upstream, headers, arrival).await {
            // The same person came in at the same moment, or an operator added the address. Now there is an account.
            Err(ArrivalError::Database(error))
                if matches!(error.sql_err(), Some(SqlErr::UniqueConstraintViolation(_))) =>
            {
                self.try_to_arrive(upstream, headers, arrival).await
            }
            outcome => outcome,
        }
    }

    async fn try_to_arrive(
        &self,
        upstream: &Upstream,
        headers: &HeaderMap,
        arrival: &Arrival,
    ) -> Result<Begun, ArrivalError> {
        let former = self.presented_session(headers).await?;
        let tx = database::begin(&self.db).await?;
        let vouched = upstream.rules.vouched(arrival.address.as_ref());
        let known = Entity::with_upstream(&arrival.issuer, &arrival.subject).one(&tx).await?;
        let judged = match known {
            Some(account) => self.returning(&tx, account, arrival, vouched).await?,
            None => self.newcomer(&tx, arrival, vouched).await?,
        };
        let begun = match judged {
            Judged::Admitted(id) => Ok(self.renew(&tx, headers, former, &id.to_string(), arrival.proven_at).await?),
            Judged::Turned(turned) => Err(turned.into()),
        };
        // The provider's latest statement is stored also when somebody is turned away.
        tx.commit().await?;
        begun
    }

    /// Admits a person whose identifier is known, after storing the provider's statement.
    async fn returning(
        &self,
        tx: &impl ConnectionTrait,
        account: Model,
        arrival: &Arrival,
        vouched: Option<String>,
    ) -> Result<Judged, DbErr> {
        let taken = match &vouched {
            Some(address) => with_email(tx, address).await?.is_some_and(|holder| holder.id != account.id),
            None => false,
        };
        self.store_statement(tx, account.id, arrival, vouched.as_deref().filter(|_| !taken)).await?;
        let turned = match vouched {
            Some(address) if taken => Turned::Taken(address),
            _ if account.added_by_operator => return Ok(Judged::Admitted(account.id)),
            Some(address) if self.opens_to(tx, &address).await? => return Ok(Judged::Admitted(account.id)),
            Some(address) => Turned::NotInvited(address),
            None => not_vouched_for(arrival),
        };
        if !account.added_by_operator {
            end_everything(tx, &account.id.to_string(), None, self.clock.now()).await?;
        }
        Ok(Judged::Turned(turned))
    }

    /// Ties a person without a known identifier to an account. Only a verified address leads to an account. Its link
    /// or password may belong to somebody else, so both end, with all sessions and grants.
    async fn newcomer(
        &self,
        tx: &impl ConnectionTrait,
        arrival: &Arrival,
        vouched: Option<String>,
    ) -> Result<Judged, DbErr> {
        let Some(address) = vouched else { return Ok(Judged::Turned(not_vouched_for(arrival))) };
        let holder = with_email(tx, &address).await?;
        if holder.as_ref().is_some_and(|holder| holder.upstream_subject.is_some()) {
            return Ok(Judged::Turned(Turned::Taken(address)));
        }
        let is_added = holder.as_ref().is_some_and(|holder| holder.added_by_operator);
        if !is_added && !self.opens_to(tx, &address).await? {
            return Ok(Judged::Turned(Turned::NotInvited(address)));
        }
        let now = self.clock.now();
        let id = match &holder {
            Some(holder) => holder.id,
            None => self.add(tx, &address).await?,
        };
        // The account's row is written first: a sign-in with the old password waits for it, or is ended.
        Entity::update_many()
            .col_expr(Column::UpstreamIssuer, Expr::value(arrival.issuer.clone()))
            .col_expr(Column::UpstreamSubject, Expr::value(arrival.subject.clone()))
            .col_expr(Column::PasswordHash, Expr::value(Option::<String>::None))
            .col_expr(Column::PasswordChangedAt, Expr::value(now))
            .filter(Column::Id.eq(id))
            .exec(tx)
            .await?;
        if holder.is_some() {
            end_links(tx, id, now).await?;
            end_everything(tx, &id.to_string(), None, now).await?;
        }
        self.store_statement(tx, id, arrival, Some(&address)).await?;
        Ok(Judged::Admitted(id))
    }

    async fn add(&self, tx: &impl ConnectionTrait, address: &str) -> Result<Uuid, DbErr> {
        let now = self.clock.now();
        let row = ActiveModel {
            id: Set(self.random.id(now)),
            email: Set(address.to_owned()),
            email_key: Set(mail_address::key(address)),
            name: Set(None),
            password_hash: Set(None),
            email_verified_at: Set(None),
            password_changed_at: Set(now),
            last_sign_in_at: Set(None),
            upstream_issuer: Set(None),
            upstream_subject: Set(None),
            added_by_operator: Set(false),
            added_as_key: Set(None),
            created_at: Set(now),
            updated_at: Set(now),
        };
        Ok(Entity::insert(row).exec(tx).await?.last_insert_id)
    }

    /// Stores the provider's latest statement. If the provider verifies no address, keeps the stored one as unverified: team grants to
    /// it do not apply.
    async fn store_statement(
        &self,
        tx: &impl ConnectionTrait,
        id: Uuid,
        arrival: &Arrival,
        vouched: Option<&str>,
    ) -> Result<(), DbErr> {
        let now = self.clock.now();
        let mut update = Entity::update_many()
            .col_expr(Column::EmailVerifiedAt, Expr::value(vouched.map(|_| now)))
            .col_expr(Column::LastSignInAt, Expr::value(now))
            .col_expr(Column::UpdatedAt, Expr::value(now));
        if let Some(address) = vouched {
            update = update
                .col_expr(Column::Email, Expr::value(address))
                .col_expr(Column::EmailKey, Expr::value(mail_address::key(address)));
        }
        if let Some(name) = &arrival.name {
            update = update.col_expr(Column::Name, Expr::value(name.as_str()));
        }
        update.filter(Column::Id.eq(id)).exec(tx).await.map(|_| ())
    }
}

fn not_vouched_for(arrival: &Arrival) -> Turned {
    Turned::NotVouchedFor(arrival.address.as_ref().map(|stated| stated.address.clone()))
}
