//! The rows of readings, as tables take them.

use analytics::{
    breakdown::{self, Keys},
    listing::Listing,
    table::Sides,
};
use api::analytics::TableRow;
use common::metrics::Metrics;
use search_engine::{Dimension, Reading, Row, label};

use super::per_window::PerWindow;

/// The rows of a reading, with borrowed keys.
pub struct Listed<K> {
    /// Key and metrics, best first.
    pub rows: Vec<(K, Metrics)>,
    /// True if more rows may exist.
    pub capped: bool,
}

impl<'r> Listed<&'r str> {
    /// The rows by the only dimension of a reading.
    pub fn of(reading: &'r Reading) -> Self {
        Self { rows: reading.rows.iter().map(|row| (row.key(), row.metrics)).collect(), capped: reading.capped }
    }

    /// Returns an empty listing if there is no reading.
    pub fn maybe(reading: Option<&'r Reading>) -> Self {
        reading.map_or(Self { rows: Vec::new(), capped: false }, Self::of)
    }
}

impl<'r> Listed<Keys<'r>> {
    /// The rows by some dimensions of a reading: `places` are their places in it, in the order of the keys. If one of them is the day,
    /// `day` is its place in the keys.
    pub fn by(reading: &'r Reading, places: &[usize], day: Option<usize>) -> Self {
        let keys = |row: &'r Row| {
            let mut keys = Keys::default();
            for (key, place) in keys.iter_mut().zip(places) {
                *key = &row.keys[*place];
            }
            keys
        };
        let mut rows: Vec<_> = reading.rows.iter().map(|row| (keys(row), row.metrics)).collect();
        breakdown::sort(&mut rows, day);
        Self { rows, capped: reading.capped }
    }
}

impl<K> Listed<K> {
    /// The listing that borrows these rows.
    pub fn listing(&self) -> Listing<'_, K> {
        Listing { rows: &self.rows, capped: self.capped }
    }
}

/// Returns the rows of a table by `dimension` with the labels of their keys.
pub fn labelled(mut rows: Vec<TableRow>, dimension: Dimension) -> Vec<TableRow> {
    for row in &mut rows {
        row.label = label(dimension, &row.key).map(str::to_owned);
    }
    rows
}

impl<K> PerWindow<Listed<K>> {
    /// The listings that a table is made of.
    pub fn sides(&self) -> Sides<'_, K> {
        Sides { current: self.current.listing(), previous: self.previous.as_ref().map(Listed::listing) }
    }
}
