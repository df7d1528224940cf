//! The filters that a person has saved, and the forms that save and delete them.

use api::{filters::FilterPreset, params::ParamValue as _};
use maud::{Markup, html};
use poem::http::Method;
use serde_json::{Value, json};

use crate::web::dashboard::{
    forms::{self, Sent, Write},
    opened::Opened,
};

/// The forms.
const SAVE: &str = "save_filters";
const DELETE: &str = "delete_filters";

/// Returns the write that a form asks for.
pub fn write(sent: &Sent) -> Option<Write> {
    match sent.text(forms::ACTION)? {
        SAVE => {
            let filters = sent.text("filters").and_then(|json| serde_json::from_str::<Value>(json).ok());
            let body =
                json!({ "name": sent.text("name").unwrap_or_default(), "filters": filters.unwrap_or(Value::Null) });
            Some(Write::new(Method::POST, "/api/filter-presets".to_owned(), body, "saved"))
        }
        DELETE => Some(Write::delete(format!("/api/filter-presets/{}", sent.segment("id")?), "deleted")),
        _ => None,
    }
}

/// Draws the saved filters, and the form that saves those of the page.
pub fn fold(opened: &Opened<'_>) -> Markup {
    let view = &opened.view;
    let filters = api::models::Filters(view.filters.clone());
    html! {
        @if !opened.site.presets.is_empty() {
            nav.choices aria-label="Saved filters" {
                @for preset in &opened.site.presets { (link(opened, preset)) }
            }
            details.ask {
                summary { "Delete saved filters" }
                @for preset in &opened.site.presets {
                    form.dates method="post" {
                        input type="hidden" name=(forms::ACTION) value=(DELETE);
                        input type="hidden" name="id" value=(preset.id);
                        input type="hidden" name=(forms::VERSION) value=(preset.etag);
                        button.danger { "Delete " bdi { (preset.name) } }
                    }
                }
            }
        }
        @if !view.filters.is_empty() {
            form.dates method="post" {
                (opened.form(SAVE))
                input type="hidden" name="filters" value=(filters.to_value());
                label { "Save these filters as " input type="text" name="name" required maxlength="100" value=[opened.kept(SAVE, "name")]; }
                button.secondary { "Save" }
            }
        }
    }
}

fn link(opened: &Opened<'_>, preset: &FilterPreset) -> Markup {
    let is_current = opened.view.filters == preset.filters;
    html! {
        a href=(opened.view.link(&[("preset", Some(&preset.id.to_string())), ("offset", None)])) aria-current=[is_current.then_some("true")] { bdi { (preset.name) } }
    }
}
