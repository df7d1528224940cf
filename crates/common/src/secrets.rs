//! Encrypts stored values that must be readable later: signing keys, search-account grants and provider logins.

use std::{fs::File, sync::Arc};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use chacha20poly1305::{
    KeyInit, XChaCha20Poly1305, XNonce,
    aead::{Aead, Payload},
};
use hmac::{Hmac, Mac as _};
use sha2::Sha256;

use crate::random::Random;

const NONCE_BYTES: usize = 24;

/// A key that seals secrets.
pub type Key = [u8; 32];

/// Encrypts and decrypts secrets with one 256-bit key (XChaCha20-Poly1305). While the key is being replaced, a previous key
/// decrypts what is not resealed yet.
///
/// A ciphertext starts with 24 random nonce bytes and ends with a 16-byte tag.
#[derive(Clone)]
pub struct Secrets {
    cipher: XChaCha20Poly1305,
    previous: Option<XChaCha20Poly1305>,
    /// HMAC with a key that is derived from the current one.
    digests: Hmac<Sha256>,
    random: Random,
    /// Keeps the file of the key locked, so that no other process replaces the key while this one seals with it.
    _in_use: Option<Arc<File>>,
}

/// Decryption failed: the key or the context differs, or the bytes were changed.
#[derive(Debug, thiserror::Error)]
#[error("a stored secret cannot be opened with the configured key")]
pub struct SecretsError;

impl Secrets {
    /// Uses `key`. Nonces are drawn from `random`.
    #[must_use]
    pub fn new(key: Key, random: Random) -> Self {
        let derived = keyed(&key).chain_update("digests of secrets").finalize().into_bytes();
        let digests = keyed(&derived.into());
        Self { cipher: XChaCha20Poly1305::new(&key.into()), previous: None, digests, random, _in_use: None }
    }

    /// Also decrypts values that `key` sealed. Nothing is sealed with it.
    #[must_use]
    pub fn with_previous(self, key: Option<Key>) -> Self {
        Self { previous: key.map(|key| XChaCha20Poly1305::new(&key.into())), ..self }
    }

    /// Keeps `lock` as long as a copy of these secrets lives.
    #[must_use]
    pub fn holding(self, lock: Option<File>) -> Self {
        Self { _in_use: lock.map(Arc::new), ..self }
    }

    /// A digest by which equal secrets in one `context` are known. Without the key it tells nothing about them. Another key gives other
    /// digests, so it is kept for a short time only.
    #[must_use]
    pub fn digest(&self, plain: &[u8], context: &str) -> String {
        let digest = self.digests.clone().chain_update(context).chain_update([0]).chain_update(plain).finalize();
        URL_SAFE_NO_PAD.encode(digest.into_bytes())
    }

    /// Encrypts `plain` for `context`, the name of the place where it is stored. The value cannot be decrypted under another
    /// context.
    ///
    /// # Panics
    ///
    /// If `plain` is larger than 256 GiB, the limit of the cipher.
    #[must_use]
    pub fn seal(&self, plain: &[u8], context: &str) -> Vec<u8> {
        let nonce = self.random.bytes::<NONCE_BYTES>();
        let payload = Payload { msg: plain, aad: context.as_bytes() };
        #[expect(clippy::expect_used, reason = "fails only for messages beyond 256 GiB")]
        let sealed = self.cipher.encrypt(&XNonce::from(nonce), payload).expect("a message of sealable length");
        [nonce.as_slice(), &sealed].concat()
    }

    /// Decrypts the output of [`Secrets::seal`] for the same `context`.
    pub fn open(&self, sealed: &[u8], context: &str) -> Result<Vec<u8>, SecretsError> {
        let with = |cipher| opened(cipher, sealed, context);
        with(&self.cipher).or_else(|| with(self.previous.as_ref()?)).ok_or(SecretsError)
    }

    /// Returns `sealed` under the current key, or `None` if it is so already.
    pub fn reseal(&self, sealed: &[u8], context: &str) -> Result<Option<Vec<u8>>, SecretsError> {
        if opened(&self.cipher, sealed, context).is_some() {
            return Ok(None);
        }
        let plain = self.open(sealed, context)?;
        Ok(Some(self.seal(&plain, context)))
    }
}

/// HMAC-SHA-256 with `key`.
#[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
fn keyed(key: &Key) -> Hmac<Sha256> {
    <Hmac<Sha256> as hmac::Mac>::new_from_slice(key).expect("a key of any length")
}

fn opened(cipher: &XChaCha20Poly1305, sealed: &[u8], context: &str) -> Option<Vec<u8>> {
    let (nonce, message) = sealed.split_first_chunk::<NONCE_BYTES>()?;
    cipher.decrypt(&XNonce::from(*nonce), Payload { msg: message, aad: context.as_bytes() }).ok()
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secrets")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opens_only_unchanged_values_in_their_own_context() {
        let secrets = Secrets::new([7; 32], Random::seeded(1));
        let sealed = secrets.seal(b"refresh token", "search_account");
        assert_eq!(secrets.open(&sealed, "search_account").unwrap(), b"refresh token");
        assert!(secrets.open(&sealed, "signing_key").is_err());
        assert!(Secrets::new([8; 32], Random::seeded(1)).open(&sealed, "search_account").is_err());
        assert!(secrets.open(&sealed[..20], "search_account").is_err());
        let mut changed = sealed.clone();
        changed[30] ^= 1;
        assert!(secrets.open(&changed, "search_account").is_err());
        assert_ne!(sealed, secrets.seal(b"refresh token", "search_account"), "nonces must not repeat");
    }

    #[test]
    fn a_digest_knows_equal_secrets_of_one_key_and_context() {
        let secrets = Secrets::new([7; 32], Random::seeded(1));
        let digest = secrets.digest(b"password", "here");
        assert_eq!(digest, Secrets::new([7; 32], Random::seeded(2)).digest(b"password", "here"));
        let other = Secrets::new([8; 32], Random::seeded(1)).digest(b"password", "here");
        for differs in [secrets.digest(b"passwore", "here"), secrets.digest(b"password", "there"), other] {
            assert_ne!(digest, differs);
        }
    }

    #[test]
    fn a_previous_key_opens_and_never_seals() {
        let old = Secrets::new([7; 32], Random::seeded(1));
        let new = Secrets::new([8; 32], Random::seeded(2));
        let both = new.clone().with_previous(Some([7; 32]));
        let sealed = old.seal(b"refresh token", "here");
        assert_eq!(both.open(&sealed, "here").unwrap(), b"refresh token");
        assert!(both.open(&sealed, "elsewhere").is_err() && new.open(&sealed, "here").is_err());
        assert!(old.open(&both.seal(b"x", "here"), "here").is_err());

        let again = both.reseal(&sealed, "here").unwrap().unwrap();
        assert_eq!(new.open(&again, "here").unwrap(), b"refresh token");
        assert!(both.reseal(&again, "here").unwrap().is_none(), "it is under the new key already");
        assert!(both.reseal(&sealed, "elsewhere").is_err() && new.reseal(&sealed, "here").is_err());
    }
}
