//! The names of the breakdown tables of a property.

use api::models::Dimension;

/// The name above the rows by a dimension.
pub fn heading(rows_by: Dimension) -> &'static str {
    match rows_by {
        Dimension::Query => "Queries",
        Dimension::Page => "Pages",
        Dimension::Country => "Countries",
        Dimension::Device => "Devices",
        Dimension::SearchAppearance => "Search appearance",
    }
}

/// The name of one of the rows, and of what they are by.
pub fn row_name(rows_by: Dimension) -> &'static str {
    match rows_by {
        Dimension::Query => "Query",
        Dimension::Page => "Page",
        Dimension::Country => "Country",
        Dimension::Device => "Device",
        Dimension::SearchAppearance => "Appearance",
    }
}
