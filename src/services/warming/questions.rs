//! The questions of each kind of page without conditions. A test opens every page after they were asked.

use api::{
    error::ApiError,
    params::{QueryPairs, QueryParams},
};
use chrono::NaiveDate;

use super::opened::PageKind;
use crate::{
    error::Error,
    services::{
        access::PropertyAccess,
        analyses::{
            cannibalization, countries, growth, performance, query_insights,
            search_data::SearchData,
            sparklines,
            windows::{DEFAULT_DAYS, last_days},
        },
    },
};

/// Reads what a page shows whose window ends with `last_final`.
pub(super) async fn read(
    search: &SearchData,
    access: &PropertyAccess,
    page: PageKind,
    last_final: NaiveDate,
) -> Result<(), Error> {
    let window = last_days(last_final, DEFAULT_DAYS);
    let days = format!("startDate={}&endDate={}", window.start_date, window.end_date);
    let compared = format!("{days}&compare=previous_period");
    match page {
        PageKind::Overview => {
            let asked = format!("{compared}&scope=all&queryLimit=10&pageLimit=10&explain=true");
            performance::performance(search, access, &params(&asked)?).await?;
            sparklines::sparklines(search, access, &params(&format!("{days}&table=queries&limit=10"))?).await?;
        }
        PageKind::Queries | PageKind::Pages => {
            performance::performance(search, access, &params(&format!("{compared}&scope=tables"))?).await?;
        }
        PageKind::Countries => {
            performance::performance(search, access, &params(&format!("{compared}&scope=tables"))?).await?;
            countries::timeseries(search, access, &params(&format!("{compared}&top=5"))?).await?;
        }
        PageKind::Growth => drop(growth::growth(search, access, &params(&compared)?).await?),
        PageKind::Cannibalization => {
            drop(cannibalization::cannibalization(search, access, &params(&compared)?).await?);
        }
        PageKind::Insights => drop(query_insights::query_insights(search, access, &params(&compared)?).await?),
    }
    Ok(())
}

fn params<T: QueryParams>(query: &str) -> Result<T, Error> {
    let read = QueryPairs::of(query).and_then(|pairs| T::read(&pairs));
    read.map_err(|ApiError { hint, .. }| Error::internal(hint.unwrap_or_default()))
}
