//! Remembered consents: a person is asked once per client and address, and again when the client asks for more or leads elsewhere.
//! How much of it the client may do is one choice for all its addresses.

use api::scope::Scopes;
use entity::consent::{ActiveModel, Column, Entity, Model};
use sea_orm::{ActiveValue::Set, ColumnTrait, DbErr, EntityTrait, QueryFilter, sea_query::OnConflict};

use super::{IdentityProvider, clients, request::ReturnAddress, response::OAuthError, scope};
use crate::{identity::allowance::Allowance, store::database};

impl IdentityProvider {
    /// Returns whether the person has allowed the client this scope before, at this address. The service itself needs no consent.
    pub(super) async fn is_allowed(&self, subject: &str, to: &ReturnAddress, scope: &str) -> Result<bool, DbErr> {
        if to.client.id == clients::WEB {
            return Ok(true);
        }
        let known = self.consent(subject, to).await?;
        Ok(known.is_some_and(|known| scope::includes(&known.scope, scope)))
    }

    /// Returns what the person has allowed the client before, at this address.
    pub(super) async fn consent(&self, subject: &str, to: &ReturnAddress) -> Result<Option<Model>, DbErr> {
        Entity::find_by_id((subject.to_owned(), to.client.id.clone(), to.place())).one(&self.db).await
    }

    /// Returns how much the person allows the client, if they have been asked at any address.
    pub(super) async fn allowance(&self, subject: &str, client_id: &str) -> Result<Option<Allowance>, DbErr> {
        let given = Entity::of_subject(subject).filter(Column::ClientId.eq(client_id)).one(&self.db).await?;
        Ok(given.map(|given| Allowance::stored(&given.allows)))
    }

    /// Remembers that the person allowed the client this scope at this address, beside what was allowed before, and how much of it the
    /// client may do.
    pub(super) async fn remember_consent(
        &self,
        subject: &str,
        to: &ReturnAddress,
        asked: &str,
        allowance: Allowance,
    ) -> Result<(), OAuthError> {
        let before = self.consent(subject, to).await?.map(|known| known.scope).unwrap_or_default();
        let rights = Scopes::named(before.split(' ')).or(scope::rights(asked));
        let now = self.clock.now();
        let row = ActiveModel {
            subject: Set(subject.to_owned()),
            client_id: Set(to.client.id.clone()),
            address: Set(to.place()),
            scope: Set(scope::with_rights(&format!("{before} {asked}"), rights)),
            allows: Set(allowance.as_str().to_owned()),
            created_at: Set(now),
            updated_at: Set(now),
        };
        let again = OnConflict::columns([Column::Subject, Column::ClientId, Column::Address])
            .update_columns([Column::Scope, Column::UpdatedAt])
            .to_owned();
        let tx = database::begin(&self.db).await?;
        self.hold(&tx, subject).await?;
        Entity::insert(row).on_conflict(again).exec_without_returning(&tx).await?;
        Entity::allow(subject, &to.client.id, allowance.as_str()).exec(&tx).await?;
        Ok(tx.commit().await?)
    }
}
