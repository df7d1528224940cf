//! Provider B's keyword research.

use api::integrations::SearchIntent;
use chrono::NaiveDate;
use serde_json::Value;

use super::Query;
use crate::{Amount, Findings, Keyword, Locale, RowPage, json};

const COLUMNS: &str = "keyword,volume,difficulty,cpc,intents";

/// The query for the figures of keywords, with their volumes from the first to the last month of `trend`.
pub(super) fn overview(keywords: &[String], place: &Locale, trend: Option<(NaiveDate, NaiveDate)>) -> Query {
    let mut params = params(keywords, place, keywords.len());
    if let Some((first, last)) = trend {
        params[0].1.push_str(",volume_monthly_history");
        params.push(("volume_monthly_date_from", first.to_string()));
        params.push(("volume_monthly_date_to", last.to_string()));
    }
    Query { path: "keywords-explorer/overview", key: "keywords", params }
}

/// The query for keywords that contain the words of seeds, most searches first.
pub(super) fn matching(seeds: &[String], place: &Locale, limit: usize) -> Query {
    let mut params = params(seeds, place, limit);
    params.push(("match_mode", "terms".to_owned()));
    params.push(("order_by", "volume:desc".to_owned()));
    Query { path: "keywords-explorer/matching-terms", key: "keywords", params }
}

fn params(keywords: &[String], place: &Locale, limit: usize) -> Vec<(&'static str, String)> {
    vec![
        ("select", COLUMNS.to_owned()),
        ("country", place.country.alpha2.to_owned()),
        ("keywords", keywords.join(",")),
        ("limit", limit.to_string()),
    ]
}

/// The keywords of a list. One shorter than its `limit` is whole. `None` if it is not such a list.
pub(super) fn read(list: Option<&Value>, limit: usize) -> Option<Findings> {
    let Some(list) = list else { return Some(Findings::Keywords(RowPage { known: Some(0), rows: Vec::new() })) };
    let rows = json::rows(list, keyword)?;
    let came = json::items(list).len();
    Some(Findings::Keywords(RowPage { known: (came < limit).then_some(came as u64), rows }))
}

fn keyword(item: &Value) -> Option<Keyword> {
    let mut trend: Vec<_> = json::items(&item["volume_monthly_history"]).iter().filter_map(month).collect();
    trend.sort_unstable();
    Some(Keyword {
        keyword: json::text(&item["keyword"], 2048)?,
        volume: json::count(&item["volume"]),
        // US cents.
        cpc: Amount::of_hundredths(&item["cpc"]).filter(|cpc| *cpc >= Amount::ZERO),
        competition: None,
        difficulty: json::within(&item["difficulty"], 0.0, 100.0),
        intents: intents(&item["intents"]),
        trend,
    })
}

fn month(item: &Value) -> Option<(NaiveDate, u64)> {
    Some((json::day(&item["date"])?, json::count(&item["volume"])?))
}

fn intents(flags: &Value) -> Vec<SearchIntent> {
    const NAMES: [(&str, SearchIntent); 6] = [
        ("informational", SearchIntent::Informational),
        ("navigational", SearchIntent::Navigational),
        ("commercial", SearchIntent::Commercial),
        ("transactional", SearchIntent::Transactional),
        ("branded", SearchIntent::Branded),
        ("local", SearchIntent::Local),
    ];
    NAMES.into_iter().filter(|(name, _)| json::flag(&flags[*name]) == Some(true)).map(|(_, intent)| intent).collect()
}
