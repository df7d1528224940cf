//! The words of a page without numbers.

use api::models::AnalysisStatus;
use maud::{Markup, html};

use crate::web::dashboard::{
    opened::Opened,
    view::{NO_COMPARISON, View},
};

/// Says why a question has no numbers, or returns `None` if it has some.
pub fn instead(opened: &Opened<'_>, status: AnalysisStatus) -> Option<Markup> {
    match status {
        AnalysisStatus::Analysed => None,
        AnalysisStatus::NoSearchData => Some(html! { p.card { (no_data(&opened.view)) } }),
        AnalysisStatus::NotFinalYet => Some(still_counted(opened)),
    }
}

/// Says that the search engine has no data.
pub fn no_data(view: &View) -> &'static str {
    if view.is_narrowed() {
        "The search engine has no data for this question. A longer period or fewer conditions may have some."
    } else {
        "The search engine has no data for these days. A longer period may have some."
    }
}

/// Says that no day of the question is final, and leads to what is counted so far.
pub fn still_counted(opened: &Opened<'_>) -> Markup {
    let so_far = opened.view.link(&[("dataState", Some("all")), ("compare", Some(NO_COMPARISON))]);
    html! {
        p.card { "The search engine is still counting these days. " a href=(so_far) { "Show what is counted so far" } }
    }
}
