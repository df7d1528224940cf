//! The simulated searchers and sites: a pure function of the seed and the date.

pub(crate) mod axes;
mod blueprint;
pub(crate) mod cell;
mod entries;
pub(crate) mod entry;
pub(crate) mod impression;
mod memo;
mod names;
mod network;
pub(crate) mod profile;
pub(crate) mod rng;
pub(crate) mod site;
mod sites;
mod slots;
pub(crate) mod stream;
mod swing;
mod vocabulary;

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{Datelike as _, Months, NaiveDate};

pub use axes::SearchType;
pub use blueprint::Standing;
pub use cell::{Cell, PagePart};
pub use site::Site;

use blueprint::Blueprint;
use cell::DayCells;
use memo::{DayTotals, Memo};
use slots::SlotTables;

/// The most sites that the account `network` can have.
pub(crate) const MAX_SITES: u32 = 10_000;

/// All sites, with a cache of recently generated days.
#[derive(Debug)]
pub struct World {
    sites: Vec<Site>,
    by_url: HashMap<String, usize>,
    /// The number of sites that every world has.
    fixed: usize,
    memo: Memo,
}

impl World {
    /// The world of `seed`. `today` only decides when the young site went live: the first of the month seven months ago.
    #[must_use]
    pub fn new(seed: u64, today: NaiveDate) -> Self {
        Self::with_sites(seed, today, 0)
    }

    /// Like [`Self::new`], with `sites` more, at most 10,000: those of the account `network`. Site number k of them is the same for
    /// every larger number of sites.
    #[must_use]
    pub fn with_sites(seed: u64, today: NaiveDate, sites: u32) -> Self {
        let month = today.with_day(1).unwrap_or(today);
        let young_since = month.checked_sub_months(Months::new(7)).unwrap_or(month);
        let drawn = (1..=sites.min(MAX_SITES)).map(|rank| network::blueprint(seed, rank));
        let mut tables = SlotTables::default();
        let build = |(number, blueprint): (u32, Blueprint)| {
            let slots = tables.of(&blueprint);
            Site::new(seed, number, blueprint, slots, young_since)
        };
        let sites: Vec<Site> = (0..).zip(sites::all().chain(drawn)).map(build).collect();
        let by_url = sites.iter().enumerate().map(|(index, site)| (site.url().to_owned(), index)).collect();
        Self { sites, by_url, fixed: sites::all().count(), memo: Memo::default() }
    }

    /// The site with exactly this id.
    #[must_use]
    pub fn site(&self, url: &str) -> Option<&Site> {
        self.by_url.get(url).map(|index| &self.sites[*index])
    }

    /// All sites.
    pub fn sites(&self) -> impl Iterator<Item = &Site> {
        self.sites.iter()
    }

    /// The sites of the account `network`, most traffic first. The traffic of site number k is about proportional to 1/k.
    pub fn network(&self) -> impl Iterator<Item = &Site> {
        self.sites[self.fixed..].iter()
    }

    /// Bytes of generated days in memory, at most about 64 MiB.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.memo.bytes()
    }

    pub(crate) fn day(&self, site: &Site, search_type: SearchType, date: NaiveDate) -> Arc<DayCells> {
        self.memo.day((stream_number(site, search_type), date), || DayCells::draw(site.stream(search_type), date))
    }

    pub(crate) fn totals(&self, site: &Site, search_type: SearchType, date: NaiveDate) -> DayTotals {
        self.memo.totals((stream_number(site, search_type), date), || {
            self.day(site, search_type, date).cells.iter().fold([0; 3], |sum, cell| {
                [
                    sum[0] + u64::from(cell.clicks),
                    sum[1] + u64::from(cell.impressions),
                    sum[2] + u64::from(cell.position_sum),
                ]
            })
        })
    }
}

#[expect(clippy::cast_possible_truncation, reason = "there are six search types")]
fn stream_number(site: &Site, search_type: SearchType) -> u32 {
    site.number * SearchType::ALL.len() as u32 + search_type as u32
}
