//! Reads the search appearances that the conditions of a question can select.

use std::collections::BTreeMap;

use api::models::{FilterCondition, FilterOperator};
use futures_util::future::try_join_all;
use search_engine::{Appearances, DataState, Dimension, Names, Part, Plan, Predicate, WindowAppearances, filter};

use super::{
    WHOLE,
    search_data::{SearchData, SearchSite},
    total,
};
use crate::error::Error;

/// The number of names from which on it pays to read which of them occur together.
const MANY: usize = 3;

/// The names of the largest sets that are read.
const LARGEST: usize = 4;

/// The most requests that look for names that occur together in one window.
const MOST_SETS: usize = 40;

/// Returns the search appearances that a predicate can meet in some windows, whose totals are `totals`. Conditions that name one
/// appearance in full need no request.
pub async fn known(
    search: &SearchData,
    site: &SearchSite,
    predicate: &Predicate,
    totals: &[Part],
) -> Result<Appearances, Error> {
    let conditions: Vec<&FilterCondition> = predicate.on_appearances().collect();
    if let Some(names) = named(&conditions) {
        return Ok(Appearances::named(names));
    }
    let known = totals.iter().map(|totals| in_window(search, site, totals, &conditions));
    Ok(Appearances(try_join_all(known).await?))
}

/// The names in `conditions`, if they need no list of names: at most one, and in full.
fn named(conditions: &[&FilterCondition]) -> Option<Names> {
    let mut names = Names::new();
    for condition in conditions {
        match condition.operator {
            FilterOperator::Equals => names.extend([condition.value.to_ascii_uppercase()]),
            FilterOperator::OrList => names.extend(filter::list_items(&condition.value.to_ascii_uppercase())),
            _ => return None,
        }
    }
    (names.len() <= 1).then_some(names)
}

/// Reads the names in a window and, if the conditions select many and no day can change, which of them occur together.
async fn in_window(
    search: &SearchData,
    site: &SearchSite,
    totals: &Part,
    conditions: &[&FilterCondition],
) -> Result<WindowAppearances, Error> {
    let list = Part { dimensions: vec![Dimension::SearchAppearance], cap: WHOLE, ..totals.clone() };
    let list = search.read(site, &list, &Plan::everything()).await?;
    let names = list.rows.iter().map(|row| row.key().to_owned()).collect();
    let mut known = WindowAppearances { names, together: BTreeMap::new() };
    let selected: Names = conditions.iter().flat_map(|condition| known.selected(condition)).collect();
    if selected.len() < MANY || totals.data_state != DataState::Final {
        return Ok(known);
    }
    let read = async |set: Names| {
        let reading = search.read(site, totals, &Plan::with_appearances(&set)).await?;
        Ok::<_, Error>((set, total(&reading).impressions))
    };
    for size in 1..=LARGEST {
        let sets = known.unknown(&selected, size);
        if known.together.len() + sets.len() > MOST_SETS {
            break;
        }
        known.together.extend(try_join_all(sets.into_iter().map(&read)).await?);
    }
    Ok(known)
}
