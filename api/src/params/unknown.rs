//! Query parameters that an operation does not take: refused with the nearest name, or ignored and listed.

use serde::Serialize;
use serde_json::Value;

use super::{ParameterDoc, QueryPairs, QueryParams};
use crate::{
    error::ApiError,
    operation::{self, Operation},
};

/// The parameters that the conventions of property-scoped routes name. An analysis to which one of them means nothing ignores
/// it and lists it in `meta.ignored`.
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

/// The parameter that asks other services for a dry run. It is never ignored, because the write would be made.
const DRY_RUN: &str = "dryRun";

/// The longest name that is compared with others, in characters. No parameter has one that long.
const LONGEST_NAME: usize = 40;

/// The parameters of a request that mean nothing to its operation.
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
    /// The names, if there are any.
    #[must_use]
    pub fn names(&self) -> Option<Vec<String>> {
        (!self.0.is_empty()).then(|| self.0.iter().map(|name| (*name).to_owned()).collect())
    }
}

/// Judges the names of a query string. Returns those that the operation ignores.
///
/// # Errors
/// `invalid_request` for a name that is neither a parameter of the operation nor ignored. The hint has the nearest parameter.
pub fn judge(operation: &Operation, query: &str) -> Result<Ignored, ApiError> {
    if query.is_empty() {
        return Ok(Ignored::default());
    }
    let (query, known) = (QueryPairs::of(query)?, operation.parameters());
    let mut ignored = Ignored::default();
    for name in query.names().filter(|name| known.iter().all(|parameter| parameter.name != *name)) {
        let convention = CONVENTIONS.into_iter().find(|convention| *convention == name);
        match convention {
            Some(convention) if operation.question.is_some() => ignored.0.push(convention),
            Some(_) => return Err(ApiError::invalid(name, "means nothing to this operation; leave it out")),
            None if name == DRY_RUN => return Err(no_dry_run(operation)),
            None => return Err(misspelt(name, &known)),
        }
    }
    Ok(ignored)
}

/// The refusal of a dry run. The hint names the operation that previews the write, if there is one.
fn no_dry_run(operation: &Operation) -> ApiError {
    let way_out = operation::preview_of(operation).map_or_else(
        || "this write cannot be tried".to_owned(),
        |preview| format!("send the body to {} {} to see what it would do", preview.method, preview.path),
    );
    ApiError::invalid(DRY_RUN, &format!("not a parameter here; {way_out}"))
}

fn misspelt(name: &str, known: &[ParameterDoc]) -> ApiError {
    if name.is_empty() {
        return ApiError::invalid("query string", "a parameter has no name; leave it out");
    }
    let end = name.char_indices().nth(LONGEST_NAME).map_or(name.len(), |(end, _)| end);
    let nearest = known.iter().map(|parameter| parameter.name).min_by_key(|known| distance(name, known));
    let way_out = nearest.map_or_else(
        || "this operation takes no query parameters".to_owned(),
        |nearest| format!("did you mean {nearest}?"),
    );
    ApiError::invalid(&name[..end], &format!("not a parameter here; {way_out}"))
}

/// The number of letters that separate two names. Case and separators do not count, and neighbours that changed places count
/// once. A name that contains the other is nearer than one that does not.
fn distance(name: &str, known: &str) -> (usize, usize) {
    let (name, known) = (letters(name), letters(known));
    let contained = contains(&name, &known) || contains(&known, &name);
    let apart = edits(&name, &known);
    (if contained { apart.min(2) } else { apart }, apart)
}

fn letters(name: &str) -> Vec<char> {
    let letters = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase);
    letters.take(LONGEST_NAME).collect()
}

fn contains(long: &[char], short: &[char]) -> bool {
    short.len() >= 3 && long.windows(short.len()).any(|part| part == short)
}

/// The edit distance with transpositions of neighbours (optimal string alignment).
fn edits(a: &[char], b: &[char]) -> usize {
    let (mut before_last, mut last) = (Vec::new(), (0..=b.len()).collect::<Vec<usize>>());
    for (i, from) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, to) in b.iter().enumerate() {
            let mut fewest = (last[j] + usize::from(from != to)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i - 1] == *to && b[j - 1] == *from {
                fewest = fewest.min(before_last[j - 1] + 1);
            }
            row.push(fewest);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or_default()
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
    fn the_nearest_parameter_is_named() {
        let (performance, export) = ("/api/properties/x/performance", "/api/properties/x/export");
        for (path, query, hint) in [
            (performance, "filter=1", "filter: not a parameter here; did you mean filters?"),
            (performance, "searchtype=image", "searchtype: not a parameter here; did you mean searchType?"),
            (performance, "start_date=2026-01-01", "start_date: not a parameter here; did you mean startDate?"),
            (performance, "limit=3", "limit: not a parameter here; did you mean pageLimit?"),
            (performance, "Scope=all", "Scope: not a parameter here; did you mean scope?"),
            (performance, "sope=all&%73cope=all", "sope: not a parameter here; did you mean scope?"),
            (performance, "=", "query string: a parameter has no name; leave it out"),
            (export, "scop=all", "scop: not a parameter here; did you mean "),
            (export, "scope=all", "scope: means nothing to this operation; leave it out"),
            ("/api/tags/x", "page=2", "page: not a parameter here; this operation takes no query parameters"),
            ("/api/properties", "day=7", "day: not a parameter here; did you mean days?"),
        ] {
            let refusal = judged(path, query).unwrap_err();
            assert!(refusal.starts_with(hint), "{query}: {refusal}");
        }
        let long = judged(performance, &"x".repeat(60_000)).unwrap_err();
        assert!(long.contains("not a parameter here; did you mean"), "{long}");
    }

    #[test]
    fn a_dry_run_is_sent_to_the_preview_of_the_write() {
        for (method, path, way_out) in [
            (Method::POST, "/api/properties/x/segments", "POST /api/properties/{id}/segments/preview"),
            (Method::PUT, "/api/properties/x/segments/y", "POST /api/properties/{id}/segments/preview"),
            (Method::POST, "/api/properties/x/topic-clusters", "POST /api/properties/{id}/topic-clusters/preview"),
            (Method::POST, "/api/properties/x/branded-keywords", "POST /api/properties/{id}/branded-keywords/preview"),
            (Method::DELETE, "/api/properties/x/segments/y", "cannot be tried"),
            (Method::POST, "/api/properties/x/segments/preview", "cannot be tried"),
            (Method::POST, "/api/tags", "cannot be tried"),
        ] {
            let operation = operation::find(&method, path).unwrap();
            for value in ["true", "false", ""] {
                let hint = judge(operation, &format!("dryRun={value}")).unwrap_err().hint.unwrap();
                assert!(hint.starts_with("dryRun: not a parameter here; ") && hint.contains(way_out), "{path}: {hint}");
            }
        }
    }

    #[test]
    fn conventions_that_mean_nothing_are_ignored_where_the_answer_can_say_so() {
        assert_eq!(
            judged("/api/properties/x/countries", "scope=x&queryLimit=1&limit=2"),
            Ok(vec!["queryLimit", "scope"])
        );
        assert_eq!(judged("/api/properties/x/performance", "scope=all&&"), Ok(vec![]));
        assert!(judged("/api/properties/x/segments", "scope=all").is_err());
        assert!(judged("/api/tags", "").is_ok());
    }

    #[test]
    fn letters_apart() {
        let edits = |a: &str, b: &str| edits(&letters(a), &letters(b));
        for (a, b, apart) in
            [("", "", 0), ("", "ab", 2), ("ab", "ba", 1), ("scope", "sope", 1), ("START_date", "startDate", 0)]
        {
            assert_eq!((edits(a, b), edits(b, a)), (apart, apart), "{a} {b}");
        }
    }
}
