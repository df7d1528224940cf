//! Query parameters that an operation does not take: refused with the name that was meant, or listed as without effect.

use serde::Serialize;
use serde_json::Value;

use super::{ParameterDoc, QueryPairs, QueryParams, idle::idle};
use crate::{
    error::ApiError,
    operation::{self, Operation},
};

/// The parameters that the conventions of property-scoped routes name. A read to which one of them means nothing lists it in
/// `X-Ignored`, and in `meta.ignored` of JSON.
const CONVENTIONS: [&str; 10] = [
    "startDate",
    "endDate",
    "compareStart",
    "compareEnd",
    "classification",
    "searchType",
    "filters",
    "scope",
    "queryLimit",
    "pageLimit",
];

/// The operation whose address monitors watch.
const HEALTH: &str = "getHealth";

/// The parameter that asks other services for a dry run. It is never ignored, because the write would be made.
const DRY_RUN: &str = "dryRun";

/// The longest name that is compared with others, in characters. No parameter has one that long.
const LONGEST_NAME: usize = 40;

/// The number of edits up to which a name is near another one.
const NEAR: usize = 2;

/// Names that people know from elsewhere, as [`letters`] writes them, and the parameters that mean the same here, the likelier one first.
const SYNONYMS: [(&[&str], &[&str]); 9] = [
    (&["start", "from", "fromdate", "datefrom", "since"], &["startDate"]),
    (&["end", "to", "todate", "dateto", "until"], &["endDate"]),
    (&["limit", "rowlimit", "maxrows", "pagesize", "perpage", "size", "count"], &["limit", "queryLimit"]),
    (&["offset", "skip", "startrow"], &["offset", "queryOffset"]),
    (&["order", "orderby", "sortby"], &["sort"]),
    (&["type"], &["searchType"]),
    (&["interval", "groupby"], &["granularity"]),
    (&["segment", "segmentid", "topiccluster", "topicclusterid", "branded"], &["classification"]),
    (&["compareto", "comparison"], &["compare"]),
];

/// The parameters of a request that have no effect on its answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Ignored(pub Vec<&'static str>);

impl QueryParams for Ignored {
    fn read(query: &QueryPairs) -> Result<Self, ApiError> {
        Ok(query.ignored.clone())
    }

    fn document(_: &mut Vec<ParameterDoc>) {}

    fn echo(&self, _: &mut Vec<(&'static str, Value)>) {}
}

impl Ignored {
    /// None.
    pub const NONE: Self = Self(Vec::new());

    /// The names, if there are any.
    #[must_use]
    pub fn names(&self) -> Option<Vec<String>> {
        (!self.0.is_empty()).then(|| self.0.iter().map(|name| (*name).to_owned()).collect())
    }
}

/// Judges the names of a query string. Returns those without effect: names of the conventions that mean nothing to the operation, whose
/// values nobody reads, parameters that mean nothing beside the others, and optional ones without a value.
///
/// # Errors
/// `invalid_request` for a name that is neither a parameter of the operation nor ignored. The hint has the parameter that was meant,
/// or all of them.
pub fn judge(operation: &Operation, query: &str) -> Result<Ignored, ApiError> {
    if query.is_empty() {
        return Ok(Ignored::default());
    }
    let (query, known) = (QueryPairs::of(query)?, operation.parameters());
    let mut ignored = Ignored::default();
    for name in query.names().filter(|name| known.iter().all(|parameter| parameter.name != *name)) {
        let convention = CONVENTIONS.into_iter().find(|convention| *convention == name);
        match convention {
            Some(convention) if operation.takes_conventions() => ignored.0.push(convention),
            Some(_) => return Err(ApiError::invalid(name, "has no effect on this operation; leave it out")),
            None if name == DRY_RUN => return Err(no_dry_run(operation)),
            // Monitors add a name and a number to the address that they watch, so that no cache answers.
            None if operation.id == HEALTH && is_of_no_parameter(name, &known) => {}
            None => return Err(misspelt(name, &known)),
        }
    }
    ignored.0.extend(idle(operation.id, &known, &query));
    let is_unsaid = |parameter: &&ParameterDoc| !parameter.required && query.is_empty(parameter.name);
    ignored.0.extend(known.iter().filter(is_unsaid).map(|parameter| parameter.name));
    Ok(ignored)
}

/// Reads the parameters of an operation from a query string, as a request for it does.
///
/// # Errors
/// `invalid_request` for a name that the operation does not take, and for a value that is not allowed.
pub fn read<T: QueryParams>(operation: &Operation, query: &str) -> Result<T, ApiError> {
    let ignored = judge(operation, query)?;
    T::read(&QueryPairs { ignored, ..QueryPairs::of(query)? })
}

/// The refusal of a dry run. The hint names the operation that previews the write, if there is one.
fn no_dry_run(operation: &Operation) -> ApiError {
    let way_out = operation::preview_of(operation).map_or_else(
        || "nothing previews this operation".to_owned(),
        |preview| format!("send the body to {} {} to see what it would do", preview.method, preview.path),
    );
    ApiError::invalid(DRY_RUN, &format!("not a parameter here; {way_out}"))
}

/// Returns whether a name was meant for none of the parameters.
fn is_of_no_parameter(name: &str, known: &[ParameterDoc]) -> bool {
    meant(name, &known.iter().map(|parameter| parameter.name).collect::<Vec<_>>()).is_none()
}

fn misspelt(name: &str, known: &[ParameterDoc]) -> ApiError {
    if name.is_empty() {
        return ApiError::invalid("query string", "a parameter has no name; leave it out");
    }
    let end = name.char_indices().nth(LONGEST_NAME).map_or(name.len(), |(end, _)| end);
    let known: Vec<&str> = known.iter().map(|parameter| parameter.name).collect();
    let way_out = match meant(name, &known) {
        Some(meant) => format!("did you mean {meant}?"),
        None if known.is_empty() => "this operation takes no query parameters".to_owned(),
        None => format!("this operation takes {}", known.join(", ")),
    };
    ApiError::invalid(&name[..end], &format!("not a parameter here; {way_out}"))
}

/// Returns the parameter that a name was meant for: one that is written almost the same, or one that means the same elsewhere.
fn meant<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let name = letters(name);
    let nearest = known.iter().map(|parameter| (apart(&name, &letters(parameter)), *parameter)).min();
    let synonyms = SYNONYMS.iter().filter(|(names, _)| names.contains(&name.as_str()));
    let synonym = synonyms.flat_map(|(_, meant)| *meant).find_map(|meant| known.iter().find(|known| *known == meant));
    nearest.filter(|(apart, _)| *apart <= NEAR).map(|(_, nearest)| nearest).or(synonym.copied())
}

/// The edit distance of two names, with neighbours that changed places counted once. Names that differ in half of their letters
/// are never near.
fn apart(name: &str, known: &str) -> usize {
    let edits = strsim::osa_distance(name, known);
    if edits * 2 < known.chars().count() { edits } else { usize::MAX }
}

/// A name without case and separators.
fn letters(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase);
    letters.take(LONGEST_NAME).collect()
}

#[cfg(test)]
mod tests {
    use poem::http::Method;

    use super::*;
    use crate::operation;

    fn judged(path: &str, query: &str) -> Result<Vec<&'static str>, String> {
        let operation = operation::find(&Method::GET, path).unwrap();
        judge(operation, query).map(|ignored| ignored.0).map_err(|error| error.hint.unwrap_or_default())
    }

    #[test]
    fn a_near_name_or_a_synonym_is_named() {
        let performance = "/api/properties/x/performance";
        for (path, query, hint) in [
            (performance, "filter=1", "filter: not a parameter here; did you mean filters?"),
            (performance, "searchtype=image", "searchtype: not a parameter here; did you mean searchType?"),
            (performance, "start_date=2026-01-01", "start_date: not a parameter here; did you mean startDate?"),
            (performance, "From=2026-01-01", "From: not a parameter here; did you mean startDate?"),
            (performance, "limit=3", "limit: not a parameter here; did you mean queryLimit?"),
            ("/api/properties/x/countries", "per_page=3", "per_page: not a parameter here; did you mean limit?"),
            (performance, "Scope=all", "Scope: not a parameter here; did you mean scope?"),
            (performance, "sope=all&%73cope=all", "sope: not a parameter here; did you mean scope?"),
            (performance, "socpe=all", "socpe: not a parameter here; did you mean scope?"),
            (performance, "=", "query string: a parameter has no name; leave it out"),
            ("/api/tags/x", "page=2", "page: not a parameter here; this operation takes no query parameters"),
            ("/api/properties", "day=7", "day: not a parameter here; did you mean days?"),
        ] {
            let refusal = judged(path, query).unwrap_err();
            assert!(refusal.starts_with(hint), "{query}: {refusal}");
        }
    }

    #[test]
    fn without_a_near_name_the_parameters_are_listed() {
        let (performance, raw) = ("/api/properties/x/performance", "/api/properties/x/query-count-raw");
        for (path, query) in [
            ("/api/properties", "colour=red"),
            (raw, "limit=3"),
            (raw, "compare=previous_year"),
            (performance, "property=1"),
            (performance, "foo=1"),
            ("/api/properties/x/countries-timeseries", "foo=1"),
            (performance, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx=1"),
        ] {
            let refusal = judged(path, query).unwrap_err();
            let known = operation::find(&Method::GET, path).unwrap().parameters();
            let known: Vec<&str> = known.iter().map(|parameter| parameter.name).collect();
            let listed = format!(": not a parameter here; this operation takes {}", known.join(", "));
            assert!(refusal.ends_with(&listed) && !known.is_empty(), "{query}: {refusal}");
        }
    }

    /// A parameter is named for every misspelling of it by one edit, except the shortest.
    #[test]
    fn one_wrong_letter_is_forgiven() {
        for operation in operation::all() {
            let known = operation.parameters();
            let known: Vec<&str> = known.iter().map(|parameter| parameter.name).collect();
            for name in known.iter().filter(|name| name.len() > 2) {
                let doubled = format!("{name}{}", name.chars().last().unwrap());
                assert_eq!(meant(&doubled, &known), Some(*name), "{}", operation.id);
            }
        }
    }

    #[test]
    fn what_monitors_add_to_the_address_of_health_is_left_out() {
        for query in ["uptime_kuma_cachebuster=a1b2c3", "_cb=1706789012345", "v=1", "1795832343", "probe=live&_=1"] {
            assert_eq!(judged("/api/health", query), Ok(Vec::new()), "{query}");
        }
        for query in ["probes=live", "Probe=live", "prob=live"] {
            assert!(judged("/api/health", query).unwrap_err().contains("did you mean probe?"), "{query}");
        }
        assert!(judged("/api", "_=1").is_err());
    }

    #[test]
    fn a_dry_run_is_sent_to_the_preview_of_the_write() {
        for (method, path, way_out) in [
            (Method::POST, "/api/properties/x/segments", "POST /api/properties/{id}/segments/preview"),
            (Method::PUT, "/api/properties/x/segments/y", "POST /api/properties/{id}/segments/preview"),
            (Method::POST, "/api/properties/x/topic-clusters", "POST /api/properties/{id}/topic-clusters/preview"),
            (Method::POST, "/api/properties/x/branded-keywords", "POST /api/properties/{id}/branded-keywords/preview"),
            (Method::DELETE, "/api/properties/x/segments/y", "nothing previews"),
            (Method::POST, "/api/properties/x/segments/preview", "nothing previews"),
            (Method::POST, "/api/tags", "nothing previews"),
        ] {
            let operation = operation::find(&method, path).unwrap();
            for value in ["true", "false", ""] {
                let hint = judge(operation, &format!("dryRun={value}")).unwrap_err().hint.unwrap();
                assert!(hint.starts_with("dryRun: not a parameter here; ") && hint.contains(way_out), "{path}: {hint}");
            }
        }
    }

    #[test]
    fn conventional_parameters_are_ignored_where_they_mean_nothing() {
        assert_eq!(
            judged("/api/properties/x/countries", "scope=x&queryLimit=1&limit=2"),
            Ok(vec!["queryLimit", "scope"])
        );
        assert_eq!(judged("/api/properties/x/performance", "scope=all&&"), Ok(vec![]));
        assert_eq!(judged("/api/properties/x/segments/y", "scope=all"), Ok(vec!["scope"]));
        assert_eq!(judged("/api/properties/x/query-count-raw", "pageLimit=x"), Ok(vec!["pageLimit"]));
        assert_eq!(
            judged("/api/properties", "scope=all"),
            Err("scope: has no effect on this operation; leave it out".to_owned())
        );
        assert!(judged("/api/tags", "").is_ok());
    }
}
