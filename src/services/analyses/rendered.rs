//! Answers that are rendered once and sent again until their readings change.

use std::{
    any::{Any, type_name},
    marker::PhantomData,
    sync::{Arc, Weak},
};

use api::{
    analytics::{
        BrandedTrafficParams, CannibalizationParams, CountriesParams, CountriesTimeseriesParams, GrowthParams,
        PerformanceQuery, QueryCountParams, QueryInsightsParams, SparklinesParams,
    },
    models::Question,
};
use bytes::Bytes;
use chrono::TimeDelta;
use common::{
    byte_cache::{ByteCache, CacheUse},
    clock::Clock,
    compute::beside,
    digest::opaque_tag,
};
use search_engine::{LastFinal, Reading};
use serde::Serialize;
use uuid::Uuid;

use super::Asked;
use crate::{error::Error, services::access::ReadableProperty};

/// The lifetime of rendered answers, equal to that of readings.
const LIFETIME: TimeDelta = TimeDelta::hours(6);

/// Parameters of an analysis.
pub trait Asking {
    /// Their question.
    fn question(&mut self) -> &mut Question;
}

macro_rules! asking {
    ($($params:ty),* $(,)?) => {
        $(impl Asking for $params {
            fn question(&mut self) -> &mut Question {
                &mut self.question
            }
        })*
    };
}

asking!(
    BrandedTrafficParams,
    CannibalizationParams,
    CountriesParams,
    CountriesTimeseriesParams,
    GrowthParams,
    PerformanceQuery,
    QueryCountParams,
    QueryInsightsParams,
    SparklinesParams,
);

impl Asked {
    /// Returns the answer that `answer` makes of the parameters as they were understood. It is made once for the same parameters and
    /// `readings`.
    pub(super) async fn answer<P, T>(
        self,
        access: &ReadableProperty,
        params: &P,
        readings: Vec<Weak<Reading>>,
        answer: impl FnOnce(&Self, &P) -> T + Send + 'static,
    ) -> Result<Arc<RenderedAnswer<T>>, Error>
    where
        P: Asking + Clone + Serialize + Send + 'static,
        T: Serialize + 'static,
    {
        let mut params = params.clone();
        params.question().clone_from(&self.settled.question);
        let key = self.settled.key(type_name::<T>(), access, &params)?;
        let made_of = MadeOf { readings, freshness: self.freshness };
        let answers = self.search.answers.clone();
        answers.rendered(key, made_of, move || answer(&self, &params)).await
    }
}

/// The JSON of a `T` and the readings it was made of. The same bytes answer the question as long as the same readings do.
#[derive(Debug)]
pub struct RenderedAnswer<T> {
    /// The origin of the answer. It holds weak references, so that a reading that leaves its cache is freed.
    made_of: MadeOf,
    /// The JSON.
    pub body: Bytes,
    /// 128 bits of the SHA-256 of `body`, in base64url. Computed once, because hashing megabytes for every reader is expensive.
    pub digest: String,
    of: PhantomData<fn() -> T>,
}

/// The origin of an answer: its readings and the freshness of the data.
#[derive(Debug)]
pub struct MadeOf {
    /// The readings, always in the same order.
    pub readings: Vec<Weak<Reading>>,
    /// The freshness of the data.
    pub freshness: LastFinal,
}

impl MadeOf {
    /// Creates the origin from readings.
    pub fn new<'r>(readings: impl IntoIterator<Item = &'r Arc<Reading>>, freshness: LastFinal) -> Self {
        Self { readings: weak(readings), freshness }
    }

    fn is(&self, other: &Self) -> bool {
        self.freshness == other.freshness
            && self.readings.len() == other.readings.len()
            && self.readings.iter().zip(&other.readings).all(|(own, other)| own.ptr_eq(other))
    }
}

/// Returns weak references to readings.
pub(super) fn weak<'r>(readings: impl IntoIterator<Item = &'r Arc<Reading>>) -> Vec<Weak<Reading>> {
    readings.into_iter().map(Arc::downgrade).collect()
}

/// A cache of rendered answers, limited in bytes.
#[derive(Clone)]
pub struct Answers {
    /// Each value is a [`RenderedAnswer`].
    cache: Arc<ByteCache<Arc<dyn Any + Send + Sync>>>,
    clock: Clock,
}

/// Returns the cache key of an answer: the owner of the property, who holds its bytes, and everything that it depends on besides its
/// readings, as JSON.
pub fn key(analysis: &str, owner: Uuid, property: Uuid, params: &impl Serialize) -> Result<String, Error> {
    let question = serde_json::to_string(&(analysis, property, params)).map_err(Error::internal)?;
    Ok(format!("{owner} {question}"))
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

    /// Returns the answer to the question that `key` names. Reuses the cached answer if its origin is the same, otherwise renders
    /// that of `answer` on a blocking thread.
    pub async fn rendered<T: Serialize + 'static>(
        &self,
        key: String,
        made_of: MadeOf,
        answer: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Arc<RenderedAnswer<T>>, Error> {
        let now = self.clock.moment();
        let kept = self.cache.get_if(&key, now, |kept| {
            kept.downcast_ref::<RenderedAnswer<T>>().is_some_and(|rendered| rendered.made_of.is(&made_of))
        });
        if let Some(rendered) = kept.and_then(|kept| kept.downcast::<RenderedAnswer<T>>().ok()) {
            return Ok(rendered);
        }
        let written = beside(move || {
            let body = Bytes::from(serde_json::to_vec(&answer()).map_err(Error::internal)?);
            let digest = opaque_tag(&body);
            Ok::<_, Error>((body, digest))
        });
        let (body, digest) = written.await??;
        let rendered = Arc::new(RenderedAnswer { made_of, body, digest, of: PhantomData });
        self.cache.put(key, rendered.clone(), rendered.body.len(), now + LIFETIME);
        Ok(rendered)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use api::models::{Classification, FilterCondition, FilterDimension, FilterOperator, Filters, SearchType, Slice};

    use super::*;

    #[test]
    fn questions_that_differ_have_different_keys() {
        let all = Slice { classification: None, search_type: SearchType::Web, filters: None };
        let condition = |value: &str| FilterCondition {
            dimension: FilterDimension::Query,
            operator: FilterOperator::Contains,
            value: value.into(),
            logic: None,
        };
        let filtered = |filters: Vec<FilterCondition>| Slice { filters: Some(Filters(filters)), ..all.clone() };
        let classified = |classification| Slice { classification: Some(classification), ..all.clone() };
        let slices = [
            all.clone(),
            Slice { search_type: SearchType::Image, ..all.clone() },
            filtered(Vec::new()),
            filtered(vec![condition("a")]),
            filtered(vec![condition("b")]),
            filtered(vec![condition("a"), condition("b")]),
            classified(Classification::Branded),
            classified(Classification::NonBranded),
            classified(Classification::Segment(Uuid::nil())),
            classified(Classification::Segment(Uuid::max())),
            classified(Classification::TopicCluster(Uuid::nil())),
        ];
        let mut keys = HashSet::new();
        for (analysis, property) in [("growth", Uuid::nil()), ("growth", Uuid::max()), ("countries", Uuid::nil())] {
            keys.extend(slices.iter().map(|slice| key(analysis, Uuid::nil(), property, slice).unwrap()));
        }
        assert_eq!(keys.len(), 3 * slices.len());
    }
}
