//! Parameters that an operation takes, and that have no effect beside the others of a request. Their values are checked all the same.

use super::{ParamValue as _, ParameterDoc, QueryPairs};

/// A combination of parameters, and those that have no effect in it.
struct Rule {
    /// Ids of operations. Empty: every operation that takes the parameters.
    operations: &'static [&'static str],
    /// Returns whether a request is such a combination.
    when: fn(&Sent<'_>) -> bool,
    /// The parameters without effect.
    idle: &'static [&'static str],
}

const PERFORMANCE: &[&str] = &["getPropertyPerformance", "getSharedPerformance"];
const EXPORT: &[&str] = &["exportPropertyPerformanceCsv"];
const INSIGHTS: &[&str] = &["getPropertyQueryInsights"];
const KEYWORDS: &[&str] = &["getPropertyKeywordResearch"];
/// The operations whose answers have rows and no series.
const ROWS: &[&str] = &[
    "exportPropertyPerformanceCsv",
    "listPropertyCountries",
    "getPropertyCannibalization",
    "getPropertyGrowthOpportunities",
];
const QUERY_PAGE: [&str; 2] = ["queryLimit", "queryOffset"];
const PAGE_PAGE: [&str; 2] = ["pageLimit", "pageOffset"];

/// Every rule.
const RULES: &[Rule] = &[
    Rule { operations: &[], when: |sent| sent.all(&["compareStart", "compareEnd"]), idle: &["compare"] },
    Rule {
        operations: PERFORMANCE,
        when: |sent| !has_tables(sent),
        idle: &["sort", "metricFilters", "queryLimit", "queryOffset", "pageLimit", "pageOffset"],
    },
    // Hours change the window, and need a recent one.
    Rule {
        operations: PERFORMANCE,
        when: |sent| !has_series(sent) && !sent.is("granularity", &["hour"]),
        idle: &["granularity"],
    },
    Rule { operations: PERFORMANCE, when: |sent| !sent.is_true("explain"), idle: &["explainLimit"] },
    Rule {
        operations: PERFORMANCE,
        when: |sent| !has_series(sent) || sent.is("granularity", &["hour", "week", "month"]),
        idle: &["usual"],
    },
    // These kinds of search have no queries.
    Rule {
        operations: PERFORMANCE,
        when: |sent| sent.is("searchType", &["discover", "googleNews"]),
        idle: &QUERY_PAGE,
    },
    // Rows and totals of a comparison count final days. Without dates, the window depends on it.
    Rule { operations: PERFORMANCE, when: |sent| !has_series(sent) && compares_dates(sent), idle: &["dataState"] },
    Rule { operations: ROWS, when: compares_dates, idle: &["dataState"] },
    Rule { operations: EXPORT, when: |sent| !sent.is("table", &["queries"]), idle: &QUERY_PAGE },
    Rule { operations: EXPORT, when: |sent| !sent.is("table", &["pages"]), idle: &PAGE_PAGE },
    Rule { operations: &[], when: |sent| sent.is("classification", &["branded"]), idle: &["includeBranded"] },
    // Only a comparison has a list of queries.
    Rule {
        operations: INSIGHTS,
        when: |sent| !compares(sent),
        idle: &["minImpressions", "sort", "metricFilters", "limit", "offset"],
    },
    Rule {
        operations: &["getPropertyGrowthOpportunities"],
        when: |sent| sent.is("kind", &["snippet"]),
        idle: &["targetPosition"],
    },
    Rule { operations: &["getPropertyTableSparklines"], when: |sent| sent.all(&["keys"]), idle: &["limit"] },
    Rule {
        operations: &["getPropertyBacklinks"],
        when: |sent| sent.is("scope", &["summary"]),
        idle: &["status", "offset", "limit"],
    },
    Rule { operations: KEYWORDS, when: |sent| sent.is("provider", &["b"]), idle: &["language"] },
    // Provider A always has it, and ideas never have it from provider B.
    Rule {
        operations: KEYWORDS,
        when: |sent| sent.is("provider", &["a"]) || sent.all(&["keywords"]),
        idle: &["trend"],
    },
    Rule {
        operations: &["listProperties", "getProperty"],
        when: |sent| !sent.is_true("headline"),
        idle: &["days", "series", "usual"],
    },
];

fn has_tables(sent: &Sent<'_>) -> bool {
    sent.is("scope", &["tables", "all"])
}

fn has_series(sent: &Sent<'_>) -> bool {
    sent.is("scope", &["series", "all"])
}

fn compares(sent: &Sent<'_>) -> bool {
    sent.all(&["compare"]) || sent.all(&["compareStart", "compareEnd"])
}

fn compares_dates(sent: &Sent<'_>) -> bool {
    compares(sent) && sent.all(&["startDate", "endDate"])
}

/// The parameters of a request, with the defaults of those that were not sent.
struct Sent<'s> {
    known: &'s [ParameterDoc],
    query: &'s QueryPairs,
}

impl Sent<'_> {
    /// The value of a parameter that was sent.
    fn value(&self, name: &str) -> Option<&str> {
        self.query.values.get(name)?.first().map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The default of a parameter of the operation.
    fn default(&self, name: &str) -> Option<&str> {
        self.known.iter().find(|parameter| parameter.name == name)?.default
    }

    /// Returns whether all of these were sent.
    fn all(&self, names: &[&str]) -> bool {
        names.iter().all(|name| self.value(name).is_some())
    }

    /// Returns whether a parameter of the operation was sent with another value than its default. The default says nothing, so that a
    /// form may send every one.
    fn says(&self, name: &str) -> bool {
        let is_known = self.known.iter().any(|parameter| parameter.name == name);
        is_known && self.value(name).is_some_and(|value| self.default(name) != Some(value))
    }

    /// Returns whether a parameter has one of these values, sent or as its default.
    fn is(&self, name: &str, values: &[&str]) -> bool {
        self.value(name).or_else(|| self.default(name)).is_some_and(|value| values.contains(&value))
    }

    /// Returns whether a boolean parameter is true, sent or by its default.
    fn is_true(&self, name: &str) -> bool {
        self.value(name).or_else(|| self.default(name)).is_some_and(|value| bool::parse(value) == Ok(true))
    }
}

/// Returns the parameters of a request that the operation takes, and that have no effect beside the others, each once.
pub(super) fn idle(operation: &str, known: &[ParameterDoc], query: &QueryPairs) -> Vec<&'static str> {
    let sent = Sent { known, query };
    let applies = |rule: &&Rule| rule.operations.is_empty() || rule.operations.contains(&operation);
    let rules = RULES.iter().filter(applies).filter(|rule| (rule.when)(&sent));
    let mut found: Vec<&str> = Vec::new();
    for name in rules.flat_map(|rule| rule.idle) {
        if sent.says(name) && !found.contains(name) {
            found.push(name);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation;

    /// A rule that names an operation or a parameter that is not there would never apply.
    #[test]
    fn rules_name_operations_and_their_parameters() {
        for rule in RULES {
            let named = |operation: &&operation::Operation| rule.operations.contains(&operation.id);
            assert_eq!(operation::all().iter().filter(named).count(), rule.operations.len(), "{:?}", rule.operations);
            for name in rule.idle {
                let knows =
                    |operation: &operation::Operation| operation.parameters().iter().any(|own| own.name == *name);
                let all = operation::all().iter().filter(named).all(knows);
                assert!(all && operation::all().iter().any(knows), "{:?} {name}", rule.operations);
            }
        }
    }
}
