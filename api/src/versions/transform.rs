//! Applies the transforms of changes to requests and answers.

use serde_json::Value;

use super::{Change, Edit, QueryEdit, Versions};

impl Versions {
    /// The changes of `operation` after version `older` up to version `newer`, oldest first.
    fn between(&self, older: usize, newer: usize, operation: &str) -> impl DoubleEndedIterator<Item = &'static Change> {
        let versions = self.all.get(older + 1..=newer).unwrap_or_default();
        let changes = versions.iter().flat_map(|version| version.changes);
        changes.filter(move |change| change.operations.contains(&operation))
    }

    /// Returns the edits that bring the query of a client of version `pin` into the newest shape.
    #[must_use]
    pub fn query_edits(&self, pin: usize, operation: &str) -> Vec<QueryEdit> {
        self.between(pin, self.all.len() - 1, operation).filter_map(|change| change.query).collect()
    }

    /// Returns whether bodies that clients of version `pin` send need [`Versions::upgrade`].
    #[must_use]
    pub fn changes_requests(&self, pin: usize, operation: &str) -> bool {
        self.between(pin, self.all.len() - 1, operation).any(|change| change.request.is_some())
    }

    /// Brings the body of a client of version `pin` into the newest shape, and shows `step` the body after each change.
    pub fn upgrade(&self, pin: usize, operation: &str, body: &mut Value, mut step: impl FnMut(&Value)) {
        for edit in self.between(pin, self.all.len() - 1, operation).filter_map(|change| change.request) {
            edit(body);
            step(body);
        }
    }

    /// Returns the edits that bring the body of a success from the shape of version `from` into that of version `pin`.
    #[must_use]
    pub fn response_edits(&self, from: usize, pin: usize, operation: &str) -> Vec<Edit> {
        self.between(pin, from, operation).rev().filter_map(|change| change.response).collect()
    }

    /// Returns the edits that bring the body of a refusal from the terms of version `from` into those of version `pin`.
    #[must_use]
    pub fn refusal_edits(&self, from: usize, pin: usize, operation: &str) -> Vec<Edit> {
        self.between(pin, from, operation).rev().filter_map(|change| change.refusal).collect()
    }
}
