//! One signing key (RS256): its private part in PEM, and its public part as a JWK.

use aws_lc_rs::{
    encoding::AsDer,
    rsa::{KeyPair, KeySize},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use jsonwebtoken::{
    Algorithm, DecodingKey, EncodingKey,
    jwk::{Jwk, PublicKeyUse, ThumbprintHash},
};

use super::KeysError;

/// Both parts of a key.
pub(super) struct Pair {
    pub private: EncodingKey,
    pub public: DecodingKey,
    /// The public part, with `kid`, `alg` and `use`.
    pub jwk: Jwk,
    /// The key id: the thumbprint of the public part (RFC 7638).
    pub id: String,
}

impl Pair {
    /// Reads a private key in PEM.
    pub fn of(pem: &[u8]) -> Result<Self, KeysError> {
        let private = EncodingKey::from_rsa_pem(pem).map_err(unusable)?;
        let mut jwk = Jwk::from_encoding_key(&private, Algorithm::RS256).map_err(unusable)?;
        let id = jwk.thumbprint(ThumbprintHash::SHA256).map_err(unusable)?;
        jwk.common.key_id = Some(id.clone());
        jwk.common.public_key_use = Some(PublicKeyUse::Signature);
        let public = DecodingKey::from_jwk(&jwk).map_err(unusable)?;
        Ok(Self { private, public, jwk, id })
    }
}

/// Creates a private key. Returns its id and the key in PEM.
pub(super) async fn generate() -> Result<(String, Vec<u8>), KeysError> {
    // The search for primes blocks for some time. The random bytes come from the cryptographic library, which accepts no
    // generator.
    let pem = tokio::task::spawn_blocking(new_private_key).await.map_err(unusable)??;
    Ok((Pair::of(&pem)?.id, pem))
}

fn new_private_key() -> Result<Vec<u8>, KeysError> {
    let key = KeyPair::generate(KeySize::Rsa2048).map_err(unusable)?;
    let der: aws_lc_rs::encoding::Pkcs8V1Der<'_> = key.as_der().map_err(unusable)?;
    let text = STANDARD.encode(der.as_ref());
    let lines = text.as_bytes().chunks(64).map(|line| String::from_utf8_lossy(line).into_owned());
    let body = lines.collect::<Vec<_>>().join("\n");
    Ok(format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n").into_bytes())
}

fn unusable(error: impl std::fmt::Display) -> KeysError {
    KeysError::Unusable(error.to_string())
}
