//! A breakdown table as CSV.

use serde_json::{Value, json};

use crate::{
    models::{Dimension, Offset, OrderParams, Question, RowLimit},
    params::{ParamValue, QueryParams},
};

/// A breakdown table, by the dimension of its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ExportTable(pub Dimension);

impl ParamValue for ExportTable {
    fn schema() -> Value {
        json!({ "type": "string", "enum": Dimension::ALL.map(Dimension::table) })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let allowed = || format!("must be one of {}", Dimension::ALL.map(Dimension::table).join(", "));
        Dimension::of_table(text).map(Self).ok_or_else(allowed)
    }

    fn to_value(&self) -> Value {
        json!(self.0.table())
    }
}

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
