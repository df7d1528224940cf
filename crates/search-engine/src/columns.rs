//! Readings as bytes, column by column, for other replicas.

use chrono::{DateTime, NaiveDate};
use common::metrics::Metrics;
use serde::{Deserialize, Serialize};

use super::reading::{Reading, Row};

/// The columns of a reading.
#[derive(Serialize, Deserialize)]
struct Columns {
    read_at: i64,
    /// Days since 1970.
    first_incomplete_date: Option<i32>,
    capped: bool,
    /// One column for each dimension.
    keys: Vec<Vec<Box<str>>>,
    clicks: Numbers,
    impressions: Numbers,
    weighted_positions: Numbers,
    /// The rows without positions.
    without_position: Vec<u32>,
}

/// Numbers, which are nearly always whole.
#[derive(Serialize, Deserialize)]
enum Numbers {
    Whole(Vec<u64>),
    Exact(Vec<f64>),
}

impl Numbers {
    fn of(values: Vec<f64>) -> Self {
        // Every whole number below 2^53 has a value of its own.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
        let whole = |value: f64| (value.fract() == 0.0 && (0.0..9e15).contains(&value)).then_some(value as u64);
        match values.iter().copied().map(whole).collect() {
            Some(whole) => Self::Whole(whole),
            None => Self::Exact(values),
        }
    }

    fn values(self) -> Vec<f64> {
        match self {
            Self::Whole(whole) => whole.into_iter().map(|value| value as f64).collect(),
            Self::Exact(exact) => exact,
        }
    }
}

/// Writes a reading. `None` if it cannot be written, which does not happen.
pub fn written(reading: &Reading) -> Option<Vec<u8>> {
    let rows = &reading.rows;
    let dimensions = rows.first().map_or(0, |row| row.keys.len());
    let column = |of: fn(&Metrics) -> f64| Numbers::of(rows.iter().map(|row| of(&row.metrics)).collect());
    let unplaced = (0..).zip(rows).filter(|(_, row)| row.metrics.weighted_position.is_none());
    let columns = Columns {
        read_at: reading.read_at.timestamp_micros(),
        first_incomplete_date: reading.first_incomplete_date.map(|date| date.to_epoch_days()),
        capped: reading.capped,
        keys: (0..dimensions).map(|at| rows.iter().map(|row| row.keys[at].clone()).collect()).collect(),
        clicks: column(|metrics| metrics.clicks),
        impressions: column(|metrics| metrics.impressions),
        weighted_positions: column(|metrics| metrics.weighted_position.unwrap_or_default()),
        without_position: unplaced.map(|(at, _)| at).collect(),
    };
    postcard::to_allocvec(&columns).ok()
}

/// Reads what [`written`] wrote. `None` for anything else.
pub fn read(bytes: &[u8]) -> Option<Reading> {
    let columns: Columns = postcard::from_bytes(bytes).ok()?;
    let (clicks, impressions) = (columns.clicks.values(), columns.impressions.values());
    let positions = columns.weighted_positions.values();
    if impressions.len() != clicks.len()
        || positions.len() != clicks.len()
        || columns.keys.iter().any(|column| column.len() != clicks.len())
    {
        return None;
    }
    let mut keys: Vec<_> = columns.keys.into_iter().map(Vec::into_iter).collect();
    let metrics = clicks.into_iter().zip(impressions).zip(positions);
    let mut rows: Vec<Row> = metrics
        .map(|((clicks, impressions), position)| Row {
            keys: keys.iter_mut().filter_map(Iterator::next).collect(),
            metrics: Metrics { clicks, impressions, weighted_position: Some(position) },
        })
        .collect();
    for at in columns.without_position {
        rows.get_mut(at as usize)?.metrics.weighted_position = None;
    }
    let first_incomplete_date = match columns.first_incomplete_date {
        Some(days) => Some(NaiveDate::from_epoch_days(days)?),
        None => None,
    };
    let read_at = DateTime::from_timestamp_micros(columns.read_at)?;
    Some(Reading { rows, capped: columns.capped, read_at, first_incomplete_date })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_reading_is_read_as_it_was_written(
            rows in prop::collection::vec(
                (prop::collection::vec(".{0,20}", 2), 0.0..1e12_f64, any::<bool>(), prop::option::of(0.0..1e9_f64)), 0..30),
            capped: bool,
            read_at in 0_i64..2_000_000_000_000_000,
            days in prop::option::of(0_i32..40_000),
        ) {
            let rows = rows.into_iter().map(|(keys, clicks, is_whole, position)| Row {
                keys: keys.into_iter().map(String::into_boxed_str).collect(),
                metrics: Metrics {
                    clicks: if is_whole { clicks.round() } else { clicks },
                    impressions: clicks.round() * 2.0,
                    weighted_position: position,
                },
            });
            let reading = Reading {
                rows: rows.collect(),
                capped,
                read_at: DateTime::from_timestamp_micros(read_at).unwrap(),
                first_incomplete_date: days.and_then(NaiveDate::from_epoch_days),
            };
            prop_assert_eq!(read(&written(&reading).unwrap()), Some(reading));
        }

        #[test]
        fn other_bytes_are_no_reading_and_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&bytes);
        }
    }
}
