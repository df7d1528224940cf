//! The part of each day that a data state includes.
//!
//! Final data end three days before the current Pacific day. Younger days are thinned: an impression is included once its
//! arrival time has passed, so numbers only grow.

use chrono::{Days, NaiveDate};

use super::request::DataState;
use crate::world::impression::Impression;

/// The Pacific day and hour of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Now {
    pub today: NaiveDate,
    pub hour: u8,
}

/// The visible part of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum View {
    /// All impressions.
    Whole,
    /// Those that arrived before `arrival` (of 4,096) and were seen before `hour`.
    Part { arrival: u16, hour: u8 },
}

impl View {
    #[inline]
    pub fn shows(self, seen: &Impression) -> bool {
        match self {
            Self::Whole => true,
            Self::Part { arrival, hour } => seen.arrival < arrival && seen.hour < hour,
        }
    }
}

impl Now {
    /// Returns the part of `date` that `state` includes, or `None`.
    pub fn view(self, date: NaiveDate, state: DataState) -> Option<View> {
        let age = (self.today - date).num_days();
        match (state, age) {
            (_, ..0) | (DataState::Final, ..3) | (DataState::HourlyAll, 10..) => None,
            (_, 0) => Some(View::Part { arrival: 3_276, hour: self.hour }),
            (_, 1) => Some(View::Part { arrival: 3_481, hour: 24 }),
            (_, 2) => Some(View::Part { arrival: 4_014, hour: 24 }),
            _ => Some(View::Whole),
        }
    }

    /// The first day whose numbers may still grow.
    pub fn first_incomplete_date(self) -> NaiveDate {
        self.today.checked_sub_days(Days::new(2)).unwrap_or(self.today)
    }
}
