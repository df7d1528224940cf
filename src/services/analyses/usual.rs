//! What is usual for the days of a window, from the days before it.

use analytics::{
    series::Slot,
    usual::{Counted, UsualDays},
};
use api::{analytics::Unusual, models::Window};
use chrono::NaiveDate;
use common::metrics::Metrics;
use search_engine::{LastFinal, Reading};

use super::{by_time, question::Settled, search_data::SearchData};

/// The usual ranges of a window, and the judgement of its last days.
pub(super) struct Judged {
    /// The usual range of each weekday.
    pub usual: UsualDays,
    /// The last days, if they are not usual.
    pub unusual: Option<Unusual>,
}

impl Judged {
    /// Judges the days of the window by the reading by day of `days`, which are those before it and its own. Days without a row have no
    /// impressions.
    pub fn of(search: &SearchData, settled: &Settled, days: Window, reading: &Reading, freshness: &LastFinal) -> Self {
        let last_final = freshness.last_final_date;
        let span = settled.span(days, last_final);
        let rows = by_time(reading, span);
        let metrics = |day: NaiveDate| (day, rows.get(&Slot::day(day)).copied().unwrap_or_else(Metrics::zero));
        let (before, own): (Vec<_>, Vec<_>) =
            span.days().map(metrics).partition(|(day, _)| *day < settled.window.start_date);
        let counted = Counted { last_final, incidents: search.system_annotations.incident_days(days) };
        let usual = UsualDays::of(before, counted);
        let unusual = usual.unusual(own);
        Self { usual, unusual }
    }
}
