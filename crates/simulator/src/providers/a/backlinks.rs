//! Provider A's backlinks.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use chrono::{Datelike as _, Months, NaiveDate};
use serde_json::{Value, json};

use super::counts::{counts, item, rank, span, target_rank};
use super::filters::Filters;
use super::page::page;
use super::{Failure, Found, Task};
use crate::providers::links::{Link, Profile, Scope, Target};
use crate::providers::values::{joined, time_a};

/// The subject of a task.
fn profile(task: &Task<'_>) -> Result<(Profile, Target), Failure> {
    let text = task.text("target");
    let scope = match text.contains("://") {
        true => Scope::Exact,
        false if task.flag("include_subdomains") == Some(false) => Scope::Domain,
        false => Scope::Subdomains,
    };
    let target = Target::parse(text, scope).ok_or(Failure::Field("target"))?;
    let today = task.research.today;
    let seed = task.research.market.seed();
    Ok((Profile::new(seed, &task.shared.drawn.world, &target.domain(), today), target))
}

/// The links into the target, in any state, that pass the task's filters.
fn inside<'a>(task: &Task<'_>, profile: &'a Profile, target: &Target) -> Result<Vec<&'a Link>, Failure> {
    let mut links: Vec<&Link> = profile.links.iter().filter(|link| target.covers(link)).collect();
    if let Some(filters) = task.given("backlinks_filters").and_then(Filters::parse) {
        if links.first().is_some_and(|link| !filters.knows(&item(task, profile, link, 1))) {
            return Err(Failure::Field("backlinks_filters"));
        }
        links.retain(|link| filters.admits(&item(task, profile, link, 1)));
    }
    Ok(links)
}

/// The links in the state that the task asks for, live by default.
fn in_state<'a>(task: &Task<'_>, links: &[&'a Link]) -> Vec<&'a Link> {
    let wanted = |link: &&&Link| match task.text("backlinks_status_type") {
        "all" => true,
        "lost" => link.lost.is_some(),
        _ => link.lost.is_none(),
    };
    links.iter().filter(wanted).copied().collect()
}

/// Facts about the target itself.
fn info(profile: &Profile) -> Value {
    let simulated = profile.links.len() > 30;
    json!({
        "server": if simulated { Some("nginx") } else { None },
        "cms": null,
        "platform_type": ["unknown"],
        "ip_address": "192.0.2.80",
        "country": if simulated { Some("US") } else { None },
        "is_ip": false,
        "target_spam_score": 0,
    })
}

/// Counts of all backlinks. Without any backlink there is no result.
pub(super) fn summary(task: &Task<'_>) -> Result<Found, Failure> {
    let (profile, target) = profile(task)?;
    let all = inside(task, &profile, &target)?;
    let links = in_state(task, &all);
    if links.is_empty() {
        return Ok(Found { result: Vec::new(), rows: 1 });
    }
    let (first, lost) = span(&all, profile.today);
    let pages: std::collections::BTreeSet<&str> = all.iter().map(|link| link.url_to.as_str()).collect();
    let fields = json!({
        "target": task.text("target"),
        "first_seen": first,
        "lost_date": lost,
        "rank": target_rank(task, &profile, &all, profile.today),
        "crawled_pages": pages.len() * 3,
        "info": info(&profile),
        "internal_links_count": pages.len() * 41,
        "external_links_count": pages.len() * 7,
    });
    Ok(Found { result: vec![joined([fields, counts(task, &profile, &links).into()])], rows: 1 })
}

/// Single backlinks, strongest first.
pub(super) fn backlinks(task: &Task<'_>) -> Result<Found, Failure> {
    let (profile, target) = profile(task)?;
    let mut links = in_state(task, &inside(task, &profile, &target)?);
    links.sort_by(|a, b| b.strength.total_cmp(&a.strength).then_with(|| a.url_from.cmp(&b.url_from)));
    let mode = if task.text("mode").is_empty() { "as_is" } else { task.text("mode") };
    let grouped = grouped(&links, mode);
    let build = |(link, group): &(&Link, usize)| item(task, &profile, link, *group);
    let found = page(task, "search_after_token", &grouped, build)?;
    let rows = found.items.len();
    let result = json!({
        "target": task.text("target"),
        "mode": mode,
        "custom_mode": null,
        "total_count": found.total,
        "items_count": rows,
        "items": if rows == 0 { Value::Null } else { found.items.into() },
        "search_after_token": found.next,
    });
    Ok(Found { result: vec![result], rows })
}

/// The links that stand for their groups, with the size of each group.
fn grouped<'a>(links: &[&'a Link], mode: &str) -> Vec<(&'a Link, usize)> {
    let name = |link: &Link| match mode {
        "one_per_domain" => link.referrer.to_string(),
        "one_per_anchor" => link.anchor.clone(),
        _ => link.key.to_string(),
    };
    let mut sizes: BTreeMap<String, usize> = BTreeMap::new();
    let mut firsts = Vec::new();
    for link in links {
        let size = sizes.entry(name(link)).or_default();
        *size += 1;
        if *size == 1 {
            firsts.push(*link);
        }
    }
    firsts.into_iter().map(|link| (link, sizes[&name(link)])).collect()
}

/// Groups of links by a name, most links first.
fn by_name<'a>(links: &[&'a Link], name: impl Fn(&Link) -> String) -> Vec<(String, Vec<&'a Link>)> {
    let mut groups: BTreeMap<String, Vec<&Link>> = BTreeMap::new();
    for link in links {
        groups.entry(name(link)).or_default().push(link);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, links)| Reverse(links.len()));
    groups
}

fn list(
    task: &Task<'_>,
    profile: &Profile,
    groups: &[(String, Vec<&Link>)],
    (kind, label): (&str, &str),
) -> Result<Found, Failure> {
    let build = |(name, links): &(String, Vec<&Link>)| {
        let (first, lost) = span(links, profile.today);
        let strongest = links.iter().map(|link| profile.referrer(link).strength).fold(0.0, f64::max);
        let mut fields = json!({
            "type": kind,
            "rank": rank(task, strongest),
            "first_seen": first,
            "lost_date": lost,
        });
        fields[label] = json!(name);
        joined([fields, counts(task, profile, links).into()])
    };
    let found = page(task, "offset_token", groups, build)?;
    let rows = found.items.len();
    let result = json!({
        "target": task.text("target"),
        "total_count": found.total,
        "items_count": rows,
        "items": if rows == 0 { Value::Null } else { found.items.into() },
    });
    Ok(Found { result: vec![result], rows })
}

/// Domains that link, most links first.
pub(super) fn referring_domains(task: &Task<'_>) -> Result<Found, Failure> {
    let (profile, target) = profile(task)?;
    let links = in_state(task, &inside(task, &profile, &target)?);
    let groups = by_name(&links, |link| profile.referrer(link).name.clone());
    list(task, &profile, &groups, ("backlinks_referring_domain", "domain"))
}

/// Anchor texts, most links first.
pub(super) fn anchors(task: &Task<'_>) -> Result<Found, Failure> {
    let (profile, target) = profile(task)?;
    let links = in_state(task, &inside(task, &profile, &target)?);
    let groups = by_name(&links, |link| link.anchor.clone());
    list(task, &profile, &groups, ("backlinks_anchor", "anchor"))
}

/// Counts by month, oldest first: the last twelve months, unless the task says otherwise.
pub(super) fn history(task: &Task<'_>) -> Result<Found, Failure> {
    let (profile, target) = profile(task)?;
    let all = inside(task, &profile, &target)?;
    let today = profile.today;
    let day = |name: &'static str, otherwise: NaiveDate| match task.given(name).and_then(Value::as_str) {
        None => Ok(otherwise),
        Some(text) => text.parse::<NaiveDate>().ok().filter(|day| *day <= today).ok_or(Failure::Field(name)),
    };
    let to = day("date_to", today)?;
    let from = day("date_from", to.checked_sub_months(Months::new(12)).unwrap_or(to))?;
    if from > to {
        return Err(Failure::Field("date_from"));
    }
    let first = from.with_day(1).unwrap_or(from);
    let months = (0..240).filter_map(|month| first.checked_add_months(Months::new(month)));
    let build = |month: NaiveDate| month_item(task, &profile, &all, month);
    let items: Vec<Value> = months.take_while(|month| *month <= to).map(build).collect();
    let rows = items.len();
    let result = json!({
        "target": task.text("target"),
        "date_from": time_a(from, 0),
        "date_to": time_a(to, 0),
        "items_count": rows,
        "items": items,
    });
    Ok(Found { result: vec![result], rows })
}

/// The counts on the first day of `month`, and the links found and lost since the month before.
fn month_item(task: &Task<'_>, profile: &Profile, all: &[&Link], month: NaiveDate) -> Value {
    let before = month.checked_sub_months(Months::new(1)).unwrap_or(month);
    let live: Vec<&Link> = all.iter().copied().filter(|link| link.lives_on(month)).collect();
    let old: Vec<&Link> = all.iter().copied().filter(|link| link.lives_on(before)).collect();
    let found: Vec<&Link> = live.iter().copied().filter(|link| !link.lives_on(before)).collect();
    let lost: Vec<&Link> = old.iter().copied().filter(|link| !link.lives_on(month)).collect();
    let fresh = |links: &[&Link], others: &[&Link]| {
        let known = |link: &&&Link| !others.iter().any(|other| other.referrer == link.referrer);
        profile.domains(links.iter().filter(known).copied())
    };
    let fields = json!({
        "type": "backlinks_history",
        "date": time_a(month, 0),
        "rank": target_rank(task, profile, all, month),
        "new_backlinks": found.len(),
        "lost_backlinks": lost.len(),
        "new_referring_domains": fresh(&found, &old),
        "lost_referring_domains": fresh(&lost, &live),
        "crawled_pages": live.len() * 2,
        "info": info(profile),
        "internal_links_count": live.len() * 41,
        "external_links_count": live.len() * 7,
    });
    let mut counts = counts(task, profile, &live);
    // The vendor has no such field here.
    counts.remove("backlinks_spam_score");
    joined([fields, counts.into()])
}
