//! The breakdown tables of a property.

use api::models::FilterDimension;

/// A table of the performance answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    Queries,
    Pages,
    Countries,
    Devices,
    Appearances,
}

impl Table {
    /// The dimension of its keys.
    pub fn dimension(self) -> FilterDimension {
        match self {
            Self::Queries => FilterDimension::Query,
            Self::Pages => FilterDimension::Page,
            Self::Countries => FilterDimension::Country,
            Self::Devices => FilterDimension::Device,
            Self::Appearances => FilterDimension::SearchAppearance,
        }
    }

    /// Its name above the rows.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queries => "Queries",
            Self::Pages => "Pages",
            Self::Countries => "Countries",
            Self::Devices => "Devices",
            Self::Appearances => "Search appearance",
        }
    }

    /// Its name of one row.
    pub fn row_name(self) -> &'static str {
        match self {
            Self::Queries => "Query",
            Self::Pages => "Page",
            Self::Countries => "Country",
            Self::Devices => "Device",
            Self::Appearances => "Appearance",
        }
    }
}
