//! Provider A's backlinks.

use api::integrations::BacklinkStatus;
use serde_json::{Value, json};

use super::{Task, rows_of};
use crate::{Domain, Findings, Link, Page, RowPage, Summary, Target, json};

/// The highest rank.
const RANK: f64 = 1_000.0;

/// The task for the counts of live links.
pub(super) fn summary(target: &Target) -> Task {
    let fields = json!({
        "target": target.without_www(),
        "include_subdomains": target.subdomains,
        "backlinks_status_type": "live",
        "internal_list_limit": 1,
    });
    Task { path: "backlinks/summary/live", fields }
}

/// The task for links, strongest domains first.
pub(super) fn links(page: &Page) -> Task {
    let mut fields = listed(page);
    fields["mode"] = json!("as_is");
    fields["order_by"] = json!(["domain_from_rank,desc", "url_from,asc"]);
    if page.status == BacklinkStatus::New {
        fields["filters"] = json!(["is_new", "=", true]);
    }
    Task { path: "backlinks/backlinks/live", fields }
}

/// The task for domains that link, the strongest first.
pub(super) fn domains(page: &Page) -> Task {
    let mut fields = listed(page);
    fields["order_by"] = json!(["rank,desc", "domain,asc"]);
    fields["internal_list_limit"] = json!(1);
    if page.status == BacklinkStatus::New {
        fields["backlinks_filters"] = json!(["is_new", "=", true]);
    }
    Task { path: "backlinks/referring_domains/live", fields }
}

fn listed(page: &Page) -> Value {
    let status = match page.status {
        BacklinkStatus::Live | BacklinkStatus::New => "live",
        BacklinkStatus::Lost => "lost",
        BacklinkStatus::All => "all",
    };
    json!({
        "target": page.target.without_www(),
        "include_subdomains": page.target.subdomains,
        "backlinks_status_type": status,
        "offset": page.offset,
        "limit": page.limit,
    })
}

/// The counts. Without any link the result is null. `None` if it is something else that lacks the counts.
pub(super) fn read_summary(result: Option<&Value>) -> Option<Findings> {
    let Some(result) = result.filter(|result| !result.is_null()) else {
        return Some(Findings::Summary(Summary::default()));
    };
    let summary = result.get(0)?;
    Some(Findings::Summary(Summary {
        backlinks: json::count(&summary["backlinks"])?,
        domains: json::count(&summary["referring_domains"])?,
        rank: json::within(&summary["rank"], 0.0, RANK),
    }))
}

/// The links of a page. `None` if the result is something else.
pub(super) fn read_links(result: Option<&Value>) -> Option<Findings> {
    Some(Findings::Links(page_of(result, link)?))
}

fn link(item: &Value) -> Option<Link> {
    Some(Link {
        url_from: json::text(&item["url_from"], 4096)?,
        url_to: json::text(&item["url_to"], 4096)?,
        anchor: json::text(&item["anchor"], 4096),
        dofollow: json::flag(&item["dofollow"]),
        source_rank: json::within(&item["domain_from_rank"], 0.0, RANK),
        first_seen: json::day(&item["first_seen"]),
        last_seen: json::day(&item["last_seen"]),
        is_new: json::flag(&item["is_new"]).unwrap_or_default(),
        lost: json::flag(&item["is_lost"]).unwrap_or_default(),
    })
}

/// The domains of a page. `None` if the result is something else.
pub(super) fn read_domains(result: Option<&Value>) -> Option<Findings> {
    Some(Findings::Domains(page_of(result, domain)?))
}

fn page_of<T>(result: Option<&Value>, row: impl Fn(&Value) -> Option<T>) -> Option<RowPage<T>> {
    let Some(result) = result else { return Some(RowPage { known: None, rows: Vec::new() }) };
    Some(RowPage { rows: rows_of(result, row)?, known: json::count(&result[0]["total_count"]) })
}

fn domain(item: &Value) -> Option<Domain> {
    Some(Domain {
        domain: json::text(&item["domain"], 255)?,
        rank: json::within(&item["rank"], 0.0, RANK),
        backlinks: json::count(&item["backlinks"]).unwrap_or_default(),
        first_seen: json::day(&item["first_seen"]),
        lost_at: json::day(&item["lost_date"]),
    })
}
