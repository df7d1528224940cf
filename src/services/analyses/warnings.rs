//! Warnings: facts about the windows of an answer that its numbers do not show.

use api::models::{Warning, WarningCode, Window};

use super::compared::Compared;
use crate::services::system_annotations::SystemAnnotations;

/// Returns the warnings of a question about `window`, compared with `compare`. `compared` are the days of both that are compared.
#[must_use]
pub fn warnings(
    annotations: &SystemAnnotations,
    window: Window,
    compare: Option<Window>,
    compared: Option<Compared>,
) -> Vec<Warning> {
    let mut found: Vec<Warning> = compared.and_then(of_days).into_iter().collect();
    found.extend(data_incidents(annotations, &[Some(window), compare].into_iter().flatten().collect::<Vec<_>>()));
    found
}

/// Returns the warning about days that are left out, or about windows of different length.
fn of_days(Compared { current, previous, shortened }: Compared) -> Option<Warning> {
    let [now, before] = [current, previous].map(|window| (window.end_date - window.start_date).num_days() + 1);
    let (code, text) = if shortened {
        let days = if now == 1 { "first final day".to_owned() } else { format!("first {now} final days") };
        let text = format!(
            "One of the windows has days that are not final. Totals and rows count the {days} of both: {} to {}, and {} to {}.",
            current.start_date, current.end_date, previous.start_date, previous.end_date
        );
        (WarningCode::WindowsShortened, text)
    } else if now != before {
        let text = format!(
            "The window has {now} days and the comparison window {before}. Counts and their changes are not per day."
        );
        (WarningCode::UnequalWindows, text)
    } else {
        return None;
    };
    Some(Warning { code, text, start_date: None, end_date: None, url: None })
}

/// Returns the incidents of the search engine's data that touch one of the windows, newest first.
#[must_use]
pub fn data_incidents(annotations: &SystemAnnotations, windows: &[Window]) -> Vec<Warning> {
    let incidents = annotations.data_incidents(windows);
    incidents
        .map(|incident| Warning {
            code: WarningCode::DataIncident,
            text: incident.text.clone(),
            start_date: Some(incident.date),
            end_date: Some(incident.end_date.unwrap_or(incident.date)),
            url: incident.source_url.clone(),
        })
        .collect()
}
