//! A stream: the data of one site in one search type, as the queries (in feeds: the stories) that show it.

use std::sync::{Arc, LazyLock};

use chrono::{Datelike as _, NaiveDate};

use super::axes::{COUNTRIES, HOURS, SearchType, country_of, draw_table};
use super::blueprint::Blueprint;
use super::entry::Entry;
use super::profile::click_through_rate;
use super::rng::{bounded_normal, child, mix, poisson, unit};
use super::swing::swing;

/// All entries of one site and search type, with the tables that their impressions are drawn from.
#[derive(Debug)]
pub(crate) struct Stream {
    pub search_type: SearchType,
    pub entries: Vec<Entry>,
    /// Indices of entries by alphabetical rank.
    pub by_rank: Vec<u32>,
    key: u64,
    growth: f64,
    season: (f64, f64),
    /// The key of the changes of level, which all search types of a site share.
    swings: Option<u64>,
    weekdays: [f64; 7],
    first_day: Option<NaiveDate>,
    /// 65,536 slots (device and country) in proportion to their traffic.
    pub(super) slots: Arc<[u8]>,
    /// 1,024 hours in proportion to their traffic.
    pub(super) hours: &'static [u8],
}

static HOUR_TABLE: LazyLock<Vec<u8>> = LazyLock::new(|| draw_table(&HOURS, 1024));

/// The factors that the whole stream shares on one day.
#[derive(Debug, Clone, Copy)]
pub(super) struct Day {
    pub key: u64,
    pub factor: f64,
    number: i32,
}

impl Stream {
    /// The stream of `site`, whose key is `site_key`, in `search_type`. `first_day` is the day a young site went live.
    pub fn build(
        site_key: u64,
        site: &Blueprint,
        slots: Arc<[u8]>,
        first_day: Option<NaiveDate>,
        search_type: SearchType,
    ) -> Self {
        let key = child(site_key, search_type as u64);
        let mut entries = super::entries::build(key, site, search_type);
        let by_rank = rank(&mut entries);
        Self {
            search_type,
            entries,
            by_rank,
            key,
            growth: site.profile.growth,
            season: site.profile.season,
            swings: site.profile.swings.then(|| child(site_key, 0x5317)),
            weekdays: site.profile.weekdays,
            first_day,
            slots,
            hours: &HOUR_TABLE,
        }
    }

    /// The factors of `date`, or `None` if the site was not live yet.
    pub(super) fn day(&self, date: NaiveDate) -> Option<Day> {
        if self.first_day.is_some_and(|first| date < first) {
            return None;
        }
        let number = date.num_days_from_ce();
        let weekday = self.weekdays[date.weekday().num_days_from_monday() as usize];
        let (growth, season) = self.growth_and_season(date);
        let key = mix(u64::from(number.unsigned_abs()).wrapping_mul(super::rng::STEP));
        let noise = (0.05 * bounded_normal(child(self.key, key))).exp();
        Some(Day { key, factor: weekday * growth * season * noise, number })
    }

    /// Growth and season on `date`, without the weekday and the noise of a single day.
    pub fn growth_and_season(&self, date: NaiveDate) -> (f64, f64) {
        // 739_617 is 2026-01-01. Growth stops after four years in both directions, so that no date makes a site vanish or
        // explode.
        let days = f64::from(date.num_days_from_ce() - 739_617);
        let level = self.swings.map_or(1.0, |key| swing(key, date.num_days_from_ce()));
        let growth = level * (1.0 + self.growth).powf((days / 365.0).clamp(-4.0, 4.0));
        let (amplitude, rises) = self.season;
        let season = 1.0 + amplitude * (std::f64::consts::TAU * (days - rises) / 365.25).sin();
        (growth, season)
    }

    /// The share of each country in the impressions, in the order of `COUNTRIES`.
    pub fn country_shares(&self) -> [f64; COUNTRIES.len()] {
        let mut shares = [0.0; COUNTRIES.len()];
        for slot in self.slots.iter() {
            shares[country_of(*slot)] += 1.0 / self.slots.len() as f64;
        }
        shares
    }

    /// The number of impressions of entry number `index` on `day`, and the key of the cell.
    pub(super) fn draw(&self, index: usize, day: Day) -> (u32, u64) {
        let entry = &self.entries[index];
        let cell = mix(entry.key ^ day.key);
        let spike = if self.search_type.is_feed() { spike(entry, day.number) } else { 1.0 };
        (poisson(entry.mean * day.factor * spike, cell), cell)
    }

    /// The topmost position of `entry` on `day`: its usual position, a step every 170 days for some entries, and daily
    /// jitter.
    pub(super) fn position(entry: &Entry, cell: u64, day: Day) -> f64 {
        let update = child(entry.key, 0x5EED ^ u64::from(day.number.unsigned_abs() / 170));
        let step = match unit(update) {
            u if u < 0.15 => 0.8,
            u if u < 0.30 => 1.25,
            _ => 1.0,
        };
        (entry.position * step * (1.0 + 0.06 * bounded_normal(child(cell, 7)))).max(1.0)
    }

    /// The click-through rate of `entry` at `position`.
    pub(super) fn rate(&self, entry: &Entry, position: f64) -> f64 {
        match self.search_type {
            SearchType::Discover | SearchType::GoogleNews => 0.06,
            SearchType::Image => 0.25 * click_through_rate(position, entry.brand),
            _ => click_through_rate(position, entry.brand),
        }
    }
}

/// A story peaks about every 40 days, with a half-life of 1.5 days.
fn spike(entry: &Entry, day: i32) -> f64 {
    let shifted = day.unsigned_abs() + u32::try_from(entry.key % 40).unwrap_or_default();
    let (period, age) = (shifted / 40, shifted % 40);
    let height = unit(child(entry.key, u64::from(period)));
    // The square makes a few stories large and most small. The factor 15 keeps the mean over a period near one.
    15.0 * height * height * 0.5f64.powf(f64::from(age) / 1.5) * 0.8
}

fn rank(entries: &mut [Entry]) -> Vec<u32> {
    let mut order: Vec<u32> = (0u32..).take(entries.len()).collect();
    order.sort_by(|&a, &b| entries[a as usize].text.cmp(&entries[b as usize].text));
    for (rank, &index) in (0u32..).zip(&order) {
        entries[index as usize].rank = rank;
    }
    order
}
