//! Impressions: the events that a cell is made of. Every breakdown selects from the same events, so all breakdowns agree.

use super::axes::device_of;
use super::entry::Entry;
use super::profile::Profile;
use super::rng::{STEP, child, mix};
use super::stream::{Day, Stream};

/// One result page seen by one searcher.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Impression {
    /// Device and country.
    pub slot: u8,
    /// Hour of the Pacific day.
    pub hour: u8,
    /// Arrival time in the reports, 0 to 4,095. Low values are already included in incomplete data.
    pub arrival: u16,
    /// True if a result of the property was clicked.
    pub clicked: bool,
    /// Topmost position of the property, from 1.
    pub position: u32,
    hash: u64,
}

/// The values that all impressions of one entry on one day share: the SERP cell.
#[derive(Debug)]
pub(crate) struct Serp<'a> {
    stream: &'a Stream,
    /// The query or story.
    pub entry: &'a Entry,
    key: u64,
    click_threshold: u64,
    /// For each device: whole positions below position 1, and the probability (of 1,024) of one more.
    depth: [(u32, u64); 3],
}

/// Desktop searchers scroll further down than mobile ones.
const DEPTH_BY_DEVICE: [f64; 3] = [1.4, 0.75, 0.7];

impl<'a> Serp<'a> {
    /// The cell of entry number `index` on `day`. `cell` is the cell's random key.
    pub(super) fn new(stream: &'a Stream, index: usize, cell: u64, day: Day) -> Self {
        let entry = &stream.entries[index];
        let position = Stream::position(entry, cell, day);
        let click_threshold = u64::from(super::rng::count(stream.rate(entry, position) * 65_536.0));
        let depth = DEPTH_BY_DEVICE.map(|factor| {
            let excess = ((position - 1.0) * factor * 1024.0).min(120.0 * 1024.0);
            let excess = super::rng::count(excess);
            (excess / 1024, u64::from(excess % 1024))
        });
        Self { stream, entry, key: child(cell, 1), click_threshold, depth }
    }

    /// The first `count` impressions of the cell.
    #[inline]
    pub fn impressions(&self, count: u32) -> impl Iterator<Item = Impression> {
        (1..=u64::from(count)).map(|number| self.impression(number))
    }

    #[inline]
    fn impression(&self, number: u64) -> Impression {
        let hash = mix(self.key.wrapping_add(number.wrapping_mul(STEP)));
        let slot = self.stream.slots[(hash & 0xFFFF) as usize];
        let (whole, part) = self.depth[device_of(slot)];
        Impression {
            slot,
            hour: self.stream.hours[(hash >> 16 & 0x3FF) as usize],
            arrival: (hash >> 42 & 0xFFF) as u16,
            clicked: (hash >> 26 & 0xFFFF) < self.click_threshold,
            position: 1 + whole + u32::from(hash >> 54 < part),
            hash,
        }
    }

    /// Calls `visit(page, clicked, position)` for every page of the property on the result page. The lead page is always
    /// shown, at the topmost position. One click in ten falls on another shown page. Three of ten such searchers come back
    /// and click the lead page as well, so page clicks exceed property clicks.
    #[inline]
    pub fn pages(&self, seen: &Impression, mut visit: impl FnMut(u16, bool, u32)) {
        let shown_below = if self.entry.brand { 218 } else { 128 };
        let mut lead_clicked = seen.clicked;
        let mut diverted = false;
        let bits = mix(seen.hash ^ STEP);
        for (place, &page) in (1u32..).zip(self.entry.pages.iter().skip(1)) {
            if bits >> (8 * place) & 0xFF >= shown_below {
                continue;
            }
            let here = seen.clicked && !diverted && (bits >> (8 * place + 24) & 0xFF) < 26;
            if here {
                diverted = true;
                lead_clicked = bits & 0xFF < 77;
            }
            visit(page, here, seen.position + 2 * place);
        }
        if let Some(&lead) = self.entry.pages.first() {
            visit(lead, lead_clicked, seen.position);
        }
    }
}

/// Search appearances of page `index` of a site, as bits in the order of `APPEARANCES`.
pub(super) fn appearance_flags(key: u64, profile: &Profile) -> u8 {
    let has = |(bit, share): (usize, &f64)| {
        let drawn = super::rng::unit(child(key, bit as u64)) < *share;
        u8::from(drawn) << bit
    };
    profile.appearances.iter().enumerate().map(has).fold(0, |flags, flag| flags | flag)
}
