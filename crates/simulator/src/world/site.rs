//! A site: its URL, pages, brand terms and one stream for each search type.

use std::sync::OnceLock;

use chrono::NaiveDate;

use super::axes::{APPEARANCES, SearchType};
use super::blueprint::Blueprint;
use super::rng::{child, named, unit};
use super::stream::Stream;

/// A page of a site.
#[derive(Debug)]
pub(crate) struct Page {
    pub url: String,
    /// Bits in the order of `APPEARANCES`.
    pub flags: u8,
    /// Position of the URL in alphabetical order.
    pub rank: u16,
}

/// One simulated property.
#[derive(Debug)]
pub struct Site {
    pub(crate) blueprint: &'static Blueprint,
    pub(crate) pages: Vec<Page>,
    /// Indices of pages by alphabetical rank.
    pub(crate) pages_by_rank: Vec<u16>,
    first_day: Option<NaiveDate>,
    seed: u64,
    streams: [OnceLock<Stream>; 6],
}

impl Site {
    pub(super) fn build(seed: u64, blueprint: &'static Blueprint, young_since: NaiveDate) -> Self {
        let mut pages = build_pages(child(named(seed, blueprint.url), 99), blueprint);
        let mut order: Vec<u16> = (0u16..).take(pages.len()).collect();
        order.sort_by(|&a, &b| pages[usize::from(a)].url.cmp(&pages[usize::from(b)].url));
        for (rank, &index) in (0u16..).zip(&order) {
            pages[usize::from(index)].rank = rank;
        }
        let first_day = blueprint.young.then_some(young_since);
        Self { blueprint, pages, pages_by_rank: order, first_day, seed, streams: [const { OnceLock::new() }; 6] }
    }

    /// The site's id: `sc-domain:HOST` or a URL prefix.
    #[must_use]
    pub fn url(&self) -> &'static str {
        self.blueprint.url
    }

    /// Its brand terms, lower case. A query that contains one is a brand query.
    #[must_use]
    pub fn brand_terms(&self) -> &'static [&'static str] {
        self.blueprint.brand_terms
    }

    /// The first path segments of its pages, for segments such as `/blog/`.
    pub fn sections(&self) -> impl Iterator<Item = &'static str> {
        self.blueprint.profile.sections.iter().map(|(section, _)| *section)
    }

    /// The first day with data, for a young site.
    #[must_use]
    pub fn first_day(&self) -> Option<NaiveDate> {
        self.first_day
    }

    pub(crate) fn stream(&self, search_type: SearchType) -> &Stream {
        self.streams[search_type as usize]
            .get_or_init(|| Stream::build(self.seed, self.blueprint, self.first_day, search_type))
    }
}

/// The names of the appearances whose bits are set.
pub(crate) fn appearance_names(flags: u8) -> Vec<&'static str> {
    APPEARANCES.iter().enumerate().filter(|(bit, _)| flags >> bit & 1 == 1).map(|(_, name)| *name).collect()
}

/// Page 0 is the home page. Page i is about subject i modulo the number of subjects, as the queries expect.
fn build_pages(key: u64, blueprint: &Blueprint) -> Vec<Page> {
    let page = |index: usize| {
        let key = child(key, index as u64);
        let path = if index == 0 { String::new() } else { page_path(unit(child(key, 40)), index, blueprint) };
        let url = format!("{}/{path}", blueprint.origin);
        Page { url, flags: super::impression::appearance_flags(key, blueprint.profile), rank: 0 }
    };
    (0..blueprint.profile.pages).map(page).collect()
}

fn page_path(fraction: f64, index: usize, blueprint: &Blueprint) -> String {
    let words = blueprint.vocabulary;
    let subject = words.subjects[index % words.subjects.len()].replace(' ', "-");
    let turn = index / words.subjects.len();
    let before = words.before[(turn * 7 + 1) % words.before.len()].replace(' ', "-");
    let mut below = 0.0;
    let section = blueprint.profile.sections.iter().find(|(_, share)| {
        below += share;
        fraction < below
    });
    let section = section.or(blueprint.profile.sections.first()).map_or("pages", |(section, _)| section);
    format!("{section}/{before}-{subject}-{index}").replace("/-", "/")
}
