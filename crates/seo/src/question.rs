//! Questions to a provider and its findings, in one shape for both providers.

use api::integrations::{BacklinkStatus, SearchIntent};
use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use super::{countries::Country, money::Amount, target::Target};

/// A question that costs money. Equal questions have the same JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum Question {
    /// The figures of keywords.
    Figures {
        /// The keywords, at most [`Provider::max_keywords`](super::Provider::max_keywords).
        keywords: Vec<String>,
        /// The searches that are counted.
        place: Locale,
        /// The months whose volumes are asked for, first and last, if the provider charges them apart.
        trend: Option<(NaiveDate, NaiveDate)>,
    },
    /// Keywords that contain seeds.
    Ideas {
        /// The seeds, at most [`Provider::max_seeds`](super::Provider::max_seeds).
        seeds: Vec<String>,
        /// The searches that are counted.
        place: Locale,
        /// The maximum number of ideas.
        limit: usize,
    },
    /// Counts of live links.
    Summary {
        /// The domain.
        target: Target,
        /// The day.
        day: NaiveDate,
    },
    /// Single links.
    Links(Page),
    /// Domains that link.
    Domains(Page),
}

/// The country and language of searches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Locale {
    /// The country.
    pub country: Country,
    /// The language, if the provider has any.
    pub language: Option<String>,
}

/// A page of a list of links or domains.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Page {
    /// The domain.
    pub target: Target,
    /// The status of the links.
    pub status: BacklinkStatus,
    /// Rows to skip.
    pub offset: usize,
    /// The maximum number of rows.
    pub limit: usize,
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Findings {
    /// Keywords.
    Keywords(RowPage<Keyword>),
    /// Counts of links.
    Summary(Summary),
    /// Links.
    Links(RowPage<Link>),
    /// Domains.
    Domains(RowPage<Domain>),
}

/// Some rows of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RowPage<T> {
    /// The number of all rows at the provider, if it reports one.
    pub known: Option<u64>,
    /// The rows.
    pub rows: Vec<T>,
}

impl<T> Default for RowPage<T> {
    fn default() -> Self {
        Self { known: None, rows: Vec::new() }
    }
}

/// A keyword with the provider's figures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Keyword {
    /// The keyword.
    pub keyword: String,
    /// Searches per month.
    pub volume: Option<u64>,
    /// Cost per click, in US dollars.
    pub cpc: Option<Amount>,
    /// Competition among advertisers, 0 to 1.
    pub competition: Option<f64>,
    /// Difficulty, 0 to 100.
    pub difficulty: Option<f64>,
    /// Intents, the main one first.
    pub intents: Vec<SearchIntent>,
    /// The first days of months with their searches, oldest first.
    pub trend: Vec<(NaiveDate, u64)>,
}

/// Counts of live links.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Links.
    pub backlinks: u64,
    /// Domains that they come from.
    pub domains: u64,
    /// The rank of the target.
    pub rank: Option<f64>,
}

/// A link.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// The page that links.
    pub url_from: String,
    /// The page it links to.
    pub url_to: String,
    /// Its text.
    pub anchor: Option<String>,
    /// True if search engines are asked to follow it.
    pub dofollow: Option<bool>,
    /// The rank of the linking domain.
    pub source_rank: Option<f64>,
    /// The first day.
    pub first_seen: Option<NaiveDate>,
    /// The last day.
    pub last_seen: Option<NaiveDate>,
    /// True if it was found recently.
    pub is_new: bool,
    /// True if it is gone.
    pub lost: bool,
}

/// A domain that links.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Domain {
    /// Its name.
    pub domain: String,
    /// Its rank.
    pub rank: Option<f64>,
    /// Links from it.
    pub backlinks: u64,
    /// The first day of a link.
    pub first_seen: Option<NaiveDate>,
    /// The day on which the last link was gone.
    pub lost_at: Option<NaiveDate>,
}

impl Findings {
    /// The bytes it takes in memory, estimated.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Self::Keywords(list) => {
                list.rows.iter().map(|row| 200 + row.keyword.len() + 16 * row.trend.len()).sum::<usize>()
            }
            Self::Summary(_) => 64,
            Self::Links(list) => {
                let text =
                    |row: &Link| row.url_from.len() + row.url_to.len() + row.anchor.as_ref().map_or(0, String::len);
                list.rows.iter().map(|row| 160 + text(row)).sum()
            }
            Self::Domains(list) => list.rows.iter().map(|row| 120 + row.domain.len()).sum(),
        }
    }
}
