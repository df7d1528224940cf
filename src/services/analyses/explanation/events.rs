//! The annotations of the time that an explanation is about.

use api::{
    analytics::{ExplainedEvent, OverlappedWindow},
    annotations::{Annotation, AnnotationListParams},
    models::Window,
};
use sea_orm::ConnectionTrait;

use crate::{
    digest::opaque_tag,
    error::Error,
    services::{access::PropertyAccess, annotations},
};

/// The annotations that overlap one of the windows, newest first.
pub struct Events(Vec<ExplainedEvent>);

/// Finds the annotations that overlap `current` or `previous`, known counting anomalies included.
pub async fn overlapping(
    db: &impl ConnectionTrait,
    access: &PropertyAccess,
    [current, previous]: [Window; 2],
) -> Result<Events, Error> {
    let everything = AnnotationListParams { start_date: None, end_date: None, include_system: true };
    let notes = annotations::list(db, access, &everything).await?;
    let events = notes.into_iter().filter_map(|note| {
        let overlaps = match (touches(&note, current), touches(&note, previous)) {
            (true, true) => OverlappedWindow::Both,
            (true, false) => OverlappedWindow::Current,
            (false, true) => OverlappedWindow::Previous,
            (false, false) => return None,
        };
        Some(event(note, overlaps))
    });
    Ok(Events(events.collect()))
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

fn touches(note: &Annotation, window: Window) -> bool {
    note.date <= window.end_date && note.end_date.unwrap_or(note.date) >= window.start_date
}

fn event(note: Annotation, overlaps: OverlappedWindow) -> ExplainedEvent {
    ExplainedEvent {
        id: note.id,
        date: note.date,
        end_date: note.end_date,
        text: note.text,
        category: note.category,
        source: note.source,
        overlaps,
    }
}
