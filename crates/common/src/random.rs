//! The only source of randomness: identifiers, tokens and nonces. All other code receives a [`Random`].

use std::sync::{Arc, Mutex, PoisonError};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use chrono::{DateTime, Utc};
use rand::{CryptoRng, Rng, RngCore, SeedableRng, rngs::StdRng};
use uuid::Uuid;

/// A source of unpredictable (or, in tests, seeded) bytes.
#[derive(Clone)]
pub struct Random(Arc<Mutex<dyn Generator>>);

trait Generator: RngCore + CryptoRng + Send {}
impl<T: RngCore + CryptoRng + Send> Generator for T {}

impl Random {
    /// A generator seeded by the operating system.
    #[must_use]
    pub fn system() -> Self {
        #[expect(clippy::disallowed_methods, reason = "the one home of randomness")]
        Self(Arc::new(Mutex::new(StdRng::from_os_rng())))
    }

    /// A generator that produces the same sequence for the same `seed`, for tests.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(StdRng::seed_from_u64(seed))))
    }

    /// `N` bytes.
    #[must_use]
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.0.lock().unwrap_or_else(PoisonError::into_inner).fill_bytes(&mut bytes);
        bytes
    }

    /// A 256-bit token in URL-safe base64 without padding (43 characters).
    #[must_use]
    pub fn token(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.bytes::<32>())
    }

    /// A time-ordered `UUIDv7`.
    #[must_use]
    pub fn id(&self, now: DateTime<Utc>) -> Uuid {
        let millis = u64::try_from(now.timestamp_millis()).unwrap_or_default();
        uuid::Builder::from_unix_timestamp_millis(millis, &self.bytes::<10>()).into_uuid()
    }

    /// A number in `[0, 1)`, for jitter.
    #[must_use]
    pub fn unit(&self) -> f64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).random()
    }
}

impl std::fmt::Debug for Random {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Random")
    }
}
