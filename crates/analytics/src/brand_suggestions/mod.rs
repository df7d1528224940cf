//! Terms that may be brand names of a site: its name as people write it, and its navigational queries.
//!
//! **Name.** The label of the domain, with hyphens as spaces, and every way to write it with spaces that queries with at least 10
//! clicks use.
//!
//! **Navigational queries.** People who send such a query want this site and no other. It has at least 10 clicks, an average position
//! of at most 1.5, and a CTR of at least 1.5 times the one that the published curve expects there: brand queries are clicked about
//! twice as often as others. It also has a tie to the site: a run of its words is the name but for a slip of the pen (one letter
//! of five to eight, two of nine or more), and is the term; or at least half of its clicks land on the home page, and the whole
//! query is the term.
//!
//! A term that a keyword of the property finds adds nothing and is left out. So is one that another term finds, but the name, which
//! stays beside a shorter term that may find too much.

pub mod site_name;

use std::{cmp::Reverse, collections::BTreeMap};

use api::classifications::{BrandEvidence, BrandSuggestion, SuggestionReason};
use common::metrics::Metrics;

use super::{change::to_api, ctr_curve::Curve};

/// The minimum clicks of a query that suggests a term.
const MIN_CLICKS: f64 = 10.0;

/// The maximum average position of a navigational query.
const MAX_POSITION: f64 = 1.5;

/// The minimum CTR of a navigational query, as a multiple of the expected one.
const MIN_CTR_RATIO: f64 = 1.5;

/// The minimum share of a query's clicks that land on the home page, where this is its tie to the site.
const MIN_HOME_SHARE: f64 = 0.5;

/// The maximum number of words that may write the name.
const MAX_RUN: usize = 6;

/// The maximum number of navigational queries that are considered, by clicks.
const MAX_NAVIGATIONAL: usize = 200;

/// The maximum length of a keyword, in characters.
const LONGEST: usize = 100;

/// The maximum number of suggestions.
pub const MAX_SUGGESTIONS: usize = 20;

/// A query of the property.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Query<'q> {
    /// Its text.
    pub text: &'q str,
    /// Its metrics.
    pub metrics: Metrics,
    /// Its clicks on the home page.
    pub home_clicks: f64,
}

/// The words of a term or of a query: runs of letters and digits, in lower case.
type Words = Vec<String>;

/// A term that may be suggested.
struct Candidate {
    words: Words,
    /// The term as it is written.
    text: String,
    reason: SuggestionReason,
}

/// A query with its words.
struct Read<'q> {
    query: &'q Query<'q>,
    words: Words,
}

/// Returns the terms to suggest, the most clicks first. `name` is the site's, `kept` are the keywords of the property,
/// and `queries` are ordered by clicks.
#[must_use]
pub fn suggestions(name: Option<&str>, kept: &[&str], queries: &[Query<'_>]) -> Vec<BrandSuggestion> {
    let read: Vec<Read<'_>> = queries.iter().map(|query| Read { query, words: words(query.text) }).collect();
    let name = name.map(words).unwrap_or_default();
    let mut known: Vec<Words> = kept.iter().map(|keyword| words(keyword)).collect();
    let mut chosen: Vec<Candidate> = Vec::new();
    let mut choose = |candidates: Vec<Candidate>| {
        for candidate in candidates {
            if !known.iter().any(|term| finds(term, &candidate.words)) {
                known.push(candidate.words.clone());
                chosen.push(candidate);
            }
        }
    };
    choose(spellings(&name, &read));
    choose(navigational(&name.concat(), &read));
    let mut found: Vec<BrandSuggestion> = chosen
        .into_iter()
        .map(|Candidate { words, text, reason }| BrandSuggestion {
            keyword: text,
            reason,
            evidence: evidence(&words, &read),
        })
        .collect();
    let clicks = |suggestion: &BrandSuggestion| suggestion.evidence.as_ref().map_or(0, |found| found.metrics.clicks);
    found.sort_by(|a, b| clicks(b).cmp(&clicks(a)).then_with(|| a.keyword.cmp(&b.keyword)));
    found.truncate(MAX_SUGGESTIONS);
    found
}

/// Splits a text into words, as the expression of branded keywords does.
#[must_use]
pub fn words(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    parts.map(str::to_lowercase).collect()
}

/// Returns whether a query contains a term between word boundaries, as the expression of branded keywords finds it. A gap within the
/// term is optional in the query.
#[must_use]
pub fn finds(term: &[String], query: &[String]) -> bool {
    let starts = |from: usize| {
        let mut left = term;
        for word in &query[from..] {
            let Some(taken) = (1..=left.len()).find(|taken| left[..*taken].concat() == *word) else { return false };
            left = &left[taken..];
            if left.is_empty() {
                return true;
            }
        }
        false
    };
    (0..query.len()).any(starts)
}

/// The spellings of the name, the most words first: such a spelling finds spellings with fewer.
fn spellings(name: &[String], queries: &[Read<'_>]) -> Vec<Candidate> {
    if name.is_empty() {
        return Vec::new();
    }
    let joined = name.concat();
    let mut clicks: BTreeMap<&[String], f64> = BTreeMap::new();
    for Read { query, words } in queries {
        if let Some(run) = runs(words).find(|run| run.concat() == joined) {
            *clicks.entry(run).or_default() += query.metrics.clicks;
        }
    }
    let mut found: Vec<(&[String], f64)> = clicks.into_iter().filter(|(_, clicks)| *clicks >= MIN_CLICKS).collect();
    if !found.iter().any(|(words, _)| *words == name) {
        found.push((name, 0.0));
    }
    found.sort_by(|(a, clicks), (b, others)| b.len().cmp(&a.len()).then(others.total_cmp(clicks)));
    let candidate = |(words, _): (&[String], f64)| Candidate {
        text: words.join(" "),
        words: words.to_vec(),
        reason: SuggestionReason::SiteName,
    };
    found.into_iter().map(candidate).collect()
}

/// The runs of neighbouring words that may write the name.
fn runs(words: &[String]) -> impl Iterator<Item = &[String]> {
    let ends = |from: usize| from + 1..=words.len().min(from + MAX_RUN);
    (0..words.len()).flat_map(move |from| ends(from).map(move |to| &words[from..to]))
}

/// The terms of navigational queries, the shortest first: a short term finds the queries that contain it.
fn navigational(name: &str, queries: &[Read<'_>]) -> Vec<Candidate> {
    let curve = Curve::published();
    let is_wanted = |read: &&Read<'_>| is_navigational(&read.query.metrics, &curve);
    let mut found: Vec<Candidate> =
        queries.iter().filter(is_wanted).filter_map(|read| tied(name, read)).take(MAX_NAVIGATIONAL).collect();
    // A stable sort keeps the order of clicks among terms of one length. A term with more words finds terms with fewer.
    found.sort_by_key(|candidate| (candidate.words.concat().chars().count(), Reverse(candidate.words.len())));
    found
}

fn is_navigational(metrics: &Metrics, curve: &Curve) -> bool {
    let (Some(position), Some(ctr)) = (metrics.position(), metrics.ctr()) else { return false };
    metrics.clicks >= MIN_CLICKS && position <= MAX_POSITION && ctr >= MIN_CTR_RATIO * curve.at(position)
}

/// The term of a navigational query that has a tie to the site.
fn tied(name: &str, read: &Read<'_>) -> Option<Candidate> {
    let slips = match name.chars().count() {
        0..5 => 0,
        5..9 => 1,
        _ => 2,
    };
    let resembling = runs(&read.words).find(|run| slips > 0 && differ_by_at_most(slips, &run.concat(), name));
    if let Some(run) = resembling {
        let reason = SuggestionReason::ResemblesSiteName;
        return Some(Candidate { text: run.join(" "), words: run.to_vec(), reason });
    }
    let lands = read.query.home_clicks >= MIN_HOME_SHARE * read.query.metrics.clicks;
    let text = read.query.text.trim();
    let fits = text.chars().count() <= LONGEST && !text.contains(char::is_control) && !read.words.is_empty();
    (lands && fits).then(|| Candidate {
        text: text.to_owned(),
        words: read.words.clone(),
        reason: SuggestionReason::LandsOnHomePage,
    })
}

/// Returns whether at most `most` letters were added, left out or exchanged between two texts (Levenshtein distance).
fn differ_by_at_most(most: usize, a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > most {
        return false;
    }
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (row, from) in a.iter().enumerate() {
        let mut next = vec![row + 1];
        for (column, to) in b.iter().enumerate() {
            let exchanged = last[column] + usize::from(from != to);
            next.push(exchanged.min(last[column + 1] + 1).min(next[column] + 1));
        }
        last = next;
    }
    last.last().is_some_and(|distance| *distance <= most)
}

/// The queries that contain a term, as evidence.
fn evidence(term: &[String], queries: &[Read<'_>]) -> Option<BrandEvidence> {
    let found: Vec<&Query<'_>> =
        queries.iter().filter(|read| finds(term, &read.words)).map(|read| read.query).collect();
    let example = found.first()?;
    let metrics: Metrics = found.iter().map(|query| query.metrics).sum();
    let home: f64 = found.iter().map(|query| query.home_clicks).sum();
    Some(BrandEvidence {
        metrics: to_api(&metrics),
        expected_ctr: metrics.position().map(|position| Curve::published().at(position)),
        // The two readings may be of different times.
        home_page_share: (metrics.clicks > 0.0).then(|| (home / metrics.clicks).min(1.0)),
        queries: found.len() as u64,
        example_query: example.text.to_owned(),
    })
}

#[cfg(test)]
mod tests;
