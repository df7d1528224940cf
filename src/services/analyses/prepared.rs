//! Answers whose readings are made, before they are computed.

use std::{any::type_name, sync::Weak};

use api::models::Question;
use search_engine::{LastFinal, Reading};
use serde::Serialize;
use uuid::Uuid;

use super::Asked;
use crate::{error::Error, services::access::ReadableProperty};

/// An answer whose readings are made. Computing it takes time and reads nothing more.
pub struct Prepared<T> {
    /// Everything that the answer depends on besides its readings, as text.
    pub(super) key: String,
    /// The origin of the answer.
    pub(super) made_of: MadeOf,
    pub(super) compute: Box<dyn FnOnce() -> T + Send>,
}

impl Asked {
    /// The question as it was understood.
    pub(super) fn question(&self) -> Question {
        self.settled.question.clone()
    }

    /// Prepares the answer that `answer` computes from `params`, as they were understood, and from `readings`.
    pub(super) fn answer<P, T>(
        self,
        access: &ReadableProperty,
        params: P,
        readings: Vec<Weak<Reading>>,
        answer: impl FnOnce(&Self, &P) -> T + Send + 'static,
    ) -> Result<Prepared<T>, Error>
    where
        P: Serialize + Send + 'static,
    {
        let key = self.settled.key(type_name::<T>(), access, &params)?;
        let made_of = MadeOf { readings, freshness: self.freshness };
        Ok(Prepared { key, made_of, compute: Box::new(move || answer(&self, &params)) })
    }
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
    /// Returns whether another answer has the same origin.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.freshness == other.freshness
            && self.readings.len() == other.readings.len()
            && self.readings.iter().zip(&other.readings).all(|(own, other)| own.ptr_eq(other))
    }
}

/// Returns the cache key of an answer: the owner of the property, who holds its bytes, and everything that it depends on besides its
/// readings, as JSON.
pub fn key(analysis: &str, owner: Uuid, property: Uuid, params: &impl Serialize) -> Result<String, Error> {
    let question = serde_json::to_string(&(analysis, property, params)).map_err(Error::internal)?;
    Ok(format!("{owner} {question}"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use api::models::{Classification, Dimension, FilterCondition, FilterOperator, Filters, SearchType, Slice};

    use super::*;

    #[test]
    fn questions_that_differ_have_different_keys() {
        let all = Slice { classification: None, search_type: SearchType::Web, filters: None };
        let condition = |value: &str| FilterCondition {
            dimension: Dimension::Query,
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
