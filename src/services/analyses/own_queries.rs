//! The queries of a property in one country, beside which other data is shown.

use std::sync::Arc;

use api::models::{FilterCondition, FilterDimension, FilterOperator, Filters, Question, Window};

use super::{Asked, search_data::SearchData};
use crate::{
    error::Error,
    search_engine::{Dimension, Reading},
    services::access::ReadableProperty,
};

/// The queries of the last final days.
pub struct OwnQueries {
    /// The queries, those with most clicks first.
    pub reading: Arc<Reading>,
    /// The days.
    pub window: Window,
}

/// Reads the queries of a property in the default window, from searches in `country`.
pub async fn own_queries(search: &SearchData, access: &ReadableProperty, country: &str) -> Result<OwnQueries, Error> {
    let in_country = FilterCondition {
        dimension: FilterDimension::Country,
        operator: FilterOperator::Equals,
        value: country.to_owned(),
        logic: None,
    };
    let question = Question::by_default(Some(Filters(vec![in_country])));
    let asked = Asked::settle(search, access, &question).await?;
    let (window, plan) = (asked.settled.window, asked.settled.plan().await?);
    Ok(OwnQueries { reading: asked.read_all(window, &[Dimension::Query], &plan).await?, window })
}
