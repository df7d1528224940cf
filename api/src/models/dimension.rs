//! The dimension of a condition, of a row and of a table.
//!
//! The document names some of them in schemas of their own, where they have other names or where the day is one more. Each of these
//! enums says which [`Dimension`] it means, and what is known of a dimension is said here alone.

use poem_openapi::Enum;
use serde::{Deserialize, Serialize};

// The document takes this sentence, and the older name of the schema.
/// Dimension that a condition tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum, Serialize, Deserialize)]
#[oai(rename = "FilterDimension", rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub enum Dimension {
    /// The search query. Anonymised queries satisfy no query condition.
    Query,
    /// The page's URL.
    Page,
    /// ISO 3166-1 alpha-3 code, in conditions any case; `zzz` is unknown.
    Country,
    /// `DESKTOP`, `MOBILE` or `TABLET`, in conditions any case.
    Device,
    /// A search appearance such as `PRODUCT_SNIPPETS`, in conditions any case. A visit can have several, or none. It satisfies
    /// `not_contains` if none of its search appearances contains the value, and another condition if one of them satisfies it. So rows
    /// overlap and do not add up.
    SearchAppearance,
}

impl Dimension {
    /// Every dimension, in the order of the tables.
    pub const ALL: [Self; 5] = [Self::Query, Self::Page, Self::Country, Self::Device, Self::SearchAppearance];

    /// Its name in parameters and answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Page => "page",
            Self::Country => "country",
            Self::Device => "device",
            Self::SearchAppearance => "searchAppearance",
        }
    }

    /// The name of the table of its rows, in parameters and answers.
    #[must_use]
    pub fn table(self) -> &'static str {
        match self {
            Self::Query => "queries",
            Self::Page => "pages",
            Self::Country => "countries",
            Self::Device => "devices",
            Self::SearchAppearance => "searchAppearances",
        }
    }

    /// Returns the dimension of the rows of a table.
    #[must_use]
    pub fn of_table(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dimension| dimension.table() == name)
    }
}
