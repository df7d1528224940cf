//! Share links: whoever has one reads the property's dashboard.
//!
//! A link's token has 256 bits. It is looked up by its SHA-256 digest; a sealed copy shows the link again to those who manage links.

use api::{
    models::Role,
    sharing::{ShareLink, ShareLinkInput},
};
use chrono::{DateTime, SubsecRound as _, Utc};
use entity::share_link::{self, Column, Entity};
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait as _, ConnectionTrait, EntityTrait as _, IntoActiveModel,
    QueryFilter as _,
};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::{
    access::PropertyAccess,
    records::{IfMatch, Others, etag, found, trimmed},
};
use crate::{error::Error, random::Random, secrets::Secrets};

/// The most active links of a property, and their name in hints.
const ROOM: (u64, &str) = (100, "active share links");

/// What the sealed token is bound to.
const CONTEXT: &str = "share_link";

/// What showing and making links needs.
pub struct Links<'a> {
    /// Seals and opens tokens.
    pub secrets: &'a Secrets,
    /// Makes tokens.
    pub random: &'a Random,
    /// The root of public links.
    pub base_url: &'a str,
}

/// The digest by which a token is found.
#[must_use]
pub fn token_hash(token: &str) -> Vec<u8> {
    Sha256::digest(token).to_vec()
}

impl Links<'_> {
    /// The active links of a property, newest first; their tokens only for those who may manage links.
    pub async fn list(
        &self,
        db: &impl ConnectionTrait,
        access: &PropertyAccess,
        now: DateTime<Utc>,
    ) -> Result<Vec<ShareLink>, Error> {
        let rows = Entity::active_of_property(access.property().id, now).all(db).await?;
        Ok(rows.iter().rev().map(|row| self.wire(row, access)).collect())
    }

    /// Makes a link.
    pub async fn create(
        &self,
        transaction: &impl ConnectionTrait,
        access: &PropertyAccess,
        input: ShareLinkInput,
        now: DateTime<Utc>,
    ) -> Result<ShareLink, Error> {
        // In milliseconds, like every time here: what is answered is what every database keeps.
        let expires_at = input.expires_at.map(|end| end.trunc_subsecs(3));
        if expires_at.is_some_and(|end| end <= now) {
            return Err(Error::invalid("expiresAt: must be in the future"));
        }
        let property_id = access.hold(transaction).await?;
        let others = Entity::active_of_property(property_id, now);
        Others::read(transaction, others, None, None).await?.check_room(ROOM)?;
        let token = self.random.token();
        let row = share_link::ActiveModel {
            id: Set(self.random.id(now)),
            property_id: Set(property_id),
            created_by: Set(Some(access.user_id())),
            grant_id: Set(access.grant_id()),
            name: Set(input.name.as_deref().map(trimmed)),
            token_hash: Set(token_hash(&token)),
            sealed_token: Set(self.secrets.seal(token.as_bytes(), CONTEXT)),
            expires_at: Set(expires_at),
            revoked_at: Set(None),
            created_at: Set(now),
        };
        Ok(self.wire(&row.insert(transaction).await?, access))
    }

    /// A token that the service's present key does not open is left out: the link can still be revoked.
    fn wire(&self, row: &share_link::Model, access: &PropertyAccess) -> ShareLink {
        let manages = access.role() >= Role::Admin;
        let token = self.secrets.open(&row.sealed_token, CONTEXT).ok().filter(|_| manages);
        let token = token.and_then(|token| String::from_utf8(token).ok());
        ShareLink {
            id: row.id,
            name: row.name.clone(),
            url: token.as_ref().map(|token| format!("{}/api/share/{token}/performance", self.base_url)),
            token,
            expires_at: row.expires_at,
            etag: etag(row),
            created_at: row.created_at,
        }
    }
}

/// Revokes a link; it opens nothing from then on.
pub async fn revoke(
    transaction: &impl ConnectionTrait,
    access: &PropertyAccess,
    (id, if_match): (Uuid, &IfMatch),
    now: DateTime<Utc>,
) -> Result<(), Error> {
    let property_id = access.hold(transaction).await?;
    let one = Entity::active_one_of_property(property_id, id, now);
    let mut row = found(transaction, one, if_match).await?.into_active_model();
    row.revoked_at = Set(Some(now));
    row.update(transaction).await?;
    Ok(())
}

/// Revokes the links that were made under a grant: whoever may not make any more leaves none behind.
pub async fn revoke_made_under(
    transaction: &impl ConnectionTrait,
    grant_id: Uuid,
    now: DateTime<Utc>,
) -> Result<(), Error> {
    Entity::update_many()
        .set(share_link::ActiveModel { revoked_at: Set(Some(now)), ..Default::default() })
        .filter(Column::GrantId.eq(grant_id))
        .filter(Column::RevokedAt.is_null())
        .exec(transaction)
        .await?;
    Ok(())
}
