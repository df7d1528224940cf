//! Measures how many random lists of conditions are refused, over sites with few and many search appearances.

use std::collections::BTreeMap;

use api::models::{Dimension as Dim, FilterCondition, FilterLogic, FilterOperator as Op};

use crate::{
    appearances::{Appearances, Names, WindowAppearances},
    error::PlanError,
    filter::{Expression, Predicate},
    planner::{MAX_TERMS, plan},
};

/// The number of lists of each length for each site.
const LISTS: u64 = 200;

/// The most conditions of a list.
const LONGEST: usize = 6;

const NAMES: [&str; 7] = [
    "PRODUCT_SNIPPETS",
    "MERCHANT_LISTINGS",
    "REVIEW_SNIPPET",
    "VIDEO",
    "TPF_FAQ",
    "TRANSLATED_RESULT",
    "NEWS_SHOWCASE",
];

/// The share of the pages with each of [`NAMES`]: of a shop, of a company that sells software, of a newspaper, and of a site
/// with one.
const SHARES: [[f64; 7]; 4] = [
    [0.58, 0.12, 0.05, 0.05, 0.03, 0.02, 0.0],
    [0.02, 0.0, 0.04, 0.06, 0.1, 0.03, 0.0],
    [0.0, 0.0, 0.01, 0.12, 0.02, 0.02, 0.1],
    [0.0, 0.0, 0.0, 0.3, 0.0, 0.0, 0.0],
];

/// The names of the largest sets that are known to come together or not.
const LARGEST: usize = 4;

/// The pages of a site.
const PAGES: usize = 300;

/// Random numbers (splitmix64).
struct Draw(u64);

impl Draw {
    fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.number() >> 1).unwrap() % bound
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// A site whose pages have search appearances independently of each other.
    fn site(&mut self, shares: &[f64; 7]) -> Appearances {
        let mut holds = |share: f64| (self.number() as f64) < share * u64::MAX as f64;
        let page = |_| {
            NAMES.iter().zip(shares).filter(|(_, share)| holds(**share)).map(|(name, _)| (*name).to_owned()).collect()
        };
        let pages: Vec<Names> = (0..PAGES).map(page).collect();
        let names: Names = pages.iter().flatten().cloned().collect();
        let mut known = WindowAppearances { names: names.clone(), together: BTreeMap::new() };
        for size in 1..=LARGEST {
            for set in known.unknown(&names, size) {
                let pages = pages.iter().filter(|page| set.is_subset(page)).count();
                known.together.insert(set, pages as f64);
            }
        }
        Appearances(vec![known])
    }

    fn list(&mut self, length: usize) -> Vec<FilterCondition> {
        (0..length).map(|_| self.condition()).collect()
    }

    fn condition(&mut self) -> FilterCondition {
        let dimension = self.one_of(&[Dim::Query, Dim::Page, Dim::Country, Dim::Device, Dim::SearchAppearance]);
        let operator = self.one_of(&[Op::Contains, Op::NotContains, Op::Equals, Op::MatchesRegex, Op::OrList]);
        let value = match operator {
            Op::Contains | Op::NotContains => self.one_of(parts(dimension)).to_owned(),
            Op::Equals => self.one_of(wholes(dimension)).to_owned(),
            Op::MatchesRegex => self.one_of(patterns(dimension)).to_owned(),
            Op::OrList => {
                let count = 1 + self.below(4);
                (0..count).map(|_| self.one_of(wholes(dimension))).collect::<Vec<_>>().join(",")
            }
        };
        let logic = self.one_of(&[FilterLogic::And, FilterLogic::Or]);
        FilterCondition { dimension, operator, value, logic: Some(logic) }
    }
}

fn wholes(dimension: Dim) -> &'static [&'static str] {
    match dimension {
        Dim::Query => &["red fern", "fern care", "kettle", "buy kettle", "best plants", "north star", "how to repot"],
        Dim::Page => &["/", "/blog/fern", "/blog/kettle", "/products/1", "/products/2", "/about", "/help/returns"],
        Dim::Country => &["usa", "gbr", "deu", "fra", "ind", "aus", "can", "zzz"],
        Dim::Device => &["MOBILE", "DESKTOP", "TABLET"],
        Dim::SearchAppearance => &NAMES,
    }
}

fn parts(dimension: Dim) -> &'static [&'static str] {
    match dimension {
        Dim::Query => &["fern", "buy", "how", "best", "kettle", "star", "red fern", "e"],
        Dim::Page => &["/blog/", "/products/", "/help/", "about", "?", "-sale", "/blog/fern"],
        Dim::Country => &["a", "us", "b", "zz", "gbr"],
        Dim::Device => &["mob", "desk", "t", "tablet"],
        Dim::SearchAppearance => &["SNIPPET", "PRODUCT", "VIDEO", "TPF", "_", "RESULT", "E", "AMP"],
    }
}

fn patterns(dimension: Dim) -> &'static [&'static str] {
    match dimension {
        Dim::Query => &["^(how|what|why)", "fern|plant", r"\d+", "near me$", "buy|price"],
        Dim::Page => &["^/blog/", "/products/[0-9]+$", r"\.html$", "/(help|about)"],
        Dim::Country => &["^u", "usa|gbr|can", "^[a-m]", "r$"],
        Dim::Device => &["^M", "MOBILE|TABLET", "E"],
        Dim::SearchAppearance => &["^PRODUCT|^MERCHANT", "SNIPPETS?$", "VIDEO|FAQ", ".", "^TPF_"],
    }
}

/// The requests that a refusal says are needed, or 0 if it says that they were not planned.
fn needed(hint: &str) -> usize {
    let taken = hint.split_once(" take ").and_then(|(_, rest)| rest.split_once(' '));
    taken.and_then(|(number, _)| number.parse().ok()).unwrap_or_default()
}

/// The outcome of some lists.
#[derive(Default)]
struct Tally {
    lists: usize,
    requests: usize,
    /// The number of refusals by the number of requests that are needed.
    refusals: BTreeMap<usize, usize>,
}

impl Tally {
    fn add(&mut self, list: &[FilterCondition], appearances: &Appearances) {
        self.lists += 1;
        let predicate = Predicate {
            expressions: vec![Expression::of(list)],
            appearances: appearances.clone(),
            ..Predicate::default()
        };
        match plan(&predicate) {
            Ok(plan) => self.requests += plan.terms.len(),
            Err(PlanError::TooComplex(hint)) => *self.refusals.entry(needed(&hint)).or_default() += 1,
        }
    }

    fn refused(&self) -> usize {
        self.refusals.values().sum()
    }
}

#[test]
fn less_than_one_in_a_hundred_random_lists_is_refused() {
    let mut draw = Draw(41);
    let sites = SHARES.each_ref().map(|shares| draw.site(shares));
    let mut all = Tally::default();
    for length in 1..=LONGEST {
        let mut tally = Tally::default();
        for site in &sites {
            for _ in 0..LISTS {
                let list = draw.list(length);
                tally.add(&list, site);
                all.add(&list, site);
            }
        }
        let planned = tally.lists - tally.refused();
        println!(
            "{length} conditions: {:.2} % refused, {:.2} requests",
            100.0 * tally.refused() as f64 / tally.lists as f64,
            tally.requests as f64 / planned as f64
        );
    }
    let rate = all.refused() as f64 / all.lists as f64;
    println!("all: {:.2} % refused of {}; at most {MAX_TERMS} requests", 100.0 * rate, all.lists);
    println!("refusals by the requests that they need: {:?}", all.refusals);
    assert!(rate < 0.01, "{rate}");
}

#[test]
fn the_longest_lists_are_planned_or_refused_in_bounded_steps() {
    let mut draw = Draw(43);
    let site = draw.site(&SHARES[0]);
    let mut tally = Tally::default();
    for length in (10..=50).step_by(4) {
        for _ in 0..4 {
            tally.add(&draw.list(length), &site);
        }
    }
    println!("refused: {} of {}", tally.refused(), tally.lists);
    assert!(tally.refused() < tally.lists, "some long lists are answered");
}
