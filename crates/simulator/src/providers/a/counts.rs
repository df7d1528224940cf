//! Counts of links, as in provider A's summaries, domains, anchors and months.

use std::collections::{BTreeMap, BTreeSet};

use chrono::NaiveDate;
use serde_json::{Map, Value, json};

use super::Task;
use crate::providers::countries;
use crate::providers::links::{Kind, Link, Profile, bare};
use crate::providers::values::{joined, time_a};
use crate::world::rng::{child, count, index, unit};

/// A strength from 0 to 100 on the scale that the task asks for: 0 to 1000 unless it says otherwise.
pub(super) fn rank(task: &Task<'_>, strength: f64) -> u32 {
    let scale = if task.text("rank_scale") == "one_hundred" { 1.0 } else { 10.0 };
    count(strength * scale)
}

/// The strength of a domain on a day, as the rank of a target.
pub(super) fn target_rank(task: &Task<'_>, profile: &Profile, links: &[&Link], day: NaiveDate) -> u32 {
    let live = links.iter().copied().filter(|link| link.lives_on(day));
    rank(task, Profile::strength(profile.domains(live)))
}

/// The part of a page that holds a link.
pub(super) fn location(link: &Link) -> &'static str {
    const PARTS: [&str; 5] = ["article", "section", "footer", "nav", ""];
    PARTS[index(unit(child(link.key, 40)), PARTS.len())]
}

/// Returns whether the link points to a page that is gone.
pub(super) fn is_broken(link: &Link) -> bool {
    link.key.is_multiple_of(50)
}

/// Names with their counts, the most frequent only.
fn top<'a>(names: impl Iterator<Item = &'a str>, most: usize) -> Value {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    counts.truncate(most);
    counts.into_iter().map(|(name, number)| (name.to_owned(), json!(number))).collect::<Map<_, _>>().into()
}

/// The fields that every list of links has.
pub(super) fn counts(task: &Task<'_>, profile: &Profile, links: &[&Link]) -> Map<String, Value> {
    let most = task.number("internal_list_limit").unwrap_or(10);
    let nofollow: Vec<&Link> = links.iter().copied().filter(|link| !link.dofollow).collect();
    let broken: Vec<&Link> = links.iter().copied().filter(|link| is_broken(link)).collect();
    let domains = profile.domains(links.iter().copied());
    let nofollow_domains = profile.domains(nofollow.iter().copied());
    let ips: BTreeSet<&str> = links.iter().map(|link| profile.referrer(link).ip.as_str()).collect();
    let subnets: BTreeSet<&str> = ips.iter().filter_map(|ip| ip.rsplit_once('.')).map(|(net, _)| net).collect();
    let pages = |links: &[&Link]| links.iter().map(|link| link.url_from.as_str()).collect::<BTreeSet<_>>().len();
    let spam: u64 = links.iter().map(|link| u64::from(profile.referrer(link).spam)).sum();
    let broken_pages: BTreeSet<&str> = broken.iter().map(|link| link.url_to.as_str()).collect();
    let tld = links.iter().filter_map(|link| profile.referrer(link).name.rsplit('.').next());
    let country = links.iter().map(|link| profile.referrer(link).country);
    let countries: Vec<String> = country.map(|country| countries::letters(country).to_uppercase()).collect();
    let fields = json!({
        "backlinks": links.len(),
        "backlinks_spam_score": spam / (links.len() as u64).max(1),
        "broken_backlinks": broken.len(),
        "broken_pages": broken_pages.len(),
        "referring_domains": domains,
        "referring_domains_nofollow": nofollow_domains,
        "referring_main_domains": domains,
        "referring_main_domains_nofollow": nofollow_domains,
        "referring_ips": ips.len(),
        "referring_subnets": subnets.len(),
        "referring_pages": pages(links),
        "referring_pages_nofollow": pages(&nofollow),
        "referring_links_tld": top(tld, most),
        "referring_links_types": top(links.iter().map(|link| link.kind.name()), most),
        "referring_links_attributes": top(links.iter().flat_map(|link| link.rel.iter().copied()), most),
        "referring_links_platform_types": top(links.iter().map(|link| profile.referrer(link).platform), most),
        "referring_links_semantic_locations": top(links.iter().map(|link| location(link)), most),
        "referring_links_countries": top(countries.iter().map(String::as_str), most),
    });
    if let Value::Object(fields) = fields { fields } else { Map::new() }
}

/// The first day of a link among `links`, and the day on which the last one was lost, if all are.
pub(super) fn span(links: &[&Link], day: NaiveDate) -> (Value, Value) {
    let first = links.iter().min_by_key(|link| link.found);
    let lives = links.iter().any(|link| link.lives_on(day));
    let newest = links.iter().filter(|_| !lives).max_by_key(|link| link.lost);
    let lost = newest.and_then(|link| link.lost.map(|lost| time_a(lost, link.key >> 9)));
    (json!(first.map(|link| time_a(link.found, link.key))), json!(lost))
}

/// One link as an item of the list of backlinks. `group` is the number of links that it stands for.
pub(super) fn item(task: &Task<'_>, profile: &Profile, link: &Link, group: usize) -> Value {
    let mut item = joined([source(task, profile, link), found(profile, link), element(link)]);
    item["rank"] = json!(rank(task, link.strength * 0.7));
    item["group_count"] = json!(group);
    item
}

/// The page and the domain that link.
fn source(task: &Task<'_>, profile: &Profile, link: &Link) -> Value {
    let from = profile.referrer(link);
    json!({
        "type": "backlink",
        "domain_from": from.name,
        "url_from": link.url_from,
        "url_from_https": true,
        "tld_from": from.name.rsplit('.').next(),
        "backlink_spam_score": from.spam,
        "page_from_rank": rank(task, link.strength),
        "domain_from_rank": rank(task, from.strength),
        "domain_from_platform_type": [from.platform],
        "domain_from_is_ip": false,
        "domain_from_ip": from.ip,
        "domain_from_country": countries::letters(from.country).to_uppercase(),
        "page_from_external_links": link.external,
        "page_from_internal_links": 5 + link.key % 90,
        "page_from_size": 8_000 + link.key % 90_000,
        "page_from_encoding": "utf-8",
        "page_from_language": countries::language(from.country),
        "page_from_title": link.title,
        "page_from_status_code": 200,
        "ranked_keywords_info": {
            "page_from_keywords_count_top_3": link.key % 4,
            "page_from_keywords_count_top_10": link.key % 4 + link.key / 4 % 9,
            "page_from_keywords_count_top_100": link.key % 4 + link.key / 4 % 9 + link.key / 36 % 40,
        },
    })
}

/// The page that is linked, and when the link was seen.
fn found(profile: &Profile, link: &Link) -> Value {
    let before = link.seen.checked_sub_days(chrono::Days::new(10 + link.key % 30)).filter(|day| *day > link.found);
    json!({
        "domain_to": bare(&link.host_to),
        "url_to": link.url_to,
        "url_to_https": true,
        "is_new": link.is_new_on(profile.today),
        "is_lost": link.lost.is_some(),
        "first_seen": time_a(link.found, link.key),
        "prev_seen": before.map(|day| time_a(day, link.key >> 7)),
        "last_seen": time_a(link.seen, link.key >> 4),
        "is_broken": is_broken(link),
        "url_to_status_code": if is_broken(link) { 404 } else { 200 },
        "url_to_spam_score": 0,
        "url_to_redirect_target": null,
    })
}

/// The element that links.
fn element(link: &Link) -> Value {
    let image = link.kind == Kind::Image;
    let text = link.kind == Kind::Anchor;
    let redirect = link.kind == Kind::Redirect;
    let way = json!([{ "type": "redirect", "status_code": 301, "url": link.url_from }]);
    json!({
        "item_type": link.kind.name(),
        "attributes": Some(&link.rel).filter(|rel| !rel.is_empty()),
        "dofollow": link.dofollow,
        "original": link.key.is_multiple_of(4),
        "alt": image.then_some(&link.title),
        "image_url": image.then(|| format!("{}.png", link.url_from)),
        "anchor": Some(&link.anchor).filter(|_| text),
        "text_pre": text.then_some("See also"),
        "text_post": null,
        "semantic_location": Some(location(link)).filter(|location| !location.is_empty()),
        "links_count": 1,
        "is_indirect_link": redirect,
        "indirect_link_path": if redirect { way } else { Value::Null },
    })
}
