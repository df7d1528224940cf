//! The keyword object of provider A.

use chrono::Datelike as _;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::Task;
use super::fields;
use crate::providers::countries::Region;
use crate::providers::market::{Figures, Monthly, normal};
use crate::providers::values::{php, rounded, time_a};
use crate::world::rng::{child, count, unit};

/// Volumes that the vendor reports, after the steps in which advertisers see them.
const STEPS: [u32; 51] = [
    10, 20, 30, 40, 50, 70, 90, 110, 140, 170, 210, 260, 320, 390, 480, 590, 720, 880, 1_000, 1_300, 1_600, 1_900,
    2_400, 2_900, 3_600, 4_400, 5_400, 6_600, 8_100, 9_900, 12_100, 14_800, 18_100, 22_200, 27_100, 33_100, 40_500,
    49_500, 60_500, 74_000, 90_500, 110_000, 135_000, 165_000, 201_000, 246_000, 301_000, 368_000, 450_000, 550_000,
    673_000,
];

/// Searches rounded up to the next step, so that a volume is never below the impressions of a simulated site.
pub(super) fn volume(searches: f64) -> u32 {
    if searches < 1.0 {
        return 0;
    }
    let searches = count(searches.ceil());
    STEPS.into_iter().find(|step| *step >= searches).unwrap_or(searches)
}

/// Monthly searches, newest first.
pub(super) fn monthly(months: &[Monthly]) -> Value {
    let item = |month: &Monthly| {
        json!({
            "year": month.month.year(),
            "month": month.month.month(),
            "search_volume": volume(month.searches),
        })
    };
    months.iter().map(item).collect()
}

/// Change from `before` to `now` in whole percent.
fn change(now: f64, before: f64) -> i64 {
    let (now, before) = (i64::from(volume(now)), i64::from(volume(before)));
    if before == 0 { 0 } else { (now - before) * 100 / before }
}

/// US cents as dollars.
pub(super) fn from_cents(cents: u32) -> Value {
    php(f64::from(cents) / 100.0)
}

/// The level of a competition from 0 to 1.
pub(super) fn level(competition: f64) -> &'static str {
    match competition {
        c if c < 0.34 => "LOW",
        c if c < 0.67 => "MEDIUM",
        _ => "HIGH",
    }
}

/// The object that describes `keyword`, or `None` if the vendor does not know it.
pub(super) fn object(task: &Task<'_>, keyword: &str) -> Option<Value> {
    let keyword = normal(keyword);
    let (place, location) = fields::place(task.fields);
    let figures = task.research.figures(&keyword, place)?;
    Some(json!({
        "se_type": "google",
        "keyword": keyword,
        "location_code": location,
        "language_code": fields::language(task.fields),
        "keyword_info": info(task, &figures),
        "keyword_info_normalized_with_bing": {
            "last_updated_time": updated(task, &figures, 2),
            "search_volume": volume(figures.searches * 1.05),
            "is_normalized": true,
            "monthly_searches": monthly(&figures.months[..12]),
        },
        "keyword_info_normalized_with_clickstream": null,
        "clickstream_keyword_info": clickstream(task, &figures),
        "keyword_properties": {
            "se_type": "google",
            "core_keyword": null,
            "synonym_clustering_algorithm": null,
            "keyword_difficulty": figures.difficulty,
            "detected_language": language(place),
            "is_another_language": false,
            "words_count": keyword.split(' ').count(),
        },
        "serp_info": serp(task, &keyword, &figures),
        "avg_backlinks_info": backlinks(task, &figures),
        "search_intent_info": intent(task, &figures),
    }))
}

fn language(place: Region) -> &'static str {
    match place {
        Region::Country(country) => crate::providers::countries::language(country),
        Region::World | Region::Elsewhere => "en",
    }
}

/// The time of an update within the last weeks.
fn updated(task: &Task<'_>, figures: &Figures, axis: u64) -> String {
    let key = child(figures.key, axis << 8);
    let back = chrono::Days::new(1 + key % 25);
    time_a(task.research.today.checked_sub_days(back).unwrap_or(task.research.today), key >> 8)
}

fn info(task: &Task<'_>, figures: &Figures) -> Value {
    let months: Vec<f64> = figures.months.iter().map(|month| month.searches).collect();
    let cents = figures.cents_per_click;
    // Nobody bids on a keyword without a price.
    let competition = cents.map(|_| figures.competition);
    json!({
        "se_type": "google",
        "last_updated_time": updated(task, figures, 1),
        "competition": competition.map(php),
        "competition_level": competition.map(level),
        "cpc": cents.map(from_cents),
        "search_volume": volume(figures.searches),
        "low_top_of_page_bid": cents.map(|cents| from_cents(cents * 2 / 5)),
        "high_top_of_page_bid": cents.map(|cents| from_cents(cents * 8 / 5)),
        "categories": [10_000 + figures.key % 900, 11_000 + figures.key / 900 % 900],
        "monthly_searches": monthly(&figures.months[..12]),
        "search_volume_trend": {
            "monthly": change(months[0], months[1]),
            "quarterly": change(months[0], months[3]),
            "yearly": change(months[0], months[12]),
        },
    })
}

fn clickstream(task: &Task<'_>, figures: &Figures) -> Value {
    if task.flag("include_clickstream_data") != Some(true) {
        return Value::Null;
    }
    let searches = volume(figures.searches * 0.8);
    json!({
        "search_volume": searches,
        "last_updated_time": updated(task, figures, 3),
        "gender_distribution": { "female": searches / 2, "male": searches - searches / 2 },
        "age_distribution": {
            "18-24": searches / 5,
            "25-34": searches / 4,
            "35-44": searches / 5,
            "45-54": searches / 6,
            "55-64": searches / 10,
        },
        "monthly_searches": monthly(&figures.months[..12]),
    })
}

fn serp(task: &Task<'_>, keyword: &str, figures: &Figures) -> Value {
    if task.flag("include_serp_info") != Some(true) {
        return Value::Null;
    }
    let encoded = utf8_percent_encode(keyword, NON_ALPHANUMERIC);
    json!({
        "se_type": "google",
        "check_url": format!("https://www.google.com/search?q={encoded}"),
        "serp_item_types": ["organic", "people_also_ask", "related_searches"],
        "se_results_count": 10_000 + figures.key % 90_000_000,
        "last_updated_time": updated(task, figures, 4),
        "previous_updated_time": null,
    })
}

fn backlinks(task: &Task<'_>, figures: &Figures) -> Value {
    let difficulty = f64::from(figures.difficulty);
    let domains = (difficulty * 0.07).exp() * (0.7 + 0.6 * unit(child(figures.key, 20)));
    let tenth = |number: f64| php(rounded(number, 1));
    json!({
        "se_type": "google",
        "backlinks": tenth(domains * 4.3),
        "dofollow": tenth(domains * 2.6),
        "referring_pages": tenth(domains * 3.9),
        "referring_domains": tenth(domains),
        "referring_main_domains": tenth(domains * 0.92),
        "rank": tenth(difficulty * 4.4),
        "main_domain_rank": tenth(200.0 + difficulty * 5.0),
        "last_updated_time": updated(task, figures, 5),
    })
}

fn intent(task: &Task<'_>, figures: &Figures) -> Value {
    let names = figures.intents.names();
    let others = names.get(1..).filter(|others| !others.is_empty());
    json!({
        "se_type": "google",
        "main_intent": names.first(),
        "foreign_intent": others,
        "last_updated_time": updated(task, figures, 6),
    })
}
