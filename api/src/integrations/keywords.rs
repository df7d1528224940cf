//! Keyword research: both providers behind one shape.

use poem_openapi::{Enum, Object};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Provider, ProviderMeta};
use crate::{
    models::{Metrics, Window},
    params::{Ignored, ParamValue, QueryParams, Whole},
};

/// The maximum number of seeds.
const MAX_SEEDS: usize = 5;
/// The maximum length of a seed, in characters.
const MAX_SEED: usize = 80;
/// The maximum number of words of a seed.
const MAX_WORDS: usize = 10;
/// The maximum number of rows.
pub const MAX_ROWS: u32 = 700;

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

    fn to_value(&self) -> Value {
        json!(self.0)
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

    fn to_value(&self) -> Value {
        json!(self.0)
    }
}

/// Seed keywords, each once, without surrounding space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seeds(pub Vec<String>);

impl ParamValue for Seeds {
    fn schema() -> Value {
        json!({ "type": "string", "minLength": 1, "maxLength": MAX_SEEDS * (MAX_SEED + 1) })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut seeds: Vec<String> = Vec::new();
        for seed in
            text.split(',').map(|seed| seed.split_whitespace().collect::<Vec<_>>()).filter(|words| !words.is_empty())
        {
            let words = seed.len();
            let seed = seed.join(" ");
            if seed.contains(char::is_control) {
                return Err("must have no control characters; leave them out".to_owned());
            }
            if seed.chars().count() > MAX_SEED || words > MAX_WORDS {
                return Err(format!("each keyword must have at most {MAX_SEED} characters and {MAX_WORDS} words"));
            }
            if !seeds.iter().any(|known| known.to_lowercase() == seed.to_lowercase()) {
                seeds.push(seed);
            }
        }
        let fits = (1..=MAX_SEEDS).contains(&seeds.len());
        fits.then_some(Self(seeds)).ok_or_else(|| format!("must be 1 to {MAX_SEEDS} keywords, separated by commas"))
    }

    fn to_value(&self) -> Value {
        json!(self.0.join(","))
    }
}

/// Parameters of keyword research.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams)]
pub struct KeywordResearchParams {
    /// The provider to ask. Without it: the connected one, A before B.
    #[param(example = "a")]
    pub provider: Option<Provider>,
    /// Seeds, 1 to 5 keywords separated by commas: the answer has ideas that contain them. Without it: the property's top queries
    /// of its last 28 final days in the country.
    #[param(example = "running shoes")]
    pub keywords: Option<Seeds>,
    /// Country of the searches and of the property's own performance, ISO 3166-1 alpha-3. Without it: the country with most
    /// clicks of the property's last 28 final days, or `usa` if there were none. `meta.countryFrom` says which it was.
    #[param(example = "usa")]
    pub country: Option<CountryCode>,
    /// Language of the searches, ISO 639-1. Provider B has no languages and ignores it.
    #[param(default = "en", example = "en")]
    pub language: LanguageCode,
    /// Adds the monthly volumes of the property's own queries with provider B, which charges at least 50 units more for each
    /// keyword. Provider A always has them; provider B has none for ideas.
    #[param(default = "false", example = "false")]
    pub trend: bool,
    /// Maximum number of rows, and of the property's queries that are asked about. Several seeds share it evenly.
    #[param(default = "100", example = "100")]
    pub limit: Whole<1, MAX_ROWS>,
    /// The parameters without effect.
    #[param(flatten)]
    pub ignored: Ignored,
}

/// Results of keyword research.
#[derive(Debug, Clone, PartialEq, Object)]
pub struct KeywordResearchAnswer {
    /// The results.
    pub data: KeywordResearch,
    /// The provider, the time, the cost and the credit that is left, and how the country was found.
    pub meta: KeywordResearchMeta,
}

/// The provider that answered, the time, the cost and the credit that is left, and how the country was found.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct KeywordResearchMeta {
    /// The metadata that all answers of providers have.
    #[oai(flatten)]
    pub answer: ProviderMeta,
    /// The origin of `data.country`.
    pub country_from: CountrySource,
}

/// The origin of the country of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum)]
#[oai(rename_all = "snake_case")]
pub enum CountrySource {
    /// The parameter `country`.
    Parameter,
    /// It is the property's country with most clicks, or with most impressions if it had no clicks.
    LargestOfProperty,
    /// The property had no searches in the window.
    Default,
}

/// Results of keyword research.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct KeywordResearch {
    /// The seeds of the request; absent for the property's own queries.
    #[oai(validator(max_items = 5))]
    pub keywords: Option<Vec<String>>,
    /// The country, ISO 3166-1 alpha-3.
    #[oai(validator(max_length = 3))]
    pub country: String,
    /// The provider's code of the country: a number for provider A, two letters for provider B.
    #[oai(validator(max_length = 8))]
    pub location_code: String,
    /// The language; absent if the provider has none.
    #[oai(validator(max_length = 2))]
    pub language: Option<String>,
    /// The days of the property's own performance.
    pub window: Window,
    /// The scale of every difficulty in this answer.
    pub difficulty_scale: DifficultyScale,
    /// Ideas that can be had, if the provider says how many it knows: at most 700, which several seeds share evenly. Absent for the
    /// property's own queries.
    pub rows_matched: Option<u64>,
    /// Ideas up to which the answer can go on with a larger `limit`, all seeds together: 700. Absent as `rowsMatched`.
    pub rows_ceiling: Option<u64>,
    /// True if the provider knows ideas that cannot be had with these seeds: longer seeds bring them. Absent as `rowsMatched`.
    pub total_rows_capped: Option<bool>,
    /// True if a larger `limit` brings more ideas. Absent as `rowsMatched`.
    pub has_more: Option<bool>,
    /// Ordered by search volume, highest first.
    #[oai(validator(max_items = 700))]
    pub rows: Vec<KeywordRow>,
}

/// The scale of a provider's difficulties. The providers compute them differently, so only difficulties of one provider can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum)]
pub enum DifficultyScale {
    /// 0, easy, to 100, hard.
    #[oai(rename = "0-100")]
    Hundred,
}

/// A keyword. Figures that the provider does not know are absent.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct KeywordRow {
    /// The keyword.
    #[oai(validator(max_length = 2048))]
    pub keyword: String,
    /// Searches per month, on average over a year.
    pub volume: Option<u64>,
    /// Cost per click of an advertisement, in US dollars.
    #[oai(validator(minimum(value = "0")))]
    pub cpc_usd: Option<f64>,
    /// Competition among advertisers, 0 to 1; provider A only.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    pub competition: Option<f64>,
    /// Difficulty of ranking, on `difficultyScale`.
    #[oai(validator(minimum(value = "0"), maximum(value = "100")))]
    pub difficulty: Option<f64>,
    /// Intents of the searchers; provider A's main intent comes first.
    pub intents: Vec<SearchIntent>,
    /// Searches per month in the past, oldest first.
    pub trend: Vec<MonthlyVolume>,
    /// The property's own performance for the keyword in the country; absent where it has none.
    pub performance: Option<Metrics>,
}

/// Intent of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Enum, Serialize, Deserialize)]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_separated_by_commas_and_each_counts_once() {
        let seeds = |text: &str| Seeds::parse(text).map(|Seeds(seeds)| seeds);
        assert_eq!(seeds(" rain  jacket ,tent,,Tent"), Ok(vec!["rain jacket".to_owned(), "tent".to_owned()]));
        assert!(seeds(" , ").unwrap_err().contains("1 to 5"));
        assert!(seeds("a,b,c,d,e,f").unwrap_err().contains("1 to 5"));
        assert!(seeds(&"x".repeat(81)).unwrap_err().contains("80 characters"));
        assert!(seeds("a b c d e f g h i j k").unwrap_err().contains("10 words"));
        assert!(seeds("a\u{0}b").unwrap_err().contains("control characters"));
    }
}
