//! The simulated searchers and sites: a pure function of the seed and the date.

pub(crate) mod axes;
mod blueprint;
pub(crate) mod cell;
mod entries;
pub(crate) mod entry;
pub(crate) mod impression;
mod memo;
pub(crate) mod profile;
pub(crate) mod rng;
pub(crate) mod site;
mod sites;
pub(crate) mod stream;
mod vocabulary;

use std::sync::Arc;

use chrono::{Datelike as _, Months, NaiveDate};

pub use axes::SearchType;
pub use cell::{Cell, PagePart};
pub use site::Site;

use cell::DayCells;
use memo::{DayTotals, Memo};

/// All sites, with a cache of recently generated days.
#[derive(Debug)]
pub struct World {
    sites: Vec<Site>,
    memo: Memo,
}

impl World {
    /// The world of `seed`. `today` only decides when the young site went live: the first of the month seven months ago.
    #[must_use]
    pub fn new(seed: u64, today: NaiveDate) -> Self {
        let month = today.with_day(1).unwrap_or(today);
        let young_since = month.checked_sub_months(Months::new(7)).unwrap_or(month);
        let sites = sites::ALL.iter().map(|blueprint| Site::build(seed, blueprint, young_since)).collect();
        Self { sites, memo: Memo::default() }
    }

    /// The site with exactly this id.
    #[must_use]
    pub fn site(&self, url: &str) -> Option<&Site> {
        self.sites.iter().find(|site| site.url() == url)
    }

    /// All sites.
    pub fn sites(&self) -> impl Iterator<Item = &Site> {
        self.sites.iter()
    }

    /// Bytes of generated data in memory, at most about 64 MiB.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.memo.bytes()
    }

    pub(crate) fn day(&self, site: &Site, search_type: SearchType, date: NaiveDate) -> Arc<DayCells> {
        self.memo.day((self.stream_number(site, search_type), date), || DayCells::draw(site.stream(search_type), date))
    }

    pub(crate) fn totals(&self, site: &Site, search_type: SearchType, date: NaiveDate) -> DayTotals {
        self.memo.totals((self.stream_number(site, search_type), date), || {
            self.day(site, search_type, date).cells.iter().fold([0; 3], |sum, cell| {
                [
                    sum[0] + u64::from(cell.clicks),
                    sum[1] + u64::from(cell.impressions),
                    sum[2] + u64::from(cell.position_sum),
                ]
            })
        })
    }

    fn stream_number(&self, site: &Site, search_type: SearchType) -> u16 {
        let index = self.sites.iter().position(|other| std::ptr::eq(other, site)).unwrap_or(self.sites.len());
        u16::try_from(index * SearchType::ALL.len() + search_type as usize).unwrap_or(u16::MAX)
    }
}
