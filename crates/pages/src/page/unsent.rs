//! A form that a page could not take. Its fields come back with the refusal, so that nothing that a person wrote is lost.

use maud::{Markup, html};

/// The most fields that come back.
const MOST: usize = 10_000;

/// Fields whose values no page shows. A form with one of them does not come back.
const SECRETS: [&str; 9] = ["password", "current", "new", "repeated", "token", "csrf", "code", "secret", "apiKey"];

/// The fields that people write, each with its label. The others come back unseen.
const WRITTEN: [(&str, &str); 10] = [
    ("name", "Name"),
    ("date", "Day"),
    ("startDate", "First day"),
    ("endDate", "Last day"),
    ("ends", "Open until the day"),
    ("category", "Category"),
    ("text", "Note"),
    ("email", "E-mail address"),
    ("keywords", "New keywords, one per line"),
    ("value", "Condition"),
];

/// A text longer than this has several lines.
const LINE: usize = 60;

/// A form that was not taken.
#[derive(Debug, Clone)]
pub struct Unsent {
    /// The path and the query string to which it was sent.
    address: String,
    fields: Vec<(String, String)>,
    /// The page where the person signs in, if that has to be done first.
    sign_in: Option<String>,
}

impl Unsent {
    /// Keeps a form that was sent to `address`. Returns `None` if it holds a secret, or too many fields.
    #[must_use]
    pub fn of(address: String, fields: Vec<(String, String)>) -> Option<Self> {
        let is_kept = fields.len() <= MOST && fields.iter().all(|(name, _)| !SECRETS.contains(&name.as_str()));
        is_kept.then_some(Self { address, fields, sign_in: None })
    }

    /// Returns the form with the page where the person signs in first.
    #[must_use]
    pub fn after_sign_in(self, at: String) -> Self {
        Self { sign_in: Some(at), ..self }
    }

    /// True if the person has to sign in first.
    #[must_use]
    pub fn needs_sign_in(&self) -> bool {
        self.sign_in.is_some()
    }

    /// True if the form has no field.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Draws the form with the fields as they were sent, and the button that sends it again.
    #[must_use]
    pub fn draw(&self) -> Markup {
        html! {
            @if let Some(at) = &self.sign_in {
                p { a.button href=(at) target="_blank" rel="noopener" { "Sign in, in another tab" } }
            }
            form method="post" action=(self.address) {
                @for (name, value) in &self.fields {
                    @match label(name, value) {
                        Some(label) => label { (label) (field(name, value)) },
                        None => input type="hidden" name=(name) value=(value);,
                    }
                }
                div.actions { button class=[self.sign_in.as_ref().map(|_| "secondary")] { "Send it again" } }
            }
        }
    }
}

/// Draws what was written in the fields of a form that cannot be sent again, if anything was.
#[must_use]
pub fn written<'f>(fields: impl Iterator<Item = (&'f str, &'f str)>) -> Markup {
    let written: Vec<_> = fields.filter_map(|(name, value)| Some((label(name, value)?, value))).collect();
    html! {
        @if !written.is_empty() {
            section.card aria-label="What you wrote" {
                p { "This is what you wrote:" }
                @for (label, value) in written { p.note { strong { (label) ": " } bdi { (value) } } }
            }
        }
    }
}

/// The label of a field that a person wrote in.
fn label(name: &str, value: &str) -> Option<&'static str> {
    let label = WRITTEN.iter().find(|(written, _)| *written == name).map(|(_, label)| *label);
    label.filter(|_| !value.is_empty())
}

/// A field to read and correct. A browser takes the first line break of a text for none of it.
fn field(name: &str, value: &str) -> Markup {
    html! {
        @if value.contains('\n') || value.chars().count() > LINE { textarea name=(name) rows="3" { "\n" (value) } }
        @else { input type="text" name=(name) value=(value); }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(fields: &[(&str, &str)]) -> Option<Unsent> {
        let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Unsent::of("/p/1/notes?a=\"b".to_owned(), fields.collect())
    }

    #[test]
    fn a_form_comes_back_with_every_field_as_text() {
        let drawn = form(&[("do", "add"), ("text", "\na <b>\"'"), ("name", "x"), ("category", "")]).unwrap().draw();
        assert_eq!(
            drawn.into_string(),
            "<form method=\"post\" action=\"/p/1/notes?a=&quot;b\"><input type=\"hidden\" name=\"do\" value=\"add\">\
             <label>Note<textarea name=\"text\" rows=\"3\">\n\na &lt;b&gt;&quot;'</textarea></label>\
             <label>Name<input type=\"text\" name=\"name\" value=\"x\"></label>\
             <input type=\"hidden\" name=\"category\" value=\"\"><div class=\"actions\"><button>Send it again</button></div></form>"
        );
    }

    #[test]
    fn a_form_with_a_secret_or_too_many_fields_does_not_come_back() {
        for name in SECRETS {
            assert!(form(&[("text", "a"), (name, "b")]).is_none(), "{name}");
        }
        assert!(form(&vec![("a", ""); MOST]).is_some() && form(&vec![("a", ""); MOST + 1]).is_none());
    }

    #[test]
    fn what_was_written_is_shown_without_the_rest() {
        let shown = written([("do", "add"), ("text", "a <b>"), ("name", "")].into_iter()).into_string();
        assert!(shown.contains("<strong>Note: </strong><bdi>a &lt;b&gt;</bdi>") && !shown.contains("add"), "{shown}");
        assert_eq!(written([("do", "add")].into_iter()).into_string(), "");
    }
}
