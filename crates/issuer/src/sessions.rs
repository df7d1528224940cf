//! The issuer's own browser sessions: who is signed in here, and since when.

use chrono::{DateTime, TimeDelta, Utc};
use common::digest::sha256_hex;
use entity::{
    account,
    issuer_session::{ActiveModel, Column, Entity, Model},
    session,
};
use http::{HeaderMap, header::USER_AGENT};
use identity::{credentials::cookies, issuer_session, session::shortened};
use sea_orm::{
    ActiveValue::Set, ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QueryOrder, sea_query::Expr,
};
use store::database;
use uuid::Uuid;

use super::{IdentityProvider, people::Person};

/// Lifetime of a session. It equals that of the service's sessions.
pub(super) const LIFETIME: TimeDelta = TimeDelta::days(7);

/// The most cookies of one name that are looked up.
const MOST_COOKIES: usize = 5;

/// A signed-in browser.
#[derive(Clone, Debug)]
pub struct SignedIn {
    pub session: Model,
    pub(crate) person: Person,
}

/// A session that has just begun, and the value for its cookie.
pub(super) struct Begun {
    pub value: String,
}

impl SignedIn {
    /// Returns whether the person last proved who they are within `seconds` (`max_age` of `OpenID` Connect).
    pub fn is_fresh(&self, seconds: u32, now: DateTime<Utc>) -> bool {
        now - self.session.auth_time <= TimeDelta::seconds(seconds.into())
    }
}

impl IdentityProvider {
    pub(super) fn session_cookie(&self) -> String {
        self.base_url().host_cookie(issuer_session::COOKIE)
    }

    /// Returns the session that a browser presents, if it runs and the person is still known.
    pub async fn signed_in(&self, headers: &HeaderMap) -> Result<Option<SignedIn>, DbErr> {
        let Some(session) = self.presented_session(headers).await? else { return Ok(None) };
        let person = self.person(&session.subject).await?;
        Ok(person.map(|person| SignedIn { session, person }))
    }

    /// Returns the session that a browser presents, if it runs. On plain http another service of the host may set a cookie of the same
    /// name, which the browser sends as well.
    pub(super) async fn presented_session(&self, headers: &HeaderMap) -> Result<Option<Model>, DbErr> {
        let name = self.session_cookie();
        let hashes: Vec<String> = cookies(headers, &name).take(MOST_COOKIES).map(sha256_hex).collect();
        if hashes.is_empty() {
            return Ok(None);
        }
        let runs = Column::ExpiresAt.gt(self.clock.now());
        Entity::find()
            .filter(Column::Hash.is_in(hashes))
            .filter(runs)
            .order_by_desc(Column::CreatedAt)
            .one(&self.db)
            .await
    }

    /// Returns whether the session of a grant still runs. A grant without a session has none to end with.
    pub(super) async fn is_running(&self, session: Option<Uuid>) -> Result<bool, DbErr> {
        let Some(id) = session else { return Ok(true) };
        Ok(Entity::find_by_id(id).one(&self.db).await?.is_some())
    }

    /// Begins a session of a demo person.
    pub(super) async fn begin_demo_session(&self, headers: &HeaderMap, subject: &str) -> Result<Begun, DbErr> {
        let former = self.presented_session(headers).await?;
        self.renew(&self.db, headers, former, subject, self.clock.now()).await
    }

    /// Begins a session of the holder of `account`, whose password has been verified. Returns `None` if the password has changed
    /// meanwhile: the row of the account decides between the two. `rehashed` replaces an outdated hash.
    pub(super) async fn begin_session(
        &self,
        headers: &HeaderMap,
        account: &account::Model,
        rehashed: Option<String>,
    ) -> Result<Option<Begun>, DbErr> {
        let former = self.presented_session(headers).await?;
        let transaction = database::begin(&self.db).await?;
        let hash = rehashed.or_else(|| account.password_hash.clone());
        let unchanged = account::Entity::update_many()
            .col_expr(account::Column::LastSignInAt, Expr::value(self.clock.now()))
            .col_expr(account::Column::PasswordHash, Expr::value(hash))
            .filter(account::Column::Id.eq(account.id))
            .filter(account::Column::PasswordHash.eq(account.password_hash.clone()))
            .exec(&transaction)
            .await?;
        if unchanged.rows_affected != 1 {
            return Ok(None);
        }
        let begun = self.renew(&transaction, headers, former, &account.id.to_string(), self.clock.now()).await?;
        transaction.commit().await?;
        Ok(Some(begun))
    }

    /// Gives the browser of `headers` a session of `subject` with a new cookie value, so that nobody can know it from before the sign-in. The
    /// session of the same person keeps its id, and with it the service's session. Another person's session ends.
    pub(super) async fn renew(
        &self,
        db: &impl ConnectionTrait,
        headers: &HeaderMap,
        former: Option<Model>,
        subject: &str,
        auth_time: DateTime<Utc>,
    ) -> Result<Begun, DbErr> {
        let (value, now) = (self.random.token(), self.clock.now());
        let user_agent = headers.get(USER_AGENT).and_then(|text| text.to_str().ok()).map(shortened);
        if let Some(session) = &former
            && session.subject == subject
        {
            let renewed = Entity::update_many()
                .col_expr(Column::Hash, Expr::value(sha256_hex(&value)))
                .col_expr(Column::AuthTime, Expr::value(auth_time))
                .col_expr(Column::ExpiresAt, Expr::value(now + LIFETIME))
                .col_expr(Column::UserAgent, Expr::value(user_agent.clone()))
                .filter(Column::Id.eq(session.id))
                .exec(db)
                .await?;
            if renewed.rows_affected == 1 {
                return Ok(Begun { value });
            }
        }
        if let Some(session) = former {
            issuer_session::end(db, session.id, now).await?;
        }
        self.insert_session(db, subject, &value, auth_time, user_agent).await?;
        Ok(Begun { value })
    }

    /// Moves the browser of `session`, with its session at the service, to a session with a new id and cookie value. Everything else
    /// of the old id can then be ended. Returns the new id and value.
    pub(super) async fn move_session(
        &self,
        db: &impl ConnectionTrait,
        session: &Model,
    ) -> Result<(Uuid, Begun), DbErr> {
        let value = self.random.token();
        let id =
            self.insert_session(db, &session.subject, &value, self.clock.now(), session.user_agent.clone()).await?;
        session::Entity::update_many()
            .col_expr(session::Column::IssuerSessionId, Expr::value(id))
            .filter(session::Column::IssuerSessionId.eq(session.id))
            .exec(db)
            .await?;
        Ok((id, Begun { value }))
    }

    async fn insert_session(
        &self,
        db: &impl ConnectionTrait,
        subject: &str,
        value: &str,
        auth_time: DateTime<Utc>,
        user_agent: Option<String>,
    ) -> Result<Uuid, DbErr> {
        let now = self.clock.now();
        let id = self.random.id(now);
        let row = ActiveModel {
            id: Set(id),
            hash: Set(sha256_hex(value)),
            subject: Set(subject.to_owned()),
            auth_time: Set(auth_time),
            created_at: Set(now),
            expires_at: Set(now + LIFETIME),
            user_agent: Set(user_agent),
        };
        Entity::insert(row).exec_without_returning(db).await?;
        Ok(id)
    }
}
