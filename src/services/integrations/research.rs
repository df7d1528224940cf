//! Keyword research: the provider's figures beside the property's own performance.

use std::collections::{HashMap, HashSet};

use analytics::change::to_api;
use api::integrations::{
    CountrySource, DifficultyScale, KeywordResearch, KeywordResearchAnswer, KeywordResearchMeta, KeywordResearchParams,
    KeywordRow, MAX_ROWS, MonthlyVolume,
};
use chrono::{Datelike as _, Months, NaiveDate};
use common::metrics::Metrics;
use search_engine::Reading;
use seo::{Amount, Country, Findings, Keyword, Locale, Provider, Question};

use super::{Answers, Integrations};
use crate::{
    error::Error,
    services::{
        access::ReadableProperty,
        analyses::own_queries::{own_countries, own_queries},
        users::Member,
    },
};

/// The number of months of a trend.
const TREND_MONTHS: u32 = 12;

impl Integrations {
    /// Asks the person's provider about seeds or about the property's own top queries. Search data is read first, because it costs
    /// nothing.
    pub async fn keyword_research(
        &self,
        member: &Member,
        access: &ReadableProperty,
        params: &KeywordResearchParams,
    ) -> Result<KeywordResearchAnswer, Error> {
        let asked_country = params.country.as_ref().map(|code| known_country(&code.0)).transpose()?;
        let opened = self.open(member, params.provider).await?;
        let provider = self.paid_answers.provider(opened.provider).clone();
        let (country, country_from) = match asked_country {
            Some(country) => (country, CountrySource::Parameter),
            None => largest(&own_countries(&self.search, access).await?),
        };
        let language = provider.has_languages().then(|| params.language.0.clone());
        let place = Locale { country, language: language.clone() };
        let own = own_queries(&self.search, access, country.alpha3).await?;
        let limit = params.limit.0 as usize;
        let (asked, questions) = if let Some(seeds) = &params.keywords {
            (Vec::new(), ideas(&*provider, &seeds.0, &place, limit))
        } else {
            let today = self.search.clock.now().date_naive();
            let trend = (params.trend && provider.charges_trend()).then(|| months(today));
            let asked = top_queries(&*provider, &own.reading, limit);
            let questions = figures(&*provider, &asked, &place, trend);
            (asked, questions)
        };
        let answers = self.ask(&opened, questions).await?;
        let rows = rows(&answers, &asked, &own.reading, limit);
        let ideas = params.keywords.as_ref().and_then(|_| Reachable::of(&answers));
        Ok(KeywordResearchAnswer {
            meta: KeywordResearchMeta {
                answer: self.meta(member, &opened, &answers, (own.reading.read_at, &params.ignored)).await?,
                country_from,
            },
            data: KeywordResearch {
                rows_matched: ideas.map(|ideas| ideas.rows),
                rows_ceiling: ideas.map(|_| MAX_ROWS.into()),
                total_rows_capped: ideas.map(|ideas| ideas.capped),
                has_more: ideas.map(|ideas| ideas.go_on_after(limit as u64)),
                keywords: params.keywords.as_ref().map(|seeds| seeds.0.clone()),
                country: country.alpha3.to_owned(),
                location_code: provider.location_code(country),
                language,
                window: own.window,
                difficulty_scale: DifficultyScale::Hundred,
                rows,
            },
        })
    }
}

fn known_country(code: &str) -> Result<Country, Error> {
    let country = Country::of(code);
    country.ok_or_else(|| Error::invalid("country: must be the ISO 3166-1 alpha-3 code of a country, such as usa"))
}

/// Returns the first of a property's countries that providers know. The search engine has a code for unknown countries, too.
fn largest(own: &[String]) -> (Country, CountrySource) {
    let largest = own.iter().find_map(|code| Country::of(code));
    largest.map_or((Country::USA, CountrySource::Default), |country| (country, CountrySource::LargestOfProperty))
}

/// A keyword as both sides write it: lower case, with single spaces.
fn normal(keyword: &str) -> String {
    keyword.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The property's queries with most clicks that the provider can be asked about, each once.
fn top_queries(provider: &dyn Provider, own: &Reading, limit: usize) -> Vec<String> {
    let mut seen = HashSet::new();
    let queries = own.rows.iter().map(|row| normal(row.key()));
    queries.filter(|query| provider.takes(query) && seen.insert(query.clone())).take(limit).collect()
}

fn figures(
    provider: &dyn Provider,
    keywords: &[String],
    place: &Locale,
    trend: Option<(NaiveDate, NaiveDate)>,
) -> Vec<Question> {
    let question = |keywords: &[String]| Question::Figures { keywords: keywords.to_vec(), place: place.clone(), trend };
    keywords.chunks(provider.max_keywords()).map(question).collect()
}

/// The questions about seeds. They share the rows evenly. The seeds are sorted, so that another order asks nothing new.
fn ideas(provider: &dyn Provider, seeds: &[String], place: &Locale, limit: usize) -> Vec<Question> {
    let mut seeds: Vec<String> = seeds.iter().map(|seed| normal(seed)).collect();
    seeds.sort_unstable();
    let question = |part: &[String]| Question::Ideas {
        seeds: part.to_vec(),
        place: place.clone(),
        limit: (limit * part.len()).div_ceil(seeds.len()),
    };
    seeds.chunks(provider.max_seeds()).map(question).collect()
}

/// The first days of the first and of the last whole month of a trend.
fn months(today: NaiveDate) -> (NaiveDate, NaiveDate) {
    let this = today.with_day(1).unwrap_or(today);
    (this - Months::new(TREND_MONTHS), this - Months::new(1))
}

fn keywords(answers: &Answers) -> impl Iterator<Item = &Keyword> {
    answers.given.iter().flat_map(|given| match &given.reading.found {
        Findings::Keywords(list) => list.rows.as_slice(),
        _ => &[],
    })
}

/// The ideas that a provider knows, as far as they can be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reachable {
    rows: u64,
    /// The rows that were read.
    read: u64,
    /// True if the provider knows more than can be had.
    capped: bool,
}

impl Reachable {
    /// `None` if the provider does not say how many ideas it knows.
    fn of(answers: &Answers) -> Option<Self> {
        let lists = answers.given.iter().map(|given| match &given.reading.found {
            Findings::Keywords(list) => list.known.map(|known| (known, list.rows.len() as u64)),
            _ => None,
        });
        lists.collect::<Option<Vec<_>>>().map(|lists| Self::among(&lists))
    }

    /// `lists` has for each question the ideas that the provider knows and those that were read. The questions share the largest
    /// number of rows evenly.
    fn among(lists: &[(u64, u64)]) -> Self {
        let share = u64::from(MAX_ROWS).div_ceil(lists.len().max(1) as u64);
        Self {
            rows: lists.iter().map(|(known, _)| share.min(*known)).sum::<u64>().min(MAX_ROWS.into()),
            read: lists.iter().map(|(_, read)| read).sum(),
            capped: lists.iter().any(|(known, _)| *known > share),
        }
    }

    /// Returns whether an answer with a larger limit than `limit` has more rows.
    fn go_on_after(self, limit: u64) -> bool {
        limit < MAX_ROWS.into() && (self.read < self.rows || self.read > limit)
    }
}

/// The rows of an answer: every keyword that was `asked` about, known or not, or the ideas that were found.
fn rows(answers: &Answers, asked: &[String], own: &Reading, limit: usize) -> Vec<KeywordRow> {
    let mut found: HashMap<String, &Keyword> = HashMap::new();
    for keyword in keywords(answers) {
        found.entry(normal(&keyword.keyword)).or_insert(keyword);
    }
    let nothing = Keyword::default();
    let mut chosen: Vec<(&str, &Keyword)> = if asked.is_empty() {
        found.iter().map(|(name, keyword)| (name.as_str(), *keyword)).collect()
    } else {
        asked.iter().map(|name| (name.as_str(), found.get(name).copied().unwrap_or(&nothing))).collect()
    };
    chosen.sort_by(|(a, left), (b, right)| right.volume.cmp(&left.volume).then_with(|| a.cmp(b)));
    chosen.truncate(limit);
    let names: HashSet<&str> = chosen.iter().map(|(name, _)| *name).collect();
    let performance = performance(own, &names);
    chosen.into_iter().map(|(name, keyword)| row(name, keyword, performance.get(name))).collect()
}

/// The property's own metrics for these keywords.
fn performance(own: &Reading, names: &HashSet<&str>) -> HashMap<String, Metrics> {
    let mut found: HashMap<String, Metrics> = HashMap::new();
    for row in &own.rows {
        let name = normal(row.key());
        if names.contains(name.as_str()) {
            let sum = found.get(&name).map_or(row.metrics, |before| [*before, row.metrics].into_iter().sum());
            found.insert(name, sum);
        }
    }
    found
}

fn row(name: &str, keyword: &Keyword, own: Option<&Metrics>) -> KeywordRow {
    let month = |(month, volume): &(NaiveDate, u64)| MonthlyVolume {
        month: month.format("%Y-%m").to_string(),
        volume: *volume,
    };
    KeywordRow {
        keyword: name.to_owned(),
        volume: keyword.volume,
        cpc_usd: keyword.cpc.map(Amount::to_f64),
        competition: keyword.competition,
        difficulty: keyword.difficulty,
        intents: keyword.intents.clone(),
        trend: keyword.trend.iter().map(month).collect(),
        performance: own.map(to_api),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_country_is_one_that_providers_know() {
        for (own, expected, source) in [
            (&["aus", "usa"][..], "aus", CountrySource::LargestOfProperty),
            (&["zzz", "gbr", "usa"], "gbr", CountrySource::LargestOfProperty),
            (&["zzz"], "usa", CountrySource::Default),
            (&[], "usa", CountrySource::Default),
        ] {
            let own: Vec<String> = own.iter().map(|code| (*code).to_owned()).collect();
            let (country, from) = largest(&own);
            assert_eq!((country.alpha3, from), (expected, source), "{own:?}");
        }
    }

    #[test]
    fn no_more_ideas_are_said_to_be_there_than_can_be_had() {
        for (lists, limit, rows, capped, more) in [
            (&[(809, 101)][..], 100, 700, true, true),
            (&[(809, 701)], 700, 700, true, false),
            (&[(300, 100)], 100, 300, false, true),
            (&[(300, 300)], 300, 300, false, false),
            (&[(6, 6)], 5, 6, false, true),
            (&[(600, 50), (10, 10)], 100, 360, true, true),
            (&[(600, 350), (10, 10)], 700, 360, true, false),
            (&[(0, 0)], 100, 0, false, false),
            (&[], 100, 0, false, false),
        ] {
            let ideas = Reachable::among(lists);
            assert_eq!((ideas.rows, ideas.capped, ideas.go_on_after(limit)), (rows, capped, more), "{lists:?}");
        }
    }
}
