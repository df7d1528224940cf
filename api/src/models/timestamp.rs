//! A point in time as the API writes it.

use std::borrow::Cow;

use chrono::{DateTime, SecondsFormat, Utc};
use poem_openapi::{
    registry::{MetaSchema, MetaSchemaRef},
    types::{ParseError, ParseFromJSON, ParseResult, ToJSON, Type},
};
use serde::{Serialize, Serializer};
use serde_json::Value;

/// A point in time. Every answer spells it alike: RFC 3339 in UTC with `Z` and milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(DateTime<Utc>);

impl From<DateTime<Utc>> for Timestamp {
    fn from(at: DateTime<Utc>) -> Self {
        Self(at)
    }
}

impl From<Timestamp> for DateTime<Utc> {
    fn from(Timestamp(at): Timestamp) -> Self {
        at
    }
}

impl Timestamp {
    fn text(self) -> String {
        self.0.to_rfc3339_opts(SecondsFormat::Millis, true)
    }
}

impl Type for Timestamp {
    const IS_REQUIRED: bool = true;

    type RawElementValueType = Self;
    type RawValueType = Self;

    fn name() -> Cow<'static, str> {
        "string_date-time".into()
    }

    fn schema_ref() -> MetaSchemaRef {
        MetaSchemaRef::Inline(Box::new(MetaSchema::new_with_format("string", "date-time")))
    }

    fn as_raw_value(&self) -> Option<&Self> {
        Some(self)
    }

    fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a Self> + 'a> {
        Box::new(self.as_raw_value().into_iter())
    }
}

impl ToJSON for Timestamp {
    fn to_json(&self) -> Option<Value> {
        Some(self.text().into())
    }
}

impl ParseFromJSON for Timestamp {
    fn parse_from_json(value: Option<Value>) -> ParseResult<Self> {
        DateTime::parse_from_json(value).map(Self).map_err(ParseError::propagate)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_in_time_is_spelled_alike() {
        for (given, spelled) in [
            ("2026-11-21T12:00:00+00:00", "2026-11-21T12:00:00.000Z"),
            ("2026-11-21T12:00:00.5Z", "2026-11-21T12:00:00.500Z"),
            ("2026-11-21T12:00:00.123456789Z", "2026-11-21T12:00:00.123Z"),
            ("2026-11-21T13:00:00+01:00", "2026-11-21T12:00:00.000Z"),
        ] {
            let at = Timestamp::parse_from_json(Some(given.into())).unwrap();
            assert_eq!(at.to_json(), Some(spelled.into()), "{given}");
            assert_eq!(serde_json::to_value(at).unwrap(), spelled, "{given}");
        }
    }
}
