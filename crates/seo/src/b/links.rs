//! Provider B's backlinks.

use api::integrations::BacklinkStatus;
use chrono::NaiveDate;
use serde_json::{Value, json};

use super::Query;
use crate::{Domain, Findings, Link, Page, RowPage, Summary, Target, json};

/// The highest rating.
const RATING: f64 = 100.0;

const LINK_COLUMNS: &str =
    "url_from,url_to,anchor,is_dofollow,domain_rating_source,first_seen_link,last_visited,last_seen,is_new,is_lost";
const DOMAIN_COLUMNS: &str = "domain,domain_rating,links_to_target,first_seen,last_seen";

/// The query for the counts of links.
pub(super) fn stats(target: &Target, day: NaiveDate) -> Query {
    let mut params = target_params(target);
    params.push(("date", day.to_string()));
    Query { path: "site-explorer/backlinks-stats", key: "metrics", params }
}

/// The query for the rating of a domain.
pub(super) fn rating(target: &Target, day: NaiveDate) -> Query {
    let params = vec![("target", target.host.clone()), ("date", day.to_string())];
    Query { path: "site-explorer/domain-rating", key: "domain_rating", params }
}

/// The query for the first `rows` links, strongest domains first.
pub(super) fn backlinks(page: &Page, rows: usize) -> Query {
    let flag = |name: &str| json!({ "field": name, "is": ["eq", 1] });
    let condition = match page.status {
        BacklinkStatus::New => Some(flag("is_new")),
        BacklinkStatus::Lost => Some(flag("is_lost")),
        BacklinkStatus::Live | BacklinkStatus::All => None,
    };
    let mut params = listed(page, rows, condition);
    params.push(("select", LINK_COLUMNS.to_owned()));
    params.push(("aggregation", "all".to_owned()));
    params.push(("order_by", "domain_rating_source:desc,url_from:asc".to_owned()));
    Query { path: "site-explorer/all-backlinks", key: "backlinks", params }
}

/// The query for the first `rows` domains that link, the strongest first.
pub(super) fn domains(page: &Page, rows: usize) -> Query {
    let condition = match page.status {
        BacklinkStatus::New => Some(json!({ "field": "new_links", "is": ["gt", 0] })),
        // Domains that still link may have lost some links. Only lost domains have a last day.
        BacklinkStatus::Lost => Some(json!({ "not": { "field": "last_seen", "is": "is_null" } })),
        BacklinkStatus::Live | BacklinkStatus::All => None,
    };
    let mut params = listed(page, rows, condition);
    params.push(("select", DOMAIN_COLUMNS.to_owned()));
    params.push(("order_by", "domain_rating:desc,domain:asc".to_owned()));
    Query { path: "site-explorer/refdomains", key: "refdomains", params }
}

fn target_params(target: &Target) -> Vec<(&'static str, String)> {
    let mode = if target.subdomains { "subdomains" } else { "domain" };
    vec![("target", target.host.clone()), ("mode", mode.to_owned())]
}

fn listed(page: &Page, rows: usize, condition: Option<Value>) -> Vec<(&'static str, String)> {
    let history = match page.status {
        BacklinkStatus::Live | BacklinkStatus::New => "live",
        BacklinkStatus::Lost | BacklinkStatus::All => "all_time",
    };
    let mut params = target_params(&page.target);
    params.push(("history", history.to_owned()));
    params.push(("limit", rows.to_string()));
    params.extend(condition.map(|condition| ("where", condition.to_string())));
    params
}

/// The counts of live links. `None` if one is missing.
pub(super) fn read_counts(metrics: Option<&Value>) -> Option<Summary> {
    let Some(metrics) = metrics else { return Some(Summary::default()) };
    Some(Summary {
        backlinks: json::count(&metrics["live"])?,
        domains: json::count(&metrics["live_refdomains"])?,
        rank: None,
    })
}

/// The rating of a domain, as a summary without counts. It may be unknown. `None` if it is no such answer.
pub(super) fn read_rating(rating: Option<&Value>) -> Option<Summary> {
    let Some(rating) = rating else { return Some(Summary::default()) };
    Some(Summary { rank: json::within(rating.get("domain_rating")?, 0.0, RATING), ..Summary::default() })
}

/// The links of a page. `None` if they are no list of links.
pub(super) fn read_links(list: Option<&Value>, page: &Page) -> Option<Findings> {
    Some(Findings::Links(page_of(list, page, link)?))
}

fn link(item: &Value) -> Option<Link> {
    let lost = json::flag(&item["is_lost"]).unwrap_or_default();
    Some(Link {
        url_from: json::text(&item["url_from"], 4096)?,
        url_to: json::text(&item["url_to"], 4096)?,
        anchor: json::text(&item["anchor"], 4096),
        dofollow: json::flag(&item["is_dofollow"]),
        source_rank: json::within(&item["domain_rating_source"], 0.0, RATING),
        first_seen: json::day(&item["first_seen_link"]),
        // Only lost links have a last day; others were seen when their page was last visited.
        last_seen: json::day(&item["last_seen"]).or_else(|| json::day(&item["last_visited"]).filter(|_| !lost)),
        is_new: json::flag(&item["is_new"]).unwrap_or_default(),
        lost,
    })
}

/// The domains of a page. `None` if they are no list of domains.
pub(super) fn read_domains(list: Option<&Value>, page: &Page) -> Option<Findings> {
    Some(Findings::Domains(page_of(list, page, domain)?))
}

fn domain(item: &Value) -> Option<Domain> {
    Some(Domain {
        domain: json::text(&item["domain"], 255)?,
        rank: json::within(&item["domain_rating"], 0.0, RATING),
        backlinks: json::count(&item["links_to_target"]).unwrap_or_default(),
        first_seen: json::day(&item["first_seen"]),
        lost_at: json::day(&item["last_seen"]),
    })
}

/// The rows of a page within a list from the first row. A list shorter than asked for is whole.
fn page_of<T>(list: Option<&Value>, page: &Page, row: impl Fn(&Value) -> Option<T>) -> Option<RowPage<T>> {
    let Some(list) = list else { return Some(RowPage { known: Some(0), rows: Vec::new() }) };
    json::rows(list, &row)?;
    let items = json::items(list);
    let known = (items.len() < page.offset + page.limit).then_some(items.len() as u64);
    Some(RowPage { known, rows: items.iter().skip(page.offset).take(page.limit).filter_map(row).collect() })
}
