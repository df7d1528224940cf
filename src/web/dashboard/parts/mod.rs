//! The pages of a property, one file each.

mod cannibalization;
mod growth;
mod notes;
mod overview;
mod tables;

use api::{error::ApiError, models::Role};
use maud::{Markup, html};

use super::{
    door::Door,
    forms::{self, Sent, Write},
    opened::Opened,
    table::Table,
    view::View,
};

/// The pages of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Overview,
    Table(Table),
    Growth,
    Cannibalization,
    Notes,
}

impl Part {
    /// Each with its path below the overview and its name.
    const ALL: [(Self, &'static str, &'static str); 7] = [
        (Self::Overview, "", "Overview"),
        (Self::Table(Table::Queries), "queries", "Queries"),
        (Self::Table(Table::Pages), "pages", "Pages"),
        (Self::Table(Table::Countries), "countries", "Countries"),
        (Self::Growth, "growth", "Growth"),
        (Self::Cannibalization, "cannibalization", "Cannibalization"),
        (Self::Notes, "notes", "Notes"),
    ];

    /// The parameters of the page besides those of the question.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Self::Overview => &overview::NAMES,
            Self::Table(_) => &tables::NAMES,
            Self::Growth => &growth::NAMES,
            Self::Cannibalization => &cannibalization::NAMES,
            Self::Notes => &notes::NAMES,
        }
    }

    /// Returns the operation and the parameters that judge the page's question, apart from its days, or `None` for a page that reads no
    /// search data.
    ///
    /// # Errors
    /// `invalid_request` for a parameter of the page with a value that is not allowed.
    pub fn judged(self, view: &View) -> Result<Option<(&'static str, Vec<(&'static str, String)>)>, ApiError> {
        let question = view.without_days();
        let of_page = |names| [&question[..], &view.sent(names)].concat();
        Ok(match self {
            Self::Overview => {
                overview::first_table(view)?;
                Some(("performance", question))
            }
            Self::Table(table) => Some(("performance", tables::judged(view, table, question)?)),
            Self::Growth => Some(("growth-opportunities", of_page(&growth::NAMES))),
            Self::Cannibalization => Some(("cannibalization", of_page(&cannibalization::NAMES))),
            Self::Notes => None,
        })
    }

    /// Returns the write that a form of the page asks for, or `None` for a form that the page does not have.
    pub fn write(self, door: &Door, sent: &Sent) -> Option<Write> {
        match self {
            Self::Notes => notes::write(door, sent),
            _ => None,
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
            Self::Notes => notes::page(opened).await,
        }?;
        Ok(html! {
            (tabs(opened, self))
            (forms::notice(opened.view.done.as_deref(), opened.sent.as_ref()))
            (body)
        })
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
                a href={ (opened.door.root()) @if !path.is_empty() { "/" (path) } (carried) } aria-current=[(part == current).then_some("page")] { (name) }
            }
        }
    }
}
