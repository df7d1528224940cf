//! The body of a question for rows by any dimensions.

use chrono::NaiveDate;
use poem_openapi::Object;

use super::{Dimensions, PerformanceQuery, RowDimension};
use crate::{
    error::ApiError,
    models::{
        Classification, Compare, Comparison, DataState, FilterCondition, Filters, MAX_CONDITIONS_BYTES, OffsetParams,
        OrderParams, Question, SearchType, Slice, WindowParams,
    },
    params::{Ignored, MetricFilter, MetricFilters, Sort, TextField, Whole},
};

/// The rows of an answer unless the question asks for another number.
const DEFAULT_ROWS: u32 = 500;

fn default_rows() -> u32 {
    DEFAULT_ROWS
}

/// A question for rows by up to three dimensions.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", deny_unknown_fields, skip_serializing_if_is_none)]
pub struct PerformanceQueryInput {
    /// Dimensions to group rows by, in the order of `keys`. `searchAppearance` stands alone, and `date` goes with no comparison,
    /// because two windows have different days. An empty list asks for one row, the total.
    #[oai(validator(max_items = 3, unique_items = true))]
    pub dimensions: Vec<RowDimension>,
    /// First day, in the search engine's time zone, at most 16 months back. Requires `endDate`. Without both: the 28 days that end
    /// on the last final day, or today with `dataState` `all`.
    pub start_date: Option<NaiveDate>,
    /// Last day, inclusive.
    pub end_date: Option<NaiveDate>,
    /// Days that count; absent means `final`.
    pub data_state: Option<DataState>,
    /// Names the window to compare with, instead of `compareStart` and `compareEnd`. Without it, and without both dates: no
    /// comparison.
    pub compare: Option<Compare>,
    /// First day of the window to compare with. Requires `compareEnd`.
    pub compare_start: Option<NaiveDate>,
    /// Last day of the window to compare with, inclusive.
    pub compare_end: Option<NaiveDate>,
    /// The kind of search; absent means `web`.
    pub search_type: Option<SearchType>,
    /// Subset of the traffic: `branded`, `nonBranded`, `segment:<uuid>` or `topicCluster:<uuid>`, combined with `filters` by AND.
    pub classification: Option<TextField<Classification>>,
    /// Conditions on the traffic, as JSON at most 60,000 bytes. `logic` joins a condition to the one before it; `and` binds tighter
    /// than `or`. A filter that cannot be answered exactly is refused with `filter_too_complex`.
    #[oai(validator(max_items = 50))]
    pub filters: Option<Vec<FilterCondition>>,
    /// Order of the rows: `clicks`, `impressions`, `ctr`, `position`, or with a comparison a change such as `change.clicks`. A minus
    /// in front puts the largest first. Equal rows are ordered by keys.
    pub sort: Option<TextField<Sort>>,
    /// Leaves out rows whose metrics do not satisfy all of these conditions, such as `impressions>=100,position<=10`. They name no
    /// table.
    pub metric_filters: Option<TextField<MetricFilters>>,
    /// Maximum number of rows in the answer.
    #[oai(default = "default_rows", validator(minimum(value = "1"), maximum(value = "25000")))]
    pub limit: u32,
    /// Number of rows to skip.
    #[oai(default, validator(minimum(value = "0"), maximum(value = "100000")))]
    pub offset: u32,
}

impl PerformanceQueryInput {
    /// Returns the question that the body asks.
    ///
    /// # Errors
    /// `invalid_request` for fields that do not go together. The hint names the field.
    pub fn asked(self) -> Result<PerformanceQuery, ApiError> {
        let comparison =
            Comparison { compare: self.compare, compare_start: self.compare_start, compare_end: self.compare_end };
        let data_state = self.data_state.unwrap_or_default();
        let window = WindowParams { start_date: self.start_date, end_date: self.end_date, data_state };
        window.check()?;
        comparison.check()?;
        if comparison.compare.is_some() && comparison.window().is_some() {
            return Err(ApiError::invalid("compare", "give either compare or compareStart and compareEnd"));
        }
        check_dimensions(&self.dimensions, &comparison)?;
        let order = OrderParams {
            sort: self.sort.map(|sort| sort.0),
            metric_filters: self.metric_filters.map(|filters| filters.0),
        };
        check_tables(&order)?;
        let slice = Slice {
            classification: self.classification.map(|classification| classification.0),
            search_type: self.search_type.unwrap_or(SearchType::Web),
            filters: self.filters.map(checked).transpose()?,
        };
        Ok(PerformanceQuery {
            dimensions: Dimensions(self.dimensions),
            question: Question { window, comparison, slice, ignored: Ignored::default() },
            order,
            offset: OffsetParams { offset: Whole(self.offset) },
            limit: Whole(self.limit),
        })
    }
}

fn check_dimensions(dimensions: &[RowDimension], comparison: &Comparison) -> Result<(), ApiError> {
    let allowed = if dimensions.len() > 1 && dimensions.contains(&RowDimension::SearchAppearance) {
        "searchAppearance stands alone, because the search engine groups it by nothing else; filter by one searchAppearance and \
         leave it out here"
    } else if dimensions.contains(&RowDimension::Date) && comparison.is_asked() {
        "date goes with no comparison, because two windows have different days; leave date or the comparison out. \
         The series of a performance answer has the days of both windows"
    } else {
        return Ok(());
    };
    Err(ApiError::invalid("dimensions", allowed))
}

fn check_tables(order: &OrderParams) -> Result<(), ApiError> {
    let filters = order.metric_filters.iter().flat_map(|filters| &filters.0);
    let Some(named) = filters.into_iter().find(|filter| filter.table.is_some()) else { return Ok(()) };
    let mended = MetricFilter { table: None, ..*named };
    Err(ApiError::invalid(
        "metricFilters",
        &format!("{named} names a table, and this answer is one list; use {mended}"),
    ))
}

fn checked(conditions: Vec<FilterCondition>) -> Result<Filters, ApiError> {
    let filters = Filters(conditions);
    let bytes = serde_json::to_string(&filters.0).map_or(0, |json| json.len());
    if bytes > MAX_CONDITIONS_BYTES {
        return Err(ApiError::invalid(
            "filters",
            &format!("at most 60,000 bytes as JSON are allowed, {bytes} were sent"),
        ));
    }
    Ok(filters)
}
