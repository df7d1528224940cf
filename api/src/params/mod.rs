//! Query parameters as structs: read once at the edge, documented from the same fields.

mod echo;
pub(crate) mod idle;
mod metric_filters;
mod order;
mod paging;
mod text_field;
mod unknown;

use std::collections::BTreeMap;

use chrono::NaiveDate;
pub use macros::QueryParams;
use poem::{FromRequest, Request, RequestBody, Result};
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

pub use self::{
    echo::Echo,
    metric_filters::{Comparator, MetricFilter, MetricFilters, RowsThat},
    order::{Metric, Sort, SortBy},
    paging::Paging,
    text_field::{TextField, Written},
    unknown::{Ignored, judge, read},
};
use crate::{error::ApiError, models::parse_day};

/// A type that a query parameter can have.
pub trait ParamValue: Sized {
    /// JSON Schema of the type.
    fn schema() -> Value;
    /// Parses a value. The error describes the allowed values.
    fn parse(text: &str) -> Result<Self, String>;
    /// The value in the type of the schema. Where the schema has a `contentSchema`, the value is of that.
    fn to_value(&self) -> Value;
}

/// The place of a parameter in `meta.question`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InQuestion {
    /// It is always there, as given, as its default or as resolved.
    Always,
    /// It is there if it was given.
    IfGiven,
    /// It stands for other parameters, which are there instead.
    Never,
}

/// Documentation of one query parameter.
#[derive(Debug, Clone)]
pub struct ParameterDoc {
    /// The name on the wire.
    pub name: &'static str,
    /// Description.
    pub description: &'static str,
    /// An example, as text.
    pub example: &'static str,
    /// Default value, as text.
    pub default: Option<&'static str>,
    /// True if the parameter is required.
    pub required: bool,
    /// JSON Schema of its value.
    pub schema: fn() -> Value,
    /// Its place in `meta.question`, if the answer has one.
    pub in_question: InQuestion,
}

/// A struct that is read from the query string; derived by `#[derive(QueryParams)]`.
pub trait QueryParams: Sized {
    /// The name of the schema of `meta.question`, if the answer echoes these parameters there. Such an answer also lists the
    /// parameters that it ignored.
    const QUESTION: Option<&'static str> = None;
    /// Reads the struct. The error names the parameter and the allowed values.
    fn read(query: &QueryPairs) -> Result<Self, ApiError>;
    /// Lists the parameters.
    fn document(out: &mut Vec<ParameterDoc>);
    /// Lists the values in `meta.question`.
    fn echo(&self, out: &mut Vec<(&'static str, Value)>);
}

/// The query parameters of an operation.
#[derive(Debug, Clone)]
pub struct Params<T>(pub T);

/// Gives `#[api_trait]` the documentation of `Params<T>`.
pub trait Documented {
    /// The name of the schema of `meta.question`, if the answer has one.
    const QUESTION: Option<&'static str>;
    /// Lists the parameters.
    fn document(out: &mut Vec<ParameterDoc>);
}

impl<T: QueryParams> Documented for Params<T> {
    const QUESTION: Option<&'static str> = T::QUESTION;

    fn document(out: &mut Vec<ParameterDoc>) {
        T::document(out);
    }
}

impl<'a, T: QueryParams + Send> FromRequest<'a> for Params<T> {
    async fn from_request(request: &'a Request, _: &mut RequestBody) -> Result<Self> {
        let query = QueryPairs::of(request.uri().query().unwrap_or_default())?;
        let ignored = request.data::<Ignored>().cloned().unwrap_or_default();
        Ok(Self(T::read(&QueryPairs { ignored, ..query })?))
    }
}

/// The decoded query string. Names that no struct reads have been judged before ([`judge`]).
#[derive(Debug, Clone)]
pub struct QueryPairs {
    values: BTreeMap<String, Vec<String>>,
    ignored: Ignored,
}

impl QueryPairs {
    /// Decodes a query string.
    pub fn of(query: &str) -> Result<Self, ApiError> {
        let mut pairs = BTreeMap::<String, Vec<String>>::new();
        for part in query.split('&').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let name =
                decode(name).ok_or_else(|| ApiError::invalid("query string", "a name is not percent-encoded UTF-8"))?;
            let value = decode(value).ok_or_else(|| ApiError::invalid(&name, "must be percent-encoded UTF-8"))?;
            if value.contains('\0') {
                return Err(ApiError::invalid(&name, "must not contain the NUL character"));
            }
            pairs.entry(name).or_default().push(value);
        }
        Ok(Self { values: pairs, ignored: Ignored::default() })
    }

    /// Returns whether a parameter was sent without a value.
    fn is_empty(&self, name: &str) -> bool {
        matches!(self.text(name), Ok(None)) && self.values.contains_key(name)
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    /// Returns the value of a parameter. An empty one counts as not sent, since forms and generated clients send every parameter.
    fn text(&self, name: &str) -> Result<Option<&str>, ApiError> {
        match self.values.get(name).map(Vec::as_slice) {
            None => Ok(None),
            Some([one]) => Ok(Some(one.as_str()).filter(|value| !value.is_empty())),
            Some(_) => Err(ApiError::invalid(name, "given more than once; send it once")),
        }
    }

    /// Reads an optional parameter.
    pub fn optional<T: ParamValue>(&self, name: &str) -> Result<Option<T>, ApiError> {
        self.text(name)?.map(|text| T::parse(text).map_err(|allowed| ApiError::invalid(name, &allowed))).transpose()
    }

    /// Reads a parameter that is `default` when absent.
    pub fn or_default<T: ParamValue>(&self, name: &str, default: &str) -> Result<T, ApiError> {
        T::parse(self.text(name)?.unwrap_or(default)).map_err(|allowed| ApiError::invalid(name, &allowed))
    }

    /// Reads a required parameter.
    pub fn required<T: ParamValue>(&self, name: &str) -> Result<T, ApiError> {
        self.optional(name)?.ok_or_else(|| ApiError::invalid(name, "is required"))
    }
}

/// Decodes the names and values of a query, in their order. Returns `None` if one is not percent-encoded UTF-8.
#[must_use]
pub fn decoded(query: &str) -> Option<Vec<(String, String)>> {
    let parts = query.split('&').filter(|part| !part.is_empty()).map(|part| part.split_once('=').unwrap_or((part, "")));
    parts.map(|(name, value)| Some((decode(name)?, decode(value)?))).collect()
}

/// Decodes `application/x-www-form-urlencoded`. Returns `None` for invalid UTF-8 and broken escapes.
fn decode(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [bytes.next()?, bytes.next()?];
                let digits = std::str::from_utf8(&digits).ok().filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))?;
                u8::from_str_radix(digits, 16).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(out).ok()
}

/// A whole number from `MIN` to `MAX`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Whole<const MIN: u32, const MAX: u32>(pub u32);

impl<const MIN: u32, const MAX: u32> ParamValue for Whole<MIN, MAX> {
    fn schema() -> Value {
        json!({ "type": "integer", "format": "int32", "minimum": MIN, "maximum": MAX })
    }

    fn parse(text: &str) -> Result<Self, String> {
        // R writes 100000 as `1e+05`, and others `10` as `10.0`. JSON takes both for whole numbers.
        let whole = number(text).filter(|value| value.fract() == 0.0).and_then(|value| value.to_string().parse().ok());
        let value = whole.filter(|value| (MIN..=MAX).contains(value));
        value.map(Self).ok_or_else(|| format!("must be a whole number from {MIN} to {MAX}"))
    }

    fn to_value(&self) -> Value {
        json!(self.0)
    }
}

/// A number from `MIN` to `MAX`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Decimal<const MIN: u32, const MAX: u32>(pub f64);

impl<const MIN: u32, const MAX: u32> ParamValue for Decimal<MIN, MAX> {
    fn schema() -> Value {
        json!({ "type": "number", "format": "double", "minimum": MIN, "maximum": MAX })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let value = number(text).filter(|value| (f64::from(MIN)..=f64::from(MAX)).contains(value));
        value.map(Self).ok_or_else(|| format!("must be a number from {MIN} to {MAX}"))
    }

    fn to_value(&self) -> Value {
        json!(self.0)
    }
}

/// Reads a number that is not negative. An exponent is a JSON number, too, and clients write small and large numbers so.
fn number(text: &str) -> Option<f64> {
    let is_plain = text.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && text.bytes().all(|b| b.is_ascii_digit() || b".eE+-".contains(&b));
    text.parse().ok().filter(|_| is_plain)
}

impl ParamValue for bool {
    fn schema() -> Value {
        json!({ "type": "boolean" })
    }

    fn parse(text: &str) -> Result<Self, String> {
        // PHP writes `1` and `0`, Python `True` and `False`.
        match text {
            "1" => Ok(true),
            "0" => Ok(false),
            _ if text.eq_ignore_ascii_case("true") => Ok(true),
            _ if text.eq_ignore_ascii_case("false") => Ok(false),
            _ => Err("must be true or false".to_owned()),
        }
    }

    fn to_value(&self) -> Value {
        json!(self)
    }
}

/// The ways in which languages write UTC behind a time. A `+` in an address that was not percent-encoded is a space.
const UTC: [&str; 7] = ["Z", "z", "+00:00", " 00:00", "-00:00", "+0000", "+00"];

/// Returns whether a time is midnight in UTC, or without a zone. Java leaves out seconds that are zero.
fn is_midnight(time: &str) -> bool {
    let time = UTC.iter().find_map(|zone| time.strip_suffix(zone)).unwrap_or(time);
    let is_zero = |fraction: &str| fraction.bytes().all(|digit| digit == b'0');
    time.strip_prefix("00:00").is_some_and(|seconds| {
        let fraction = seconds.strip_prefix(":00");
        seconds.is_empty()
            || fraction.is_some_and(|rest| rest.is_empty() || rest.strip_prefix('.').is_some_and(is_zero))
    })
}

impl ParamValue for NaiveDate {
    fn schema() -> Value {
        json!({ "type": "string", "format": "date" })
    }

    fn parse(text: &str) -> Result<Self, String> {
        // Generated clients send a `Date` as its instant, and Python writes a space before the time. Another time than midnight may be of
        // another day where the caller is.
        parse_day(text.split_once(['T', 't', ' ']).filter(|(_, time)| is_midnight(time)).map_or(text, |(day, _)| day))
    }

    fn to_value(&self) -> Value {
        json!(self)
    }
}

impl ParamValue for Uuid {
    fn schema() -> Value {
        json!({ "type": "string", "format": "uuid" })
    }

    fn parse(text: &str) -> Result<Self, String> {
        Uuid::try_parse(text).map_err(|_| "must be a UUID".to_owned())
    }

    fn to_value(&self) -> Value {
        json!(self)
    }
}

/// Text of 1 to `MAX` characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text<const MAX: usize>(pub String);

impl<const MAX: usize> ParamValue for Text<MAX> {
    fn schema() -> Value {
        json!({ "type": "string", "minLength": 1, "maxLength": MAX })
    }

    fn parse(text: &str) -> Result<Self, String> {
        match text.chars().count() {
            n if (1..=MAX).contains(&n) => Ok(Self(text.to_owned())),
            _ => Err(format!("must be 1 to {MAX} characters long")),
        }
    }

    fn to_value(&self) -> Value {
        json!(self.0)
    }
}

/// Implements `ParamValue` for a poem-openapi `Enum`.
#[macro_export]
macro_rules! enum_param {
    ($name:ty) => {
        impl $crate::params::ParamValue for $name {
            fn schema() -> serde_json::Value {
                $crate::params::enum_schema::<$name>()
            }

            fn parse(text: &str) -> Result<Self, String> {
                use poem_openapi::types::ParseFromParameter as _;
                <$name>::parse_from_parameter(text).map_err(|_| $crate::params::enum_allowed::<$name>())
            }

            fn to_value(&self) -> serde_json::Value {
                use poem_openapi::types::ToJSON as _;
                self.to_json().unwrap_or_default()
            }
        }
    };
}

fn enum_values<T: poem_openapi::types::Type>() -> Vec<Value> {
    let mut registry = poem_openapi::registry::Registry::new();
    T::register(&mut registry);
    registry.schemas.get(T::name().as_ref()).map(|schema| schema.enum_items.clone()).unwrap_or_default()
}

/// JSON Schema of a string enum.
#[must_use]
pub fn enum_schema<T: poem_openapi::types::Type>() -> Value {
    json!({ "type": "string", "enum": enum_values::<T>() })
}

/// Describes the allowed values of a string enum.
#[must_use]
pub fn enum_allowed<T: poem_openapi::types::Type>() -> String {
    let values: Vec<String> = enum_values::<T>().iter().filter_map(|v| v.as_str().map(str::to_owned)).collect();
    format!("must be one of {}", values.join(", "))
}
