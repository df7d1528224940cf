//! The generated cells of one day in a compact form, and in an expanded form for tests.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::NaiveDate;

use super::axes::{COUNTRIES, DEVICES, SearchType, country_of, device_of};
use super::impression::{Impression, Serp};
use super::site::{Site, appearance_names};
use super::stream::{Day, Stream};

/// A SERP cell: one entry on one day, over all devices and countries. 16 bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredCell {
    pub entry: u32,
    pub impressions: u32,
    pub clicks: u32,
    /// Sum of topmost positions.
    pub position_sum: u32,
}

/// All cells of one stream on one day.
#[derive(Debug)]
pub(crate) struct DayCells {
    day: Option<Day>,
    pub cells: Vec<StoredCell>,
}

impl DayCells {
    /// Generates the cells of a day.
    pub fn draw(stream: &Stream, date: NaiveDate) -> Self {
        let Some(day) = stream.day(date) else { return Self { day: None, cells: Vec::new() } };
        let mut cells = Vec::new();
        for (index, number) in (0..stream.entries.len()).zip(0u32..) {
            let (impressions, key) = stream.draw(index, day);
            if impressions > 0 {
                let mut cell = StoredCell { entry: number, impressions, clicks: 0, position_sum: 0 };
                for seen in Serp::new(stream, index, key, day).impressions(impressions) {
                    cell.clicks += u32::from(seen.clicked);
                    cell.position_sum += seen.position;
                }
                cells.push(cell);
            }
        }
        cells.shrink_to_fit();
        Self { day: Some(day), cells }
    }

    /// The cell with its impressions, generated again.
    pub fn serp<'a>(&self, stream: &'a Stream, cell: &StoredCell) -> Option<Serp<'a>> {
        let (index, day) = (cell.entry as usize, self.day?);
        let key = super::rng::mix(stream.entries[index].key ^ day.key);
        Some(Serp::new(stream, index, key, day))
    }

    /// Estimated memory use in bytes.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.cells.capacity() * size_of::<StoredCell>()
    }
}

/// Final counts of one query, country and device on one day. Every response is a sum of cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// The query text. Empty if the query is anonymised or the search type has no queries.
    pub query: Arc<str>,
    /// True if the query is anonymised: the cell counts in totals but matches no condition on the query.
    pub anonymised: bool,
    /// Lower-case ISO alpha-3 code.
    pub country: &'static str,
    /// `DESKTOP`, `MOBILE` or `TABLET`.
    pub device: &'static str,
    /// Clicks on the property.
    pub clicks: u64,
    /// Impressions of the property.
    pub impressions: u64,
    /// Sum over impressions of the topmost position, each at least 1.
    pub position_sum: u64,
    /// The same counts by page.
    pub pages: Vec<PagePart>,
}

/// The counts of one page in a [`Cell`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PagePart {
    /// The page's URL.
    pub url: Arc<str>,
    /// Clicks on the page.
    pub clicks: u64,
    /// Impressions of the page.
    pub impressions: u64,
    /// Sum over impressions of the page's position.
    pub position_sum: u64,
    /// Its search appearances, upper case.
    pub appearances: Vec<&'static str>,
}

impl Site {
    /// The cells of one day of `search_type` in no particular order, as final data. Tests compute expected responses from
    /// them.
    pub fn cells(&self, search_type: SearchType, date: NaiveDate) -> impl Iterator<Item = Cell> + '_ {
        let stream = self.stream(search_type);
        let day = DayCells::draw(stream, date);
        let cells = day.cells.clone();
        cells.into_iter().flat_map(move |cell| self.by_slot(stream, &day, &cell))
    }

    fn by_slot(&self, stream: &Stream, day: &DayCells, stored: &StoredCell) -> Vec<Cell> {
        let Some(serp) = day.serp(stream, stored) else { return Vec::new() };
        let text: Arc<str> = serp.entry.text.as_str().into();
        let mut slots: BTreeMap<u8, (Cell, BTreeMap<u16, PagePart>)> = BTreeMap::new();
        for seen in serp.impressions(stored.impressions) {
            let (cell, pages) = slots
                .entry(seen.slot)
                .or_insert_with(|| (empty_cell(&text, serp.entry.anonymised, &seen), BTreeMap::new()));
            cell.clicks += u64::from(seen.clicked);
            cell.impressions += 1;
            cell.position_sum += u64::from(seen.position);
            serp.pages(&seen, |page, clicked, position| {
                let part = pages.entry(page).or_insert_with(|| self.empty_part(page));
                part.clicks += u64::from(clicked);
                part.impressions += 1;
                part.position_sum += u64::from(position);
            });
        }
        slots.into_values().map(|(cell, pages)| Cell { pages: pages.into_values().collect(), ..cell }).collect()
    }

    fn empty_part(&self, page: u16) -> PagePart {
        let page = &self.pages()[usize::from(page)];
        let appearances = appearance_names(page.flags);
        PagePart { url: page.url.as_str().into(), clicks: 0, impressions: 0, position_sum: 0, appearances }
    }
}

fn empty_cell(query: &Arc<str>, anonymised: bool, seen: &Impression) -> Cell {
    Cell {
        query: Arc::clone(query),
        anonymised,
        country: COUNTRIES[country_of(seen.slot)],
        device: DEVICES[device_of(seen.slot)],
        clicks: 0,
        impressions: 0,
        position_sum: 0,
        pages: Vec::new(),
    }
}
