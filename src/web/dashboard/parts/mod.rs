//! The pages of a property, one file each.

mod cannibalization;
mod growth;
mod overview;
mod tables;

use api::{error::ApiError, models::Role};
use maud::{Markup, html};

use super::{door::Door, opened::Opened, table::Table};

/// The pages of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Overview,
    Table(Table),
    Growth,
    Cannibalization,
}

impl Part {
    const ALL: [(Self, &'static str, &'static str); 6] = [
        (Self::Overview, "", "Overview"),
        (Self::Table(Table::Queries), "/queries", "Queries"),
        (Self::Table(Table::Pages), "/pages", "Pages"),
        (Self::Table(Table::Countries), "/countries", "Countries"),
        (Self::Growth, "/growth", "Growth"),
        (Self::Cannibalization, "/cannibalization", "Cannibalization"),
    ];

    /// The parameters of the page besides those of the question.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Self::Overview => &overview::NAMES,
            Self::Table(_) => &tables::NAMES,
            Self::Growth => &growth::NAMES,
            Self::Cannibalization => &cannibalization::NAMES,
        }
    }

    /// Returns the page at `path` below the overview, and its name.
    pub fn at(path: &str) -> Option<(Self, &'static str)> {
        Self::ALL.into_iter().find(|(_, known, _)| *known == path).map(|(part, _, name)| (part, name))
    }

    /// Draws the page.
    pub async fn page(self, opened: &Opened<'_>) -> Result<Markup, ApiError> {
        let body = match self {
            Self::Overview => overview::page(opened).await,
            Self::Table(table) => tables::page(opened, table).await,
            Self::Growth => growth::page(opened).await,
            Self::Cannibalization => cannibalization::page(opened).await,
        }?;
        Ok(html! { (tabs(opened, self)) (body) })
    }
}

/// The links to the pages of the property, with the same question.
fn tabs(opened: &Opened<'_>, current: Part) -> Markup {
    let (Door::Signed(_), Some(role)) = (&opened.door, opened.site.role) else { return html! {} };
    let carried = opened.view.carried();
    html! {
        @if role != Role::Owner { p.quiet-text { "Shared with you: you are " (if role == Role::Viewer { "a viewer" } else if role == Role::Editor { "an editor" } else { "an admin" }) "." } }
        nav.tabs aria-label="Pages of this site" {
            @for (part, path, name) in Part::ALL {
                a href={ (opened.door.root()) (path) (carried) } aria-current=[(part == current).then_some("page")] { (name) }
            }
        }
    }
}
