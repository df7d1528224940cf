//! The span of a caller, as `traceparent` names it (W3C Trace Context). Only its ids are taken: `tracestate` is a stranger's text.

use http::HeaderMap;
use opentelemetry::{
    propagation::{Extractor, TextMapPropagator as _},
    trace::{SpanContext, TraceContextExt as _},
};
use opentelemetry_sdk::propagation::TraceContextPropagator;

const HEADER: &str = "traceparent";

/// The only header that is read. One that comes twice is none.
struct OnlyParent<'h>(&'h HeaderMap);

impl Extractor for OnlyParent<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        let mut values = self.0.get_all(HEADER).into_iter();
        let value = values.next().filter(|_| key == HEADER && values.next().is_none())?;
        value.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        vec![HEADER]
    }
}

/// Returns the span of the caller. `None` if the header is missing or malformed.
pub(super) fn of(headers: &HeaderMap) -> Option<SpanContext> {
    if !headers.contains_key(HEADER) {
        return None;
    }
    let context = TraceContextPropagator::new().extract(&OnlyParent(headers));
    let parent = context.span().span_context().clone();
    parent.is_valid().then_some(parent)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn one_well_formed_header_names_the_parent_and_its_vendors_say_nothing() {
        const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
        let good = format!("00-{TRACE}-00f067aa0ba902b7-01");
        let named = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            headers.insert("tracestate", HeaderValue::from_static("vendor=ann@corp.example"));
            for value in values {
                headers.append(HEADER, HeaderValue::from_str(value).unwrap());
            }
            of(&headers)
        };
        let parent = named(&[&good]).unwrap();
        assert_eq!(parent.trace_id().to_string(), TRACE);
        assert_eq!(parent.trace_state().header(), "");
        for malformed in [
            &[][..],
            &["", "00"],
            &["00-00000000000000000000000000000000-00f067aa0ba902b7-01"],
            &["00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01"],
            &["ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"],
            &["ann@corp.example"],
            &[good.as_str(), good.as_str()],
        ] {
            assert!(named(malformed).is_none(), "{malformed:?}");
        }
    }
}
