//! A breakdown table as CSV.

use poem_openapi::Enum;

use crate::{
    models::{Offset, OrderParams, Question, RowLimit},
    params::QueryParams,
};

/// A breakdown table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum)]
#[oai(rename_all = "camelCase")]
pub enum ExportTable {
    /// By search query.
    Queries,
    /// By page URL.
    Pages,
    /// By country.
    Countries,
    /// By device.
    Devices,
    /// By search appearance; rows overlap and do not add up.
    SearchAppearances,
}

crate::enum_param!(ExportTable);

/// Parameters of the CSV export.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams)]
pub struct ExportParams {
    /// Window, comparison and slice.
    #[param(flatten)]
    pub question: Question,
    /// The table to export.
    #[param(default = "queries", example = "queries")]
    pub table: ExportTable,
    /// The order of the rows.
    #[param(flatten)]
    pub order: OrderParams,
    /// Maximum number of rows in the query table.
    #[param(default = "5000", example = "500")]
    pub query_limit: RowLimit,
    /// Maximum number of rows in the page table.
    #[param(default = "5000", example = "500")]
    pub page_limit: RowLimit,
    /// Number of rows of the query table to skip.
    #[param(default = "0", example = "500")]
    pub query_offset: Offset,
    /// Number of rows of the page table to skip.
    #[param(default = "0", example = "500")]
    pub page_offset: Offset,
    /// True begins the file with a byte order mark, which spreadsheets need to show letters beyond ASCII.
    #[param(default = "false", example = "true")]
    pub bom: bool,
}
