//! The fields of a task, checked as the vendor checks them. A field that is null counts as absent: the vendor's Python
//! client sends every field. An unknown field is refused, so that a misspelled one is noticed.

use chrono::NaiveDate;
use serde_json::{Map, Value};

use super::filters::{Filters, Order};
use crate::providers::calls::ProviderA;
use crate::providers::countries::{self, Region};

/// The type of a field.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Text,
    Flag,
    Date,
    Keyword,
    /// At most so many keywords.
    Keywords(usize),
    /// Keywords for advertisers, without certain characters.
    AdKeywords(usize),
    LocationCode,
    LocationName,
    Language,
    Integer(u64, u64),
    OneOf(&'static [&'static str]),
    /// A domain without scheme and `www.`, or the URL of a page.
    Target,
    /// A domain without scheme and `www.`.
    Domain,
    Filters,
    Order,
}

type Field = (&'static str, Kind);

const PLACE: [Field; 4] = [
    ("location_name", Kind::LocationName),
    ("location_code", Kind::LocationCode),
    ("language_name", Kind::Language),
    ("language_code", Kind::Language),
];

const INCLUDE: [Field; 3] =
    [("include_serp_info", Kind::Flag), ("include_clickstream_data", Kind::Flag), ("tag", Kind::Text)];

const LISTED: [Field; 4] = [
    ("filters", Kind::Filters),
    ("order_by", Kind::Order),
    ("limit", Kind::Integer(1, 1_000)),
    ("offset", Kind::Integer(0, 20_000)),
];

const LINKS: [Field; 9] = [
    ("include_subdomains", Kind::Flag),
    ("include_indirect_links", Kind::Flag),
    ("exclude_internal_backlinks", Kind::Flag),
    ("internal_list_limit", Kind::Integer(1, 1_000)),
    ("backlinks_status_type", Kind::OneOf(&["all", "live", "lost"])),
    ("backlinks_filters", Kind::Filters),
    ("rank_scale", Kind::OneOf(&["one_hundred", "one_thousand"])),
    ("tag", Kind::Text),
    ("target", Kind::Target),
];

/// Fields of `call` beyond the shared groups, and those groups.
fn fields(call: ProviderA) -> (&'static [Field], Vec<&'static [Field]>) {
    match call {
        ProviderA::UserData => (&[], Vec::new()),
        ProviderA::SearchVolume => (
            &[
                ("keywords", Kind::AdKeywords(1_000)),
                ("location_coordinate", Kind::Text),
                ("search_partners", Kind::Flag),
                ("date_from", Kind::Date),
                ("date_to", Kind::Date),
                ("include_adult_keywords", Kind::Flag),
                ("sort_by", Kind::OneOf(&["relevance", "search_volume", "competition_index"])),
                ("tag", Kind::Text),
            ],
            vec![&PLACE],
        ),
        ProviderA::KeywordOverview => (&[("keywords", Kind::Keywords(700))], vec![&PLACE, &INCLUDE]),
        ProviderA::KeywordSuggestions => (
            &[
                ("keyword", Kind::Keyword),
                ("include_seed_keyword", Kind::Flag),
                ("exact_match", Kind::Flag),
                ("ignore_synonyms", Kind::Flag),
                ("offset_token", Kind::Text),
            ],
            vec![&PLACE, &INCLUDE, &LISTED],
        ),
        ProviderA::RelatedKeywords => (
            &[
                ("keyword", Kind::Keyword),
                ("depth", Kind::Integer(0, 4)),
                ("include_seed_keyword", Kind::Flag),
                ("ignore_synonyms", Kind::Flag),
                ("replace_with_core_keyword", Kind::Flag),
            ],
            vec![&PLACE, &INCLUDE, &LISTED],
        ),
        ProviderA::BulkKeywordDifficulty => (&[("keywords", Kind::Keywords(1_000)), ("tag", Kind::Text)], vec![&PLACE]),
        ProviderA::BacklinksSummary => (&[], vec![&LINKS]),
        ProviderA::ReferringDomains | ProviderA::Anchors => (&[], vec![&LINKS, &LISTED]),
        ProviderA::Backlinks => (
            &[
                ("mode", Kind::OneOf(&["as_is", "one_per_domain", "one_per_anchor"])),
                ("search_after_token", Kind::Text),
            ],
            vec![&LINKS, &LISTED],
        ),
        ProviderA::BacklinksHistory => (
            &[
                ("target", Kind::Domain),
                ("date_from", Kind::Date),
                ("date_to", Kind::Date),
                ("rank_scale", Kind::OneOf(&["one_hundred", "one_thousand"])),
                ("tag", Kind::Text),
            ],
            Vec::new(),
        ),
    }
}

/// The required fields of `call`: of each group, one must be there.
fn required(call: ProviderA) -> &'static [&'static [&'static str]] {
    const LOCATION: &[&str] = &["location_code", "location_name"];
    const LANGUAGE: &[&str] = &["language_code", "language_name"];
    match call {
        ProviderA::UserData => &[],
        ProviderA::SearchVolume => &[&["keywords"]],
        ProviderA::KeywordOverview | ProviderA::BulkKeywordDifficulty => &[&["keywords"], LOCATION, LANGUAGE],
        ProviderA::KeywordSuggestions => &[&["keyword"], LOCATION],
        ProviderA::RelatedKeywords => &[&["keyword"], LOCATION, LANGUAGE],
        _ => &[&["target"]],
    }
}

/// Checks a task.
///
/// # Errors
/// The name of the first field that is not valid.
pub(super) fn check(call: ProviderA, task: &Map<String, Value>) -> Result<(), String> {
    let (own, groups) = fields(call);
    for (name, value) in task.iter().filter(|(_, value)| !value.is_null()) {
        let mut known = own.iter().chain(groups.iter().copied().flatten());
        let valid = known.find(|(field, _)| field == name).is_some_and(|(_, kind)| fits(*kind, value));
        if !valid {
            return Err(name.clone());
        }
    }
    let there = |name: &&&str| task.get(**name).is_some_and(|value| !value.is_null());
    let missing = required(call).iter().find(|group| !group.iter().any(|name| there(&name)));
    missing.map_or(Ok(()), |group| Err(group[0].to_owned()))
}

fn fits(kind: Kind, value: &Value) -> bool {
    let text = value.as_str();
    match kind {
        Kind::Text => value.is_string(),
        Kind::Flag => value.is_boolean(),
        Kind::Date => text.is_some_and(|text| text.parse::<NaiveDate>().is_ok()),
        Kind::Keyword => text.is_some_and(is_keyword),
        Kind::Keywords(most) => keywords(value, most, |_| true),
        Kind::AdKeywords(most) => keywords(value, most, |text| !text.contains(NOT_IN_ADS)),
        Kind::LocationCode => value.as_u64().and_then(countries::by_location_code).is_some(),
        Kind::LocationName => text.and_then(countries::by_location_name).is_some(),
        Kind::Language => text.and_then(countries::language_code).is_some(),
        Kind::Integer(least, most) => value.as_u64().is_some_and(|number| (least..=most).contains(&number)),
        Kind::OneOf(names) => text.is_some_and(|text| names.contains(&text)),
        Kind::Target => text.is_some_and(|text| is_url(text) || is_domain(text)),
        Kind::Domain => text.is_some_and(is_domain),
        Kind::Filters => Filters::parse(value).is_some(),
        Kind::Order => Order::parse(value).is_some(),
    }
}

/// Characters that the advertisers' tool does not take.
const NOT_IN_ADS: [char; 18] =
    [',', '!', '@', '%', '^', '(', ')', '=', '{', '}', ';', '~', '`', '<', '>', '?', '\\', '|'];

fn is_keyword(text: &str) -> bool {
    !text.trim().is_empty() && text.chars().count() <= 80 && text.split_whitespace().count() <= 10
}

fn keywords(value: &Value, most: usize, allowed: impl Fn(&str) -> bool) -> bool {
    let valid = |value: &Value| value.as_str().is_some_and(|text| is_keyword(text) && allowed(text));
    value.as_array().is_some_and(|list| !list.is_empty() && list.len() <= most && list.iter().all(valid))
}

fn is_url(text: &str) -> bool {
    url::Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

/// A domain or subdomain without scheme, path and `www.`.
fn is_domain(text: &str) -> bool {
    let label = |label: &str| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-');
    text.contains('.') && !text.starts_with("www.") && text.split('.').all(label)
}

/// The place that a task asks about, with the location code of its answer.
pub(super) fn place(task: &Map<String, Value>) -> (Region, Option<u64>) {
    let code = task.get("location_code").and_then(Value::as_u64);
    if let Some(place) = code.and_then(countries::by_location_code) {
        return (place, code);
    }
    let named = task.get("location_name").and_then(Value::as_str).and_then(countries::by_location_name);
    named.map_or((Region::World, None), |(place, code)| (place, Some(code.into())))
}

/// The language code that a task asks about.
pub(super) fn language(task: &Map<String, Value>) -> Option<&'static str> {
    let given = |name: &str| task.get(name).and_then(Value::as_str).and_then(countries::language_code);
    given("language_code").or_else(|| given("language_name"))
}
