//! Keyword research and backlinks: both providers behind one shape.

use chrono::{DateTime, NaiveDate, Utc};
use poem_openapi::{Enum, Object};
use serde_json::{Value, json};

use super::{CreditUnit, Provider};
use crate::{
    models::Metrics,
    params::{ParamValue, QueryParams, Text, Whole},
};

/// A country, ISO 3166-1 alpha-3, as in the country tables.
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
    /// The provider to ask. Without it: the connected one, A before B.
    #[param(example = "a")]
    pub provider: Option<Provider>,
    /// Returns ideas that contain this keyword. Without it: the property's top queries of its last 28 final days.
    #[param(example = "running shoes")]
    pub keyword: Option<Text<80>>,
    /// Country of the searches, ISO 3166-1 alpha-3.
    #[param(default = "usa", example = "usa")]
    pub country: CountryCode,
    /// Language of the searches, ISO 639-1. Provider B has no languages and ignores it.
    #[param(default = "en", example = "en")]
    pub language: LanguageCode,
    /// Maximum number of rows.
    #[param(default = "100", example = "100")]
    pub limit: Whole<1, 700>,
}

/// Parameters of the backlinks.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams)]
pub struct BacklinksParams {
    /// The provider to ask. Without it: the connected one, A before B.
    #[param(example = "a")]
    pub provider: Option<Provider>,
    /// Status of the links to return.
    #[param(default = "live", example = "live")]
    pub status: BacklinkStatus,
    /// Maximum number of links, and of referring domains.
    #[param(default = "100", example = "100")]
    pub limit: Whole<1, 1000>,
}

/// Status of backlinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum)]
#[oai(rename_all = "lowercase")]
pub enum BacklinkStatus {
    /// Links that still exist.
    Live,
    /// Links that are gone.
    Lost,
    /// All links.
    All,
}

crate::enum_param!(BacklinkStatus);

/// Results of keyword research.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct KeywordResearch {
    /// The provider, the time and the cost.
    pub source: ProviderSource,
    /// The keyword of the request; absent for the property's own queries.
    #[oai(validator(max_length = 80))]
    pub keyword: Option<String>,
    /// The country, ISO 3166-1 alpha-3.
    #[oai(validator(max_length = 3))]
    pub country: String,
    /// The language; absent if the provider has none.
    #[oai(validator(max_length = 2))]
    pub language: Option<String>,
    /// Total number of rows at the provider, if it reports one.
    pub rows_known: Option<u64>,
    /// Ordered by search volume, highest first.
    #[oai(validator(max_items = 1000))]
    pub rows: Vec<KeywordRow>,
}

/// The provider, the time and the cost.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct ProviderSource {
    /// The provider.
    pub provider: Provider,
    /// Time of the request to the provider.
    pub fetched_at: DateTime<Utc>,
    /// Cost to the caller's account with the provider, if it reports one.
    pub cost: Option<ProviderCost>,
}

/// Cost of an answer.
#[derive(Debug, Clone, PartialEq, Object)]
pub struct ProviderCost {
    /// Amount, in `unit`.
    #[oai(validator(minimum(value = "0")))]
    pub amount: f64,
    /// Unit of the amount.
    pub unit: CreditUnit,
}

/// A keyword. Figures that the provider does not know are absent.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct KeywordRow {
    /// The keyword.
    #[oai(validator(max_length = 2048))]
    pub keyword: String,
    /// Searches per month.
    pub volume: Option<u64>,
    /// Cost per click of an advertisement, in US dollars.
    #[oai(validator(minimum(value = "0")))]
    pub cpc_usd: Option<f64>,
    /// Competition among advertisers, 0 to 1; provider A only.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    pub competition: Option<f64>,
    /// Difficulty of ranking, 0 to 100.
    #[oai(validator(minimum(value = "0"), maximum(value = "100")))]
    pub difficulty: Option<f64>,
    /// Intents of the searchers.
    pub intents: Vec<SearchIntent>,
    /// Searches per month in the past, oldest first.
    pub trend: Vec<MonthlyVolume>,
    /// The property's own performance for the keyword; absent with `keyword`.
    pub performance: Option<Metrics>,
}

/// Intent of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Enum)]
#[oai(rename_all = "lowercase")]
pub enum SearchIntent {
    /// To learn something.
    Informational,
    /// To reach a certain site.
    Navigational,
    /// To compare before buying.
    Commercial,
    /// To buy or do.
    Transactional,
    /// A brand; provider B only.
    Branded,
    /// Something nearby; provider B only.
    Local,
}

/// Searches in one month.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
pub struct MonthlyVolume {
    /// The month, `YYYY-MM`.
    #[oai(validator(pattern = r"^\d{4}-\d{2}$"))]
    pub month: String,
    /// Number of searches.
    pub volume: u64,
}

/// Backlinks of a property's site.
#[derive(Debug, Clone, PartialEq, Object)]
pub struct Backlinks {
    /// The provider, the time and the cost.
    pub source: ProviderSource,
    /// The domain or URL of the request.
    #[oai(validator(max_length = 2048))]
    pub target: String,
    /// Summary of all links.
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

/// Summary of all links.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct BacklinkSummary {
    /// Live links.
    pub backlinks: u64,
    /// Domains that the links come from.
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
    /// True if search engines are asked to follow the link.
    pub dofollow: bool,
    /// The rank of the linking domain, on `rankScale`.
    #[oai(validator(minimum(value = "0"), maximum(value = "1000")))]
    pub source_rank: Option<f64>,
    /// The day it was first seen.
    pub first_seen: Option<NaiveDate>,
    /// The day it was last seen.
    pub last_seen: Option<NaiveDate>,
    /// True if the link is gone.
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
    /// The day on which the last link from it was gone.
    pub lost_at: Option<NaiveDate>,
}
