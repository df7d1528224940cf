//! Says in words what a share link opens, or what it would open if a form were sent.

use api::{
    models::{Dimension, FilterCondition, Filters, Window, parse_day, parse_time},
    params::ParamValue as _,
    sharing::{PinnedClassification, ShareLink, SharedPart},
};
use chrono::{DateTime, Utc};
use maud::{Markup, html};
use pages::page::words::time;

use super::{known::Known, saved::Kind};
use crate::web::dashboard::{
    draw::{
        conditions::{clause, joined, rule},
        words,
    },
    forms::Sent,
};

/// The parts that a link can hide, each with its name in the API.
pub const PARTS: [(SharedPart, &str); 3] =
    [(SharedPart::Queries, "queries"), (SharedPart::Pages, "pages"), (SharedPart::Notes, "notes")];

/// The parts that a share link opens.
pub struct Opens {
    classification: Option<String>,
    pinned: Option<PinnedClassification>,
    filters: Vec<FilterCondition>,
    window: Option<Window>,
    show: Vec<SharedPart>,
    ends: Option<DateTime<Utc>>,
}

impl Opens {
    /// Reads a link.
    pub fn of(link: &ShareLink) -> Self {
        let classification = link.classification.as_ref().map(|classification| classification.0.to_value());
        Self {
            classification: classification.and_then(|text| text.as_str().map(str::to_owned)),
            pinned: link.pinned.clone(),
            filters: link.filters.clone().unwrap_or_default(),
            window: link.window,
            show: link.show.clone(),
            ends: link.expires_at.map(DateTime::from),
        }
    }

    /// Reads the form of a link. Fields that are not allowed are left to the operation.
    pub fn asked(sent: &Sent) -> Self {
        let day = |field: &str| sent.text(field).and_then(|day| parse_day(day).ok());
        let fixed = (sent.text("days") == Some("fixed")).then_some(());
        let window = fixed.and_then(|()| Some(Window { start_date: day("startDate")?, end_date: day("endDate")? }));
        let filters = sent.text("filters").and_then(|filters| Filters::parse(filters).ok());
        let shown = |(part, name): (SharedPart, &str)| sent.ticks("show", name).then_some(part);
        Self {
            classification: sent.text("classification").map(str::to_owned),
            pinned: None,
            filters: filters.unwrap_or_default().0,
            window,
            show: PARTS.into_iter().filter_map(shown).collect(),
            ends: end(sent).and_then(|end| parse_time(&end).ok()),
        }
    }

    /// Says it.
    pub fn words(&self, known: &Known) -> Markup {
        let listed = |shows: bool| {
            let parts = PARTS.into_iter().filter(|(part, _)| self.show.contains(part) == shows);
            parts.map(|(_, name)| name).collect::<Vec<_>>()
        };
        let (shown, hidden) = (listed(true), listed(false));
        html! {
            (self.traffic(known))
            @if !self.filters.is_empty() {
                ", where " (joined(self.filters.iter().map(|condition| (condition.logic, clause(condition)))))
            }
            @match self.window {
                Some(window) => { ", on " (words::window(window)) ", without a comparison" }
                None => ", on days that readers choose, up to 16 months back",
            }
            ". Totals, the chart, countries, devices and search appearance"
            @if !shown.is_empty() { ", " (list(&shown)) }
            @if !hidden.is_empty() { ", but not " (list(&hidden)) }
            ". It opens until "
            @match self.ends { Some(end) => (time(end)), None => "it is revoked" }
            "."
            (self.kept())
        }
    }

    /// Says which conditions of its classification the link keeps.
    fn kept(&self) -> Markup {
        let Some(classification) = self.classification.as_deref() else { return Markup::default() };
        let kind =
            [Kind::Segments, Kind::Clusters].into_iter().find(|kind| classification.starts_with(kind.classification()));
        let named = match kind {
            Some(Kind::Segments) => "segment",
            Some(Kind::Clusters) => "topic cluster",
            None => "branded keywords",
        };
        let Some(pinned) = &self.pinned else {
            return html! { " The link keeps the " (named) " of the moment when it is made. Later changes do not touch it." };
        };
        let conditions = pinned.conditions.iter().flatten();
        let table = kind.map_or(Dimension::Query, Kind::table);
        let conditions =
            conditions.map(|condition| (condition.logic, rule(table, condition.operator, &condition.value)));
        html! {
            " The link keeps the " (named) " of the moment when it was made: "
            @match kind {
                Some(kind) => { (kind.subject()) (joined(conditions)) }
                None => (pinned.keywords.as_deref().unwrap_or_default().join(", ")),
            }
            ". Later changes do not touch it."
        }
    }

    fn traffic(&self, known: &Known) -> Markup {
        let Some(classification) = self.classification.as_deref() else { return html! { "All traffic" } };
        match (classification, known.saved(classification)) {
            ("branded", _) => html! { "Branded queries" },
            ("nonBranded", _) => html! { "Queries that are not branded" },
            (_, None) if self.pinned.is_none() => {
                html! { strong { "Nothing, because its segment or topic cluster is gone" } }
            }
            (named, None) if named.starts_with(Kind::Segments.classification()) => {
                html! { "Pages of a segment that is gone" }
            }
            (_, None) => html! { "Queries of a topic cluster that is gone" },
            (named, Some(saved)) if named.starts_with(Kind::Segments.classification()) => {
                html! { "Pages of the segment " bdi.quoted { (saved.name) } }
            }
            (_, Some(saved)) => html! { "Queries of the topic cluster " bdi.quoted { (saved.name) } },
        }
    }
}

/// The time at which a new link ends, as the operation takes it: the end of the day that was chosen.
pub fn end(sent: &Sent) -> Option<String> {
    sent.text("ends").map(|day| format!("{day}T23:59:59Z"))
}

fn list(parts: &[&str]) -> String {
    match parts {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        parts => parts.concat(),
    }
}
