//! Brings requests of clients of an older version into the newest shape.

use std::sync::Arc;

use api::{operation::Operation, params};
use common::entity_tags::elements;
use poem::{
    Request,
    http::{HeaderMap, HeaderName, HeaderValue, Uri, header},
};
use serde_json::Value;

use super::Served;

/// The older version that the client of a request has pinned, as request data.
#[derive(Debug, Clone)]
pub struct Pin {
    /// The versions that are served.
    pub(super) served: Arc<Served>,
    /// The index of the client's version.
    pub(super) at: usize,
}

impl Pin {
    /// Returns whether `operation` takes another body in the client's version.
    #[must_use]
    pub fn changes_body(&self, operation: &Operation) -> bool {
        self.served.versions.changes_requests(self.at, operation.id)
    }

    /// Brings a body into the newest shape, and shows `step` the body after each change.
    pub fn upgrade(&self, operation: &Operation, body: &mut Value, step: impl FnMut(&Value)) {
        self.served.versions.upgrade(self.at, operation.id, body, step);
    }

    /// The end of the tags of answers that were rewritten for this version. The service's own tags contain no dot.
    pub(super) fn suffix(&self) -> String {
        self.served.versions.all().get(self.at).map_or_else(String::new, |version| format!(".{}", version.date))
    }

    /// Returns whether answers of `operation` are rewritten for this version.
    pub(super) fn changes_answer(&self, operation: &Operation) -> bool {
        let newest = self.served.versions.all().len() - 1;
        !self.served.versions.response_edits(newest, self.at, operation.id).is_empty()
    }

    /// Rewrites the query and the tags of a conditional request.
    pub(super) fn rewrite(&self, request: &mut Request, operation: Option<&Operation>) {
        let Some(operation) = operation else { return };
        if let Some(uri) = self.uri(request.uri(), operation) {
            *request.uri_mut() = uri;
        }
        let suffix = self.suffix();
        if self.changes_answer(operation) {
            // A tag without the suffix names an answer in another shape.
            retag(request.headers_mut(), header::IF_NONE_MATCH, |tag| without(tag, &suffix));
        }
        // The `etag` of a record in a body has no suffix and names the record's state as well.
        retag(request.headers_mut(), header::IF_MATCH, |tag| {
            Some(without(tag, &suffix).unwrap_or_else(|| tag.to_owned()))
        });
    }

    /// Returns the address with its query in the newest shape. A query that cannot be decoded is left to be refused.
    fn uri(&self, uri: &Uri, operation: &Operation) -> Option<Uri> {
        let edits = self.served.versions.query_edits(self.at, operation.id);
        if edits.is_empty() {
            return None;
        }
        let mut pairs = params::decoded(uri.query().unwrap_or_default())?;
        for edit in edits {
            edit(&mut pairs);
        }
        let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(&pairs).finish();
        let path = uri.path();
        let mut parts = uri.clone().into_parts();
        parts.path_and_query = Some(format!("{path}?{query}").parse().ok()?);
        Uri::from_parts(parts).ok()
    }
}

/// Replaces each tag of a header by the result of `own`. Tags without a replacement are left out.
fn retag(headers: &mut HeaderMap, name: HeaderName, own: impl Fn(&str) -> Option<String>) {
    let lines = headers.get_all(&name).iter().filter_map(|line| line.to_str().ok());
    let sent = lines.collect::<Vec<_>>().join(",");
    let mut tags = elements(&sent).peekable();
    // A list of nothing is left to be refused.
    if tags.peek().is_none() {
        return;
    }
    let tags: Vec<String> = tags.filter_map(own).collect();
    headers.remove(&name);
    if let (false, Ok(value)) = (tags.is_empty(), HeaderValue::from_str(&tags.join(", "))) {
        headers.insert(name, value);
    }
}

/// Returns `tag` without the suffix before its closing quote. `*` stays as it is.
fn without(tag: &str, suffix: &str) -> Option<String> {
    if tag == "*" {
        return Some(tag.to_owned());
    }
    tag.strip_suffix('"')?.strip_suffix(suffix).map(|opaque| format!("{opaque}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_of_the_clients_version_are_known_without_their_suffix() {
        let suffix = ".2026-09-14";
        for (sent, read, write) in [
            (vec!["\"a.2026-09-14\""], Some("\"a\""), Some("\"a\"")),
            (vec!["W/\"a.2026-09-14\""], Some("W/\"a\""), Some("W/\"a\"")),
            (vec!["\"a\""], None, Some("\"a\"")),
            (vec!["\"a.2026-11-01\""], None, Some("\"a.2026-11-01\"")),
            (vec!["\"a\",\"b.2026-09-14\"", "*"], Some("\"b\", *"), Some("\"a\", \"b\", *")),
            (vec!["a.2026-09-14"], None, Some("a.2026-09-14")),
            (vec!["\"y,z\""], None, Some("\"y,z\"")),
            (vec![" , "], Some(" , "), Some(" , ")),
            (vec![], None, None),
        ] {
            let mut headers = HeaderMap::new();
            for line in &sent {
                headers.append(header::IF_NONE_MATCH, line.parse().unwrap());
                headers.append(header::IF_MATCH, line.parse().unwrap());
            }
            retag(&mut headers, header::IF_NONE_MATCH, |tag| without(tag, suffix));
            retag(&mut headers, header::IF_MATCH, |tag| Some(without(tag, suffix).unwrap_or_else(|| tag.to_owned())));
            let found = |name| headers.get(name).map(|value: &HeaderValue| value.to_str().unwrap().to_owned());
            assert_eq!(found(header::IF_NONE_MATCH).as_deref(), read, "{sent:?}");
            assert_eq!(found(header::IF_MATCH).as_deref(), write, "{sent:?}");
        }
    }
}
