//! Warnings: facts about the question of an answer that its numbers do not show.

use api::models::{FilterOperator, Warning, WarningCode, Window};
use common::plain_text::quoted;
use search_engine::{Condition, Dimension, Predicate, filter::list_items};

use super::compared::Compared;
use crate::services::system_annotations::SystemAnnotations;

/// Returns the warnings of a question about `window`, compared with `compare`. `compared` are the days of both that are compared, and
/// `predicate` are its conditions.
#[must_use]
pub fn warnings(
    annotations: &SystemAnnotations,
    window: Window,
    compare: Option<Window>,
    compared: Option<Compared>,
    predicate: &Predicate,
) -> Vec<Warning> {
    let mut found: Vec<Warning> = compared.and_then(of_days).into_iter().chain(of_pages(predicate)).collect();
    found.extend(data_incidents(annotations, &[Some(window), compare].into_iter().flatten().collect::<Vec<_>>()));
    found
}

/// Returns the warning about days that are left out, or about windows of different length.
fn of_days(Compared { current, previous, shortened }: Compared) -> Option<Warning> {
    let [now, before] = [current, previous].map(Window::length);
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

/// The most characters of a value that a warning repeats.
const SHOWN: usize = 200;

/// Returns the warning about a condition that matches no page, because pages are full addresses. Readers of a share link do not see its own
/// conditions.
#[must_use]
pub fn of_pages(predicate: &Predicate) -> Option<Warning> {
    let asked = predicate.expressions.iter().skip(predicate.kept).flat_map(|expression| expression.0.iter().flatten());
    let whole = |condition: &Condition| match condition {
        Condition::Written(written) if condition.dimension() == Dimension::Page => match written.operator {
            FilterOperator::Equals => vec![written.value.clone()],
            FilterOperator::OrList => list_items(&written.value),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    };
    let value = asked.flat_map(whole).find(|value| !value.contains("://"))?;
    let shown: String = value.chars().take(SHOWN).collect();
    let text = format!(
        "No page is {}, because a page is a full address, such as https://www.example.com/products. Use the full address, or contains for a \
         part of it.",
        quoted(&shown)
    );
    Some(Warning { code: WarningCode::PageWithoutScheme, text, start_date: None, end_date: None, url: None })
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

#[cfg(test)]
mod tests {
    use api::models::{self, FilterCondition};
    use search_engine::Expression;

    use super::*;

    #[test]
    fn a_part_of_an_address_is_no_page() {
        use FilterOperator::{Contains, Equals, MatchesRegex, NotContains, OrList};
        use models::Dimension::{Page, Query};
        let warned = |dimension, operator, value: &str, kept: usize| {
            let condition = FilterCondition { dimension, operator, value: value.to_owned(), logic: None };
            let predicate = Predicate { kept, ..Predicate::of(vec![Expression::of(&[condition])]) };
            of_pages(&predicate).map(|warning| warning.text)
        };
        for (operator, value, named) in [
            (Equals, "/products/tent", "\"/products/tent\""),
            (Equals, "www.example.com/a", "\"www.example.com/a\""),
            (OrList, "https://example.com/a,/b", "\"/b\""),
            (OrList, "/a, /b", "\"/a\""),
        ] {
            let text = warned(Page, operator, value, 0).unwrap();
            assert!(text.starts_with(&format!("No page is {named}, because")), "{text}");
            assert_eq!(warned(Page, operator, value, 1), None, "a share link keeps its conditions to itself");
            assert_eq!(warned(Query, operator, value, 0), None);
        }
        for operator in [Contains, NotContains, MatchesRegex] {
            assert_eq!(warned(Page, operator, "/products/", 0), None);
        }
        assert_eq!(warned(Page, Equals, "https://example.com/a", 0), None);
        assert!(warned(Page, Equals, &"x".repeat(4_096), 0).unwrap().len() < 400);
    }
}
