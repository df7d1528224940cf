//! Revocations: of one token, of a grant with all its tokens, or of everything issued to a person so far.

use chrono::{DateTime, TimeDelta, Utc};
use common::digest::sha256_hex;
use entity::revocation::{ActiveModel, Column, Entity};
use sea_orm::{
    ActiveValue::Set, ColumnTrait, Condition, ConnectionTrait, DbErr, EntityTrait, QueryFilter, sea_query::OnConflict,
};
use store::expired;
use uuid::Uuid;

use super::AccessToken;

const TOKEN: &str = "token";
const GRANT: &str = "grant";
const SUBJECT: &str = "subject";

/// Time to keep an entry about a person: longer than the lifetime of any access token.
const KEEP_SUBJECT: TimeDelta = TimeDelta::days(90);

/// Returns whether an otherwise valid token was revoked, before a user is created for it. For known users the statement of admission
/// answers this.
pub async fn is_revoked(db: &impl ConnectionTrait, token: &AccessToken) -> Result<bool, DbErr> {
    let of = |kind: &str, value: String| Condition::all().add(Column::Kind.eq(kind)).add(Column::Value.eq(value));
    let mut entries = Condition::any()
        .add(of(TOKEN, token.id.clone()))
        .add(of(SUBJECT, subject_key(&token.claims.issuer, &token.claims.subject)));
    if let Some(grant) = token.grant_id {
        entries = entries.add(of(GRANT, grant.to_string()));
    }
    let found = Entity::find().filter(entries).all(db).await?;
    Ok(found.iter().any(|entry| entry.kind != SUBJECT || was_issued_before(token, entry.not_before)))
}

/// Returns whether `token` is covered by a revocation of everything issued before `not_before`.
///
/// `iat` has whole seconds. A token from the same second as the revocation is refused, unless it names a grant of the
/// embedded issuer. The revocation ended those grants one by one, so a grant that is not listed is newer.
#[must_use]
pub fn was_issued_before(token: &AccessToken, not_before: DateTime<Utc>) -> bool {
    let (issued, limit) = (token.issued_at.timestamp(), not_before.timestamp());
    issued < limit || (issued == limit && token.grant_id.is_none())
}

/// The key for revoking everything that `issuer` issued for `subject`. It contains the person's identity only as a hash.
#[must_use]
pub fn subject_key(issuer: &str, subject: &str) -> String {
    sha256_hex(&format!("{issuer}\n{subject}"))
}

/// Revokes the token with this `jti`, which expires at `expires_at`.
pub async fn revoke_token(
    db: &impl ConnectionTrait,
    token_id: &str,
    expires_at: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Result<(), DbErr> {
    insert(db, TOKEN, token_id.to_owned(), now, expires_at + TimeDelta::hours(1)).await
}

/// Revokes every access token of a grant. The last of them expires at `expires_at`.
pub async fn revoke_grant(
    db: &impl ConnectionTrait,
    grant_id: Uuid,
    expires_at: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Result<(), DbErr> {
    insert(db, GRANT, grant_id.to_string(), now, expires_at + TimeDelta::hours(1)).await
}

/// Revokes every access token that `issuer` has issued for `subject` so far, without involving the issuer.
///
/// The row contains the person's identity only as a hash. For people of the embedded issuer, also end their grants
/// ([`super::grants::end_all`]). Sessions are ended by [`super::session::Sessions::end_all`].
pub async fn revoke_subject(
    db: &impl ConnectionTrait,
    issuer: &str,
    subject: &str,
    now: DateTime<Utc>,
) -> Result<(), DbErr> {
    insert(db, SUBJECT, subject_key(issuer, subject), now, now + KEEP_SUBJECT).await
}

/// Deletes entries of tokens that expired long ago. Returns the number of deleted rows.
pub async fn sweep(db: &impl ConnectionTrait, now: DateTime<Utc>) -> Result<u64, DbErr> {
    expired::delete::<Entity>(db, Column::Value, Column::ExpiresAt.lt(now)).await
}

async fn insert(
    db: &impl ConnectionTrait,
    kind: &str,
    value: String,
    not_before: DateTime<Utc>,
    expires_at: DateTime<Utc>,
) -> Result<(), DbErr> {
    let row = ActiveModel {
        kind: Set(kind.to_owned()),
        value: Set(value),
        not_before: Set(not_before),
        expires_at: Set(expires_at),
    };
    let again = OnConflict::columns([Column::Kind, Column::Value])
        .update_columns([Column::NotBefore, Column::ExpiresAt])
        .to_owned();
    Entity::insert(row).on_conflict(again).exec_without_returning(db).await.map(|_| ())
}

#[cfg(test)]
mod tests {
    use sea_orm::PaginatorTrait as _;
    use store::expired::BATCH;
    use test_data::noon;

    use super::*;

    #[tokio::test]
    async fn more_rows_than_a_batch_are_swept_and_no_others() {
        let db = test_data::database().await;
        let day = TimeDelta::days(1);
        // Two rows of different kinds have the same value, and one of them has expired.
        let row = |number: u64, kind: &str, expires_at| ActiveModel {
            kind: Set(kind.to_owned()),
            value: Set(number.to_string()),
            not_before: Set(noon()),
            expires_at: Set(expires_at),
        };
        let rows: Vec<u64> = (0..BATCH + 7).collect();
        for some in rows.chunks(1_000) {
            let both = some
                .iter()
                .flat_map(|number| [row(*number, "token", noon() - day), row(*number, "grant", noon() + day)]);
            Entity::insert_many(both).exec_without_returning(&db).await.unwrap();
        }
        assert_eq!(sweep(&db, noon()).await.unwrap(), BATCH + 7);
        assert_eq!(sweep(&db, noon()).await.unwrap(), 0);
        assert_eq!(Entity::find().count(&db).await.unwrap(), BATCH + 7);
    }
}
