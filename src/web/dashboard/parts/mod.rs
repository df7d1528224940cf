//! The pages of a property, one file each.

mod cannibalization;
mod countries;
mod growth;
mod insights;
mod notes;
mod overview;
mod settings;
mod tables;

use api::{
    error::ApiError,
    models::{Dimension, Role},
};
use maud::{Markup, html};
use pages::paths::is_at;

use super::{
    OVERVIEW, address,
    door::{Door, Judged},
    draw::{lack::Lack, presets},
    forms::{self, Sent, Write},
    kind,
    opened::Opened,
    view::View,
};
use crate::services::warming::opened::PageKind;

/// The pages of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Overview,
    Table(Dimension),
    Growth,
    Cannibalization,
    Insights,
    Notes,
    Settings,
}

/// An operation and the parameters that judge the question of a page.
type Question = (Judged, Vec<(&'static str, String)>);

impl Part {
    /// Each with the pattern of its path and its name.
    const ALL: [(Self, &'static str, &'static str); 9] = [
        (Self::Overview, OVERVIEW, "Overview"),
        (Self::Table(Dimension::Query), "/p/:id/queries", "Queries"),
        (Self::Table(Dimension::Page), "/p/:id/pages", "Pages"),
        (Self::Table(Dimension::Country), "/p/:id/countries", "Countries"),
        (Self::Growth, "/p/:id/growth", "Growth"),
        (Self::Cannibalization, "/p/:id/cannibalization", "Cannibalization"),
        (Self::Insights, "/p/:id/insights", "Insights"),
        (Self::Notes, "/p/:id/notes", "Notes"),
        (Self::Settings, "/p/:id/settings", "Settings"),
    ];

    /// The parameters of the page besides those of the question.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Self::Overview => &overview::NAMES,
            Self::Table(_) => &tables::NAMES,
            Self::Growth => &growth::NAMES,
            Self::Cannibalization => &cannibalization::NAMES,
            Self::Insights => &insights::NAMES,
            Self::Notes => &notes::NAMES,
            Self::Settings => &settings::NAMES,
        }
    }

    /// Returns whether the page is about queries, which some kinds of search do not have.
    fn is_about_queries(self) -> bool {
        matches!(self, Self::Table(Dimension::Query) | Self::Growth | Self::Cannibalization | Self::Insights)
    }

    /// Returns whether the page reads search data.
    fn reads(self) -> bool {
        !matches!(self, Self::Notes | Self::Settings)
    }

    /// The kind of page that is read ahead, if it reads search data.
    pub fn kind(self) -> Option<PageKind> {
        Some(match self {
            Self::Overview => PageKind::Overview,
            Self::Table(Dimension::Query) => PageKind::Queries,
            Self::Table(Dimension::Page) => PageKind::Pages,
            Self::Table(Dimension::Country) => PageKind::Countries,
            Self::Growth => PageKind::Growth,
            Self::Cannibalization => PageKind::Cannibalization,
            Self::Insights => PageKind::Insights,
            _ => return None,
        })
    }

    /// Returns what the kind of search lacks for the page, if anything.
    fn lacks(self, view: &View) -> Option<Lack> {
        Lack::of(view, self.is_about_queries()).filter(|_| self.reads())
    }

    /// The name of the page.
    fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(part, ..)| *part == self).map_or("", |(.., name)| name)
    }

    /// Returns the operation and the parameters that judge the page's question, apart from its days, or `None` for a page that reads no
    /// search data.
    ///
    /// # Errors
    /// `invalid_request` for a parameter of the page with a value that is not allowed.
    pub fn judged(self, view: &View) -> Result<Option<Question>, ApiError> {
        if self.lacks(view).is_some() {
            return Ok(None);
        }
        let question = view.without_days();
        let of_page = |names| [&question[..], &view.sent(names)].concat();
        Ok(match self {
            Self::Overview => {
                overview::first_table(view)?;
                Some((Judged::Performance, question))
            }
            Self::Table(table) => Some((Judged::Performance, tables::judged(view, table, question)?)),
            Self::Growth => Some((Judged::Growth, of_page(&growth::NAMES))),
            Self::Cannibalization => Some((Judged::Cannibalization, of_page(&cannibalization::NAMES))),
            Self::Insights => Some((Judged::Insights, of_page(&insights::NAMES))),
            Self::Notes | Self::Settings => None,
        })
    }

    /// Returns the write that a form of the page asks for, or `None` if it only asks for the page again.
    ///
    /// # Errors
    /// `invalid_request` for a form that the page does not have.
    pub fn write(self, door: &Door, sent: &Sent) -> Result<Option<Write>, ApiError> {
        match self {
            Self::Notes => notes::write(door, sent).map(Some).ok_or_else(forms::unknown),
            Self::Settings => settings::write(door, sent),
            _ => presets::write(sent).map(Some).ok_or_else(forms::unknown),
        }
    }

    /// The name of the page in an address.
    fn segment(self) -> &'static str {
        let pattern = Self::ALL.into_iter().find(|(part, ..)| *part == self).map_or("", |(_, pattern, _)| pattern);
        pattern.strip_prefix(OVERVIEW).and_then(|rest| rest.strip_prefix('/')).unwrap_or(address::OVERVIEW)
    }

    /// The patterns of their paths.
    pub fn patterns() -> impl Iterator<Item = &'static str> {
        Self::ALL.into_iter().map(|(_, pattern, _)| pattern)
    }

    /// Returns the page at `path`, and its name.
    pub fn at(path: &str) -> Option<(Self, &'static str)> {
        let path = address::without_conditions(path);
        Self::ALL.into_iter().find(|(_, pattern, _)| is_at(pattern, &path)).map(|(part, _, name)| (part, name))
    }

    /// Draws the page that says what the kind of search lacks for this one.
    fn lacking(self, opened: &Opened<'_>) -> Markup {
        self.lacks(&opened.view).map(|lack| lack.page(opened, self.name())).unwrap_or_default()
    }

    /// Draws the page.
    pub async fn page(self, opened: &Opened<'_>) -> Result<Markup, ApiError> {
        let body = match self {
            _ if self.lacks(&opened.view).is_some() => Ok(self.lacking(opened)),
            Self::Overview => overview::page(opened).await,
            Self::Table(table) => tables::page(opened, table).await,
            Self::Growth => growth::page(opened).await,
            Self::Cannibalization => cannibalization::page(opened).await,
            Self::Insights => insights::page(opened).await,
            Self::Notes => notes::page(opened).await,
            Self::Settings => settings::page(opened).await,
        }?;
        Ok(html! {
            (tabs(opened, self))
            (forms::notice("", opened.view.done.as_deref(), opened.sent.as_ref()))
            (body)
        })
    }
}

/// The links to the pages of the property, with the same question. A page that the kind of search does not have is no link.
fn tabs(opened: &Opened<'_>, current: Part) -> Markup {
    let (Door::Signed(_), Some(role)) = (&opened.door, opened.site.role) else { return html! {} };
    let view = &opened.view;
    let (kind, has_queries) = (kind::name(view.search_type()), view.has(Dimension::Query));
    html! {
        @if role != Role::Owner { p.quiet-text { "Shared with you: you are " (if role == Role::Viewer { "a viewer" } else if role == Role::Editor { "an editor" } else { "an admin" }) "." } }
        nav.tabs aria-label="Pages of this site" {
            @for (part, _, name) in Part::ALL {
                @if part == current || has_queries || !part.is_about_queries() {
                    a href=(view.to(part.segment())) aria-current=[(part == current).then_some("page")] { (name) }
                } @else {
                    span.off { (name) span.visually-hidden { " is not available: " (kind) " has no queries" } }
                }
            }
        }
        @if !has_queries && current.reads() && !current.is_about_queries() {
            p.quiet-text { (kind) " has no queries, so the pages about them are not available." }
        }
    }
}
