//! The addresses of pages whose question has conditions: `/p/{id}/where/{condition}/…/{page}`.
//!
//! Each condition is a segment of the path. So a page carries its conditions once, in its own address: a link to another period has a
//! query string only, and a link that narrows the question has the new condition only.

use api::models::{FilterCondition, FilterLogic, FilterOperator};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// The segment before the conditions.
const WHERE: &str = "where";

/// The name of the overview in an address with conditions.
pub const OVERVIEW: &str = "overview";

/// The start of a condition that is an alternative to the one before it.
const OR: &str = "or.";

/// The bytes that a condition's value may have as they are. A slash becomes `~1` and a tilde `~0`, as in a JSON pointer: some proxies
/// take a percent-encoded slash for one that ends the segment.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The longest conditions of a page, in bytes of its address. The API takes longer ones.
pub const MOST_BYTES: usize = 4096;

/// The address of a page up to its query string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The address of the site: `/p/{id}` or `/share/{token}`.
    pub root: String,
    /// The conditions in the path.
    pub conditions: Vec<FilterCondition>,
    /// The name of the page.
    pub page: String,
}

impl Address {
    /// Splits a path. `None` if its conditions cannot be read.
    pub fn of(path: &str) -> Option<Self> {
        let Parts { root, conditions, page } = Parts::of(path);
        let conditions = conditions.map(|all| all.split('/').map(condition).collect::<Option<_>>());
        Some(Self {
            root: root.to_owned(),
            conditions: conditions.unwrap_or_else(|| Some(Vec::new()))?,
            page: page.to_owned(),
        })
    }

    /// Returns the reference from this address to the page `page` of the same site with these conditions.
    pub fn to(&self, conditions: &[FilterCondition], page: &str) -> String {
        let own = &self.conditions;
        if conditions.is_empty() {
            return if self.is_secret() { "../".repeat(own.len() + 1) } else { plain(&self.root, page) };
        }
        if own.is_empty() {
            return format!("{}/{WHERE}/{}{page}", self.root, segments(conditions));
        }
        let common = own.iter().zip(conditions).take_while(|(own, new)| own == new).count();
        format!("{}{}{page}", "../".repeat(own.len() - common), segments(&conditions[common..]))
    }
}

impl Address {
    /// Returns whether the address of the site is a secret. A page is copied and printed, so only its links to files repeat the secret.
    pub fn is_secret(&self) -> bool {
        self.root.starts_with("/share/")
    }
}

/// The parts of a path.
struct Parts<'p> {
    root: &'p str,
    /// The conditions as they stand there.
    conditions: Option<&'p str>,
    page: &'p str,
}

impl<'p> Parts<'p> {
    fn of(path: &'p str) -> Self {
        // The third slash ends the site's address.
        let end = path.match_indices('/').nth(2).map_or(path.len(), |(end, _)| end);
        let (root, rest) = path.split_at(end);
        let rest = rest.strip_prefix('/').unwrap_or(OVERVIEW);
        match rest.strip_prefix(WHERE).and_then(|question| question.strip_prefix('/')) {
            Some(question) => {
                let (conditions, page) = question.rsplit_once('/').unwrap_or((question, OVERVIEW));
                Self { root, conditions: Some(conditions), page }
            }
            None => Self { root, conditions: None, page: rest },
        }
    }
}

/// The address of a page without the conditions in its path, which may be any.
pub fn without_conditions(path: &str) -> String {
    let Parts { root, page, .. } = Parts::of(path);
    plain(root, page)
}

/// The reference from a page to its overview without any question: without the conditions in its path, which may be any, and without
/// parameters.
pub fn without_question(path: &str) -> String {
    let Parts { root, conditions, .. } = Parts::of(path);
    if conditions.is_none() {
        return "?".to_owned();
    }
    let segments = path[root.len()..].matches('/').count();
    "../".repeat(segments - 1)
}

/// The length of conditions in an address, in bytes.
pub fn length(conditions: &[FilterCondition]) -> usize {
    segments(conditions).len()
}

fn plain(root: &str, page: &str) -> String {
    if page == OVERVIEW { root.to_owned() } else { format!("{root}/{page}") }
}

/// The segments of conditions, each with the slash after it.
fn segments(conditions: &[FilterCondition]) -> String {
    conditions.iter().map(|condition| segment(condition) + "/").collect()
}

fn segment(condition: &FilterCondition) -> String {
    let FilterCondition { dimension, operator, value, logic } = condition;
    let or = if *logic == Some(FilterLogic::Or) { OR } else { "" };
    let operator = if *operator == FilterOperator::Equals { String::new() } else { format!(".{}", name_of(operator)) };
    let value = value.replace('~', "~0").replace('/', "~1");
    format!("{or}{}{operator}={}", name_of(dimension), utf8_percent_encode(&value, ENCODED))
}

/// Reads a segment.
fn condition(segment: &str) -> Option<FilterCondition> {
    let (what, value) = segment.split_once('=')?;
    let (what, logic) = match what.strip_prefix(OR) {
        Some(what) => (what, Some(FilterLogic::Or)),
        None => (what, None),
    };
    let (dimension, operator) = what.split_once('.').unwrap_or((what, "equals"));
    let value = percent_decode_str(value).decode_utf8().ok()?.replace("~1", "/").replace("~0", "~");
    Some(FilterCondition { dimension: named(dimension)?, operator: named(operator)?, value, logic })
}

/// The name of a dimension or an operator in the API.
fn name_of(one: &impl Serialize) -> String {
    match serde_json::to_value(one) {
        Ok(Value::String(name)) => name,
        _ => String::new(),
    }
}

fn named<T: DeserializeOwned>(name: &str) -> Option<T> {
    serde_json::from_value(Value::String(name.to_owned())).ok()
}

#[cfg(test)]
mod tests {
    use api::models::Dimension;
    use proptest::prelude::*;

    use super::*;

    fn on(dimension: Dimension, operator: FilterOperator, value: &str) -> FilterCondition {
        FilterCondition { dimension, operator, value: value.to_owned(), logic: None }
    }

    /// The path that a reference leads to.
    fn resolved(from: &str, reference: &str) -> String {
        let base = url::Url::parse("https://a.example").unwrap().join(from).unwrap();
        base.join(reference).unwrap().path().to_owned()
    }

    #[test]
    fn a_path_has_a_site_conditions_and_a_page() {
        let shoes = || on(Dimension::Query, FilterOperator::Contains, "red shoes");
        let page = || on(Dimension::Page, FilterOperator::Equals, "https://a.example/b~c");
        for (path, conditions, page) in [
            ("/p/1", vec![], OVERVIEW),
            ("/p/1/queries", vec![], "queries"),
            ("/share/x", vec![], OVERVIEW),
            ("/p/1/where/query.contains=red%20shoes/overview", vec![shoes()], OVERVIEW),
            (
                "/p/1/where/query.contains=red%20shoes/page=https%3A~1~1a.example~1b~0c/pages",
                vec![shoes(), page()],
                "pages",
            ),
        ] {
            let found = Address::of(path).unwrap();
            assert_eq!((&found.conditions, found.page.as_str()), (&conditions, page), "{path}");
            assert!(path.starts_with(&found.root), "{path}");
        }
        for path in [
            "/p/1/where/overview",
            "/p/1/where/",
            "/p/1/where/query/pages",
            "/p/1/where/fame=x/pages",
            "/p/1/where/query=%FF/pages",
        ] {
            assert_eq!(Address::of(path), None, "{path}");
        }
    }

    #[test]
    fn a_link_holds_what_is_new() {
        let from = Address::of("/p/1/where/query=a/page=b/device=c/pages").unwrap();
        let with = |value: &str| on(Dimension::Country, FilterOperator::Equals, value);
        let narrowed = [&from.conditions[..], &[with("usa")]].concat();
        assert_eq!(from.to(&narrowed, "overview"), "country=usa/overview");
        assert_eq!(from.to(&from.conditions, "queries"), "queries");
        assert_eq!(from.to(&from.conditions[..2], "pages"), "../pages");
        assert_eq!(from.to(&[from.conditions[0].clone(), from.conditions[2].clone()], "pages"), "../../device=c/pages");
        assert_eq!(from.to(&[], OVERVIEW), "/p/1");
        let shared = Address::of("/share/secret/where/query=a/page=b/overview").unwrap();
        assert_eq!(shared.to(&[], OVERVIEW), "../../../", "without its token");
        assert_eq!(without_question("/p/1/pages"), "?");
        for path in ["/p/1/where/bogus=1/overview", "/share/t/where/a/b/overview", "/p/1/where/overview"] {
            assert_eq!(resolved(path, &without_question(path)), format!("{}/", without_conditions(path)), "{path}");
        }
        assert_eq!(Address::of("/p/1/pages").unwrap().to(&[with("usa")], OVERVIEW), "/p/1/where/country=usa/overview");
    }

    fn conditions() -> impl Strategy<Value = Vec<FilterCondition>> {
        let dimension = prop::sample::select(vec![Dimension::Query, Dimension::Page, Dimension::Country]);
        let operator = prop::sample::select(vec![
            FilterOperator::Equals,
            FilterOperator::Contains,
            FilterOperator::NotContains,
            FilterOperator::MatchesRegex,
            FilterOperator::OrList,
        ]);
        let logic = prop::sample::select(vec![None, Some(FilterLogic::Or)]);
        let value = prop_oneof!["[a-c/~.%&?=#\\\\ é\u{1f600}]{1,6}", Just("..".to_owned()), Just(".".to_owned())];
        let one = (dimension, operator, value, logic).prop_map(|(dimension, operator, value, logic)| FilterCondition {
            dimension,
            operator,
            value,
            logic,
        });
        prop::collection::vec(one, 0..4)
    }

    proptest! {
        /// A browser that follows a link asks for the page with exactly the conditions that were meant.
        #[test]
        fn links_lead_to_what_they_mean(own in conditions(), new in conditions(), keeps in 0..4_usize) {
            let new: Vec<_> = own.iter().take(keeps).cloned().chain(new).collect();
            let start = Address { root: "/p/1".to_owned(), conditions: Vec::new(), page: OVERVIEW.to_owned() };
            let here = resolved("/p/1", &start.to(&own, "pages"));
            let from = Address::of(&here).unwrap();
            prop_assert_eq!(&from.conditions, &own);
            let there = Address::of(&resolved(&here, &from.to(&new, "queries"))).unwrap();
            prop_assert_eq!((there.root.as_str(), there.conditions, there.page.as_str()), ("/p/1", new, "queries"));
        }
    }
}
