//! The annotations of the time that an explanation is about.

use api::{analytics::ExplainedEvent, annotations::AnnotationListParams, models::Window, params::Paging};
use common::digest::opaque_tag;

use crate::{
    error::Error,
    services::{access::PropertyAccess, analyses::search_data::SearchData, annotations, system_annotations::event},
};

/// The annotations that overlap one of the windows, newest first.
pub struct Events(Vec<ExplainedEvent>);

/// Finds the annotations that overlap `current` or `previous`, system annotations included.
pub async fn overlapping(
    search: &SearchData,
    access: &PropertyAccess,
    [current, previous]: [Window; 2],
) -> Result<Events, Error> {
    let everything =
        AnnotationListParams { start_date: None, end_date: None, include_system: true, paging: Paging::WHOLE };
    let notes = annotations::list(&search.db, &search.system_annotations, access, &everything).await?;
    Ok(Events(notes.iter().filter_map(|note| event(note, current, Some(previous))).collect()))
}

impl Events {
    /// The first `limit` events, and the number of the others.
    pub fn first(&self, limit: usize) -> (Vec<ExplainedEvent>, u64) {
        let shown = &self.0[..limit.min(self.0.len())];
        (shown.to_vec(), (self.0.len() - shown.len()) as u64)
    }

    /// A digest that differs if any event does.
    pub fn digest(&self) -> Result<String, Error> {
        Ok(opaque_tag(&serde_json::to_vec(&self.0).map_err(Error::internal)?))
    }
}
