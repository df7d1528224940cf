//! Queries within striking distance.

use std::collections::{BTreeMap, HashMap};

use analytics::{
    change::to_api,
    coverage::Known,
    ctr_curve::Curve,
    growth::{Opportunity, best_pages, opportunities},
    page::{Page, Values},
    table::Row,
};
use api::{
    analytics::{
        Growth, GrowthAnswer, GrowthMeta, GrowthOpportunity, GrowthParams, GrowthThresholds, Movement, QueryCoverage,
    },
    models,
    params::Echo,
};
use search_engine::{Condition, Dimension, ENGINE_CEILING, Plan};

use super::{
    Asked, Listed, PartId, Readings, Wholes, check_has_queries, leave_brand_out, page, per_window::PerWindow,
    plan_with, predicate, prepared::Prepared, search_data::SearchData,
};
use crate::{error::Error, services::access::ReadableProperty};

/// The last position on page one.
const PAGE_ONE: u64 = 10;

/// The parts of the analysis, and their readings.
struct Read {
    queries: PerWindow<PartId>,
    pages: PartId,
    /// The non-branded queries of the same window, regardless of the question's query conditions. The site's own curve is fitted to
    /// them.
    curve: PartId,
    wholes: Wholes,
    readings: Readings,
}

/// Computes the analysis.
pub async fn growth(
    search: &SearchData,
    access: &ReadableProperty,
    params: &GrowthParams,
) -> Result<Prepared<GrowthAnswer>, Error> {
    let slice = &params.question.slice;
    check_has_queries(slice)?;
    let compares = params.question.comparison.is_asked();
    let page = page(&params.order, models::Dimension::Query, params.offset.offset, params.limit.0 as usize, compares)?;
    let mut asked = Asked::settle(search, access, &params.question).await?;
    let curve_plan = curve_plan(&asked, access).await?;
    let branded_excluded = leave_brand_out(&mut asked, access, slice, params.include_branded).await?;
    let read = read(&asked, &curve_plan).await?;
    let origin = read.readings.origin();
    let answer = move |asked: &Asked, params: &_| answer(asked, &read, params, &page, branded_excluded);
    let understood = GrowthParams { question: asked.question(), ..params.clone() };
    asked.answer(access, understood, origin, answer)
}

/// Returns the plan for the site's own curve: the question's conditions except the ones on queries, and no branded queries.
pub(super) async fn curve_plan(asked: &Asked, access: &ReadableProperty) -> Result<Plan, Error> {
    match predicate::brand(&asked.search.db, access).await? {
        Some(brand) => plan_with(&asked.settled.predicate.without_queries(), Condition::NonBranded(brand)).await,
        None => asked.settled.plan_without_queries().await,
    }
}

async fn read(asked: &Asked, curve_plan: &Plan) -> Result<Read, Error> {
    let (counted, plan) = (asked.settled.days().counted, asked.settled.plan().await?);
    let slice = asked.settled.plan_without_queries().await?;
    let mut parts = asked.parts();
    let queries = PerWindow::of(&asked.settled, |days| parts.all_rows(days.counted, &[Dimension::Query], &plan));
    let pages = parts.all_rows(counted, &[Dimension::Query, Dimension::Page], &plan);
    let curve = parts.all_rows(counted, &[Dimension::Query], curve_plan);
    let wholes = parts.wholes(counted, false, &slice);
    parts.read().await?;
    Ok(Read { queries, pages, curve, wholes, readings: parts.finish() })
}

fn answer<'r>(
    asked: &Asked,
    read: &'r Read,
    params: &GrowthParams,
    page: &Page,
    branded_excluded: bool,
) -> GrowthAnswer {
    let readings = &read.readings;
    let listed = read.queries.map(|id| Listed::of(&readings[*id]));
    let queries = &listed.current;
    let compared: HashMap<&str, Row<'_>> = listed.sides().rows().map(|row| (row.key, row)).collect();
    let curve = Curve::of(readings[read.curve].rows.iter().map(|row| &row.metrics));
    let thresholds = GrowthThresholds {
        min_position: params.min_position.0,
        max_position: params.max_position.0,
        min_impressions: params.min_impressions.0.into(),
        target_position: params.target_position.0.into(),
        page_one_position: PAGE_ONE,
        curve: curve.source(),
        branded_excluded,
    };
    let found = opportunities(queries.rows.iter().copied(), &curve, &thresholds, params.kind);
    let values = |found: &Opportunity<'r>| Values {
        key: found.query,
        own: Some(found.metrics),
        compared: compared.get(found.query).and_then(Row::compared),
        presence: compared.get(found.query).and_then(|row| row.presence),
    };
    let found = page.of(found, values, Opportunity::by_gain);
    let pages = readings[read.pages].rows.iter().map(|row| (row.key(), &*row.keys[1], &row.metrics));
    let pages = best_pages(pages, &found.rows);
    let opportunity = |found: &Opportunity<'_>| {
        let own = to_api(&found.metrics);
        Some(GrowthOpportunity {
            query: found.query.to_owned(),
            page: pages.get(found.query).map(|page| (*page).to_owned()),
            kind: found.kind,
            clicks: own.clicks,
            impressions: own.impressions,
            ctr: own.ctr?,
            position: own.position?,
            expected_ctr: found.expected_ctr,
            potential_clicks: found.gain,
            movement: compared.get(found.query).and_then(movement),
        })
    };
    // A query that appears once per kind has its clicks once.
    let clicks: BTreeMap<&str, f64> = found.rows.iter().map(|found| (found.query, found.metrics.clicks)).collect();
    let previous_capped = listed.previous.as_ref().is_some_and(|previous| previous.capped);
    let shown = page.shown(&found, clicks.values().sum(), queries.capped, previous_capped);
    let known = Known::of(queries.listing());
    GrowthAnswer {
        data: Growth { curve: curve.to_api(), opportunities: found.rows.iter().filter_map(opportunity).collect() },
        meta: GrowthMeta {
            answer: asked.meta(readings.read_at(), !queries.rows.is_empty()),
            question: Echo::of(params),
            coverage: QueryCoverage {
                queries: asked.coverage((known, ENGINE_CEILING), Some(shown), false, readings.whole(read.wholes)),
            },
            thresholds,
        },
    }
}

/// The movement of a query since the comparison window.
fn movement(row: &Row<'_>) -> Option<Movement> {
    Some(Movement { presence: row.presence?, previous: row.before.map(to_api), change: row.change() })
}
