//! The headers that tell of the end of an operation: `Deprecation` (RFC 9745), and links to the changelog and to the operation to use instead.

use api::operation::{self, Operation};
use chrono::{NaiveDate, NaiveTime};
use common::base_url::BaseUrl;
use poem::http::{HeaderMap, HeaderName, HeaderValue, header};

use crate::web::changelog;

const DEPRECATION: HeaderName = HeaderName::from_static("deprecation");

/// Adds the headers to an answer of `operation`, which was asked at `path`, if another operation replaces it. A version that ends has
/// set `Deprecation` itself. A refusal names no successor: one for a record that cannot be seen must not repeat its id.
pub fn tell(operation: &Operation, path: &str, is_refused: bool, base_url: &BaseUrl, headers: &mut HeaderMap) {
    let Some(deprecated) = operation.deprecated else { return };
    if let Some(date) = date(deprecated.since) {
        headers.entry(DEPRECATION).or_insert(date);
    }
    let mut successors = operation::all().iter().filter(|other| other.id == deprecated.successor);
    let successor = successors.next().filter(|_| !is_refused);
    let links = [
        Some(format!(
            "<{base_url}{}#{}>; rel=\"deprecation\"; type=\"text/html\"",
            changelog::PATH,
            changelog::DEPRECATED
        )),
        successor.map(|next| format!("<{base_url}{}>; rel=\"successor-version\"", filled(next, operation, path))),
    ];
    for link in links.into_iter().flatten().filter_map(|link| HeaderValue::try_from(link).ok()) {
        headers.append(header::LINK, link);
    }
}

/// The path of `successor` with the values that `path` gives to the names in the path of `operation`.
fn filled(successor: &Operation, operation: &Operation, path: &str) -> String {
    let value = |segment: &'static str| {
        let name = segment.strip_prefix('{').and_then(|segment| segment.strip_suffix('}'));
        name.and_then(|name| operation.value(name, path)).map_or_else(|| segment.to_owned(), str::to_owned)
    };
    successor.path.split('/').map(value).collect::<Vec<_>>().join("/")
}

/// A day as RFC 9745 writes it: `@` and the Unix seconds of its midnight.
fn date(day: &str) -> Option<HeaderValue> {
    let midnight = day.parse::<NaiveDate>().ok()?.and_time(NaiveTime::MIN).and_utc();
    HeaderValue::try_from(format!("@{}", midnight.timestamp())).ok()
}

#[cfg(test)]
mod tests {
    use poem::http::Method;

    use super::*;

    #[test]
    fn a_deprecated_operation_names_its_end_and_its_successor() {
        let path = "/api/properties/01a/query-count";
        let mut headers = HeaderMap::new();
        tell(
            operation::find(&Method::GET, path).unwrap(),
            path,
            false,
            &"https://s.example".parse().unwrap(),
            &mut headers,
        );
        assert_eq!(headers["deprecation"], "@1789344000");
        let links: Vec<&str> = headers.get_all(header::LINK).iter().map(|link| link.to_str().unwrap()).collect();
        assert_eq!(
            links,
            [
                "<https://s.example/changelog#deprecated>; rel=\"deprecation\"; type=\"text/html\"",
                "<https://s.example/api/properties/01a/query-insights>; rel=\"successor-version\"",
            ]
        );
    }

    #[test]
    fn only_deprecated_operations_announce_a_successor() {
        for operation in operation::all() {
            let mut headers = HeaderMap::new();
            tell(operation, operation.path, false, &"https://s.example".parse().unwrap(), &mut headers);
            assert_eq!(headers.is_empty(), operation.deprecated.is_none(), "{}", operation.id);
            let successor = operation.deprecated.map(|deprecated| deprecated.successor);
            let is_lasting = |id| operation::all().iter().any(|next| next.id == id && next.deprecated.is_none());
            assert!(successor.is_none_or(is_lasting), "{}", operation.id);
        }
    }
}
