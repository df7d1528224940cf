//! `/docs/errors`: every error code with its status, meaning and way out, from the one table of codes.

use api::{document::ERRORS_PATH, error::Code};
use maud::{Markup, html};
use pages::{
    markdown::{Section, inline},
    paths::Paths,
};
use poem::http::StatusCode;

use super::{addresses::API, frame};

/// Adds the page. The section of a code is the fragment of its name, and that of a status the fragment of its number.
#[must_use]
pub fn mount(paths: Paths) -> Paths {
    paths.at(ERRORS_PATH, "GET, HEAD", frame::page("Errors").fixed(&contents()))
}

fn contents() -> Markup {
    let mut statuses: Vec<_> = Code::ALL.iter().map(|code| code.status()).collect();
    statuses.sort_unstable();
    statuses.dedup();
    let sections = statuses.iter().map(|status| Section { id: status.as_str().to_owned(), title: title(*status) });
    frame::with_sections(&sections.collect::<Vec<_>>(), &text(&statuses))
}

fn title(status: StatusCode) -> String {
    format!("{} {}", status.as_str(), status.canonical_reason().unwrap_or_default())
}

fn text(statuses: &[StatusCode]) -> Markup {
    html! {
        p {
            "Every refusal has the same body: " code { "{ error, code?, hint?, correlationId? }" } ". Programs read "
            code { "code" } ", and the status where they do not know the code: codes may be added. " code { "hint" }
            " names the parameter or field at fault and the way out of this very request."
        }
        p { "The operations and their own codes are in the " a href=(API) { "documentation of the API" } "." }
        @for status in statuses {
            section.card aria-labelledby=(status.as_str()) {
                h2 id=(status.as_str()) { (title(*status)) }
                @for code in Code::ALL.iter().filter(|code| code.status() == *status) { (entry(*code)) }
            }
        }
    }
}

fn entry(code: Code) -> Markup {
    html! {
        h3 id=(code.as_str()) { code { (code.as_str()) } }
        p { (inline(code.meaning())) }
        p { (inline(code.way_out())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_section_with_status_meaning_and_way_out() {
        let text = contents().into_string();
        for code in Code::ALL {
            let section = text.split_once(&format!("<h3 id=\"{}\">", code.as_str())).map(|(_, rest)| rest);
            let section = section.unwrap_or_default().split("<h3").next().unwrap_or_default();
            assert_eq!(section.matches("<p>").count(), 2, "{code:?}: {section}");
            assert!(code.meaning().ends_with('.') && code.way_out().ends_with('.'), "{code:?}");
            assert!(
                !code.meaning().starts_with(' ') && code.meaning().len() > 10 && code.way_out().len() > 10,
                "{code:?}"
            );
        }
        assert!(text.contains("<h2 id=\"412\">412 Precondition Failed</h2>") && !text.contains('`'), "{text}");
    }
}
