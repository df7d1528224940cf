//! The sum of the recent days of properties, day by day, and what is usual for them.

use analytics::{
    change::to_api,
    usual::{Counted, UsualDays, history},
};
use api::{analytics::Unusual, models::Window, properties::DailyMetrics};
use chrono::NaiveDate;
use common::metrics::Metrics;
use search_engine::RecentDays;

use crate::services::analyses::{search_data::SearchData, windows::oldest_day};

/// The recent days of properties that are added up.
pub struct Daily<'r>(Vec<&'r RecentDays>);

impl<'r> Daily<'r> {
    /// Adds up these.
    pub fn of(recent: impl IntoIterator<Item = &'r RecentDays>) -> Self {
        Self(recent.into_iter().collect())
    }

    /// The days of a window, oldest first.
    fn days(&self, window: Window) -> impl Iterator<Item = (NaiveDate, Metrics)> {
        window.days().map(|date| (date, self.0.iter().map(|recent| recent.total(date..=date)).sum()))
    }

    /// The days of a window, oldest first, with what is usual for them.
    pub fn series(&self, window: Window, usual: Option<&UsualDays>) -> Vec<DailyMetrics> {
        let day = |(date, metrics)| DailyMetrics {
            date,
            metrics: to_api(&metrics),
            usual: usual.and_then(|usual| usual.on(date)),
        };
        self.days(window).map(day).collect()
    }

    /// Computes what is usual for the days of `window` from the days before it that all properties have.
    pub fn usual(&self, search: &SearchData, window: Window) -> UsualDays {
        let last_final = self.0.iter().map(|recent| recent.freshness.last_final_date).min().unwrap_or_default();
        let history = history(window, oldest_day(search.clock.pacific_today()));
        let incidents = history.map(|days| Window { end_date: window.end_date, ..days }).into_iter();
        let incidents = incidents.flat_map(|days| search.system_annotations.incident_days(days)).collect();
        let days = history.into_iter().flat_map(|days| self.days(days));
        let known = days.filter(|(date, _)| self.0.iter().all(|recent| recent.covers(*date)));
        UsualDays::of(known, Counted { last_final, incidents })
    }

    /// Returns how the last days of `window` are unusual, if they are.
    pub fn unusual(&self, window: Window, usual: &UsualDays) -> Option<Unusual> {
        usual.unusual(self.days(window))
    }
}
