//! The signing key (RS256). It is created once and stored encrypted in the database, so tokens stay valid across restarts
//! and replicas.

use std::sync::Arc;

use aws_lc_rs::{
    encoding::AsDer,
    rsa::{KeyPair, KeySize},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use entity::signing_key::{ActiveModel, Column, Entity};
use jsonwebtoken::{
    Algorithm, DecodingKey, EncodingKey, Header, Validation,
    jwk::{Jwk, PublicKeyUse, ThumbprintHash},
};
use sea_orm::{ActiveValue::Set, DatabaseConnection, EntityTrait, sea_query::OnConflict};
use serde::{Serialize, de::DeserializeOwned};
use tokio::sync::OnceCell;

use super::response::OAuthError;
use crate::{clock::Clock, secrets::Secrets};

const PURPOSE: &str = "tokens";
const CONTEXT: &str = "signing_key:tokens";

/// Signs tokens and publishes the public key. The key is loaded (or created) on first use.
#[derive(Clone)]
pub(super) struct Keys {
    db: DatabaseConnection,
    secrets: Secrets,
    clock: Clock,
    pair: Arc<OnceCell<Pair>>,
}

struct Pair {
    private: EncodingKey,
    public: DecodingKey,
    jwk: Jwk,
    id: String,
}

impl Keys {
    pub(super) fn new(db: DatabaseConnection, secrets: Secrets, clock: Clock) -> Self {
        Self { db, secrets, clock, pair: Arc::default() }
    }

    /// The public key as in the JWK set, with `kid`, `alg` and `use`.
    pub(super) async fn public(&self) -> Result<Jwk, OAuthError> {
        Ok(self.pair().await?.jwk.clone())
    }

    /// Signs `claims` as a JWT of media type `typ`.
    pub(super) async fn sign(&self, typ: &str, claims: &impl Serialize) -> Result<String, OAuthError> {
        let pair = self.pair().await?;
        let mut header = Header::new(Algorithm::RS256);
        header.typ = Some(typ.to_owned());
        header.kid = Some(pair.id.clone());
        jsonwebtoken::encode(&header, claims, &pair.private).map_err(internal)
    }

    /// Returns the claims of a JWT of media type `typ` that was signed here. The caller checks the expiry.
    pub(super) async fn read<T: DeserializeOwned>(&self, typ: &str, token: &str) -> Result<Option<T>, OAuthError> {
        let pair = self.pair().await?;
        let mut validation = Validation::new(Algorithm::RS256);
        validation.required_spec_claims.clear();
        validation.validate_exp = false;
        validation.validate_aud = false;
        let decoded = jsonwebtoken::decode::<T>(token, &pair.public, &validation).ok();
        Ok(decoded.filter(|token| token.header.typ.as_deref() == Some(typ)).map(|token| token.claims))
    }

    async fn pair(&self) -> Result<&Pair, OAuthError> {
        self.pair.get_or_try_init(|| async { pair_of(&self.stored().await?) }).await
    }

    /// Returns the private key in PEM. Two replicas that start at once may both create one. The first row wins, and both
    /// load it.
    async fn stored(&self) -> Result<Vec<u8>, OAuthError> {
        let find = || Entity::find_by_id(PURPOSE).one(&self.db);
        let mut row = find().await?;
        if row.is_none() {
            self.make().await?;
            row = find().await?;
        }
        let row = row.ok_or_else(|| internal("the signing key was not kept"))?;
        self.secrets.open(&row.sealed, CONTEXT).map_err(internal)
    }

    async fn make(&self) -> Result<(), OAuthError> {
        // The search for primes blocks for some time. The random bytes come from the cryptographic library, which accepts no
        // generator.
        let made = tokio::task::spawn_blocking(new_private_key).await.map_err(internal)??;
        let row = ActiveModel {
            purpose: Set(PURPOSE.to_owned()),
            sealed: Set(self.secrets.seal(&made, CONTEXT)),
            created_at: Set(self.clock.now()),
        };
        let first_wins = OnConflict::column(Column::Purpose).do_nothing_on([Column::Purpose]).to_owned();
        Entity::insert(row).on_conflict(first_wins).exec_without_returning(&self.db).await?;
        Ok(())
    }
}

fn new_private_key() -> Result<Vec<u8>, OAuthError> {
    let key = KeyPair::generate(KeySize::Rsa2048).map_err(internal)?;
    let der: aws_lc_rs::encoding::Pkcs8V1Der<'_> = key.as_der().map_err(internal)?;
    let text = STANDARD.encode(der.as_ref());
    let lines = text.as_bytes().chunks(64).map(|line| String::from_utf8_lossy(line).into_owned());
    let body = lines.collect::<Vec<_>>().join("\n");
    Ok(format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n").into_bytes())
}

fn pair_of(pem: &[u8]) -> Result<Pair, OAuthError> {
    let private = EncodingKey::from_rsa_pem(pem).map_err(internal)?;
    let mut jwk = Jwk::from_encoding_key(&private, Algorithm::RS256).map_err(internal)?;
    let id = jwk.thumbprint(ThumbprintHash::SHA256).map_err(internal)?;
    jwk.common.key_id = Some(id.clone());
    jwk.common.public_key_use = Some(PublicKeyUse::Signature);
    let public = DecodingKey::from_jwk(&jwk).map_err(internal)?;
    Ok(Pair { private, public, jwk, id })
}

fn internal(error: impl std::fmt::Display) -> OAuthError {
    OAuthError::Internal(error.to_string())
}
