//! The figures of one keyword in one place.

use chrono::{Datelike as _, Months, NaiveDate};

use super::{Known, Research};
use crate::providers::countries::Region;
use crate::world::axes::SearchType;
use crate::world::rng::{child, count, normal, unit};

/// Days of an average month.
const DAYS: f64 = 30.4;

/// Searches in one month.
#[derive(Debug, Clone, Copy)]
pub(in crate::providers) struct Monthly {
    /// The first day of the month.
    pub month: NaiveDate,
    pub searches: f64,
}

/// The kinds of purpose behind a keyword.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "provider B reports each kind as a boolean of its own")]
pub(in crate::providers) struct Intents {
    pub informational: bool,
    pub navigational: bool,
    pub commercial: bool,
    pub transactional: bool,
    pub local: bool,
}

/// The figures of one keyword in one place.
#[derive(Debug)]
pub(in crate::providers) struct Figures {
    pub key: u64,
    /// The last 13 whole months, newest first.
    pub months: Vec<Monthly>,
    /// Mean searches a month in the last twelve whole months.
    pub searches: f64,
    /// The same in all countries.
    pub worldwide: f64,
    /// US cents, where advertisers bid.
    pub cents_per_click: Option<u32>,
    /// 0 to 1.
    pub competition: f64,
    /// 0 to 100.
    pub difficulty: u32,
    pub intents: Intents,
}

impl Research<'_> {
    /// The figures of a normalised keyword, or `None` if the market does not know it. It knows every query of the simulated
    /// sites, and unusual combinations that contain one of their words.
    pub fn figures(&self, keyword: &str, place: Region) -> Option<Figures> {
        let known = self.market.by_text.get(keyword).map(|index| &self.market.known[*index]);
        let familiar = keyword.split(' ').any(|word| word.chars().count() > 3 && self.market.words.contains(word));
        if known.is_none() && !familiar {
            return None;
        }
        let key = self.key(keyword);
        let months: Vec<Monthly> = (1..=13).map(|back| self.monthly(keyword, known, place, self.month(back))).collect();
        let mean = |months: &[Monthly]| months.iter().map(|month| month.searches).sum::<f64>() / months.len() as f64;
        let searches = mean(&months[..12]);
        let worldwide = searches / self.share(known, place);
        let difficulty = f64::from(count(6.0 * worldwide.max(1.0).ln() + 9.0 * normal(child(key, 3))).min(100));
        let competition = (unit(child(key, 4)) * 100.0).round() / 100.0;
        Some(Figures {
            key,
            searches,
            worldwide,
            cents_per_click: (unit(child(key, 5)) > 0.1 && searches >= 5.0).then(|| cents_per_click(key, keyword)),
            competition,
            difficulty: count(difficulty),
            intents: intents(keyword, known.is_some_and(|known| known.brand)),
            months,
        })
    }

    /// The first day of the month that lies `back` months before the current one.
    pub fn month(&self, back: u32) -> NaiveDate {
        let first = self.today.with_day(1).unwrap_or(self.today);
        first.checked_sub_months(Months::new(back)).unwrap_or(first)
    }

    /// Searches in the whole month that begins on `month`.
    pub fn searches_in(&self, keyword: &str, place: Region, month: NaiveDate) -> Option<Monthly> {
        self.figures(keyword, place)?;
        let known = self.market.by_text.get(keyword).map(|index| &self.market.known[*index]);
        Some(self.monthly(keyword, known, place, month))
    }

    fn monthly(&self, keyword: &str, known: Option<&Known>, place: Region, month: NaiveDate) -> Monthly {
        let key = self.key(keyword);
        let number = u64::from(month.year().unsigned_abs() * 12 + month.month());
        let middle = month.with_day(15).unwrap_or(month);
        let trend = known.and_then(|known| self.site(known.site)).map_or(1.0, |site| {
            let (growth, season) = site.stream(SearchType::Web).growth_and_season(middle);
            growth * season
        });
        let rare = || (1.5 + 1.2 * normal(child(key, 1))).exp();
        let daily = known.map_or_else(rare, |known| known.searches);
        // The noise only adds, so that a month never has fewer searches than the sites have impressions.
        let noise = 1.0 + 0.08 * unit(child(child(key, 2), number));
        Monthly { month, searches: daily * DAYS * self.share(known, place) * trend * noise }
    }

    /// The share of a place in the searches for a keyword.
    fn share(&self, known: Option<&Known>, place: Region) -> f64 {
        match place {
            Region::World => 1.0,
            Region::Country(country) => {
                let site = known.map_or(0, |known| known.site);
                self.market.shares.get(site).map_or(0.01, |shares| shares[country].max(0.000_1))
            }
            Region::Elsewhere => 0.002,
        }
    }
}

fn cents_per_click(key: u64, keyword: &str) -> u32 {
    let bids = ["buy", "price", "software", "online", "rent", "cheap", "best"];
    let wanted = if keyword.split(' ').any(|word| bids.contains(&word)) { 2.2 } else { 1.0 };
    count(wanted * 100.0 * (-0.2 + 0.7 * normal(child(key, 6))).exp()).clamp(3, 9_000)
}

fn intents(keyword: &str, brand: bool) -> Intents {
    let has = |words: &[&str]| keyword.split(' ').any(|word| words.contains(&word));
    let transactional =
        has(&["buy", "price", "prices", "online", "tickets", "rent", "hire", "sale", "shop", "delivery"]);
    let commercial = has(&["best", "review", "reviews", "cheap", "vs", "alternative", "compare", "gift", "top"]);
    let local = keyword.ends_with("near me") || has(&["map", "contact"]);
    let informational = has(&["how", "what", "what's", "why", "guide", "explained", "care", "repair", "history"]);
    let other = brand || transactional || commercial;
    Intents { informational: informational || !other, navigational: brand, commercial, transactional, local }
}

impl Intents {
    /// All that apply, the main one first.
    pub fn names(self) -> Vec<&'static str> {
        let all = [
            (self.navigational, "navigational"),
            (self.transactional, "transactional"),
            (self.commercial, "commercial"),
            (self.informational, "informational"),
        ];
        all.into_iter().filter(|(applies, _)| *applies).map(|(_, name)| name).collect()
    }
}
