//! Resources: what an assistant may keep in its context beside the answers of tools.
//!
//! Those about a person come from operations of the API, as tools do, so they obey the same rights and are cleaned in the same way.

use api::{
    error::{ApiError, Code},
    scope::Scope,
};
use percent_encoding::percent_decode_str;
use poem::http::request::Parts;
use rmcp::{
    ErrorData,
    model::{CacheScope, ReadResourceResult, Resource, ResourceContents, ResourceTemplate},
};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{
    arguments::Call,
    catalogue::operation_called,
    clean::{ADVICE, clean, clean_text},
    properties::Properties,
    refusal::cleaned,
    round::round,
};
use crate::operations::Operations;

const GUIDE: &str = "sightline://guide";
const PROPERTIES: &str = "sightline://properties";
/// The template of the definitions of one property. In an address the property is percent-encoded.
pub const DEFINITIONS: &str = "sightline://properties/{property}/definitions";

const MARKDOWN: &str = "text/markdown";
const JSON: &str = "application/json";

/// The most records of a list. Tools show more.
const MOST_RECORDS: usize = 100;
/// The time for which clients may keep what is the same for everyone, in milliseconds. It changes with the service's version only.
pub const LASTING: u64 = 60 * 60 * 1000;
/// The time for which clients may keep what belongs to a person, in milliseconds.
const BRIEF: u64 = 60 * 1000;

/// The lists of a property's definitions: the field, and the operation.
const LISTS: [(&str, &str); 3] = [
    ("segments", "listPropertySegments"),
    ("topicClusters", "listPropertyTopicClusters"),
    ("brandedKeywords", "listPropertyBrandedKeywords"),
];

/// A resource, read from its address.
#[derive(Debug, PartialEq, Eq)]
enum Named {
    Guide,
    Properties,
    /// The definitions of the property that the text names.
    Definitions(String),
}

impl Named {
    fn parse(uri: &str) -> Option<Self> {
        match uri {
            GUIDE => return Some(Self::Guide),
            PROPERTIES => return Some(Self::Properties),
            _ => {}
        }
        let (before, after) = DEFINITIONS.split_once("{property}")?;
        let property = uri.strip_prefix(before)?.strip_suffix(after)?;
        let property = percent_decode_str(property).decode_utf8().ok()?;
        (!property.trim().is_empty()).then(|| Self::Definitions(property.into_owned()))
    }
}

/// The resources with an address of their own.
#[must_use]
pub fn all() -> Vec<Resource> {
    vec![
        Resource::new(GUIDE, "guide")
            .with_title("What the data says and does not say")
            .with_description("The limits of search data: lag, anonymised queries, caps, averages. Short; read it before the first analysis.")
            .with_mime_type(MARKDOWN),
        Resource::new(PROPERTIES, "properties")
            .with_title("Properties")
            .with_description("The websites that the person can see, with headline figures, as list_properties gives them.")
            .with_mime_type(JSON),
    ]
}

/// The resources of which each property has one.
#[must_use]
pub fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(DEFINITIONS, "definitions")
            .with_title("Definitions of a property")
            .with_description(
                "The segments of pages, topic clusters of queries and branded keywords of one property, with the classification that \
                 other tools take. The property is its id, domain or percent-encoded site URL.",
            )
            .with_mime_type(JSON),
    ]
}

/// Returns the scope that reading the resource at `uri` needs, if any.
#[must_use]
pub fn needed(uri: &str) -> Option<Scope> {
    Named::parse(uri).filter(|named| *named != Named::Guide).map(|_| Scope::SearchRead)
}

/// Reads the resource at `uri` for the caller of `outer`.
///
/// # Errors
/// "Resource not found", also for a property that the caller cannot see, and the refusals of the operations.
pub async fn read(
    operations: &Operations,
    properties: &Properties,
    uri: &str,
    outer: &Parts,
) -> Result<ReadResourceResult, ErrorData> {
    let found = match Named::parse(uri) {
        None => return Err(missing(uri)),
        Some(Named::Guide) => {
            let contents = ResourceContents::text(include_str!("guide.md"), uri).with_mime_type(MARKDOWN);
            let guide = ReadResourceResult::new(vec![contents]);
            return Ok(guide.with_ttl_ms(LASTING).with_cache_scope(CacheScope::Public));
        }
        Some(Named::Properties) => list(operations, "listProperties", None, outer).await.map(properties_of),
        Some(Named::Definitions(text)) => match properties.find(&text, outer).await {
            Ok(property) => definitions(operations, property, outer).await,
            Err(refusal) => Err(refusal),
        },
    };
    let text = found.map_err(|refusal| refused(&refusal, uri))?.to_string();
    let contents = ResourceContents::text(text, uri).with_mime_type(JSON);
    Ok(ReadResourceResult::new(vec![contents]).with_ttl_ms(BRIEF).with_cache_scope(CacheScope::Private))
}

/// Returns the cleaned records that an operation lists.
async fn list(
    operations: &Operations,
    operation: &str,
    property: Option<Uuid>,
    outer: &Parts,
) -> Result<Vec<Value>, ApiError> {
    let operation = operation_called(operation).ok_or_else(|| ApiError::new(Code::Internal))?;
    let mut answer = operations.call(outer, operation, property, Call::default()).await?;
    let mut data = answer["data"].take();
    clean(&mut data);
    round(&mut data);
    match data {
        Value::Array(records) => Ok(records),
        _ => Err(ApiError::new(Code::Internal)),
    }
}

fn properties_of(mut records: Vec<Value>) -> Value {
    let left_out: Vec<String> = cut(&mut records, "properties", "list_properties").into_iter().collect();
    json!({ "notice": ADVICE, "properties": records, "leftOut": left_out })
}

async fn definitions(operations: &Operations, property: Uuid, outer: &Parts) -> Result<Value, ApiError> {
    let lists = LISTS.map(|(_, operation)| list(operations, operation, Some(property), outer));
    let lists = futures_util::future::try_join_all(lists).await?;
    let (mut fields, mut left_out) = (Map::new(), Vec::new());
    for ((field, _), mut records) in LISTS.into_iter().zip(lists) {
        left_out.extend(cut(&mut records, field, "list_records"));
        fields.insert(field.to_owned(), Value::Array(records));
    }
    fields.insert("notice".to_owned(), json!(ADVICE));
    fields.insert("property".to_owned(), json!(property));
    fields.insert(
        "classification".to_owned(),
        json!("segment:<id> for a segment, topicCluster:<id> for a topic cluster, branded, nonBranded"),
    );
    fields.insert("leftOut".to_owned(), json!(left_out));
    Ok(Value::Object(fields))
}

/// Cuts a list to the most records, and says so.
fn cut(records: &mut Vec<Value>, name: &str, tool: &str) -> Option<String> {
    let all = records.len();
    records.truncate(MOST_RECORDS);
    (all > MOST_RECORDS).then(|| format!("{name}: {MOST_RECORDS} of {all} shown; {tool} shows more"))
}

/// Returns the protocol's error for a resource that does not exist.
fn missing(uri: &str) -> ErrorData {
    let advice =
        "uri: no such resource; see resources/list and resources/templates/list, and list_properties for properties";
    ErrorData::resource_not_found(advice, Some(json!({ "uri": clean_text(uri) })))
}

/// Returns the protocol's error for a refusal of an operation: the resource is missing, the request cannot be answered as it is, or
/// the service cannot answer now.
fn refused(refusal: &ApiError, uri: &str) -> ErrorData {
    let status = refusal.code.status().as_u16();
    if status == 404 {
        return missing(uri);
    }
    let body = cleaned(refusal);
    let message = format!("{}: {}", refusal.code.as_str(), body.hint.as_deref().unwrap_or(&body.error));
    let data = json!({
        "uri": clean_text(uri), "code": refusal.code.as_str(), "status": status, "hint": body.hint,
        "correlationId": body.correlation_id, "retryAfter": refusal.retry_after,
    });
    if status < 500 {
        ErrorData::invalid_params(message, Some(data))
    } else {
        ErrorData::internal_error(message, Some(data))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_name_resources() {
        let definitions = |property: &str| Some(Named::Definitions(property.to_owned()));
        for (uri, named) in [
            ("sightline://guide", Some(Named::Guide)),
            ("sightline://properties", Some(Named::Properties)),
            ("sightline://properties/a.test/definitions", definitions("a.test")),
            ("sightline://properties/sc-domain%3Aa.test/definitions", definitions("sc-domain:a.test")),
            ("sightline://properties/https%3A%2F%2Fa.test%2F/definitions", definitions("https://a.test/")),
            ("sightline://properties/https://a.test//definitions", definitions("https://a.test/")),
            ("sightline://properties//definitions", None),
            ("sightline://properties/definitions", None),
            ("sightline://properties/%ff/definitions", None),
            ("sightline://properties/", None),
            ("sightline://Guide", None),
            ("https://example.org/", None),
            ("", None),
        ] {
            assert_eq!(Named::parse(uri), named, "{uri}");
        }
    }

    #[test]
    fn long_lists_are_cut_and_say_so() {
        let records: Vec<Value> = (0..=MOST_RECORDS).map(|number| json!({ "id": number })).collect();
        let shown = properties_of(records.clone());
        assert_eq!(shown["properties"].as_array().unwrap(), &records[..MOST_RECORDS]);
        assert_eq!(shown["leftOut"], json!(["properties: 100 of 101 shown; list_properties shows more"]));
        assert_eq!(properties_of(records[1..].to_vec())["leftOut"], json!([]));
    }

    #[test]
    fn refusals_keep_their_meaning() {
        for (refusal, code, word) in [
            (ApiError::new(Code::NotFound), -32002, "no such resource"),
            (ApiError::new(Code::SubscriptionRequired).hint("Subscribe."), -32602, "Subscribe."),
            (ApiError::new(Code::SearchEngineUnavailable).retry_after(7), -32603, "search_engine_unavailable"),
        ] {
            let error = refused(&refusal, "sightline://properties");
            assert!(error.code.0 == code && error.message.contains(word), "{error:?}");
            assert_eq!(error.data.unwrap()["uri"], "sightline://properties");
        }
    }
}
