//! Keyword research and backlinks: both providers behind one shape.

use chrono::{DateTime, NaiveDate, Utc};
use poem_openapi::{Enum, Object};
use serde_json::{Value, json};

use super::{CreditUnit, Provider};
use crate::{
    models::Metrics,
    params::{ParamValue, QueryParams, Text, Whole},
};

/// A country, ISO 3166-1 alpha-3; as in the country tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountryCode(pub String);

impl ParamValue for CountryCode {
    fn schema() -> Value {
        json!({ "type": "string", "pattern": "^[A-Za-z]{3}$", "minLength": 3, "maxLength": 3 })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let shaped = text.len() == 3 && text.bytes().all(|b| b.is_ascii_alphabetic());
        shaped.then(|| Self(text.to_ascii_lowercase())).ok_or_else(|| "must be an ISO 3166-1 alpha-3 code".to_owned())
    }
}

/// A language, ISO 639-1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LanguageCode(pub String);

impl ParamValue for LanguageCode {
    fn schema() -> Value {
        json!({ "type": "string", "pattern": "^[a-z]{2}$", "minLength": 2, "maxLength": 2 })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let shaped = text.len() == 2 && text.bytes().all(|b| b.is_ascii_lowercase());
        shaped.then(|| Self(text.to_owned())).ok_or_else(|| "must be an ISO 639-1 code".to_owned())
    }
}

/// Parameters of keyword research.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams)]
pub struct KeywordResearchParams {
    /// Which provider to ask. Without it: the one that is connected, A before B.
    #[param(example = "a")]
    pub provider: Option<Provider>,
    /// Ideas that contain this keyword. Without it: the property's top queries of its last 28 final days.
    #[param(example = "running shoes")]
    pub keyword: Option<Text<80>>,
    /// The country searched from, ISO 3166-1 alpha-3.
    #[param(default = "usa", example = "usa")]
    pub country: CountryCode,
    /// The language searched in, ISO 639-1. Provider B knows no languages and leaves it aside.
    #[param(default = "en", example = "en")]
    pub language: LanguageCode,
    /// The most rows.
    #[param(default = "100", example = "100")]
    pub limit: Whole<1, 700>,
}

/// Parameters of the backlinks.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams)]
pub struct BacklinksParams {
    /// Which provider to ask. Without it: the one that is connected, A before B.
    #[param(example = "a")]
    pub provider: Option<Provider>,
    /// Which links.
    #[param(default = "live", example = "live")]
    pub status: BacklinkStatus,
    /// The most links, and the most referring domains.
    #[param(default = "100", example = "100")]
    pub limit: Whole<1, 1000>,
}

/// Whether links are still there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum)]
#[oai(rename_all = "lowercase")]
pub enum BacklinkStatus {
    /// Those that are.
    Live,
    /// Those that are not.
    Lost,
    /// All.
    All,
}

crate::enum_param!(BacklinkStatus);

/// What keyword research found.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct KeywordResearch {
    /// Who was asked, and what it cost.
    pub source: ProviderSource,
    /// The keyword that ideas were asked for; absent for the property's own queries.
    #[oai(validator(max_length = 80))]
    pub keyword: Option<String>,
    /// The country, ISO 3166-1 alpha-3.
    #[oai(validator(max_length = 3))]
    pub country: String,
    /// The language; absent where the provider knows none.
    #[oai(validator(max_length = 2))]
    pub language: Option<String>,
    /// How many the provider knows in all, where it says so.
    pub rows_known: Option<u64>,
    /// The most searched first.
    #[oai(validator(max_items = 1000))]
    pub rows: Vec<KeywordRow>,
}

/// Who was asked, when, and what it cost.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct ProviderSource {
    /// The provider.
    pub provider: Provider,
    /// When it was asked.
    pub fetched_at: DateTime<Utc>,
    /// What the answer cost the caller's account with the provider, where it says so.
    pub cost: Option<ProviderCost>,
}

/// What an answer cost.
#[derive(Debug, Clone, PartialEq, Object)]
pub struct ProviderCost {
    /// How much.
    #[oai(validator(minimum(value = "0")))]
    pub amount: f64,
    /// Of what.
    pub unit: CreditUnit,
}

/// A keyword. What the provider does not know is absent.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct KeywordRow {
    /// The keyword.
    #[oai(validator(max_length = 2048))]
    pub keyword: String,
    /// Searches a month.
    pub volume: Option<u64>,
    /// What a click on an advertisement costs, in US dollars.
    #[oai(validator(minimum(value = "0")))]
    pub cpc_usd: Option<f64>,
    /// How hard advertisers compete, 0 to 1; provider A only.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    pub competition: Option<f64>,
    /// How hard it is to rank, 0 to 100.
    #[oai(validator(minimum(value = "0"), maximum(value = "100")))]
    pub difficulty: Option<f64>,
    /// What searchers want.
    pub intents: Vec<SearchIntent>,
    /// Searches of past months, oldest first.
    pub trend: Vec<MonthlyVolume>,
    /// The property's own performance for it; only without `keyword`.
    pub performance: Option<Metrics>,
}

/// What searchers want.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Enum)]
#[oai(rename_all = "lowercase")]
pub enum SearchIntent {
    /// To learn.
    Informational,
    /// To get to a certain site.
    Navigational,
    /// To compare before buying.
    Commercial,
    /// To buy or do.
    Transactional,
    /// A brand; provider B only.
    Branded,
    /// Something near; provider B only.
    Local,
}

/// Searches of a month.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
pub struct MonthlyVolume {
    /// The month, `YYYY-MM`.
    #[oai(validator(pattern = r"^\d{4}-\d{2}$"))]
    pub month: String,
    /// Searches.
    pub volume: u64,
}

/// Backlinks of a property's site.
#[derive(Debug, Clone, PartialEq, Object)]
pub struct Backlinks {
    /// Who was asked, and what it cost.
    pub source: ProviderSource,
    /// The domain or URL that was asked about.
    #[oai(validator(max_length = 2048))]
    pub target: String,
    /// All links together.
    pub summary: BacklinkSummary,
    /// Links, strongest source first.
    #[oai(validator(max_items = 1000))]
    pub rows: Vec<BacklinkRow>,
    /// Referring domains, strongest first.
    #[oai(validator(max_items = 1000))]
    pub domains: Vec<ReferringDomain>,
}

/// The scale of a provider's ranks. Ranks on different scales are different measures and cannot be converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum)]
pub enum RankScale {
    /// Provider A's rank, 0 to 1,000.
    #[oai(rename = "0-1000")]
    Thousand,
    /// Provider B's domain rating, 0 to 100.
    #[oai(rename = "0-100")]
    Hundred,
}

/// All links together.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct BacklinkSummary {
    /// Live links.
    pub backlinks: u64,
    /// Domains they come from.
    pub referring_domains: u64,
    /// The site's rank, on `rankScale`.
    #[oai(validator(minimum(value = "0"), maximum(value = "1000")))]
    pub rank: Option<f64>,
    /// The scale of every rank in this answer.
    pub rank_scale: RankScale,
}

/// A link.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct BacklinkRow {
    /// The page that links.
    #[oai(validator(max_length = 4096))]
    pub url_from: String,
    /// The page it links to.
    #[oai(validator(max_length = 4096))]
    pub url_to: String,
    /// The text of the link.
    #[oai(validator(max_length = 4096))]
    pub anchor: Option<String>,
    /// Whether search engines are asked to follow it.
    pub dofollow: bool,
    /// The rank of the linking domain, on `rankScale`.
    #[oai(validator(minimum(value = "0"), maximum(value = "1000")))]
    pub source_rank: Option<f64>,
    /// The day it was first seen.
    pub first_seen: Option<NaiveDate>,
    /// The day it was last seen.
    pub last_seen: Option<NaiveDate>,
    /// Whether it is gone.
    pub lost: bool,
}

/// A domain that links.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct ReferringDomain {
    /// The domain.
    #[oai(validator(max_length = 255))]
    pub domain: String,
    /// Its rank, on `rankScale`.
    #[oai(validator(minimum(value = "0"), maximum(value = "1000")))]
    pub rank: Option<f64>,
    /// Links from it.
    pub backlinks: u64,
    /// The day a link from it was first seen.
    pub first_seen: Option<NaiveDate>,
    /// The day the last link from it was gone.
    pub lost_at: Option<NaiveDate>,
}
