//! Provider A's keyword research.

use api::integrations::SearchIntent;
use chrono::NaiveDate;
use serde_json::{Value, json};

use super::{Task, rows_of};
use crate::{Amount, Findings, Keyword, Locale, RowPage, json};

/// The task for the figures of keywords.
pub(super) fn overview(keywords: &[String], place: &Locale) -> Task {
    let fields = json!({
        "keywords": keywords,
        "location_code": place.country.location_code,
        "language_code": place.language,
    });
    Task { path: "dataforseo_labs/google/keyword_overview/live", fields }
}

/// The task for keywords that contain a seed, most searches first.
pub(super) fn suggestions(seeds: &[String], place: &Locale, limit: usize) -> Task {
    let fields = json!({
        "keyword": seeds.first(),
        "location_code": place.country.location_code,
        "language_code": place.language,
        "include_seed_keyword": true,
        "order_by": ["keyword_info.search_volume,desc"],
        "limit": limit,
    });
    Task { path: "dataforseo_labs/google/keyword_suggestions/live", fields }
}

/// The keywords of a result. The seed comes first, if there is one. `None` if it is not such a result.
pub(super) fn read(result: Option<&Value>) -> Option<Findings> {
    let Some(result) = result else { return Some(Findings::Keywords(RowPage::default())) };
    let items = rows_of(result, keyword)?;
    let seed = keyword(&result[0]["seed_keyword_data"]);
    let more = u64::from(seed.is_some());
    let known = json::count(&result[0]["total_count"]).map(|total| total + more);
    Some(Findings::Keywords(RowPage { known, rows: seed.into_iter().chain(items).collect() }))
}

fn keyword(item: &Value) -> Option<Keyword> {
    let info = &item["keyword_info"];
    let intent = &item["search_intent_info"];
    let intents = std::iter::once(&intent["main_intent"]).chain(json::items(&intent["foreign_intent"]));
    let mut trend: Vec<_> = json::items(&info["monthly_searches"]).iter().filter_map(month).collect();
    trend.sort_unstable();
    Some(Keyword {
        keyword: json::text(&item["keyword"], 2048)?,
        volume: json::count(&info["search_volume"]),
        cpc: Amount::of(&info["cpc"]).filter(|cpc| *cpc >= Amount::ZERO),
        competition: json::within(&info["competition"], 0.0, 1.0),
        difficulty: json::within(&item["keyword_properties"]["keyword_difficulty"], 0.0, 100.0),
        intents: intents.filter_map(|name| intent_of(name.as_str()?)).collect(),
        trend,
    })
}

fn month(item: &Value) -> Option<(NaiveDate, u64)> {
    let year = i32::try_from(json::count(&item["year"])?).ok()?;
    let month = u32::try_from(json::count(&item["month"])?).ok()?;
    Some((NaiveDate::from_ymd_opt(year, month, 1)?, json::count(&item["search_volume"])?))
}

fn intent_of(name: &str) -> Option<SearchIntent> {
    match name {
        "informational" => Some(SearchIntent::Informational),
        "navigational" => Some(SearchIntent::Navigational),
        "commercial" => Some(SearchIntent::Commercial),
        "transactional" => Some(SearchIntent::Transactional),
        _ => None,
    }
}
