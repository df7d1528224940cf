//! Tables as CSV. Bytes are produced from cached rows while they are sent, so parallel exports share the rows.

use std::{io, sync::Arc};

use analytics::{
    positions::bucket,
    table::{self, Paged, RowIndices, presence},
};
use api::{
    analytics::{ExportParams, PositionBucket, QueryCountRowsParams},
    answer::{CsvDays, CsvRows},
    models::{self, Classification, DataState, Question, SearchType, Slice, Window},
    params::{Ignored, Whole},
};
use bytes::Bytes;
use chrono::NaiveDate;
use common::{compute::beside, metrics::Metrics};
use futures_util::{
    StreamExt as _, TryStreamExt as _,
    stream::{self, Stream},
};
use search_engine::{Dimension, ENGINE_CEILING, Reading, Row};

use super::{
    Asked, Listed, check_has, check_has_queries,
    compared::Days,
    csv::{self, BLOCK, CsvBlock, CsvFile},
    daily::{by_day, read_week, weeks},
    page,
    per_window::PerWindow,
    search_data::SearchData,
    table_cap,
    weeks::MAX_WEEKS_PER_PERSON,
};
use crate::{error::Error, services::access::ReadableProperty};

/// The columns of a table.
pub const COLUMNS: [&str; 5] = ["key", "clicks", "impressions", "ctr", "position"];
/// The columns of a comparison, after those of a table.
pub const COMPARED: [&str; 9] = [
    "previousClicks",
    "previousImpressions",
    "previousCtr",
    "previousPosition",
    "changeClicks",
    "changeImpressions",
    "changeCtr",
    "changePosition",
    "presence",
];
const DAILY: [&str; 9] =
    ["date", "query", "bucket", "clicks", "impressions", "ctr", "position", "dayCapped", "dayNotFinal"];

/// A table and the table of the comparison window.
struct Table {
    current: Arc<Reading>,
    previous: Option<Arc<Reading>>,
    places: Vec<RowIndices>,
}

/// Exports a breakdown table.
pub async fn breakdown(
    search: &SearchData,
    access: &ReadableProperty,
    params: &ExportParams,
) -> Result<CsvFile, Error> {
    let (slice, rows_by) = (&params.question.slice, params.table.0);
    let dimension = Dimension::from(rows_by);
    check_has(slice.search_type, dimension, "table")?;
    let (offset, limit) = match rows_by {
        models::Dimension::Query => (params.query_offset, params.query_limit.0 as usize),
        models::Dimension::Page => (params.page_offset, params.page_limit.0 as usize),
        _ => (Whole(0), usize::MAX),
    };
    let page = page(&params.order, rows_by, offset, limit, params.question.comparison.is_asked())?;
    let asked = Asked::settle(search, access, &params.question).await?;
    let (plan, own) = (asked.settled.plan().await?, [dimension]);
    let days = csv_days(&asked)?;
    let read = |days: Days| asked.read(days.counted, &own, table_cap(dimension), &plan);
    let windows = PerWindow::read(&asked.settled, read).await?;
    let current = windows.current.clone();
    let listed = windows.map(|reading| Listed::of(reading));
    let Paged { places, known, shown } = listed.sides().page(&page);
    let previous = windows.previous.clone();
    let compared = days.compare_window.map(|window| format!("vs_{}_{}", window.start_date, window.end_date));
    // A comparison counts final days only.
    let data_state = if compared.is_some() { DataState::Final } else { params.question.window.data_state };
    let what = if rows_by == models::Dimension::SearchAppearance { "search-appearances" } else { rows_by.table() };
    let name = file_name(access, what, days.window, compared, (slice, data_state));
    let rows = CsvRows {
        shown: shown.rows,
        matched: shown.matched.unwrap_or(shown.rows),
        known: known.rows,
        ceiling: table_cap(dimension),
        capped: known.capped,
        more: shown.more.unwrap_or_default(),
    };
    let columns: Vec<&str> = COLUMNS.iter().chain(previous.iter().flat_map(|_| &COMPARED)).copied().collect();
    let table = Arc::new(Table { current, previous, places });
    let header = CsvBlock::header(&columns, params.bom);
    let starts = stream::iter((0..table.places.len()).step_by(BLOCK));
    let blocks = starts.map(move |from| table.block(from));
    Ok(CsvFile { name, rows: Some(rows), days, blocks: sent(header, blocks).boxed() })
}

/// Returns the days that the rows of a file count.
///
/// # Errors
/// [`Error::NotFinalYet`] if no day is counted.
fn csv_days(asked: &Asked) -> Result<CsvDays, Error> {
    let (settled, last_final) = (&asked.settled, asked.freshness.last_final_date);
    let counts_all = settled.fresh_after.is_some();
    let window = settled.counted_days(last_final).ok_or(Error::NotFinalYet { last_final, counts_all })?;
    Ok(CsvDays {
        window,
        compare_window: settled.compared.map(|compared| compared.previous),
        last_final_date: last_final,
        warnings: settled.warnings.iter().map(|warning| warning.code).collect(),
    })
}

impl Table {
    /// Returns the block of rows that starts at `from`.
    fn block(&self, from: usize) -> Result<Bytes, Error> {
        let mut rows = CsvBlock::default();
        for place in self.places.iter().skip(from).take(BLOCK) {
            self.write(&mut rows, *place)?;
        }
        Ok(rows.finish())
    }

    fn write(&self, rows: &mut CsvBlock, place: RowIndices) -> Result<(), Error> {
        let now = place.now.map(|now| &self.current.rows[now as usize]);
        let Some(previous) = &self.previous else {
            rows.text(now.map_or("", Row::key));
            rows.metrics(now.map(|row| &row.metrics));
            rows.end();
            return Ok(());
        };
        let before = place.before.map(|before| &previous.rows[before as usize]);
        let presence = presence(place, self.current.capped, previous.capped);
        let row = table::Row {
            key: now.or(before).map_or("", Row::key),
            now: now.map(|row| &row.metrics),
            before: before.map(|row| &row.metrics),
            presence: Some(presence),
        };
        rows.text(row.key);
        rows.metrics(row.now);
        rows.metrics(row.before);
        rows.change(row.change().as_ref());
        rows.cell(&api_word(&presence)?);
        rows.end();
        Ok(())
    }
}

/// The number of weeks of a longer file that are read ahead of the one being sent.
const AHEAD: usize = 2;

/// Exports the rows behind the query count. Reads the first weeks before sending anything, so that a failure gets an error status.
/// Reads a longer file while it is sent, so a later failure ends the stream with an error.
pub async fn query_count_rows(
    search: &SearchData,
    access: &ReadableProperty,
    params: &QueryCountRowsParams,
) -> Result<CsvFile, Error> {
    check_has_queries(&params.slice)?;
    let question = Question::alone(params.window, params.slice.clone(), Ignored::default());
    let asked = Asked::settle(search, access, &question).await?;
    let plan = asked.settled.plan().await?;
    let days = csv_days(&asked)?;
    let name = file_name(access, "query-count", days.window, None, (&params.slice, params.window.data_state));
    let header = CsvBlock::header(&DAILY, params.bom);
    let mut parts = asked.parts();
    parts.weeks(days.window, &plan);
    parts.check()?;
    let weeks = weeks(days.window);
    let permits = search.weeks.acquire_up_to(asked.person, weeks.len().min(MAX_WEEKS_PER_PERSON)).await?;
    let later = weeks[permits.len().min(weeks.len())..].to_vec();
    let read = |(week, permit)| {
        let (asked, plan) = (&asked, &plan);
        async move { Ok::<_, Error>((permit, read_week(asked, week, plan).await?)) }
    };
    let first: Vec<_> =
        stream::iter(weeks.into_iter().zip(permits)).map(read).buffered(MAX_WEEKS_PER_PERSON).try_collect().await?;
    let last_final = asked.freshness.last_final_date;
    let read_later = move |week| {
        let (asked, plan) = (asked.clone(), plan.clone());
        async move {
            let permit = asked.search.weeks.acquire(asked.person).await?;
            Ok::<_, Error>((permit, read_week(&asked, week, &plan).await?))
        }
    };
    // Each week's permit is held until its last block is sent.
    let blocks = stream::iter(first.into_iter().map(Ok))
        .chain(stream::iter(later).map(read_later).buffered(AHEAD))
        .and_then(move |(permit, reading)| async move {
            let sorted = reading.clone();
            Ok((permit, beside(move || week_blocks(&sorted, last_final)).await?, reading))
        })
        .map_ok(|(permit, blocks, reading)| {
            stream::iter(blocks).map(move |block| {
                let _held = &permit;
                block.write(&reading)
            })
        })
        .try_flatten();
    Ok(CsvFile { name, rows: None, days, blocks: sent(header, blocks).boxed() })
}

/// The rows of one day, as a range in the reading of its week.
struct DayBlock {
    places: Vec<u32>,
    capped: bool,
    not_final: bool,
}

fn week_blocks(reading: &Reading, last_final: NaiveDate) -> Vec<DayBlock> {
    let mut blocks = Vec::new();
    let mut first = 0;
    for (date, rows) in by_day(reading) {
        let mut places: Vec<u32> = (first..).take(rows.len()).collect();
        first += u32::try_from(rows.len()).unwrap_or_default();
        places.sort_unstable_by(|a, b| largest_first(&reading.rows[*a as usize], &reading.rows[*b as usize]));
        let (capped, not_final) = (rows.len() >= ENGINE_CEILING, date > last_final);
        blocks.extend(places.chunks(BLOCK).map(|places| DayBlock { places: places.to_vec(), capped, not_final }));
    }
    blocks
}

fn largest_first(a: &Row, b: &Row) -> std::cmp::Ordering {
    let by_size = |of: fn(&Metrics) -> f64| of(&b.metrics).total_cmp(&of(&a.metrics));
    by_size(|metrics| metrics.clicks).then(by_size(|metrics| metrics.impressions)).then_with(|| a.keys.cmp(&b.keys))
}

impl DayBlock {
    fn write(&self, reading: &Reading) -> Result<Bytes, Error> {
        let mut rows = CsvBlock::default();
        for place in &self.places {
            let row = &reading.rows[*place as usize];
            rows.cell(row.key());
            rows.text(&row.keys[1]);
            let bucket: Option<PositionBucket> = row.metrics.position().map(bucket);
            rows.cell(&bucket.map(|bucket| api_word(&bucket)).transpose()?.unwrap_or_default());
            rows.metrics(Some(&row.metrics));
            for flag in [self.capped, self.not_final] {
                rows.cell(if flag { "true" } else { "false" });
            }
            rows.end();
        }
        Ok(rows.finish())
    }
}

/// Returns an API word as it is written in JSON answers.
fn api_word(word: &impl serde::Serialize) -> Result<String, Error> {
    let word = serde_json::to_value(word).map_err(Error::internal)?;
    Ok(word.as_str().unwrap_or_default().to_owned())
}

/// Sends the blocks. The sender may flush between two blocks.
fn sent(
    header: Bytes,
    blocks: impl Stream<Item = Result<Bytes, Error>> + Send + 'static,
) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    let blocks = blocks.map_err(io::Error::other).and_then(|block| async {
        tokio::task::yield_now().await;
        Ok(block)
    });
    stream::iter([Ok(header)]).chain(blocks)
}

fn file_name(
    access: &ReadableProperty,
    what: &str,
    window: Window,
    compared: Option<String>,
    (slice, data_state): (&Slice, DataState),
) -> String {
    let search_type = (slice.search_type != SearchType::Web).then(|| slice.search_type.name().to_owned());
    let classification = slice.classification.map(|classification| match classification {
        Classification::Branded => "branded".to_owned(),
        Classification::NonBranded => "nonBranded".to_owned(),
        Classification::Segment(id) => format!("segment-{id}"),
        Classification::TopicCluster(id) => format!("topicCluster-{id}"),
    });
    let fresh = (data_state == DataState::All).then(|| "all-days".to_owned());
    let filtered = slice.filters.as_ref().filter(|filters| !filters.0.is_empty()).map(|_| "filtered".to_owned());
    let more: Vec<String> =
        compared.into_iter().chain(fresh).chain(search_type).chain(classification).chain(filtered).collect();
    csv::name(&access.property().site_url, what, window, &more)
}
