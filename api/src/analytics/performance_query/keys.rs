//! The keys of a row.

use std::borrow::Cow;

use poem_openapi::{
    registry::{MetaSchema, MetaSchemaRef, Registry},
    types::{ParseError, ParseFromJSON, ParseResult, ToJSON, Type},
};
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::RowDimension;

/// The value of each dimension of a row, in the order of the question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowKeys(pub Vec<(RowDimension, String)>);

impl RowDimension {
    fn value_schema(self) -> MetaSchemaRef {
        let format = matches!(self, Self::Date).then_some("date");
        let description = match self {
            Self::Date => "The day, if it is a dimension.",
            Self::Query => "The query, if it is a dimension.",
            Self::Page => "The page's URL, if it is a dimension.",
            Self::Country => "The country, lower-case ISO 3166-1 alpha-3, if it is a dimension.",
            Self::Device => "The device, if it is a dimension.",
            Self::SearchAppearance => "The search appearance, if it is the dimension.",
        };
        let schema = MetaSchema { format, description: Some(description), ..MetaSchema::new("string") };
        MetaSchemaRef::Inline(Box::new(schema))
    }
}

impl Serialize for RowKeys {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(dimension, value)| (dimension.name(), value)))
    }
}

impl Type for RowKeys {
    const IS_REQUIRED: bool = true;

    type RawValueType = Self;
    type RawElementValueType = Self;

    fn name() -> Cow<'static, str> {
        "RowKeys".into()
    }

    fn schema_ref() -> MetaSchemaRef {
        MetaSchemaRef::Reference(Self::name().into_owned())
    }

    fn register(registry: &mut Registry) {
        registry.create_schema::<Self, _>(Self::name().into_owned(), |_| MetaSchema {
            description: Some("The value of each dimension of a row, in the order of the question."),
            properties: RowDimension::ALL.map(|dimension| (dimension.name(), dimension.value_schema())).to_vec(),
            ..MetaSchema::new("object")
        });
    }

    fn as_raw_value(&self) -> Option<&Self> {
        Some(self)
    }

    fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a Self> + 'a> {
        Box::new(std::iter::once(self))
    }
}

impl ToJSON for RowKeys {
    fn to_json(&self) -> Option<Value> {
        serde_json::to_value(self).ok()
    }
}

impl ParseFromJSON for RowKeys {
    fn parse_from_json(value: Option<Value>) -> ParseResult<Self> {
        let Some(Value::Object(fields)) = value else {
            return Err(ParseError::expected_type(value.unwrap_or_default()));
        };
        let mut keys = Vec::new();
        for (name, value) in fields {
            let dimension = RowDimension::ALL.into_iter().find(|dimension| dimension.name() == name);
            let dimension = dimension.ok_or_else(|| ParseError::custom(format!("{name} is no dimension")))?;
            keys.push((dimension, String::parse_from_json(Some(value)).map_err(ParseError::propagate)?));
        }
        Ok(Self(keys))
    }
}
