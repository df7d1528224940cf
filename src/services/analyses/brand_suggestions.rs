//! Suggestions of branded keywords: the queries that they rest on, and what is said where these cannot be read.

use std::{collections::HashMap, sync::Arc};

use analytics::brand_suggestions::{
    Query,
    site_name::{host, site_name},
    suggestions,
};
use api::{
    answer::ListMeta,
    classifications::{BrandedKeyword, BrandedKeywordsMeta, QueriesRead, Unread},
    error::ApiError,
    models::{self, Aggregation, FilterCondition, FilterOperator, Question},
};
use common::compute::beside;
use search_engine::{Dimension, ENGINE_CEILING, Expression, Part, Plan, Predicate, Reading};

use super::{
    Asked,
    question::{freshness, planned},
    search_data::SearchData,
};
use crate::{error::Error, services::access::ReadableProperty};

/// The queries of the last final days: all, and the ones that led to the home page.
struct Queries {
    asked: Asked,
    all: Arc<Reading>,
    home: Arc<Reading>,
}

/// Suggests keywords beside the `kept` ones. If search data cannot be read, the name of the site is the only source.
pub async fn suggested(
    search: &SearchData,
    access: &ReadableProperty,
    kept: &[BrandedKeyword],
    list: ListMeta,
) -> Result<BrandedKeywordsMeta, Error> {
    let kept: Vec<String> = kept.iter().map(|row| row.keyword.clone()).collect();
    let site = access.property().site_url.clone();
    let (queries, unread) = match read(search, access).await {
        Ok(queries) => (Some(queries), None),
        Err(error) if is_about_reading(&error) => (None, Some(unread(error))),
        Err(error) => return Err(error),
    };
    let said = queries.as_ref().map(Queries::said);
    let suggestions = beside(move || {
        let queries = queries.as_ref().map(Queries::joined).unwrap_or_default();
        let kept: Vec<&str> = kept.iter().map(String::as_str).collect();
        suggestions(site_name(&site), &kept, &queries)
    });
    Ok(BrandedKeywordsMeta { list, suggestions: Some(suggestions.await?), queries: said, unread })
}

/// Returns whether the search engine or the connection to it is the reason of an error. Who is not the owner gets `NotFound` for a
/// site that the search engine refuses.
fn is_about_reading(error: &Error) -> bool {
    matches!(
        error,
        Error::SearchAccountDisconnected(_)
            | Error::SearchSiteRefused { .. }
            | Error::SearchEngineUnavailable { .. }
            | Error::NotSent { .. }
            | Error::NotFound
    )
}

fn unread(error: Error) -> Unread {
    let ApiError { code, hint, .. } = ApiError::from(error);
    Unread { code: code.as_str().to_owned(), hint }
}

async fn read(search: &SearchData, access: &ReadableProperty) -> Result<Queries, Error> {
    let asked = Asked::settle(search, access, &Question::by_default(None)).await?;
    let home = planned(Predicate::of(vec![Expression::of(&[is_home_page(&access.property().site_url)])])).await?;
    let (window, everything, by_query) = (asked.settled.window, Plan::everything(), [Dimension::Query]);
    let part = asked.settled.part(window, &by_query, ENGINE_CEILING);
    let part = Part { aggregation: Some(Aggregation::ByPage), ..part };
    let (all, home) = tokio::try_join!(
        asked.read_all(window, &by_query, &everything),
        Box::pin(search.read(&asked.settled.site, &part, &home)),
    )?;
    Ok(Queries { asked, all, home })
}

/// The condition that selects the home page, by either protocol and with or without `www.`.
fn is_home_page(site_url: &str) -> FilterCondition {
    FilterCondition {
        dimension: models::Dimension::Page,
        operator: FilterOperator::MatchesRegex,
        value: format!("^https?://(?:www\\.)?{}/?$", regex::escape(host(site_url))),
        logic: None,
    }
}

impl Queries {
    fn said(&self) -> QueriesRead {
        QueriesRead {
            window: self.asked.settled.window,
            freshness: freshness(&self.asked.freshness),
            cached_at: self.all.read_at.min(self.home.read_at).into(),
            rows: self.all.rows.len() as u64,
            rows_capped: self.all.capped,
        }
    }

    /// Each query with its clicks on the home page.
    fn joined(&self) -> Vec<Query<'_>> {
        let home: HashMap<&str, f64> = self.home.rows.iter().map(|row| (row.key(), row.metrics.clicks)).collect();
        let rows = self.all.rows.iter();
        rows.map(|row| Query {
            text: row.key(),
            metrics: row.metrics,
            home_clicks: home.get(row.key()).copied().unwrap_or_default(),
        })
        .collect()
    }
}
