//! What a share link binds its readers to, and what it shows them.

use api::{
    models::{Classification, Dimension, Filters, Window},
    params::ParamValue as _,
    sharing::{PinnedClassification, SharedPart},
};
use entity::share_link;
use serde::Serialize;

use crate::error::Error;

/// What a share link binds its readers to, and what it shows them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct View {
    /// The days of every answer. `None`: the reader's choice.
    pub window: Option<Window>,
    /// The subset of the traffic that every answer is about.
    pub classification: Option<Classification>,
    /// What the classification stood for when the link was made. `None` for a link of version 0.1.0 that is not yet pinned.
    pub pinned: Option<PinnedClassification>,
    /// The conditions that every answer's traffic satisfies.
    pub filters: Option<Filters>,
    /// The parts that readers see.
    pub show: Vec<SharedPart>,
}

impl View {
    /// Returns the view of a stored link.
    ///
    /// # Errors
    /// [`Error::Internal`] for stored conditions that cannot be read.
    pub fn of(link: &share_link::Model) -> Result<Self, Error> {
        let window = link.first_day.zip(link.last_day);
        let classification = link.classification.as_deref().map(Classification::parse).transpose();
        let pinned = link.pinned.as_deref().map(serde_json::from_str).transpose();
        let filters = link.filters.as_deref().map(serde_json::from_str).transpose();
        let shown = [
            (SharedPart::Queries, link.shows_queries),
            (SharedPart::Pages, link.shows_pages),
            (SharedPart::Notes, link.shows_notes),
        ];
        Ok(Self {
            window: window.map(|(start_date, end_date)| Window { start_date, end_date }),
            classification: classification.map_err(Error::internal)?,
            pinned: pinned.map_err(Error::internal)?,
            filters: filters.map_err(Error::internal)?.map(Filters),
            show: shown.into_iter().filter(|(_, is_shown)| *is_shown).map(|(part, _)| part).collect(),
        })
    }

    /// Returns whether readers see a part.
    #[must_use]
    pub fn shows(&self, part: SharedPart) -> bool {
        self.show.contains(&part)
    }

    /// The dimensions whose rows it hides.
    pub fn hidden(&self) -> impl Iterator<Item = Dimension> {
        let hides = move |part| !self.shows(part);
        Dimension::ALL.into_iter().filter(move |dimension| SharedPart::of(*dimension).is_some_and(hides))
    }

    /// Returns whether every answer is about a part of the traffic.
    #[must_use]
    pub fn narrows(&self) -> bool {
        self.classification.is_some() || self.filters.is_some()
    }
}
