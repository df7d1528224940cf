//! Pages of the property that compete for the same query.

use std::collections::HashMap;

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
    models,
    params::Echo,
};
use common::metrics::Metrics;
use search_engine::{Dimension, ENGINE_CEILING, Reading};

use super::{
    Asked, Listed, PartId, Readings, Wholes, check_has_queries, leave_brand_out, page, per_window::PerWindow,
    prepared::Prepared, search_data::SearchData,
};
use crate::{error::Error, services::access::ReadableProperty};

/// The rows of one window.
#[derive(Clone, Copy)]
struct Rows<T> {
    queries: T,
    pages: T,
}

/// The parts of the analysis, and their readings.
struct Read {
    windows: PerWindow<Rows<PartId>>,
    wholes: Wholes,
    wholes_by_page: Wholes,
    readings: Readings,
}

impl Read {
    fn windows(&self) -> PerWindow<Rows<&Reading>> {
        self.windows.map(|rows| Rows { queries: &*self.readings[rows.queries], pages: &*self.readings[rows.pages] })
    }
}

impl<'r> Rows<&'r Reading> {
    /// Query, URL and metrics of each row by page.
    fn by_page(&self) -> impl Iterator<Item = (&'r str, &'r str, Metrics)> {
        self.pages.rows.iter().map(|row| (row.key(), &*row.keys[1], row.metrics))
    }

    fn before(&self) -> Before<'r> {
        Before {
            queries: Listed::of(self.queries).rows,
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
    let page = page(&params.order, models::Dimension::Query, params.offset.offset, params.limit.0 as usize, compares)?;
    let mut asked = Asked::settle(search, access, &params.question).await?;
    let branded_excluded = leave_brand_out(&mut asked, access, slice, params.include_branded).await?;
    let read = read(&asked).await?;
    let thresholds = CannibalizationThresholds {
        min_query_impressions: params.min_query_impressions.0.into(),
        min_page_impressions: params.min_page_impressions.0.into(),
        min_page_share: params.min_page_share.0,
        max_top_share: params.max_top_share.0,
        branded_excluded,
    };
    let origin = read.readings.origin();
    let understood = CannibalizationParams { question: asked.question(), ..params.clone() };
    asked.answer(access, understood, origin, move |asked, params| answer(asked, &read, params, &page, thresholds))
}

async fn read(asked: &Asked) -> Result<Read, Error> {
    let (counted, plan) = (asked.settled.days().counted, asked.settled.plan().await?);
    let slice = asked.settled.plan_without_queries().await?;
    let mut parts = asked.parts();
    let windows = PerWindow::of(&asked.settled, |days| Rows {
        queries: parts.all_rows(days.counted, &[Dimension::Query], &plan),
        pages: parts.all_rows(days.counted, &[Dimension::Query, Dimension::Page], &plan),
    });
    let (wholes, wholes_by_page) = (parts.wholes(counted, false, &slice), parts.wholes(counted, true, &slice));
    parts.read().await?;
    Ok(Read { windows, wholes, wholes_by_page, readings: parts.finish() })
}

fn answer(
    asked: &Asked,
    read: &Read,
    params: &CannibalizationParams,
    page: &Page,
    thresholds: CannibalizationThresholds,
) -> CannibalizationAnswer {
    let windows = read.windows();
    let current = &windows.current;
    let listed = windows.map(|rows| Listed::of(rows.queries));
    let queries = &listed.current;
    let compared: HashMap<&str, Row<'_>> = listed.sides().rows().map(|row| (row.key, row)).collect();
    let mut found =
        candidates(queries.rows.iter().copied(), current.by_page(), &thresholds, page, |query| compared.get(query));
    let before = windows.previous.as_ref();
    let before = before.map(|rows| rows.before().compare(&mut found.queries.rows, &thresholds, page));
    let clicks = found.queries.rows.iter().map(|query| query.clicks as f64).sum();
    let previous_capped = listed.previous.as_ref().is_some_and(|previous| previous.capped);
    let shown = page.shown(&found.queries, clicks, queries.capped, previous_capped);
    let pages = || found.queries.rows.iter().flat_map(|query| &query.pages);
    let pages_shown =
        Shown { rows: pages().count(), clicks: pages().map(|page| page.clicks as f64).sum(), ..Shown::default() };
    let pages_known = Known::of(Listed::of(current.pages).listing());
    CannibalizationAnswer {
        data: Cannibalization {
            queries_analysed: found.analysed as u64,
            previous_rows_matched: before.map(|matched| matched as u64),
            queries: found.queries.rows,
        },
        meta: CannibalizationMeta {
            answer: asked.meta(read.readings.read_at(), !queries.rows.is_empty()),
            question: Echo::of(params),
            coverage: CannibalizationCoverage {
                queries: asked.coverage(
                    (Known::of(queries.listing()), ENGINE_CEILING),
                    Some(shown),
                    false,
                    read.readings.whole(read.wholes),
                ),
                query_pages: asked.coverage(
                    (pages_known, ENGINE_CEILING),
                    Some(pages_shown),
                    true,
                    read.readings.whole(read.wholes_by_page),
                ),
            },
            thresholds,
        },
    }
}
