//! Request bodies: JSON of a documented shape. Errors name the field.
//!
//! A body is validated against the schema that poem-openapi derives from its type, and only then parsed. The document
//! publishes the same schema.

use std::sync::{Arc, Mutex, PoisonError};

use common::{plain_text::shortened, strict_json};
use poem::{
    Request, RequestBody, Result,
    http::{HeaderMap, header},
};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaMediaType, MetaRequest, Registry},
    types::ParseFromJSON,
};
use serde_json::Value;

use crate::{
    error::{ApiError, Code},
    shape,
};

/// 2 to the power of 53: below it, a whole float stands for exactly one integer.
const EXACT: f64 = 9_007_199_254_740_992.0;

const CONTENT_TYPE: &str = "application/json";

/// A JSON body of shape `T`.
#[derive(Debug, Clone, PartialEq)]
pub struct Body<T>(pub T);

/// The JSON value of a body, parsed by a layer in front of the router and stored as request data. It can be taken once.
#[derive(Debug, Clone)]
pub struct ParsedBody(Arc<Mutex<Option<Value>>>);

impl ParsedBody {
    /// Stores `value` until the operation takes it.
    #[must_use]
    pub fn new(value: Value) -> Self {
        Self(Arc::new(Mutex::new(Some(value))))
    }

    fn take(&self) -> Option<Value> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl<T: ParseFromJSON + 'static> Body<T> {
    /// Parses `bytes` sent with `headers`. Fails with 415 for another content type, and with 400 for a body that does not fit.
    pub fn read(headers: &HeaderMap, bytes: &[u8]) -> Result<Self, ApiError> {
        check_content_type(headers)?;
        if bytes.is_empty() {
            return Err(ApiError::invalid("body", "is required; send a JSON object"));
        }
        let value = strict_json::parse(bytes).map_err(shape::refusal)?;
        Self::of(value)
    }

    /// Validates and parses a JSON value. Fails with 400 and a hint that names the field.
    pub fn of(value: Value) -> Result<Self, ApiError> {
        let value = whole(value);
        shape::check::<T>(&value)?;
        T::parse_from_json(Some(value)).map(Self).map_err(|e| ApiError::invalid("body", &e.into_message()))
    }
}

/// Checks the body of an operation that takes none. It may be an object without fields, or null, which some clients send.
///
/// # Errors
/// 400 for anything else. The hint names the field.
pub fn check_empty(bytes: &[u8]) -> Result<(), ApiError> {
    if bytes.trim_ascii().is_empty() {
        return Ok(());
    }
    let name = match strict_json::parse(bytes) {
        Ok(Value::Null) => return Ok(()),
        Ok(Value::Object(fields)) => match fields.into_iter().next() {
            Some((name, _)) => name,
            None => return Ok(()),
        },
        Err((twice, _)) if !twice.is_empty() => twice,
        _ => {
            return Err(ApiError::invalid("body", "this operation takes none; send none, or an object without fields"));
        }
    };
    Err(ApiError::invalid(&shortened(&name), "is not a field here; this operation takes no body, so send none"))
}

/// Converts floats without a fraction to integers, which `1.0` and `1e3` are as well (JSON Schema 2020-12).
fn whole(value: Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            #[expect(clippy::cast_possible_truncation, reason = "within range, and without a fraction")]
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < EXACT => Value::from(float as i64),
            _ => Value::Number(number),
        },
        Value::Array(items) => Value::Array(items.into_iter().map(whole).collect()),
        Value::Object(fields) => Value::Object(fields.into_iter().map(|(name, value)| (name, whole(value))).collect()),
        other => other,
    }
}

/// Fails with 415 unless the content type is JSON, and with 400 if there are two: readers disagree on which counts.
pub fn check_content_type(headers: &HeaderMap) -> Result<(), ApiError> {
    let mut lines = headers.get_all(header::CONTENT_TYPE).iter();
    let line = lines.next().map_or(Some(""), |line| line.to_str().ok());
    if lines.next().is_some() {
        return Err(ApiError::invalid("Content-Type", "was sent twice; send one"));
    }
    match line.map(|text| text.split(';').next().unwrap_or_default().trim()) {
        Some(text) if text.eq_ignore_ascii_case(CONTENT_TYPE) => Ok(()),
        Some("") => Err(unsupported(&format!("is missing; send {CONTENT_TYPE}"))),
        Some(text) => Err(unsupported(&format!("is {text}; send {CONTENT_TYPE}"))),
        None => Err(unsupported(&format!("is no text; send {CONTENT_TYPE}"))),
    }
}

fn unsupported(what: &str) -> ApiError {
    ApiError::new(Code::UnsupportedMediaType).hint(format!("Content-Type: {what}"))
}

impl<'a, T: ParseFromJSON + 'static> ApiExtractor<'a> for Body<T> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::RequestObject];

    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        T::register(registry);
    }

    fn request_meta() -> Option<MetaRequest> {
        let content = vec![MetaMediaType { content_type: CONTENT_TYPE, schema: T::schema_ref() }];
        Some(MetaRequest { description: None, content, required: true })
    }

    async fn from_request(
        request: &'a Request,
        body: &mut RequestBody,
        _: ExtractParamOptions<Self::ParamType>,
    ) -> Result<Self> {
        if let Some(value) = request.data::<ParsedBody>().and_then(ParsedBody::take) {
            return Ok(Self::of(value)?);
        }
        let bytes = body.take()?.into_bytes().await?;
        Ok(Self::read(request.headers(), &bytes)?)
    }
}
