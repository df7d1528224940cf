//! The question as it was understood, for `meta.question`.

use std::{borrow::Cow, marker::PhantomData};

use poem_openapi::{
    registry::{MetaSchema, MetaSchemaRef, Registry},
    types::{ParseError, ParseFromJSON, ParseResult, ToJSON, Type},
};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::QueryParams;

/// The parameters `T` of a question by name, defaults included. A pass over the document writes its schema from the
/// documentation of the parameters.
#[derive(Debug)]
pub struct Echo<T> {
    values: Map<String, Value>,
    of: PhantomData<fn() -> T>,
}

impl<T: QueryParams> Echo<T> {
    /// Takes the values of `params`.
    #[must_use]
    pub fn of(params: &T) -> Self {
        let mut values = Vec::new();
        params.echo(&mut values);
        Self::from_values(values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }
}

impl<T> Echo<T> {
    fn from_values(values: Map<String, Value>) -> Self {
        Self { values, of: PhantomData }
    }
}

impl<T> Clone for Echo<T> {
    fn clone(&self) -> Self {
        Self::from_values(self.values.clone())
    }
}

impl<T> PartialEq for Echo<T> {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values
    }
}

impl<T> Serialize for Echo<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.values.serialize(serializer)
    }
}

impl<T: QueryParams> Type for Echo<T> {
    const IS_REQUIRED: bool = true;

    type RawValueType = Self;
    type RawElementValueType = Self;

    fn name() -> Cow<'static, str> {
        T::QUESTION.unwrap_or_default().into()
    }

    fn schema_ref() -> MetaSchemaRef {
        MetaSchemaRef::Reference(Self::name().into_owned())
    }

    fn register(registry: &mut Registry) {
        registry.create_schema::<Self, _>(Self::name().into_owned(), |_| MetaSchema::new("object"));
    }

    fn as_raw_value(&self) -> Option<&Self::RawValueType> {
        Some(self)
    }

    fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a Self::RawElementValueType> + 'a> {
        Box::new(std::iter::once(self))
    }
}

impl<T: QueryParams> ParseFromJSON for Echo<T> {
    fn parse_from_json(value: Option<Value>) -> ParseResult<Self> {
        match value {
            Some(Value::Object(values)) => Ok(Self::from_values(values)),
            other => Err(ParseError::expected_type(other.unwrap_or_default())),
        }
    }
}

impl<T: QueryParams> ToJSON for Echo<T> {
    fn to_json(&self) -> Option<Value> {
        Some(Value::Object(self.values.clone()))
    }
}
