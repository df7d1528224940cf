//! Dry runs: writes that are checked and not made.

use super::decoded;
use crate::operation::Operation;

/// The parameter that asks for a dry run.
const DRY_RUN: &str = "dryRun";

/// Returns whether a request with this query must not write. That is so for each query of an operation with dry runs but
/// `dryRun=false`: others ask for a dry run or are refused.
#[must_use]
pub fn is_dry_run(operation: &Operation, query: &str) -> bool {
    let is_write = |(name, value): &(String, String)| name == DRY_RUN && value == "false";
    operation.parameters().iter().any(|parameter| parameter.name == DRY_RUN)
        && decoded(query).is_none_or(|pairs| !pairs.iter().all(is_write))
}

#[cfg(test)]
mod tests {
    use poem::http::Method;

    use super::*;
    use crate::operation;

    #[test]
    fn each_query_but_an_explicit_no_keeps_a_request_from_writing() {
        let asks = |path, query| is_dry_run(operation::find(&Method::POST, path).unwrap(), query);
        for (query, expected) in [
            ("", false),
            ("&", false),
            ("dryRun=false", false),
            ("dry%52un=fals%65", false),
            ("dryRun=true", true),
            ("dryRun", true),
            ("dryRun=no", true),
            ("dryRun=false&dryRun=true", true),
            ("dryrun=true", true),
            ("x=%zz", true),
        ] {
            assert_eq!(asks("/api/properties/x/segments", query), expected, "{query}");
            assert!(!asks("/api/tags", query), "{query}");
        }
    }
}
