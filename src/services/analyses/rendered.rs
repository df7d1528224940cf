//! Answers that are rendered once and sent while nothing they were made of has changed.

use std::sync::{Arc, Weak};

use bytes::Bytes;
use chrono::TimeDelta;
use serde::Serialize;

use crate::{
    clock::Clock,
    compute::beside,
    digest::opaque_tag,
    error::Error,
    search_engine::{ByteCache, LastFinal, Reading},
};

/// Rendered answers are kept no longer than readings are.
const LIFETIME: TimeDelta = TimeDelta::hours(6);

/// A rendered answer and the readings it was made of: while a question is answered by the same readings, the same bytes are
/// its answer.
#[derive(Debug)]
pub struct RenderedAnswer {
    /// What it was made of. It does not keep the readings: a reading that leaves its cache leaves memory.
    made_of: MadeOf,
    /// The JSON.
    pub body: Bytes,
    /// 128 bits of the SHA-256 of `body`, base64url: taken once, because megabytes are not hashed for every reader.
    pub digest: String,
}

/// What an answer was made of.
#[derive(Debug)]
pub struct MadeOf {
    /// The readings, always in the same order.
    pub readings: Vec<Weak<Reading>>,
    /// How recent the data was.
    pub freshness: LastFinal,
}

impl MadeOf {
    /// These readings.
    pub fn new<'r>(readings: impl IntoIterator<Item = &'r Arc<Reading>>, freshness: LastFinal) -> Self {
        Self { readings: readings.into_iter().map(Arc::downgrade).collect(), freshness }
    }

    fn is(&self, other: &Self) -> bool {
        self.freshness == other.freshness
            && self.readings.len() == other.readings.len()
            && self.readings.iter().zip(&other.readings).all(|(own, other)| own.ptr_eq(other))
    }
}

/// Answers rendered before, within a budget of bytes.
#[derive(Clone)]
pub struct Answers {
    cache: Arc<ByteCache<Arc<RenderedAnswer>>>,
    clock: Clock,
}

impl Answers {
    /// Keeps answers of together `max_bytes`.
    #[must_use]
    pub fn new(max_bytes: usize, clock: Clock) -> Self {
        Self { cache: Arc::new(ByteCache::new(max_bytes)), clock }
    }

    /// The answer to the question that `key` names: as it was rendered before, if it was made of the very same, otherwise as
    /// `answer` makes it now, beside the runtime.
    pub async fn rendered<T: Serialize>(
        &self,
        key: String,
        made_of: MadeOf,
        answer: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Arc<RenderedAnswer>, Error> {
        let now = self.clock.now();
        if let Some(rendered) = self.cache.get(&key, now).filter(|rendered| rendered.made_of.is(&made_of)) {
            return Ok(rendered);
        }
        let written = beside(move || {
            let body = Bytes::from(serde_json::to_vec(&answer()).map_err(Error::internal)?);
            let digest = opaque_tag(&body);
            Ok::<_, Error>((body, digest))
        });
        let (body, digest) = written.await??;
        let rendered = Arc::new(RenderedAnswer { made_of, body, digest });
        self.cache.put(key, rendered.clone(), rendered.body.len(), now + LIFETIME);
        Ok(rendered)
    }
}
