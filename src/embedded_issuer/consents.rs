//! Remembered consents: a person is asked once per client and address, and again when the client asks for more or leads elsewhere.

use entity::consent::{ActiveModel, Column, Entity, Model};
use sea_orm::{ActiveValue::Set, ColumnTrait, DbErr, EntityTrait, QueryFilter, sea_query::OnConflict};

use super::{
    IdentityProvider, clients,
    issue::has_scope,
    request::{ReturnAddress, scopes},
    response::OAuthError,
};
use crate::store::database;

impl IdentityProvider {
    /// Returns whether the person has allowed the client this scope before, at this address. The service itself needs no consent.
    pub(super) async fn is_allowed(&self, subject: &str, to: &ReturnAddress, scope: &str) -> Result<bool, DbErr> {
        if to.client.id == clients::WEB {
            return Ok(true);
        }
        let known = self.consent(subject, to).await?;
        Ok(known.is_some_and(|known| scope.split(' ').all(|one| has_scope(&known.scope, one))))
    }

    /// Returns what the person has allowed the client before, at this address.
    pub(super) async fn consent(&self, subject: &str, to: &ReturnAddress) -> Result<Option<Model>, DbErr> {
        Entity::find_by_id((subject.to_owned(), to.client.id.clone(), to.place())).one(&self.db).await
    }

    /// Returns whether the person has allowed the client anything before, at any address.
    pub(super) async fn has_allowed(&self, subject: &str, client_id: &str) -> Result<bool, DbErr> {
        let given = Entity::find().filter(Column::Subject.eq(subject)).filter(Column::ClientId.eq(client_id));
        Ok(given.one(&self.db).await?.is_some())
    }

    /// Remembers that the person allowed the client this scope at this address, beside what was allowed before.
    pub(super) async fn remember_consent(
        &self,
        subject: &str,
        to: &ReturnAddress,
        scope: &str,
    ) -> Result<(), OAuthError> {
        let before = self.consent(subject, to).await?.map(|known| known.scope).unwrap_or_default();
        let scope = scopes(&format!("{before} {scope}")).unwrap_or_default().join(" ");
        let now = self.clock.now();
        let row = ActiveModel {
            subject: Set(subject.to_owned()),
            client_id: Set(to.client.id.clone()),
            address: Set(to.place()),
            scope: Set(scope),
            created_at: Set(now),
            updated_at: Set(now),
        };
        let again = OnConflict::columns([Column::Subject, Column::ClientId, Column::Address])
            .update_columns([Column::Scope, Column::UpdatedAt])
            .to_owned();
        let tx = database::begin(&self.db).await?;
        self.hold(&tx, subject).await?;
        Entity::insert(row).on_conflict(again).exec_without_returning(&tx).await?;
        Ok(tx.commit().await?)
    }
}
