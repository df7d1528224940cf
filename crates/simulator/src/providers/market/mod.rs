//! The searches of the whole market: what the providers know about keywords. Their figures rest on the simulated sites, so
//! a query that shows a site often is searched for often.

mod figures;
mod ideas;

use std::collections::{HashMap, HashSet};

use chrono::NaiveDate;

pub(super) use figures::{Figures, Monthly};
pub(super) use ideas::is_question;

use crate::world::axes::{COUNTRIES, SearchType};
use crate::world::rng::named;
use crate::world::{Site, World};

/// The keywords that the providers know, by text.
#[derive(Debug)]
pub(crate) struct Market {
    seed: u64,
    known: Vec<Known>,
    by_text: HashMap<String, usize>,
    /// Every word of a known keyword.
    words: HashSet<String>,
    /// Keywords that show pages on one subject of one site, most searched first.
    groups: HashMap<Group, Vec<usize>>,
    /// Shares of countries by site.
    shares: Vec<[f64; COUNTRIES.len()]>,
}

/// A site and a subject. Brand queries have a group of their own.
type Group = (usize, Option<usize>);

/// A keyword that shows at least one simulated site.
#[derive(Debug)]
struct Known {
    text: String,
    /// Index of the site that tells most about its volume.
    site: usize,
    group: Group,
    /// Mean searches on an average day, in the whole world.
    searches: f64,
    brand: bool,
}

impl Market {
    /// The market around all sites of `world`.
    pub fn new(seed: u64, world: &World) -> Self {
        let mut market = Self {
            seed,
            known: Vec::new(),
            by_text: HashMap::new(),
            words: HashSet::new(),
            groups: HashMap::new(),
            shares: world.sites().map(|site| site.stream(SearchType::Web).country_shares()).collect(),
        };
        for (number, site) in world.sites().enumerate() {
            market.learn(number, site);
        }
        market.known.sort_by(|a, b| b.searches.total_cmp(&a.searches).then_with(|| a.text.cmp(&b.text)));
        market.by_text = market.known.iter().enumerate().map(|(index, known)| (known.text.clone(), index)).collect();
        for (index, known) in market.known.iter().enumerate() {
            market.words.extend(known.text.split(' ').map(str::to_owned));
            market.groups.entry(known.group).or_default().push(index);
        }
        market
    }

    /// The seed of all its numbers.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    fn learn(&mut self, number: usize, site: &Site) {
        let subjects = site.blueprint.vocabulary.subjects.len();
        for entry in site.stream(SearchType::Web).entries.iter().filter(|entry| !entry.anonymised) {
            let subject = entry.pages.first().map_or(0, |page| usize::from(*page) % subjects);
            let known = Known {
                text: entry.text.clone(),
                site: number,
                group: (number, (!entry.brand).then_some(subject)),
                searches: entry.mean * searches_per_impression(entry.position),
                brand: entry.brand,
            };
            match self.by_text.get(&known.text) {
                None => {
                    self.by_text.insert(known.text.clone(), self.known.len());
                    self.known.push(known);
                }
                Some(&index) if self.known[index].searches < known.searches => self.known[index] = known,
                Some(_) => {}
            }
        }
    }
}

/// A site that stands deep is not on the first page that most searchers see, so its impressions are a small part of the
/// searches. This is always more than one.
fn searches_per_impression(position: f64) -> f64 {
    (1.25 + 0.5 * (position / 10.0).powi(2)).min(8.0)
}

/// A look at the market on one day.
#[derive(Debug, Clone, Copy)]
pub(super) struct Research<'a> {
    pub world: &'a World,
    pub market: &'a Market,
    pub today: NaiveDate,
}

impl Research<'_> {
    /// The random key of a keyword.
    pub fn key(&self, keyword: &str) -> u64 {
        named(self.market.seed, keyword)
    }

    /// Returns whether a keyword names one of the simulated sites.
    pub fn is_brand(&self, keyword: &str) -> bool {
        self.market.by_text.get(keyword).is_some_and(|index| self.market.known[*index].brand)
    }

    fn site(&self, number: usize) -> Option<&Site> {
        self.world.sites().nth(number)
    }
}

/// Keywords are compared in lower case, with single spaces.
pub(super) fn normal(keyword: &str) -> String {
    keyword.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}
