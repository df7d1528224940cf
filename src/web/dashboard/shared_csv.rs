//! `GET /share/{token}/queries.csv` and `/share/{token}/pages.csv`: the tables behind a share link as files.
//!
//! A file asks the operation `getSharedPerformance`, as the page does, and takes its parameters except those of its size: `scope` and
//! the limits. So it opens for the same links, counts for the same limits, and shows what the link shows.

use std::sync::Arc;

use api::{
    analytics::TableRow,
    answer::{Csv, CsvDays, CsvRows},
    error::{ApiError, Code},
    models::{Dimension, TableCoverage, Window},
    params::decoded,
    sharing::{SharedPerformanceAnswer, SharedPerformanceMeta},
};
use chrono::TimeDelta;
use pages::page::Page;
use poem::{
    IntoResponse as _, Request, Response, Result, handler,
    http::{HeaderValue, StatusCode, header},
    web::Data,
};
use poem_openapi::types::ToJSON as _;
use serde_json::Value;

use super::{
    address,
    door::Door,
    refused::{self, Refused},
};
use crate::{
    calls::Calls,
    services::{
        analyses::{
            csv::{self, CsvBlock},
            export::{COLUMNS, COMPARED},
        },
        waiting::Waiting,
    },
};

/// The path of the queries.
pub const QUERIES: &str = "/share/:token/queries.csv";

/// The path of the pages.
pub const PAGES: &str = "/share/:token/pages.csv";

/// The most rows of a file.
const ROWS: usize = 5_000;

/// Sends a file.
#[handler]
pub async fn show(Data(calls): Data<&Arc<Calls>>, request: &Request) -> Result<Response> {
    let mut response = answer(calls, request).await?;
    // A link is for the people who were given it.
    response.headers_mut().insert("x-robots-tag", HeaderValue::from_static("noindex, nofollow"));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// Returns the table that the file of a path has.
fn table_of(path: &str) -> Option<Dimension> {
    let (_, file) = path.strip_prefix("/share/")?.split_once('/')?;
    Dimension::of_table(file.strip_suffix(".csv")?)
}

/// The parameters that bring all rows of a table, and few of the other one.
fn limits(table: Dimension) -> [(&'static str, usize); 2] {
    let limit = |own: Dimension| if own == table { ROWS } else { 1 };
    [("queryLimit", limit(Dimension::Query)), ("pageLimit", limit(Dimension::Page))]
}

/// Asks the operation about the link that the path of `file` names, and writes its table.
async fn answer(calls: &Calls, file: &Request) -> Result<Response> {
    let refused = |refusal: ApiError| {
        let (door, again) = (Some(Door::Shared(String::new())), address::without_question(file.uri().path()));
        refused::page(Page::new, &Refused { door, again, ..refusal.into() })
    };
    let Some(table) = table_of(file.uri().path()) else { return Ok(refused(ApiError::new(Code::NotFound))) };
    let asked = decoded(file.uri().query().unwrap_or_default());
    let asked = asked.ok_or_else(|| ApiError::invalid("query string", "must be percent-encoded UTF-8"))?;
    let mut query = vec![("scope", "all".to_owned())];
    query.extend(limits(table).map(|(name, limit)| (name, limit.to_string())));
    if let Some((name, _)) = query.iter().find(|(own, _)| asked.iter().any(|(name, _)| name == own)) {
        return Err(ApiError::invalid(name, "not a parameter of this file, which has all rows of its table").into());
    }
    query.extend(asked.iter().map(|(name, value)| (name.as_str(), value.clone())));
    match calls.of(file.extensions(), &Waiting::default()).shared_performance(&query).await {
        Ok(found) => Ok(written(table, &found)?),
        // What is wrong with the parameters is for the person who chose them.
        Err(refusal) if matches!(refusal.code.status(), StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY) => {
            Err(refusal.into())
        }
        Err(refusal) => Ok(refused(refusal)),
    }
}

/// Writes a table of an answer.
fn written(
    table: Dimension,
    SharedPerformanceAnswer { data, meta }: &SharedPerformanceAnswer,
) -> Result<Response, ApiError> {
    let (name, coverage) = (table.table(), meta.coverage.as_ref().map(|coverage| coverage.by(table)));
    let Some(rows) = data.tables.as_ref().and_then(|tables| tables.by(table)) else {
        let reason = coverage.and_then(|coverage| coverage.reason.as_deref()).unwrap_or("is not there");
        return Err(ApiError::invalid(name, reason));
    };
    let days = days(meta)?;
    let compares = days.compare_window.is_some();
    let columns: Vec<&str> =
        COLUMNS.iter().chain(compares.then_some(&COMPARED).into_iter().flatten()).copied().collect();
    let mut text = CsvBlock::header(&columns, true).to_vec();
    let mut block = CsvBlock::default();
    for row in rows {
        write(&mut block, row, compares);
    }
    text.extend(block.finish());
    let file = Csv {
        body: text.into(),
        file_name: csv::name(&meta.site, name, days.window, &[]),
        rows: coverage.map(|coverage| counted(rows, coverage)),
        days,
    };
    Ok(file.into_response())
}

fn write(block: &mut CsvBlock, row: &TableRow, compares: bool) {
    block.text(&row.key);
    block.number(row.clicks);
    block.number(row.impressions);
    block.number(row.ctr);
    block.number(row.position);
    if compares {
        let previous = row.previous.as_ref();
        block.number(previous.map(|previous| previous.clicks));
        block.number(previous.map(|previous| previous.impressions));
        block.number(previous.and_then(|previous| previous.ctr));
        block.number(previous.and_then(|previous| previous.position));
        block.change(row.change.as_ref());
        let presence = row.presence.and_then(|presence| presence.to_json());
        block.cell(presence.as_ref().and_then(Value::as_str).unwrap_or_default());
    }
    block.end();
}

fn counted(rows: &[TableRow], coverage: &TableCoverage) -> CsvRows {
    let number = |of: Option<u64>| of.and_then(|number| usize::try_from(number).ok()).unwrap_or(rows.len());
    CsvRows {
        shown: rows.len(),
        matched: number(coverage.rows_matched),
        known: number(coverage.rows_known),
        ceiling: number(coverage.rows_ceiling),
        capped: coverage.total_rows_capped.unwrap_or_default(),
        more: coverage.has_more.unwrap_or_default(),
    }
}

/// Returns the days that the rows count.
///
/// # Errors
/// [`Code::NotFinalYet`] if no day is counted.
fn days(meta: &SharedPerformanceMeta) -> Result<CsvDays, ApiError> {
    let (answer, days) = (&meta.answer, &meta.answer.days);
    let start_date = days.compared.as_ref().map_or(answer.window.start_date, |compared| compared.current.start_date);
    let Some(after) = days.current.counted.checked_sub(1) else { return Err(ApiError::new(Code::NotFinalYet)) };
    Ok(CsvDays {
        window: Window { start_date, end_date: start_date + TimeDelta::days(after.into()) },
        compare_window: days.compared.as_ref().map(|compared| compared.previous),
        last_final_date: answer.freshness.last_final_date,
        warnings: answer.warnings.iter().flatten().map(|warning| warning.code).collect(),
    })
}
