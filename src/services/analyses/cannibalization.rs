//! Pages of the property that compete for the same query.

use std::sync::Arc;

use api::{
    analytics::{
        Cannibalization, CannibalizationAnswer, CannibalizationCoverage, CannibalizationMeta, CannibalizationParams,
        CannibalizationThresholds,
    },
    models::Question,
    params::Echo,
};

use super::{
    Asked, Listed, check_has_queries, leave_brand_out,
    rendered::{MadeOf, RenderedAnswer},
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
    let question = Question::alone(params.window, params.slice.clone(), params.ignored.clone());
    let mut asked = Asked::settle(search, access, &question).await?;
    let branded_excluded = leave_brand_out(&mut asked, access, &params.slice, params.include_branded).await?;
    let readings = read(&asked).await?;
    let params = CannibalizationParams { window: asked.settled.question.window, ..params.clone() };
    let key = asked.settled.key("cannibalization", access, &params)?;
    let thresholds = CannibalizationThresholds {
        min_query_impressions: params.min_query_impressions.0.into(),
        min_page_impressions: params.min_page_impressions.0.into(),
        min_page_share: params.min_page_share.0,
        max_top_share: params.max_top_share.0,
        branded_excluded,
    };
    let made_of = MadeOf::new(readings.all(), asked.freshness);
    search.answers.rendered(key, made_of, move || answer(&asked, &readings, &params, thresholds)).await
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
    params: &CannibalizationParams,
    thresholds: CannibalizationThresholds,
) -> CannibalizationAnswer {
    let queries = Listed::of(&readings.queries);
    let pages = readings.pages.rows.iter().map(|row| (row.key(), &*row.keys[1], row.metrics));
    let found = candidates(queries.rows.iter().copied(), pages, &thresholds, params.limit.0 as usize);
    CannibalizationAnswer {
        data: Cannibalization {
            queries_analysed: found.analysed as u64,
            queries_found: found.found as u64,
            queries: found.queries,
        },
        meta: CannibalizationMeta {
            answer: asked.meta(readings.all().map(|reading| reading.read_at), !queries.rows.is_empty()),
            question: Echo::of(params),
            coverage: CannibalizationCoverage {
                queries: asked.coverage(&queries, false, &readings.whole),
                query_pages: asked.coverage(&Listed::of(&readings.pages), true, &readings.whole_by_page),
            },
            thresholds,
        },
    }
}
