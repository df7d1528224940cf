//! Browser sessions: a random cookie value, of which the database stores only the hash.

use std::cmp::Reverse;

use chrono::{DateTime, TimeDelta, Utc};
use common::{base_url::BaseUrl, clock::Clock, digest::sha256_hex, random::Random};
use entity::session::{ActiveModel, Column, Entity};
use http::HeaderMap;
use sea_orm::{ActiveValue::Set, ColumnTrait, ConnectionTrait, DatabaseConnection, DbErr, EntityTrait, QueryFilter};
use store::{database, expired};
use uuid::Uuid;

use super::{
    credentials::{SESSION_COOKIE, cookies},
    issuer_session,
};

/// Lifetime of a session.
pub const LIFETIME: TimeDelta = TimeDelta::days(7);

/// The number of characters that are kept of a `User-Agent`.
const MAX_USER_AGENT: usize = 200;

/// The sessions of all browsers.
#[derive(Clone)]
pub struct Sessions {
    db: DatabaseConnection,
    clock: Clock,
    random: Random,
}

/// The person whose browsers are meant.
#[derive(Clone, Copy, Debug)]
pub struct Holder<'a> {
    /// Id of the user.
    pub user_id: Uuid,
    /// Subject at the embedded issuer, if that signed the person in.
    pub subject: Option<&'a str>,
}

/// A browser in which a person is signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedInBrowser {
    /// Public handle of its session.
    pub id: Uuid,
    /// SHA-256 of the session's cookie value.
    pub hash: String,
    /// `User-Agent` of the browser at sign-in, shortened.
    pub user_agent: Option<String>,
    /// Time of the sign-in.
    pub created_at: DateTime<Utc>,
    /// Expiry time of the session.
    pub expires_at: DateTime<Utc>,
    /// True if it is signed in at the embedded issuer alone: it opens no page of the service, and applications without a question.
    pub at_issuer_only: bool,
}

/// Returns the browsers in which a person is signed in, latest first.
pub async fn browsers(
    db: &impl ConnectionTrait,
    holder: Holder<'_>,
    now: DateTime<Utc>,
) -> Result<Vec<SignedInBrowser>, DbErr> {
    let of_user = Entity::find().filter(Column::UserId.eq(holder.user_id)).filter(Column::ExpiresAt.gt(now));
    let open = of_user.all(db).await?;
    let mut at_issuer = match holder.subject {
        Some(subject) => issuer_session::of_subject(db, subject, now).await?,
        None => Vec::new(),
    };
    at_issuer.retain(|session| open.iter().all(|one| one.issuer_session_id != Some(session.id)));
    let here = open.into_iter().map(|session| SignedInBrowser {
        id: session.id,
        hash: session.hash,
        user_agent: session.user_agent,
        created_at: session.created_at,
        expires_at: session.expires_at,
        at_issuer_only: false,
    });
    let there = at_issuer.into_iter().map(|session| SignedInBrowser {
        id: session.id,
        hash: session.hash,
        user_agent: session.user_agent,
        created_at: session.created_at,
        expires_at: session.expires_at,
        at_issuer_only: true,
    });
    let mut found: Vec<_> = here.chain(there).collect();
    found.sort_by_key(|browser| Reverse((browser.created_at, browser.id)));
    Ok(found)
}

/// A `User-Agent`, as much of it as is kept.
#[must_use]
pub fn shortened(user_agent: &str) -> String {
    user_agent.chars().take(MAX_USER_AGENT).collect()
}

impl Sessions {
    /// Stores sessions in `db`.
    #[must_use]
    pub fn new(db: DatabaseConnection, clock: Clock, random: Random) -> Self {
        Self { db, clock, random }
    }

    /// Starts a session in the browser with this `User-Agent` and returns the value for the cookie. The session ends with the embedded
    /// issuer's session `issuer_session`, if one is given. If that one has ended already, the database refuses with a violated
    /// foreign key.
    pub async fn start(
        &self,
        user_id: Uuid,
        user_agent: Option<&str>,
        issuer_session: Option<Uuid>,
    ) -> Result<String, DbErr> {
        let (value, now) = (self.random.token(), self.clock.now());
        let row = ActiveModel {
            hash: Set(sha256_hex(&value)),
            id: Set(self.random.id(now)),
            user_id: Set(user_id),
            issuer_session_id: Set(issuer_session),
            created_at: Set(now),
            expires_at: Set(now + LIFETIME),
            user_agent: Set(user_agent.map(shortened)),
        };
        Entity::insert(row).exec_without_returning(&self.db).await?;
        Ok(value)
    }

    /// Ends every session that the cookies of a browser hold, here and at the embedded issuer. Otherwise the next sign-in would not
    /// ask who is there. The service is at `base_url`.
    pub async fn sign_out(&self, headers: &HeaderMap, base_url: &BaseUrl) -> Result<(), DbErr> {
        let tx = database::begin(&self.db).await?;
        for value in cookies(headers, &base_url.host_cookie(SESSION_COOKIE)) {
            self.end_hashed(&tx, &sha256_hex(value), None).await?;
        }
        for value in cookies(headers, &base_url.host_cookie(issuer_session::COOKIE)) {
            if let Some(session) = issuer_session::with_hash(&tx, &sha256_hex(value)).await? {
                issuer_session::end(&tx, session.id, self.clock.now()).await?;
            }
        }
        tx.commit().await
    }

    /// Ends the session of a cookie value in favour of a new one of the same browser. The issuer's session `kept` goes on.
    pub async fn replace(&self, value: &str, kept: Option<Uuid>) -> Result<(), DbErr> {
        let tx = database::begin(&self.db).await?;
        self.end_hashed(&tx, &sha256_hex(value), kept).await?;
        tx.commit().await
    }

    /// Ends the session of a person with this public handle. Returns the hash of its cookie value, or `None` if the person has no
    /// such session.
    pub async fn end_one(&self, holder: Holder<'_>, id: Uuid) -> Result<Option<String>, DbErr> {
        let tx = database::begin(&self.db).await?;
        let now = self.clock.now();
        let Some(found) = browsers(&tx, holder, now).await?.into_iter().find(|browser| browser.id == id) else {
            return Ok(None);
        };
        if found.at_issuer_only {
            issuer_session::end(&tx, found.id, now).await?;
        } else {
            self.end_hashed(&tx, &found.hash, None).await?;
        }
        tx.commit().await?;
        Ok(Some(found.hash))
    }

    /// Ends every session of a person except one browser's, whose cookie values have the hashes `kept`: here and at the embedded
    /// issuer.
    pub async fn end_others(&self, holder: Holder<'_>, kept: (&str, Option<&str>)) -> Result<(), DbErr> {
        let (tx, now) = (database::begin(&self.db).await?, self.clock.now());
        let sessions = Entity::find().filter(Column::UserId.eq(holder.user_id)).all(&tx).await?;
        let (here, others): (Vec<_>, Vec<_>) = sessions.into_iter().partition(|session| session.hash == kept.0);
        let kept_at_issuer = here.first().and_then(|session| session.issuer_session_id);
        for session in others {
            self.end_hashed(&tx, &session.hash, kept_at_issuer).await?;
        }
        if let Some(subject) = holder.subject {
            for session in issuer_session::of_subject(&tx, subject, now).await? {
                if Some(session.id) != kept_at_issuer && Some(session.hash.as_str()) != kept.1 {
                    issuer_session::end(&tx, session.id, now).await?;
                }
            }
        }
        tx.commit().await
    }

    /// Ends every session of a user.
    pub async fn end_all(&self, user_id: Uuid) -> Result<(), DbErr> {
        Entity::delete_many().filter(Column::UserId.eq(user_id)).exec(&self.db).await.map(|_| ())
    }

    /// Ends one session, and with it the embedded issuer's session, unless that is `kept`. Every way to end one comes here.
    async fn end_hashed(&self, db: &impl ConnectionTrait, hash: &str, kept: Option<Uuid>) -> Result<(), DbErr> {
        let Some(row) = Entity::find_by_id(hash).one(db).await? else { return Ok(()) };
        if let Some(id) = row.issuer_session_id.filter(|id| Some(*id) != kept) {
            issuer_session::end(db, id, self.clock.now()).await?;
        }
        Entity::delete_by_id(row.hash).exec(db).await.map(|_| ())
    }

    /// Deletes sessions that expired before `now`. Returns the number of deleted rows.
    pub async fn sweep(&self, now: DateTime<Utc>) -> Result<u64, DbErr> {
        expired::delete::<Entity>(&self.db, Column::Id, Column::ExpiresAt.lt(now)).await
    }
}
