//! The annotations of the time that an explanation is about.

use api::{analytics::ExplainedEvent, models::Window, sharing::SharedPart};
use common::digest::opaque_tag;

use crate::{
    error::Error,
    services::{access::ReadableProperty, analyses::search_data::SearchData, annotations, system_annotations::event},
};

/// The annotations that overlap one of the windows, newest first.
pub struct Events(Vec<ExplainedEvent>);

/// Finds the annotations that overlap `current` or `previous`, system annotations included. A share link may hide all of them.
pub async fn overlapping(
    search: &SearchData,
    access: &ReadableProperty,
    [current, previous]: [Window; 2],
) -> Result<Events, Error> {
    if access.view().is_some_and(|view| !view.shows(SharedPart::Notes)) {
        return Ok(Events(Vec::new()));
    }
    let notes = annotations::unsigned(&search.db, &search.system_annotations, access).await?;
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
