//! Pages of the property that compete for the same query.

use std::sync::Arc;

use api::analytics::{
    Cannibalization, CannibalizationAnswer, CannibalizationCoverage, CannibalizationMeta, CannibalizationParams,
    CannibalizationThresholds,
};

use super::{
    Asked, Listed, check_has_queries, leave_brand_out,
    rendered::{MadeOf, RenderedAnswer, key},
    search_data::SearchData,
};
use crate::{
    analytics::cannibalization::candidates,
    error::Error,
    search_engine::{Dimension, Reading},
    services::access::ReadableProperty,
};

/// The readings of the analysis.
struct Readings {
    queries: Arc<Reading>,
    pages: Arc<Reading>,
    whole: Arc<Reading>,
    whole_by_page: Arc<Reading>,
}

impl Readings {
    fn all(&self) -> [&Arc<Reading>; 4] {
        [&self.queries, &self.pages, &self.whole, &self.whole_by_page]
    }
}

/// Computes the analysis.
pub async fn cannibalization(
    search: &SearchData,
    access: &ReadableProperty,
    params: &CannibalizationParams,
) -> Result<Arc<RenderedAnswer<CannibalizationAnswer>>, Error> {
    check_has_queries(&params.slice)?;
    let mut asked = Asked::settle_alone(search, access, &params.window, &params.slice).await?;
    let branded_excluded = leave_brand_out(&mut asked, access, &params.slice, params.include_branded).await?;
    let readings = read(&asked).await?;
    let key = key("cannibalization", access.property().id, params)?;
    let thresholds = CannibalizationThresholds {
        min_query_impressions: params.min_query_impressions.0.into(),
        min_page_impressions: params.min_page_impressions.0.into(),
        min_page_share: params.min_page_share.0,
        max_top_share: params.max_top_share.0,
        branded_excluded,
    };
    let (made_of, limit) = (MadeOf::new(readings.all(), asked.freshness), params.limit.0 as usize);
    search.answers.rendered(key, made_of, move || answer(&asked, &readings, thresholds, limit)).await
}

async fn read(asked: &Asked) -> Result<Readings, Error> {
    let (window, plan) = (asked.settled.window, asked.settled.plan().await?);
    let (queries, pages, whole, whole_by_page) = tokio::try_join!(
        asked.read_all(window, &[Dimension::Query], &plan),
        asked.read_all(window, &[Dimension::Query, Dimension::Page], &plan),
        asked.read_whole(false),
        asked.read_whole(true),
    )?;
    Ok(Readings { queries, pages, whole, whole_by_page })
}

fn answer(
    asked: &Asked,
    readings: &Readings,
    thresholds: CannibalizationThresholds,
    limit: usize,
) -> CannibalizationAnswer {
    let queries = Listed::of(&readings.queries);
    let pages = readings.pages.rows.iter().map(|row| (row.key(), &*row.keys[1], row.metrics));
    let found = candidates(queries.rows.iter().copied(), pages, &thresholds, limit);
    CannibalizationAnswer {
        data: Cannibalization {
            queries_analysed: found.analysed as u64,
            queries_found: found.found as u64,
            queries: found.queries,
        },
        meta: CannibalizationMeta {
            answer: asked.meta(readings.all().map(|reading| reading.read_at), !queries.rows.is_empty()),
            coverage: CannibalizationCoverage {
                queries: asked.coverage(&queries, false, &readings.whole),
                query_pages: asked.coverage(&Listed::of(&readings.pages), true, &readings.whole_by_page),
            },
            thresholds,
        },
    }
}
