//! Values of query parameters as fields of bodies, in the same text.

use std::borrow::Cow;

use poem_openapi::{
    registry::{MetaSchema, MetaSchemaRef},
    types::{ParseError, ParseFromJSON, ParseResult, ToJSON, Type},
};
use serde_json::Value;

use super::{MetricFilters, ParamValue, Sort};

/// A parameter whose text a body can hold.
pub trait Written: ParamValue + Send + Sync {
    /// The format of the text in a schema, by which a body is checked.
    const FORMAT: &'static str;
}

impl Written for Sort {
    const FORMAT: &'static str = "sort";
}

impl Written for MetricFilters {
    const FORMAT: &'static str = "metric-filters";
}

/// A parameter's value as a field of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextField<T>(pub T);

impl<T: Written> Type for TextField<T> {
    const IS_REQUIRED: bool = true;

    type RawValueType = Self;
    type RawElementValueType = Self;

    fn name() -> Cow<'static, str> {
        format!("string_{}", T::FORMAT).into()
    }

    fn schema_ref() -> MetaSchemaRef {
        let schema = T::schema();
        MetaSchemaRef::Inline(Box::new(MetaSchema {
            max_length: schema["maxLength"].as_u64().and_then(|most| usize::try_from(most).ok()),
            pattern: schema["pattern"].as_str().map(str::to_owned),
            ..MetaSchema::new_with_format("string", T::FORMAT)
        }))
    }

    fn as_raw_value(&self) -> Option<&Self> {
        Some(self)
    }

    fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a Self> + 'a> {
        Box::new(std::iter::once(self))
    }
}

impl<T: Written> ParseFromJSON for TextField<T> {
    fn parse_from_json(value: Option<Value>) -> ParseResult<Self> {
        let text = String::parse_from_json(value).map_err(ParseError::propagate)?;
        T::parse(&text).map(Self).map_err(ParseError::custom)
    }
}

impl<T: Written> ToJSON for TextField<T> {
    fn to_json(&self) -> Option<Value> {
        Some(self.0.to_value())
    }
}
