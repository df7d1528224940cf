//! Provider B's keyword research, and the keywords that a site ranks for.

use chrono::{Datelike as _, Months, NaiveDate};
use serde_json::{Value, json};

use super::columns::{IDEAS, ORGANIC, OVERVIEW};
use super::table::Table;
use super::{Asked, Found, Refusal};
use crate::providers::countries::{self, Region};
use crate::providers::links::{bare, host_of};
use crate::providers::market::{Figures, is_question, normal};
use crate::providers::values::{rounded, time_b};
use crate::world::axes::{COUNTRIES, SearchType};
use crate::world::profile::click_through_rate;
use crate::world::rng::{child, count, unit};

/// Searches, rounded up to a multiple of ten, or of a hundred above a thousand.
fn volume(searches: f64) -> u32 {
    let step = if searches > 1_000.0 { 100.0 } else { 10.0 };
    if searches < 1.0 { 0 } else { count((searches / step).ceil() * step) }
}

fn overview_features(key: u64) -> Vec<&'static str> {
    const ALL: [&str; 7] = ["snippet", "question", "image", "video", "local_pack", "sitelink", "shopping"];
    ALL.iter().enumerate().filter(|(bit, _)| unit(child(key, 20 + *bit as u64)) < 0.25).map(|(_, name)| *name).collect()
}

/// The share of searches on desktop computers.
fn desktop(key: u64) -> f64 {
    rounded(0.25 + 0.45 * unit(child(key, 30)), 2)
}

/// The row of a keyword with all columns, null where the market does not know it.
fn row(asked: &Asked<'_>, keyword: &str, place: Region) -> Value {
    let Some(figures) = asked.research.figures(keyword, place) else {
        return json!({ "keyword": keyword, "serp_features": [], "volume_monthly_history": [] });
    };
    let key = figures.key;
    let clicks_per_search = rounded(0.45 + 0.75 * unit(child(key, 31)), 2);
    let parent = asked.research.offered(keyword).first().map_or_else(|| keyword.to_owned(), |text| (*text).to_owned());
    let parent_volume = asked.research.figures(&parent, place).map(|figures| volume(figures.searches));
    let seen = |axis: u64| {
        let back = chrono::Days::new(1 + child(key, axis) % 40);
        time_b(asked.research.today.checked_sub_days(back).unwrap_or(asked.research.today), child(key, axis) >> 9)
    };
    json!({
        "clicks": count(figures.searches * clicks_per_search),
        "cpc": figures.cents_per_click,
        "cps": clicks_per_search,
        "difficulty": figures.difficulty,
        "first_seen": "2016-02-03T00:00:00Z",
        "global_volume": volume(figures.worldwide),
        "intents": intents(&figures, asked.research.is_brand(keyword)),
        "keyword": keyword,
        "parent_topic": parent,
        "parent_volume": parent_volume,
        "searches_pct_clicks_organic_and_paid": rounded(6.0 * unit(child(key, 32)), 2),
        "searches_pct_clicks_organic_only": rounded(40.0 + 35.0 * unit(child(key, 33)), 2),
        "searches_pct_clicks_paid_only": rounded(5.0 * unit(child(key, 34)), 2),
        "serp_domain_rating_top10_min": rounded(f64::from(figures.difficulty) * 0.6, 1),
        "serp_domain_rating_top5_min": rounded(f64::from(figures.difficulty) * 0.8, 1),
        "serp_features": overview_features(key),
        "serp_last_update": seen(35),
        "traffic_potential": count(figures.searches * 2.3),
        "volume": volume(figures.searches),
        "volume_desktop_pct": desktop(key),
        "volume_mobile_pct": rounded(1.0 - desktop(key), 2),
        "volume_monthly": volume(figures.months[0].searches),
        "word_count": keyword.split(' ').count(),
    })
}

fn intents(figures: &Figures, branded: bool) -> Value {
    let found = figures.intents;
    json!({
        "informational": found.informational,
        "navigational": found.navigational,
        "commercial": found.commercial,
        "transactional": found.transactional,
        "branded": branded,
        "local": found.local,
    })
}

/// The keywords asked about.
fn seeds(asked: &Asked<'_>) -> Result<Vec<String>, Refusal> {
    if asked.params.get("keyword_list_id").is_some() {
        return Err(Refusal::not_found());
    }
    asked.params.required("keywords")?;
    Ok(asked.params.list("keywords").into_iter().map(normal).collect())
}

/// Figures of given keywords.
pub(super) fn overview(asked: &Asked<'_>) -> Result<Found, Refusal> {
    let table = Table::parse(&asked.params, &OVERVIEW)?;
    let (place, _) = asked.params.country()?;
    let keywords = seeds(asked)?;
    if asked.params.get("target").is_some() {
        return Err(Refusal::bad("bad argument 'target': not simulated here".to_owned()));
    }
    let months = if table.selects("volume_monthly_history") { Some(history_months(asked)?) } else { None };
    let build = |keyword: &String| {
        let mut row = row(asked, keyword, place);
        if let Some(months) = &months {
            row["volume_monthly_history"] = history(asked, keyword, place, months);
        }
        row
    };
    // A month costs 2 units, and the whole history of a keyword at least 50.
    let more = months.as_ref().map_or(0, |months| (2 * months.len() as u64).max(50));
    Ok(table.answer("keywords", keywords.iter().map(build).collect(), more))
}

fn history_months(asked: &Asked<'_>) -> Result<Vec<NaiveDate>, Refusal> {
    asked.params.required("volume_monthly_date_from")?;
    asked.params.required("volume_monthly_date_to")?;
    months(asked, "volume_monthly_date_from", "volume_monthly_date_to")
}

/// The first days of the whole months between two parameters, oldest first: the last twelve if they are absent.
fn months(asked: &Asked<'_>, from: &str, to: &str) -> Result<Vec<NaiveDate>, Refusal> {
    let newest = asked.research.month(1);
    let first = |day: NaiveDate| day.with_day(1).unwrap_or(day);
    let end = asked.params.date(to)?.map_or(newest, first).min(newest);
    let start = asked.params.date(from)?.map_or_else(|| end.checked_sub_months(Months::new(11)).unwrap_or(end), first);
    let all = (0..240).filter_map(|month| start.checked_add_months(Months::new(month)));
    Ok(all.take_while(|month| *month <= end).collect())
}

fn history(asked: &Asked<'_>, keyword: &str, place: Region, months: &[NaiveDate]) -> Value {
    let point = |month: &NaiveDate| {
        let searches = asked.research.searches_in(keyword, place, *month)?.searches;
        Some(json!({ "date": month.to_string(), "volume": volume(searches) }))
    };
    months.iter().filter_map(point).collect()
}

/// Volume of one keyword by month.
pub(super) fn volume_history(asked: &Asked<'_>) -> Result<Found, Refusal> {
    let (place, _) = asked.params.country()?;
    let keyword = normal(asked.params.required("keyword")?);
    let months = months(asked, "date_from", "date_to")?;
    let points = history(asked, &keyword, place, &months);
    let rows = points.as_array().map_or(0, Vec::len);
    Ok(Found { rows, ..Found::single("metrics", points, 2 * rows as u64) })
}

/// Ideas from the seeds, each once, most searched first.
fn ideas<'a>(
    asked: &Asked<'a>,
    find: impl Fn(&str) -> Vec<&'a str>,
    wanted: impl Fn(&str) -> bool,
) -> Result<Found, Refusal> {
    let table = Table::parse(&asked.params, &IDEAS)?;
    let (place, _) = asked.params.country()?;
    let mut seen = std::collections::HashSet::new();
    let mut rows: Vec<Value> = Vec::new();
    for seed in seeds(asked)? {
        let texts = find(&seed).into_iter().filter(|text| wanted(text) && seen.insert(*text));
        rows.extend(texts.map(|text| row(asked, text, place)));
    }
    rows.sort_by_key(|row| std::cmp::Reverse(row["volume"].as_u64()));
    Ok(table.answer("keywords", rows, 0))
}

/// Keywords that contain the seeds' words.
pub(super) fn matching(asked: &Asked<'_>) -> Result<Found, Refusal> {
    let phrase = asked.params.one_of("match_mode", &["terms", "phrase"])? == "phrase";
    let questions = asked.params.one_of("terms", &["all", "questions"])? == "questions";
    ideas(asked, |seed| asked.research.containing(seed, phrase), |text| !questions || is_question(text))
}

/// Keywords that rank or are mentioned together with the seeds.
pub(super) fn related(asked: &Asked<'_>) -> Result<Found, Refusal> {
    asked.params.one_of("view_for", &["top_10", "top_100"])?;
    let terms = asked.params.one_of("terms", &["all", "also_rank_for", "also_talk_about"])?;
    let find = |seed: &str| match terms {
        "also_rank_for" => asked.research.ranking_together(seed),
        "also_talk_about" => asked.research.mentioning(seed),
        _ => [asked.research.ranking_together(seed), asked.research.mentioning(seed)].concat(),
    };
    ideas(asked, find, |_| true)
}

/// Keywords that begin with the seeds.
pub(super) fn suggestions(asked: &Asked<'_>) -> Result<Found, Refusal> {
    ideas(asked, |seed| asked.research.beginning(seed), |_| true)
}

/// Keywords that a site ranks for. The default country is the site's home country.
pub(super) fn organic(asked: &Asked<'_>) -> Result<Found, Refusal> {
    let table = Table::parse(&asked.params, &ORGANIC)?;
    let date = asked.params.report_date()?;
    let target = asked.params.target()?;
    let wanted = asked.params.optional_country()?;
    asked.params.one_of("volume_mode", &["monthly", "average"])?;
    let mut rows = Vec::new();
    for site in asked.research.world.sites().filter(|site| bare(host_of(site)).ends_with(&target.domain())) {
        let stream = site.stream(SearchType::Web);
        let home = COUNTRIES.iter().position(|country| *country == site.blueprint.home).unwrap_or_default();
        let country = match wanted {
            None => home,
            Some(Region::Country(country)) => country,
            Some(_) => continue,
        };
        let share = stream.country_shares()[country];
        let (growth, season) = stream.growth_and_season(date);
        for entry in stream.entries.iter().filter(|entry| !entry.anonymised) {
            let page = &site.pages()[usize::from(entry.pages.first().copied().unwrap_or_default())].url;
            if !target.covers_page(page) {
                continue;
            }
            let seen = entry.mean * share * growth * season * 30.4;
            let visits = seen * click_through_rate(entry.position, entry.brand);
            rows.push(organic_row(asked, &entry.text, country, (entry.position, visits), page));
        }
    }
    rows.sort_by_key(|row| std::cmp::Reverse(row["sum_traffic"].as_u64()));
    Ok(table.answer("keywords", rows, 0))
}

fn organic_row(asked: &Asked<'_>, keyword: &str, country: usize, (position, visits): (f64, f64), page: &str) -> Value {
    let Some(figures) = asked.research.figures(keyword, Region::Country(country)) else { return Value::Null };
    let best = count(position).max(1);
    let features = overview_features(figures.key);
    let (found, key) = (figures.intents, figures.key);
    let updated = chrono::Days::new(1 + key % 30);
    let updated = asked.research.today.checked_sub_days(updated).unwrap_or(asked.research.today);
    json!({
        "best_position": best,
        "best_position_has_thumbnail": false,
        "best_position_has_video": false,
        "best_position_kind": "organic",
        "best_position_set": match best { 0..=3 => "top_3", 4..=10 => "top_4_10", 11..=50 => "top_11_50", _ => "top_51_more" },
        "best_position_url": page,
        "cpc": figures.cents_per_click,
        "is_best_position_set_top_11_50": (11..=50).contains(&best),
        "is_best_position_set_top_3": best <= 3,
        "is_best_position_set_top_4_10": (4..=10).contains(&best),
        "is_branded": asked.research.is_brand(keyword),
        "is_commercial": found.commercial,
        "is_informational": found.informational,
        "is_local": found.local,
        "is_main_position": true,
        "is_navigational": found.navigational,
        "is_transactional": found.transactional,
        "keyword": keyword,
        "keyword_country": countries::letters(country),
        "keyword_difficulty": figures.difficulty,
        "language": countries::language(country),
        "last_update": time_b(updated, key >> 5),
        "serp_features": features,
        "serp_features_count": features.len(),
        "sum_traffic": count(visits),
        "volume": volume(figures.searches),
        "volume_desktop_pct": desktop(key),
        "volume_mobile_pct": rounded(1.0 - desktop(key), 2),
        "words": keyword.split(' ').count(),
    })
}
