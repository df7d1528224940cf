//! Answers that are computed once and given again until their readings change.

use std::{any::Any, io, sync::Arc};

use bytes::Bytes;
use chrono::TimeDelta;
use common::{
    byte_cache::{ByteCache, CacheUse},
    clock::Clock,
    compute::beside,
    digest::opaque_tag,
};
use serde::Serialize;
use uuid::Uuid;

use super::prepared::{MadeOf, Prepared};
use crate::error::Error;

/// The lifetime of answers, equal to that of readings.
const LIFETIME: TimeDelta = TimeDelta::hours(6);

/// The memory that a value takes, for each byte of its JSON.
const BYTES_OF_VALUE: usize = 2;

/// An answer as JSON.
#[derive(Debug, Clone)]
pub struct Rendered {
    /// The JSON.
    pub body: Bytes,
    /// 128 bits of the SHA-256 of `body`, in base64url. Computed once, because hashing megabytes for every reader is expensive.
    pub digest: Arc<str>,
}

/// An answer and its origin. The origin holds weak references, so that a reading that leaves its cache is freed.
struct Kept<V> {
    made_of: MadeOf,
    value: V,
}

/// A cache of answers, limited in bytes: as JSON for clients of the API, and as values for pages.
#[derive(Clone)]
pub struct Answers {
    /// Each value is a [`Kept`].
    cache: Arc<ByteCache<Arc<dyn Any + Send + Sync>>>,
    clock: Clock,
}

impl Answers {
    /// Creates a cache of at most `max_bytes`.
    #[must_use]
    pub fn new(max_bytes: usize, clock: Clock) -> Self {
        Self { cache: Arc::new(ByteCache::new(max_bytes)), clock }
    }

    /// The current use of the cache.
    #[must_use]
    pub fn cache_use(&self) -> CacheUse {
        self.cache.usage()
    }

    /// Drops the answers about these properties.
    pub fn forget(&self, properties: &[Uuid]) {
        let named: Vec<String> = properties.iter().map(|id| format!("\"{id}\"")).collect();
        self.cache.remove_all(|key| named.iter().any(|id| key.contains(id)));
    }

    /// Renders an answer on a blocking thread, or returns the bytes of the last one with the same origin.
    pub async fn rendered<T: Serialize + 'static>(&self, answer: Prepared<T>) -> Result<Rendered, Error> {
        let Prepared { key, made_of, compute } = answer;
        let render = move || {
            let body = Bytes::from(serde_json::to_vec(&compute()).map_err(Error::internal)?);
            let (size, digest) = (body.len(), opaque_tag(&body).into());
            Ok((Rendered { body, digest }, size))
        };
        self.kept(key, made_of, render).await
    }

    /// Computes an answer on a blocking thread, or returns the last one with the same origin.
    pub async fn value<T>(&self, answer: Prepared<T>) -> Result<Arc<T>, Error>
    where
        T: Serialize + Send + Sync + 'static,
    {
        let Prepared { key, made_of, compute } = answer;
        let compute = move || {
            let value = compute();
            let size = usize::try_from(json_len(&value)).unwrap_or(usize::MAX).saturating_mul(BYTES_OF_VALUE);
            Ok((Arc::new(value), size))
        };
        self.kept(format!("{key} as a value"), made_of, compute).await
    }

    /// Returns the value under `key` if it has this origin, or else what `make` makes, with its size in bytes.
    async fn kept<V: Clone + Send + Sync + 'static>(
        &self,
        key: String,
        made_of: MadeOf,
        make: impl FnOnce() -> Result<(V, usize), Error> + Send + 'static,
    ) -> Result<V, Error> {
        let now = self.clock.moment();
        let kept = self
            .cache
            .get_if(&key, now, |kept| kept.downcast_ref::<Kept<V>>().is_some_and(|kept| kept.made_of.is(&made_of)));
        if let Some(kept) = kept.as_ref().and_then(|kept| kept.downcast_ref::<Kept<V>>()) {
            return Ok(kept.value.clone());
        }
        let (value, size) = beside(make).await??;
        self.cache.put(key, Arc::new(Kept { made_of, value: value.clone() }), size, now + LIFETIME);
        Ok(value)
    }
}

/// The length of a value as JSON.
pub(super) fn json_len(value: &impl Serialize) -> u64 {
    struct Length(u64);
    impl io::Write for Length {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len() as u64;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut length = Length(0);
    // Counting cannot fail, and no answer has keys that JSON cannot represent.
    let counted = serde_json::to_writer(&mut length, value);
    assert!(counted.is_ok(), "a value that is not JSON: {counted:?}");
    length.0
}
