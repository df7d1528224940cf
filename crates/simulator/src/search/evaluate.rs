//! Sums the selected impressions of a request by its grouping keys.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::filter::Wanted;
use super::freshness::{Now, View};
use super::request::FilterDimension;
use super::request::{Dimension, Request};
use crate::world::axes::{APPEARANCES, COUNTRIES, country_of, device_of};
use crate::world::cell::DayCells;
use crate::world::entry::Entry;
use crate::world::impression::{Impression, Serp};
use crate::world::stream::Stream;
use crate::world::{Site, World};

/// The integer sums of one row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub clicks: u64,
    pub impressions: u64,
    pub position_sum: u64,
}

/// Rows by packed key. A key holds one code per dimension, the first in the highest bits. Codes are in the order of their
/// values, so packed keys sort like lists of values.
pub(super) type Table = HashMap<u64, Tally, BuildHasherDefault<Spread>>;

/// Hashes packed keys, which differ in few bits, evenly over a hash table.
#[derive(Default)]
pub(super) struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = crate::world::rng::mix(self.0 ^ value);
    }
}

/// Bits of a dimension's code.
pub(super) const fn width(dimension: Dimension) -> u32 {
    match dimension {
        Dimension::Date => 10,
        Dimension::Hour => 15,
        Dimension::Query => 20,
        Dimension::Page => 16,
        Dimension::Country => 6,
        Dimension::Device => 2,
        Dimension::SearchAppearance => 3,
    }
}

/// The table of `request`. Empty if a pattern does not compile.
pub(super) fn evaluate(world: &World, site: &Site, request: &Request, now: Now) -> Table {
    let stream = site.stream(request.search_type);
    let Some(wanted) = Wanted::new(request, site, stream, request.groups(Dimension::Query)) else {
        return Table::default();
    };
    let mut sums = Sums { site, stream, request, wanted, by_page: request.by_page(), table: Table::default() };
    let plain = request.filters.is_empty() && !sums.by_page && request.dimensions.iter().all(|d| *d == Dimension::Date);
    for date in request.start.iter_days().take_while(|date| *date <= request.end.min(now.today)) {
        let number = (date - request.start).num_days().unsigned_abs();
        match now.view(date, request.data_state) {
            Some(View::Whole) if plain => {
                let [clicks, impressions, position_sum] = world.totals(site, request.search_type, date);
                if impressions > 0 {
                    sums.add(sums.key(number, None, None, 0), Tally { clicks, impressions, position_sum });
                }
            }
            Some(view) => sums.day(&world.day(site, request.search_type, date), number, view),
            None => {}
        }
    }
    sums.table
}

struct Sums<'a> {
    site: &'a Site,
    stream: &'a Stream,
    request: &'a Request,
    wanted: Wanted,
    by_page: bool,
    table: Table,
}

impl Sums<'_> {
    fn add(&mut self, key: u64, more: Tally) {
        let sum = self.table.entry(key).or_default();
        sum.clicks += more.clicks;
        sum.impressions += more.impressions;
        sum.position_sum += more.position_sum;
    }

    /// Adds a day, `number` days after the first one.
    fn day(&mut self, cells: &DayCells, number: u64, view: View) {
        let whole = view == View::Whole && !self.needs_impressions();
        for cell in &cells.cells {
            if !self.wanted.query(self.stream, cell.entry) {
                continue;
            }
            if whole {
                let key = self.key(number, Some(&self.stream.entries[cell.entry as usize]), None, 0);
                let (clicks, impressions) = (cell.clicks.into(), cell.impressions.into());
                self.add(key, Tally { clicks, impressions, position_sum: cell.position_sum.into() });
                continue;
            }
            let Some(serp) = cells.serp(self.stream, cell) else { continue };
            for seen in serp.impressions(cell.impressions) {
                if view.shows(&seen) && self.wanted.slots[usize::from(seen.slot)] {
                    self.impression(&serp, &seen, number);
                }
            }
        }
    }

    /// Returns whether this request needs single impressions, because cell sums are too coarse.
    fn needs_impressions(&self) -> bool {
        let cells_suffice = |dimension: &Dimension| matches!(dimension, Dimension::Date | Dimension::Query);
        self.by_page
            || !self.request.dimensions.iter().all(cells_suffice)
            || self.request.filters.iter().any(|filter| filter.dimension != FilterDimension::Query)
    }

    fn impression(&mut self, serp: &Serp<'_>, seen: &Impression, day: u64) {
        let entry = serp.entry;
        if self.by_page {
            serp.pages(seen, |page, clicked, position| self.part(entry, seen, day, page, clicked, position));
        } else if let Some(&lead) = entry.pages.first() {
            // By property, the topmost page stands for the result page, also for its search appearances.
            self.part(entry, seen, day, lead, seen.clicked, seen.position);
        }
    }

    fn part(&mut self, entry: &Entry, seen: &Impression, day: u64, page: u16, clicked: bool, position: u32) {
        if !self.wanted.pages[usize::from(page)] {
            return;
        }
        let tally = Tally { clicks: clicked.into(), impressions: 1, position_sum: position.into() };
        let page = &self.site.pages()[usize::from(page)];
        if self.request.groups(Dimension::SearchAppearance) {
            for bit in (0..APPEARANCES.len() as u64).filter(|bit| page.flags >> bit & 1 == 1) {
                self.add(bit, tally);
            }
            return;
        }
        self.add(self.key(day, Some(entry), Some(seen), page.rank), tally);
    }

    fn key(&self, day: u64, entry: Option<&Entry>, seen: Option<&Impression>, page_rank: u16) -> u64 {
        self.request.dimensions.iter().fold(0, |key, dimension| {
            let code = match dimension {
                Dimension::Date => day,
                Dimension::Hour => day * 24 + seen.map_or(0, |seen| seen.hour.into()),
                Dimension::Query => entry.map_or(0, |entry| entry.rank.into()),
                Dimension::Page => page_rank.into(),
                Dimension::Country => seen.map_or(0, |seen| country_of(seen.slot) as u64),
                Dimension::Device => seen.map_or(0, |seen| device_of(seen.slot) as u64),
                Dimension::SearchAppearance => 0,
            };
            key << width(*dimension) | code
        })
    }
}

const _: () = assert!(COUNTRIES.len() < 1 << width(Dimension::Country));
