//! Generates the entries of a stream: the queries, their frequencies, and the pages shown for each.

use super::axes::SearchType;
use super::blueprint::Blueprint;
use super::entry::Entry;
use super::profile::{Profile, click_through_rate};
use super::rng::{child, index, normal, unit};

/// Rank of the first odd query, and the distance to the next. Frequent enough that they appear in any week.
const ODD: (usize, usize) = (12, 7);

/// All entries of `site` in `search_type`. Empty if the site has no results of that type.
pub(super) fn build(key: u64, site: &Blueprint, search_type: SearchType) -> Vec<Entry> {
    let share = match search_type {
        SearchType::Web => 1.0,
        other => site.profile.other_types[other as usize - 1],
    };
    let impressions = site.profile.impressions * share;
    if impressions == 0.0 {
        return Vec::new();
    }
    if search_type.is_feed() {
        return of_part(site, stories(key, &site.profile, impressions));
    }
    let queries = if share < 1.0 { (site.profile.queries / 5).max(30) } else { site.profile.queries };
    let mut entries = shown(key, site, queries, impressions);
    entries.extend(hidden(key, &site.profile, &entries));
    of_part(site, entries)
}

/// The entries of the part, if the site is the part of another one. All pages of an entry lie on one side of the division.
fn of_part(site: &Blueprint, mut entries: Vec<Entry>) -> Vec<Entry> {
    if site.covered_by.is_some() {
        entries.retain(|entry| entry.pages.first().is_some_and(|page| site.in_part(*page)));
    }
    entries
}

/// Weights (rank + 2.7)^-slope, scaled to add up to `total`.
fn weights(count: usize, slope: f64, total: f64) -> Vec<f64> {
    let raw: Vec<f64> = (1..=count).map(|rank| (rank as f64 + 2.7).powf(-slope)).collect();
    let sum: f64 = raw.iter().sum();
    raw.into_iter().map(|weight| weight / sum * total).collect()
}

fn shown(key: u64, site: &Blueprint, queries: usize, impressions: f64) -> Vec<Entry> {
    let means = weights(queries, site.profile.slope, impressions);
    means.into_iter().enumerate().map(|(rank, mean)| query(key, site, queries, rank, mean)).collect()
}

fn query(key: u64, site: &Blueprint, queries: usize, rank: usize, mean: f64) -> Entry {
    let key = child(key, rank as u64);
    let names = site.brand_terms.len();
    let odd = odd_query(site, rank);
    let brand = odd.is_none() && (rank < names || rank < queries / 2 && unit(child(key, 1)) < site.profile.brand);
    let (plain, subject) = site.vocabulary.query(rank);
    let text = match odd {
        Some(text) => text.to_owned(),
        None if rank < names => site.brand_terms[rank].clone(),
        None if brand => format!("{} {plain}", site.brand_terms[0]),
        None => plain,
    };
    let position = usual_position(key, brand, 2.6, 1.1);
    Entry { key, text, rank: 0, anonymised: false, brand, mean, position, pages: pages(key, site, subject, brand) }
}

fn odd_query(site: &Blueprint, rank: usize) -> Option<&'static str> {
    let place = rank.checked_sub(ODD.0)?;
    (place % ODD.1 == 0).then(|| site.vocabulary.odd.get(place / ODD.1).copied()).flatten()
}

fn usual_position(key: u64, brand: bool, mean: f64, deviation: f64) -> f64 {
    if brand {
        return 1.0 - 0.5 * unit(child(key, 2)).max(1e-9).ln();
    }
    let position = (mean + deviation * normal(child(key, 2))).exp();
    if position < 1.0 { 1.0 + unit(child(key, 9)) } else { position.min(95.0) }
}

/// The pages shown for a query: pages on the same subject, with earlier pages more often. Brand queries show four pages,
/// home first.
fn pages(key: u64, site: &Blueprint, subject: usize, brand: bool) -> Vec<u16> {
    let subjects = site.vocabulary.subjects.len();
    let each = (site.profile.pages / subjects).max(1);
    let lead = index(unit(child(key, 3)).powf(2.2), each);
    let wanted = if brand { 4 } else { 1 + usize::from(unit(child(key, 4)) < 0.25) };
    let mut pages: Vec<u16> = if brand { vec![0] } else { Vec::new() };
    for step in 0..each {
        let page = u16::try_from(subject + subjects * ((lead + step * 3) % each)).unwrap_or_default();
        let beside_lead = pages.first().is_none_or(|lead| site.in_part(*lead) == site.in_part(page));
        if pages.len() < wanted && !pages.contains(&page) && beside_lead {
            pages.push(page);
        }
    }
    pages
}

/// Anonymised pseudo-queries, frequent enough to carry the profile's share of clicks.
fn hidden(key: u64, profile: &Profile, shown: &[Entry]) -> Vec<Entry> {
    let clicks = |entry: &Entry| entry.mean * click_through_rate(entry.position, entry.brand);
    let mut entries: Vec<Entry> = (0..profile.anonymised).map(|number| hidden_entry(key, profile, number)).collect();
    let visible: f64 = shown.iter().map(clicks).sum();
    let unscaled: f64 = entries.iter().map(clicks).sum();
    let scale = profile.hidden / (1.0 - profile.hidden) * visible / unscaled;
    for entry in &mut entries {
        entry.mean *= scale;
    }
    entries
}

fn hidden_entry(key: u64, profile: &Profile, number: usize) -> Entry {
    let key = child(key, 1 << 32 | number as u64);
    let position = usual_position(key, false, 1.9, 0.8);
    let page = u16::try_from(index(unit(child(key, 3)).powf(1.5), profile.pages)).unwrap_or_default();
    Entry { key, text: String::new(), rank: 0, anonymised: true, brand: false, mean: 1.0, position, pages: vec![page] }
}

/// Stories of a feed. Every second page of the site has one story, and a story has one page.
fn stories(key: u64, profile: &Profile, impressions: f64) -> Vec<Entry> {
    let count = profile.pages / 2;
    let story = |(number, mean): (usize, f64)| Entry {
        key: child(key, number as u64),
        text: String::new(),
        rank: 0,
        anonymised: false,
        brand: false,
        mean,
        position: 1.0,
        pages: vec![u16::try_from(2 * number + 1).unwrap_or_default()],
    };
    weights(count, 0.6, impressions).into_iter().enumerate().map(story).collect()
}
