//! The queries of a property in one country, beside which other data is shown, and its countries.

use std::sync::Arc;

use api::models::{self, FilterCondition, FilterOperator, Filters, Question, Window};
use common::metrics::Metrics;
use search_engine::{Dimension, Reading};

use super::{Asked, search_data::SearchData, table_cap};
use crate::{error::Error, services::access::ReadableProperty};

/// The queries of the last final days.
pub struct OwnQueries {
    /// The queries by clicks, the most first.
    pub reading: Arc<Reading>,
    /// The days.
    pub window: Window,
}

/// Returns the codes of the countries with searches in the default window, by clicks, the most first.
pub async fn own_countries(search: &SearchData, access: &ReadableProperty) -> Result<Vec<String>, Error> {
    let asked = Asked::settle(search, access, &Question::by_default(None)).await?;
    let (window, plan) = (asked.settled.window, asked.settled.plan().await?);
    let reading = asked.read(window, &[Dimension::Country], table_cap(Dimension::Country), &plan).await?;
    let mut rows: Vec<(&str, &Metrics)> = reading.rows.iter().map(|row| (row.key(), &row.metrics)).collect();
    rows.sort_by(|(a, left), (b, right)| {
        let most = right.clicks.total_cmp(&left.clicks).then(right.impressions.total_cmp(&left.impressions));
        most.then_with(|| a.cmp(b))
    });
    Ok(rows.into_iter().map(|(code, _)| code.to_owned()).collect())
}

/// Reads the queries of a property in the default window, from searches in `country`.
pub async fn own_queries(search: &SearchData, access: &ReadableProperty, country: &str) -> Result<OwnQueries, Error> {
    let in_country = FilterCondition {
        dimension: models::Dimension::Country,
        operator: FilterOperator::Equals,
        value: country.to_owned(),
        logic: None,
    };
    let question = Question::by_default(Some(Filters(vec![in_country])));
    let asked = Asked::settle(search, access, &question).await?;
    let (window, plan) = (asked.settled.window, asked.settled.plan().await?);
    Ok(OwnQueries { reading: asked.read_all(window, &[Dimension::Query], &plan).await?, window })
}
