//! Provider A's keyword research.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::page::page;
use super::{Failure, Found, Task, fields, keywords};
use crate::providers::market::normal;

/// The start of every result.
fn head(task: &Task<'_>) -> Map<String, Value> {
    let mut result = Map::new();
    result.insert("se_type".to_owned(), json!("google"));
    result.insert("location_code".to_owned(), json!(fields::place(task.fields).1));
    result.insert("language_code".to_owned(), json!(fields::language(task.fields)));
    result
}

fn with(mut head: Map<String, Value>, rest: Value) -> Value {
    if let Value::Object(rest) = rest {
        head.extend(rest);
    }
    Value::Object(head)
}

/// The keywords of a task, each once.
fn asked(task: &Task<'_>) -> Vec<String> {
    let list = task.given("keywords").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut seen = HashSet::new();
    list.iter().filter_map(Value::as_str).map(normal).filter(|keyword| seen.insert(keyword.clone())).collect()
}

/// All figures of the keywords that the vendor knows.
pub(super) fn overview(task: &Task<'_>) -> Result<Found, Failure> {
    let item = |keyword: &String| {
        let mut item = keywords::object(task, keyword)?;
        item["search_partners"] = json!(false);
        Some(item)
    };
    let items: Vec<Value> = asked(task).iter().filter_map(item).collect();
    if items.is_empty() {
        return Err(Failure::Nothing);
    }
    let rows = items.len();
    Ok(Found { rows, result: vec![with(head(task), json!({ "items_count": rows, "items": items }))] })
}

/// The difficulty of the keywords that the vendor knows.
pub(super) fn difficulty(task: &Task<'_>) -> Result<Found, Failure> {
    let (place, _) = fields::place(task.fields);
    let item = |keyword: &String| {
        let figures = task.research.figures(keyword, place)?;
        Some(json!({ "se_type": "google", "keyword": keyword, "keyword_difficulty": figures.difficulty }))
    };
    let items: Vec<Value> = asked(task).iter().filter_map(item).collect();
    if items.is_empty() {
        return Err(Failure::Nothing);
    }
    let rows = items.len();
    let rest = json!({ "total_count": rows, "items_count": rows, "items": items });
    Ok(Found { rows, result: vec![with(head(task), rest)] })
}

/// The seed keyword itself, where the task asks for it.
fn seed(task: &Task<'_>, keyword: &str) -> Value {
    let wanted = task.flag("include_seed_keyword") == Some(true);
    wanted.then(|| keywords::object(task, keyword)).flatten().unwrap_or(Value::Null)
}

/// Keywords that contain the seed keyword.
pub(super) fn suggestions(task: &Task<'_>) -> Result<Found, Failure> {
    let keyword = normal(task.text("keyword"));
    let exact = task.flag("exact_match") == Some(true);
    let texts = task.research.containing(&keyword, exact);
    let texts: Vec<&str> = texts.into_iter().filter(|text| *text != keyword).collect();
    let found = page(task, "offset_token", &texts, |text| keywords::object(task, text).unwrap_or(Value::Null))?;
    if found.total == 0 {
        return Err(Failure::Nothing);
    }
    let rows = found.items.len();
    let rest = json!({
        "seed_keyword": keyword,
        "seed_keyword_data": seed(task, &keyword),
        "total_count": found.total,
        "items_count": rows,
        "offset": found.offset,
        "offset_token": found.next,
        "items": if rows == 0 { Value::Null } else { found.items.into() },
    });
    Ok(Found { rows, result: vec![with(head(task), rest)] })
}

/// Keywords offered on the result page of the seed keyword, then on their result pages, and so on.
pub(super) fn related(task: &Task<'_>) -> Result<Found, Failure> {
    let keyword = normal(task.text("keyword"));
    let depth = task.number("depth").unwrap_or(1);
    let mut seen: HashSet<String> = HashSet::from([keyword.clone()]);
    let mut tree: Vec<(String, usize)> = vec![(keyword.clone(), 0)];
    let mut at = 0;
    while let Some((parent, level)) = tree.get(at).cloned() {
        at += 1;
        if level < depth {
            let offered = task.research.offered(&parent);
            let fresh = offered.into_iter().filter(|text| seen.insert((*text).to_owned()));
            tree.extend(fresh.map(|text| (text.to_owned(), level + 1)));
        }
    }
    let (place, _) = fields::place(task.fields);
    tree.retain(|(text, _)| task.research.figures(text, place).is_some());
    let build = |(text, level): &(String, usize)| {
        json!({
            "se_type": "google",
            "keyword_data": keywords::object(task, text),
            "depth": level,
            "related_keywords": Some(task.research.offered(text)).filter(|offered| !offered.is_empty()),
        })
    };
    let found = page(task, "offset_token", &tree, build)?;
    if found.total == 0 {
        return Err(Failure::Nothing);
    }
    let rows = found.items.len();
    let rest = json!({
        "seed_keyword": keyword,
        "seed_keyword_data": seed(task, &keyword),
        "total_count": found.total,
        "items_count": rows,
        "items": if rows == 0 { Value::Null } else { found.items.into() },
    });
    Ok(Found { rows, result: vec![with(head(task), rest)] })
}
