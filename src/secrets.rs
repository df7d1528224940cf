//! Encrypts stored values that must be readable later: signing keys, search-account grants and provider logins.

use chacha20poly1305::{
    KeyInit, XChaCha20Poly1305, XNonce,
    aead::{Aead, Payload},
};

use crate::random::Random;

const NONCE_BYTES: usize = 24;

/// Encrypts and decrypts secrets with one 256-bit key (XChaCha20-Poly1305).
///
/// A ciphertext starts with 24 random nonce bytes and ends with a 16-byte tag.
#[derive(Clone)]
pub struct Secrets {
    cipher: XChaCha20Poly1305,
    random: Random,
}

/// Decryption failed: the key or the context differs, or the bytes were changed.
#[derive(Debug, thiserror::Error)]
#[error("a stored secret cannot be opened with the configured key")]
pub struct SecretsError;

impl Secrets {
    /// Uses `key`. Nonces are drawn from `random`.
    #[must_use]
    pub fn new(key: [u8; 32], random: Random) -> Self {
        Self { cipher: XChaCha20Poly1305::new(&key.into()), random }
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
        let (nonce, message) = sealed.split_first_chunk::<NONCE_BYTES>().ok_or(SecretsError)?;
        let payload = Payload { msg: message, aad: context.as_bytes() };
        self.cipher.decrypt(&XNonce::from(*nonce), payload).map_err(|_| SecretsError)
    }
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
}
