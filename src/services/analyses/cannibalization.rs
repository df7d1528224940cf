//! Pages of the property that compete for the same query.

use std::{collections::HashMap, sync::Arc};

use analytics::{
    cannibalization::{Before, candidates},
    coverage::Known,
    page::{Page, Shown},
    table::Row,
};
use api::{
    analytics::{
        Cannibalization, CannibalizationAnswer, CannibalizationCoverage, CannibalizationMeta, CannibalizationParams,
        CannibalizationThresholds,
    },
    models::Window,
    params::Echo,
};
use common::metrics::Metrics;
use search_engine::{Dimension, ENGINE_CEILING, Plan, Reading};

use super::{
    Asked, Listed, Wholes, check_has_queries, leave_brand_out, page,
    per_window::PerWindow,
    prepared::{Prepared, weak},
    requests::Requests,
    search_data::SearchData,
};
use crate::{error::Error, services::access::ReadableProperty};

/// The readings of one window.
struct Rows {
    queries: Arc<Reading>,
    pages: Arc<Reading>,
}

/// The readings of the analysis.
struct Readings {
    windows: PerWindow<Rows>,
    wholes: Wholes,
    wholes_by_page: Wholes,
}

impl Readings {
    fn all(&self) -> impl Iterator<Item = &Arc<Reading>> {
        let rows = self.windows.all().flat_map(|rows| [&rows.queries, &rows.pages]);
        rows.chain(self.wholes.all()).chain(self.wholes_by_page.all())
    }
}

impl Rows {
    /// Query, URL and metrics of each row by page.
    fn by_page(&self) -> impl Iterator<Item = (&str, &str, Metrics)> {
        self.pages.rows.iter().map(|row| (row.key(), &*row.keys[1], row.metrics))
    }

    fn before(&self) -> Before<'_> {
        Before {
            queries: Listed::of(&self.queries).rows,
            pages: self.by_page().collect(),
            queries_capped: self.queries.capped,
            pages_capped: self.pages.capped,
        }
    }
}

/// Computes the analysis.
pub async fn cannibalization(
    search: &SearchData,
    access: &ReadableProperty,
    params: &CannibalizationParams,
) -> Result<Prepared<CannibalizationAnswer>, Error> {
    let slice = &params.question.slice;
    check_has_queries(slice)?;
    let compares = params.question.comparison.is_asked();
    let page = page(&params.order, Dimension::Query, params.offset.offset, params.limit.0 as usize, compares)?;
    let mut asked = Asked::settle(search, access, &params.question).await?;
    let branded_excluded = leave_brand_out(&mut asked, access, slice, params.include_branded).await?;
    let readings = read(&asked).await?;
    let thresholds = CannibalizationThresholds {
        min_query_impressions: params.min_query_impressions.0.into(),
        min_page_impressions: params.min_page_impressions.0.into(),
        min_page_share: params.min_page_share.0,
        max_top_share: params.max_top_share.0,
        branded_excluded,
    };
    let made_of = weak(readings.all());
    asked.answer(access, params, made_of, move |asked, params| answer(asked, &readings, params, &page, thresholds))
}

async fn read(asked: &Asked) -> Result<Readings, Error> {
    let (counted, plan) = (asked.settled.days().counted, asked.settled.plan().await?);
    let slice = asked.settled.plan_without_queries().await?;
    let mut requests = Requests::of(&asked.settled);
    for days in asked.settled.all_days() {
        requests.rows(&asked.settled, days.counted, &[Dimension::Query], &plan);
        requests.rows(&asked.settled, days.counted, &[Dimension::Query, Dimension::Page], &plan);
    }
    requests.wholes(&asked.settled, counted, false, &slice);
    requests.wholes(&asked.settled, counted, true, &slice);
    requests.check()?;
    let (windows, wholes, wholes_by_page) = tokio::try_join!(
        PerWindow::read(&asked.settled, |days| read_rows(asked, days.counted, &plan)),
        asked.read_wholes(counted, false, &slice),
        asked.read_wholes(counted, true, &slice),
    )?;
    Ok(Readings { windows, wholes, wholes_by_page })
}

async fn read_rows(asked: &Asked, days: Option<Window>, plan: &Plan) -> Result<Rows, Error> {
    let (queries, pages) = tokio::try_join!(
        asked.read_all(days, &[Dimension::Query], plan),
        asked.read_all(days, &[Dimension::Query, Dimension::Page], plan),
    )?;
    Ok(Rows { queries, pages })
}

fn answer(
    asked: &Asked,
    readings: &Readings,
    params: &CannibalizationParams,
    page: &Page,
    thresholds: CannibalizationThresholds,
) -> CannibalizationAnswer {
    let current = &readings.windows.current;
    let listed = readings.windows.map(|rows| Listed::of(&rows.queries));
    let queries = &listed.current;
    let compared: HashMap<&str, Row<'_>> = listed.sides().rows().map(|row| (row.key, row)).collect();
    let mut found =
        candidates(queries.rows.iter().copied(), current.by_page(), &thresholds, page, |query| compared.get(query));
    let before = readings.windows.previous.as_ref();
    let before = before.map(|rows| rows.before().compare(&mut found.queries.rows, &thresholds, page));
    let clicks = found.queries.rows.iter().map(|query| query.clicks as f64).sum();
    let previous_capped = listed.previous.as_ref().is_some_and(|previous| previous.capped);
    let shown = page.shown(&found.queries, clicks, queries.capped, previous_capped);
    let pages = || found.queries.rows.iter().flat_map(|query| &query.pages);
    let pages_shown =
        Shown { rows: pages().count(), clicks: pages().map(|page| page.clicks as f64).sum(), ..Shown::default() };
    let pages_known = Known::of(Listed::of(&current.pages).listing());
    CannibalizationAnswer {
        data: Cannibalization {
            queries_analysed: found.analysed as u64,
            previous_rows_matched: before.map(|matched| matched as u64),
            queries: found.queries.rows,
        },
        meta: CannibalizationMeta {
            answer: asked.meta(readings.all().map(|reading| reading.read_at), !queries.rows.is_empty()),
            question: Echo::of(params),
            coverage: CannibalizationCoverage {
                queries: asked.coverage(
                    (Known::of(queries.listing()), ENGINE_CEILING),
                    Some(shown),
                    false,
                    &readings.wholes,
                ),
                query_pages: asked.coverage(
                    (pages_known, ENGINE_CEILING),
                    Some(pages_shown),
                    true,
                    &readings.wholes_by_page,
                ),
            },
            thresholds,
        },
    }
}
