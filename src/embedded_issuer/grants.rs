//! Grants: the access that a person gave to a client. Codes, refresh tokens and access tokens belong to a grant and end with
//! it.

use chrono::{DateTime, Utc};
use entity::oauth_grant::{ActiveModel, Column, Entity, Model};
use sea_orm::{
    ActiveValue::Set, ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QueryOrder, sea_query::Expr,
};
use uuid::Uuid;

use super::{
    IdentityProvider,
    demo::Person,
    issue,
    request::{AuthorizationRequest, ReturnAddress},
    response::OAuthError,
};
use crate::identity::revocation;

/// Returns the current grants of a person, newest first.
pub async fn of_subject(db: &impl ConnectionTrait, subject: &str, now: DateTime<Utc>) -> Result<Vec<Model>, DbErr> {
    Entity::find()
        .filter(Column::Subject.eq(subject))
        .filter(Column::EndedAt.is_null())
        .filter(Column::ExpiresAt.gt(now))
        .order_by_desc(Column::CreatedAt)
        .all(db)
        .await
}

/// Ends a grant. Its code, refresh tokens and access tokens are refused from now on, by every API at once.
pub async fn end(db: &impl ConnectionTrait, grant: &Model, now: DateTime<Utc>) -> Result<(), DbErr> {
    // Resource servers check this row, so it is written first: if the second statement fails, too much is refused, not too
    // little.
    let last_token = now + issue::ACCESS_TOKEN_LIFETIME;
    revocation::revoke_grant(db, grant.id, last_token, now).await?;
    Entity::update_many()
        .col_expr(Column::EndedAt, Expr::value(now))
        .filter(Column::Id.eq(grant.id))
        .filter(Column::EndedAt.is_null())
        .exec(db)
        .await
        .map(|_| ())
}

/// Ends every grant of a person.
pub async fn end_all(db: &impl ConnectionTrait, subject: &str, now: DateTime<Utc>) -> Result<(), DbErr> {
    for grant in of_subject(db, subject, now).await? {
        end(db, &grant, now).await?;
    }
    Ok(())
}

pub(super) async fn find(db: &impl ConnectionTrait, id: Uuid) -> Result<Option<Model>, DbErr> {
    Entity::find_by_id(id).one(db).await
}

impl IdentityProvider {
    /// Records that `person` gave the client of `address` the access in `asked`, and returns the authorization code.
    pub(super) async fn grant(
        &self,
        address: &ReturnAddress,
        asked: &AuthorizationRequest,
        person: &Person,
    ) -> Result<String, OAuthError> {
        let now = self.clock.now();
        let grant = ActiveModel {
            id: Set(self.random.id(now)),
            client_id: Set(address.client.id.clone()),
            subject: Set(person.subject.to_owned()),
            scope: Set(asked.scope.clone()),
            resources: Set(serde_json::to_string(&asked.resources).unwrap_or_default()),
            created_at: Set(now),
            expires_at: Set(now + issue::ACCESS_TOKEN_LIFETIME),
            ended_at: Set(None),
        };
        let id = Entity::insert(grant).exec(&self.db).await?.last_insert_id;
        Ok(self.issue_code(id, &address.redirect_uri, asked).await?)
    }
}
