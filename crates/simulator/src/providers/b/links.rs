//! Provider B's backlinks.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use serde_json::{Value, json};

use super::columns::{BACKLINKS, REFDOMAINS};
use super::params::Params;
use super::table::Table;
use super::{Asked, Found, Refusal};
use crate::providers::countries;
use crate::providers::links::{Kind, Link, Profile, Referrer, Scope, Target};
use crate::providers::values::{joined, rounded, time_b};
use crate::world::rng::{child, count, unit};

/// The links that the vendor knows up to `day`. It does not know all of them: no vendor does.
fn profile(asked: &Asked<'_>, target: &Target, day: NaiveDate) -> Profile {
    let mut profile = Profile::new(asked.research.market.seed(), asked.research.world, &target.domain(), day);
    profile.links.retain(|link| unit(child(link.key, 0xB)) < 0.9 && target.covers(link));
    profile
}

/// The strength of a domain as the vendor rates it: 0 to 100, one digit after the point.
fn domain_rating(profile: &Profile, day: NaiveDate) -> f64 {
    rounded(Profile::strength(profile.domains(profile.links.iter().filter(|link| link.lives_on(day)))), 1)
}

/// The place of a domain with this rating among all domains of the world.
fn world_rank(rating: f64) -> u32 {
    count((19.5 - rating * 0.19).exp()).max(1)
}

/// Counts of all backlinks.
pub(super) fn stats(asked: &Asked<'_>) -> Result<Found, Refusal> {
    let (date, target) = (asked.params.report_date()?, asked.params.target()?);
    let profile = profile(asked, &target, date);
    let live = || profile.links.iter().filter(|link| link.lives_on(date));
    let value = json!({
        "live": live().count(),
        "all_time": profile.links.len(),
        "live_refdomains": profile.domains(live()),
        "all_time_refdomains": profile.domains(profile.links.iter()),
    });
    Ok(Found::single("metrics", value, 12))
}

/// The rating of a domain. A domain without links has no rank.
pub(super) fn rating(asked: &Asked<'_>) -> Result<Found, Refusal> {
    let (date, target) = (asked.params.report_date()?, asked.params.target()?);
    let profile = profile(asked, &Target { scope: Scope::Subdomains, ..target }, date);
    let rating = domain_rating(&profile, date);
    let rank = (rating > 0.0).then(|| world_rank(rating));
    Ok(Found::single("domain_rating", json!({ "domain_rating": rating, "ahrefs_rank": rank }), 2))
}

/// The first day of links that are listed although they are lost. `None` lists live links alone.
fn history(params: &Params) -> Result<Option<NaiveDate>, Refusal> {
    let text = params.get("history").unwrap_or("all_time");
    match (text, text.strip_prefix("since:")) {
        ("live", _) => Ok(None),
        ("all_time", _) => Ok(Some(NaiveDate::MIN)),
        (_, Some(day)) if day.parse::<NaiveDate>().is_ok() => Ok(day.parse().ok()),
        _ => Err(Refusal::bad("bad argument 'history': expected live, since:YYYY-MM-DD or all_time".to_owned())),
    }
}

fn listed(link: &Link, since: Option<NaiveDate>) -> bool {
    link.lost.is_none_or(|lost| since.is_some_and(|since| lost >= since))
}

/// Single backlinks, strongest domains first.
pub(super) fn backlinks(asked: &Asked<'_>) -> Result<Found, Refusal> {
    let table = Table::parse(&asked.params, &BACKLINKS)?;
    let target = asked.params.target()?;
    let mode = asked.params.one_of("aggregation", &["similar_links", "1_per_domain", "all"])?;
    if mode == "all" && table.selects("link_group_count") {
        return Err(Refusal::bad("bad select: 'link_group_count' cannot be used with aggregation 'all'".to_owned()));
    }
    let since = history(&asked.params)?;
    let today = asked.research.today;
    let profile = profile(asked, &target, today);
    let mut links: Vec<&Link> = profile.links.iter().filter(|link| listed(link, since)).collect();
    let strength = |link: &Link| profile.referrer(link).strength;
    links.sort_by(|a, b| strength(b).total_cmp(&strength(a)).then_with(|| a.url_from.cmp(&b.url_from)));
    let group = |link: &Link| match mode {
        "1_per_domain" => (link.referrer, String::new()),
        "similar_links" => (link.referrer, format!("{} {}", link.url_to, link.anchor)),
        _ => (link.referrer, link.key.to_string()),
    };
    let mut groups: BTreeMap<(usize, String), usize> = BTreeMap::new();
    let mut firsts = Vec::new();
    for link in links {
        let size = groups.entry(group(link)).or_default();
        *size += 1;
        if *size == 1 {
            firsts.push(link);
        }
    }
    let (rating, domains) = (domain_rating(&profile, today), profile.domains(profile.links.iter()));
    let build = |link: &Link| {
        let mut row = row(&profile, link, rating);
        row["link_group_count"] = json!(groups[&group(link)]);
        row["refdomains_target_domain"] = json!(domains);
        row
    };
    let rows = firsts.into_iter().map(build).collect();
    Ok(table.answer("backlinks", rows, 0))
}

fn plain(url: &str) -> &str {
    url.split_once("://").map_or(url, |(_, rest)| rest)
}

/// A link with all columns that do not depend on other links.
fn row(profile: &Profile, link: &Link, rating: f64) -> Value {
    let mut row = joined([source(profile, link), target(profile, link, rating), element(profile, link)]);
    for (name, value) in flags(profile, link) {
        row[name] = value.into();
    }
    row
}

/// The page and the domain that link.
fn source(profile: &Profile, link: &Link) -> Value {
    let from = profile.referrer(link);
    let rated = rounded(from.strength, 1);
    json!({
        "ahrefs_rank_source": world_rank(rated),
        "class_c": 1 + link.key % 3,
        "domain_rating_source": rated,
        "encoding": "utf-8",
        "http_code": 200,
        "ip_source": from.ip,
        "languages": [countries::language(from.country)],
        "linked_domains_source_domain": 20 + from.key % 4_000,
        "linked_domains_source_page": 1 + link.external / 2,
        "links_external": link.external,
        "links_internal": 5 + link.key % 90,
        "name_source": from.name,
        "page_size": 8_000 + link.key % 90_000,
        "port_source": 443,
        "positions": link.key % 50,
        "powered_by": [],
        "refdomains_source": link.key % 7,
        "refdomains_source_domain": referring(from),
        "root_name_source": from.name,
        "source_page_author": null,
        "title": link.title,
        "tld_class_source": "gov_edu_other",
        "traffic": from.traffic / 90,
        "traffic_domain": from.traffic,
        "url_from": link.url_from,
        "url_from_plain": plain(&link.url_from),
        "url_rating_source": rounded(link.strength, 1),
    })
}

/// The page that is linked.
fn target(profile: &Profile, link: &Link, rating: f64) -> Value {
    json!({
        "ahrefs_rank_target": world_rank(rating),
        "domain_rating_target": rating,
        "linked_domains_target_domain": 12,
        "name_target": link.host_to,
        "port_target": 443,
        "root_name_target": profile.domain,
        "tld_class_target": "gov_edu_other",
        "url_redirect": [],
        "url_redirect_with_target": [link.url_to],
        "url_to": link.url_to,
        "url_to_plain": plain(&link.url_to),
    })
}

/// The element that links, and when it was seen.
fn element(profile: &Profile, link: &Link) -> Value {
    let redirect = link.kind == Kind::Redirect;
    json!({
        "alt": (link.kind == Kind::Image).then_some(&link.title),
        "anchor": link.anchor,
        "discovered_status": link.is_new_on(profile.today).then_some("pagefound"),
        "drop_reason": null,
        "first_seen": time_b(link.found, link.key),
        "first_seen_link": time_b(link.found, link.key),
        "last_seen": link.lost.map(|lost| time_b(lost, link.key >> 9)),
        "last_visited": time_b(link.seen, link.key >> 4),
        "link_type": if link.kind == Kind::Anchor { "text" } else { link.kind.name() },
        "lost_reason": link.lost.map(|_| "linkremoved"),
        "redirect_code": redirect.then_some(301),
        "redirect_kind": if redirect { json!([301]) } else { json!([]) },
        "snippet_left": "See also",
        "snippet_right": "",
    })
}

/// The columns that are true or false.
fn flags(profile: &Profile, link: &Link) -> [(&'static str, bool); 24] {
    let root = !link.host_to.starts_with("www.") && link.host_to == profile.domain;
    [
        ("http_crawl", true),
        ("is_alternate", link.kind == Kind::Alternate),
        ("is_canonical", link.kind == Kind::Canonical),
        ("is_content", !link.key.is_multiple_of(3)),
        ("is_dofollow", link.dofollow),
        ("is_form", false),
        ("is_frame", false),
        ("is_image", link.kind == Kind::Image),
        ("is_lost", link.lost.is_some()),
        ("is_new", link.is_new_on(profile.today)),
        ("is_nofollow", !link.dofollow),
        ("is_redirect", link.kind == Kind::Redirect),
        ("is_redirect_lost", link.kind == Kind::Redirect && link.lost.is_some()),
        ("is_root_source", true),
        ("is_root_target", root),
        ("is_rss", false),
        ("is_spam", profile.referrer(link).spam > 50),
        ("is_sponsored", link.rel.contains(&"sponsored")),
        ("is_text", link.kind == Kind::Anchor),
        ("is_ugc", link.rel.contains(&"ugc")),
        ("js_crawl", false),
        ("noindex", false),
        ("is_homepage_link", false),
        ("is_non_html", false),
    ]
}

/// The number of domains that link to a referring domain.
fn referring(from: &Referrer) -> u32 {
    count((from.strength / 10.4).exp())
}

/// Domains that link, the strongest first.
pub(super) fn refdomains(asked: &Asked<'_>) -> Result<Found, Refusal> {
    let table = Table::parse(&asked.params, &REFDOMAINS)?;
    let target = asked.params.target()?;
    let since = history(&asked.params)?;
    let profile = profile(asked, &target, asked.research.today);
    let mut groups: BTreeMap<usize, Vec<&Link>> = BTreeMap::new();
    for link in profile.links.iter().filter(|link| listed(link, since)) {
        groups.entry(link.referrer).or_default().push(link);
    }
    let mut rows: Vec<Value> = groups.values().map(|links| domain_row(&profile, links)).collect();
    rows.sort_by(|a, b| {
        b["domain_rating"].as_f64().unwrap_or_default().total_cmp(&a["domain_rating"].as_f64().unwrap_or_default())
    });
    Ok(table.answer("refdomains", rows, 0))
}

fn domain_row(profile: &Profile, links: &[&Link]) -> Value {
    let from = profile.referrer(links[0]);
    let today = profile.today;
    let lives = links.iter().any(|link| link.lives_on(today));
    let first = links.iter().min_by_key(|link| link.found);
    let last = links.iter().filter(|_| !lives).max_by_key(|link| link.lost);
    let number = |wanted: fn(&Link, NaiveDate) -> bool| links.iter().filter(|link| wanted(link, today)).count();
    json!({
        "dofollow_linked_domains": 10 + from.key % 900,
        "dofollow_links": number(|link, _| link.dofollow),
        "dofollow_refdomains": referring(from) * 7 / 10,
        "domain": from.name,
        "domain_rating": rounded(from.strength, 1),
        "first_seen": first.map(|link| time_b(link.found, link.key)),
        "ip_source": from.ip,
        "is_root_domain": true,
        "is_spam": from.spam > 50,
        "last_seen": last.and_then(|link| link.lost.map(|lost| time_b(lost, link.key >> 9))),
        "links_to_target": links.len(),
        "lost_links": number(|link, _| link.lost.is_some()),
        "new_links": number(Link::is_new_on),
        "positions_source_domain": from.traffic / 4,
        "traffic_domain": from.traffic,
    })
}
