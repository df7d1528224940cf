//! The words that make a query a branded one.

use api::{
    classifications::{BrandSuggestion, BrandedKeywordsAnswer, SuggestionReason},
    models::Dimension,
};
use maud::{Markup, html};
use poem::http::Method;
use serde_json::json;

use super::{at, preview};
use crate::web::dashboard::{
    door::Door,
    draw::words,
    forms::{self, PREVIEW, Sent, Write},
    opened::Opened,
};

const ADD: &str = "brand.add";
const DELETE: &str = "brand.delete";

/// Returns the write that a form asks for.
pub fn write(door: &Door, verb: &str, sent: &Sent) -> Option<Write> {
    let all = door.operation("branded-keywords");
    match verb {
        "add" => {
            let body = json!({ "keywords": keywords(sent) });
            Some(if sent.used(PREVIEW) {
                Write::preview(format!("{all}/preview"), body)
            } else {
                Write::new(Method::POST, all, body, "added")
            })
        }
        "delete" => Some(Write::delete(all, "deleted").with("keyword", sent.text("keyword")?)),
        _ => None,
    }
}

/// The keywords that were ticked, and those that were written, one per line or with commas between them.
fn keywords(sent: &Sent) -> Vec<&str> {
    let written = sent.text("keywords").unwrap_or_default().split(['\n', ',']).map(str::trim);
    sent.all("keyword").chain(written).filter(|word| !word.is_empty()).collect()
}

/// Draws the section.
pub fn draw(opened: &Opened<'_>, known: &BrandedKeywordsAnswer) -> Markup {
    html! {
        p.quiet-text { "A query is branded when it holds one of these, in upper or lower case. Brand and not brand can then be told apart on every page." }
        @if known.data.is_empty() { p { "There are no brand keywords yet." } } @else {
            (list(opened, known))
        }
        @if opened.may_edit() { (form(opened, known)) }
    }
}

fn list(opened: &Opened<'_>, known: &BrandedKeywordsAnswer) -> Markup {
    html! {
        ul.keywords {
            @for one in &known.data {
                li.chip {
                    bdi { (one.keyword) }
                    @if opened.may_edit() {
                        form method="post" action=[forms::anchor(DELETE)] {
                            (opened.form(DELETE))
                            input type="hidden" name="keyword" value=(one.keyword);
                            button.quiet aria-label={ "Delete " (one.keyword) } title="Delete" { "×" }
                        }
                    }
                }
            }
        }
    }
}

fn form(opened: &Opened<'_>, known: &BrandedKeywordsAnswer) -> Markup {
    let sent = opened.again(ADD, None);
    let suggestions = known.meta.suggestions.as_deref();
    html! {
        form method="post" action=[forms::anchor(ADD)] {
            (opened.form(ADD))
            @if let Some(suggestions) = suggestions {
                fieldset {
                    legend { "Suggestions" }
                    @if suggestions.is_empty() { p.quiet-text { "None. The keywords find what looks like a name of the site." } }
                    @for one in suggestions { (suggestion(one, sent)) }
                    @if let Some(unread) = &known.meta.unread {
                        p.quiet-text { "These are from the name of the site alone. " (unread.hint.as_deref().unwrap_or("Its queries cannot be read at the moment.")) }
                    }
                }
            }
            label {
                "New keywords, one per line"
                textarea name="keywords" rows="3" { (sent.and_then(|sent| sent.text("keywords")).unwrap_or_default()) }
            }
            (preview::draw(sent, Dimension::Query, "All keywords together, with the new ones,"))
            div.actions {
                button { "Add" }
                button.secondary name=(forms::BUTTON) value=(PREVIEW) { "Preview" }
                @if suggestions.is_none() { a href=(at(opened, &[("suggest", Some("true"))], "brand")) { "Suggest some" } }
            }
        }
    }
}

/// A suggestion with its evidence.
fn suggestion(one: &BrandSuggestion, sent: Option<&Sent>) -> Markup {
    let reason = match one.reason {
        SuggestionReason::SiteName => "It is the name of the site",
        SuggestionReason::ResemblesSiteName => "It is the name of the site but for a letter or two",
        SuggestionReason::LandsOnHomePage => "Most of its clicks land on the home page",
    };
    html! {
        label.choice {
            input type="checkbox" name="keyword" value=(one.keyword) checked[sent.is_some_and(|sent| sent.ticks("keyword", &one.keyword))];
            span {
                bdi { (one.keyword) }
                small {
                    " " (reason)
                    @if let Some(found) = &one.evidence {
                        ": " (words::count(found.metrics.clicks)) " clicks of " (words::count(found.queries)) " queries such as “" bdi { (found.example_query) } "”"
                        @if let Some(position) = found.metrics.position { ", at position " (words::position(position)) }
                        @if let (Some(rate), Some(expected)) = (found.metrics.ctr, found.expected_ctr) {
                            ", with a click-through rate of " (words::percent(rate)) " where " (words::percent(expected)) " is usual"
                        }
                    }
                    "."
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use poem::Body;

    use super::*;

    #[tokio::test]
    async fn keywords_are_ticked_or_written_on_lines_and_between_commas() {
        let body = "keyword=north+moor&keywords=acme%2C+acme+inc%0D%0A%0D%0A+two%2C%2C&keyword=";
        let sent = Sent::read(Body::from(body)).await.unwrap();
        assert_eq!(keywords(&sent), ["north moor", "acme", "acme inc", "two"]);
    }
}
