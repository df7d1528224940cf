//! A site: its URL, pages, brand terms and one stream for each search type.

use std::sync::{Arc, OnceLock};

use chrono::NaiveDate;

use super::axes::{APPEARANCES, SearchType};
use super::blueprint::{Blueprint, Standing};
use super::rng::{child, unit};
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

/// The pages of a site.
#[derive(Debug)]
pub(crate) struct Pages {
    pub all: Vec<Page>,
    /// Indices of pages by alphabetical rank.
    pub by_rank: Vec<u16>,
}

/// One simulated property. Its pages and streams are generated on first use.
#[derive(Debug)]
pub struct Site {
    pub(crate) blueprint: Blueprint,
    /// Its number in the world.
    pub(super) number: u32,
    first_day: Option<NaiveDate>,
    key: u64,
    slots: Arc<[u8]>,
    pages: OnceLock<Pages>,
    streams: [OnceLock<Stream>; 6],
}

impl Site {
    pub(super) fn new(seed: u64, number: u32, blueprint: Blueprint, slots: Arc<[u8]>, young_since: NaiveDate) -> Self {
        let first_day = blueprint.young.then_some(young_since);
        let (key, streams) = (blueprint.key(seed), [const { OnceLock::new() }; 6]);
        Self { blueprint, number, first_day, key, slots, pages: OnceLock::new(), streams }
    }

    /// The site's id: `sc-domain:HOST` or a URL prefix.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.blueprint.url
    }

    /// Its brand terms, lower case. A query that contains one is a brand query.
    #[must_use]
    pub fn brand_terms(&self) -> &[String] {
        &self.blueprint.brand_terms
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

    /// The id of the domain property that covers this site: each cell of this site is one of that, with the same counts.
    #[must_use]
    pub fn covered_by(&self) -> Option<&str> {
        self.blueprint.covered_by.as_deref()
    }

    /// The rights at the site of the account that lists it.
    #[must_use]
    pub fn standing(&self) -> Standing {
        self.blueprint.standing
    }

    /// The pages. A covered site has the numbers of all pages of the site that covers it, and shows those below its own URL.
    pub(crate) fn pages(&self) -> &[Page] {
        &self.sorted_pages().all
    }

    /// The page at an alphabetical rank.
    pub(crate) fn page_at(&self, rank: usize) -> &Page {
        let pages = self.sorted_pages();
        &pages.all[usize::from(pages.by_rank[rank])]
    }

    fn sorted_pages(&self) -> &Pages {
        self.pages.get_or_init(|| Pages::build(child(self.key, 99), &self.blueprint))
    }

    pub(crate) fn stream(&self, search_type: SearchType) -> &Stream {
        self.streams[search_type as usize].get_or_init(|| {
            Stream::build(self.key, &self.blueprint, Arc::clone(&self.slots), self.first_day, search_type)
        })
    }
}

/// The names of the appearances whose bits are set.
pub(crate) fn appearance_names(flags: u8) -> Vec<&'static str> {
    APPEARANCES.iter().enumerate().filter(|(bit, _)| flags >> bit & 1 == 1).map(|(_, name)| *name).collect()
}

impl Pages {
    /// Page 0 is the home page. Page i is about subject i modulo the number of subjects, as the queries expect.
    fn build(key: u64, blueprint: &Blueprint) -> Self {
        let page = |index: u16| {
            let key = child(key, index.into());
            let url = page_url(unit(child(key, 40)), index, blueprint);
            Page { url, flags: super::impression::appearance_flags(key, &blueprint.profile), rank: 0 }
        };
        let mut all: Vec<Page> = (0u16..).take(blueprint.profile.pages).map(page).collect();
        let mut by_rank: Vec<u16> = (0u16..).take(all.len()).collect();
        by_rank.sort_by(|&a, &b| all[usize::from(a)].url.cmp(&all[usize::from(b)].url));
        for (rank, &index) in (0u16..).zip(&by_rank) {
            all[usize::from(index)].rank = rank;
        }
        Self { all, by_rank }
    }
}

fn page_url(fraction: f64, index: u16, blueprint: &Blueprint) -> String {
    let (words, number) = (blueprint.vocabulary, usize::from(index));
    let subject = words.subjects[number % words.subjects.len()].replace(' ', "-");
    let turn = number / words.subjects.len();
    let before = words.before[(turn * 7 + 1) % words.before.len()].replace(' ', "-");
    let mut below = 0.0;
    let section = blueprint.profile.sections.iter().find(|(_, share)| {
        below += share;
        fraction < below
    });
    let section = section.or(blueprint.profile.sections.first()).map_or("pages", |(section, _)| section);
    let name = if before.is_empty() { format!("{subject}-{index}") } else { format!("{before}-{subject}-{index}") };
    blueprint.page_url(index, section, &name)
}
