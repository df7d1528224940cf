//! All sites of a person, with the clicks of each and the sums of all.

mod entry;
mod none;

use api::{
    error::ApiError,
    models::Role,
    params::Metric,
    properties::{PortfolioAnswer, PortfolioMeta},
    tags::Tag,
};
use common::compute::in_place;
use maud::{Markup, html};
use poem::http::Method;
use serde_json::json;

use self::{entry::Entries, none::Missing};
use super::{
    ask::Asker,
    draw::{paging::pages, words},
    forms::{self, Sent, Write},
    view::View,
};

/// The parameters of the page.
pub const NAMES: [&str; 5] = ["tag", "search", "sort", "hidden", "offset"];

/// The number of sites of a page.
const SITES: u32 = 50;

/// The number of sites up to which each has a card. More have a row each, so that a person can compare them.
const MOST_CARDS: usize = 30;

/// The orders of the list.
const ORDERS: [(&str, Option<&str>); 4] = [
    ("Favourites first", None),
    ("By clicks", Some("-clicks")),
    ("Most gained", Some("-change.clicks")),
    ("Most lost", Some("change.clicks")),
];

/// The forms of a site.
const FAVORITE: &str = "favorite";
const UNFAVORITE: &str = "unfavorite";
const HIDE: &str = "hide";
const UNHIDE: &str = "unhide";

/// The page that is being answered.
pub struct Home<'a> {
    pub asker: Asker<'a>,
    /// The page of plans. `None` where nothing is for sale.
    pub plans: Option<&'a str>,
    /// The form that was sent and changed nothing.
    pub sent: Option<Sent>,
}

/// Returns the write that a form asks for.
pub fn write(sent: &Sent) -> Option<Write> {
    let id = sent.segment("id")?;
    let put = |mark: &str, value: bool, done| {
        Write::new(Method::PUT, format!("/api/properties/{id}/{mark}"), json!({ mark: value }), done)
    };
    Some(match sent.text(forms::ACTION)? {
        FAVORITE => put("favorite", true, "saved"),
        UNFAVORITE => put("favorite", false, "saved"),
        HIDE => put("hidden", true, "hidden"),
        UNHIDE => put("hidden", false, "shown"),
        _ => return None,
    })
}

/// Draws the page.
pub async fn page(home: &Home<'_>) -> Result<Markup, ApiError> {
    let (asker, visitor) = (home.asker, home.asker.visitor());
    let view = View::read(asker.page.path(), asker.page.query(), &NAMES)?;
    let mut of_list = view.sent(&["tag", "search", "sort"]);
    let offset = view.number("offset")?;
    of_list.extend([("limit", SITES.to_string()), ("offset", offset.to_string())]);
    of_list.push(("series", "true".to_owned()));
    of_list.push(("hidden", view.text("hidden").unwrap_or("false").to_owned()));
    let mut of_sums = view.sent(&["tag", "search"]);
    of_sums.push(("series", "false".to_owned()));
    let (list, sums, tags) =
        tokio::try_join!(visitor.properties(&of_list), visitor.portfolio(&of_sums), visitor.tags(),)?;
    let is_whole =
        !list.meta.list.has_more && ["tag", "search", "hidden", "offset"].iter().all(|name| view.text(name).is_none());
    let has_own = list.data.iter().any(|site| site.role == Role::Owner);
    let missing = if is_whole && !has_own { Some(Missing::find(visitor, list.data.is_empty()).await?) } else { None };
    let notice = forms::notice("", view.done.as_deref(), home.sent.as_ref());
    if let Some(missing) = missing.as_ref().filter(|_| list.data.is_empty()) {
        return Ok(html! { (notice) (missing.instead()) });
    }
    let reading = list.meta.progress.map_or(0, |progress| progress.still_reading);
    let are_hidden = view.text("hidden") == Some("true");
    let days = sums.meta.window.filter(|_| !are_hidden);
    let entries =
        Entries { view: &view, tags: &tags.data, days, plans: home.plans, offset, total: list.meta.list.total };
    Ok(in_place(|| {
        html! {
        (notice)
        @if let Some(missing) = &missing { (missing.beside()) }
        // Hidden sites are in no sum.
        @if !are_hidden { (totals(&sums)) }
        (choices(&view, &tags.data, sums.meta.coverage.hidden))
        @if reading > 0 {
            p.notice role="status" { (reading) " of these sites are still being read. " a href=(view.link(&[])) { "Look again" } }
        }
        @if list.data.is_empty() { p { (nothing(are_hidden, offset)) a href="/" { "Show all sites" } } }
        @else if list.data.len() > MOST_CARDS { (entries.rows(&list.data)) }
        @else { (entries.cards(&list.data)) }
        (pages(&view, offset, SITES, list.meta.list.has_more))
        }
    }))
}

/// The reason why a page lists no site.
fn nothing(are_hidden: bool, offset: u32) -> &'static str {
    match (offset, are_hidden) {
        (1.., _) => "There are no sites this far. ",
        (0, true) => "No site is hidden. ",
        (0, false) => "No site fits. ",
    }
}

/// The sums over the sites, if any site is in them.
fn totals(sums: &PortfolioAnswer) -> Markup {
    let (Some(now), Some(change)) = (&sums.data.totals, &sums.data.change) else { return Markup::default() };
    let values = [
        (Metric::Clicks, Some(now.clicks as f64)),
        (Metric::Impressions, Some(now.impressions as f64)),
        (Metric::Ctr, now.ctr),
        (Metric::Position, now.position),
    ];
    html! {
        section.tiles aria-label="All of these sites" {
            @for (metric, value) in values {
                div.tile {
                    span { (words::name(metric)) }
                    strong { (words::value(metric, value)) }
                    span { (words::change(metric, change, true)) }
                }
            }
        }
        p.quiet-text { (summed(&sums.meta)) }
    }
}

/// Says of which sites and days the sums are, and which sites are left out.
fn summed(meta: &PortfolioMeta) -> Markup {
    let coverage = &meta.coverage;
    let out = [
        (coverage.covered, "within a wider site, which counts the same pages"),
        (coverage.late, "with older data"),
        (coverage.still_reading, "still being read"),
        (coverage.refused, "not readable"),
        (coverage.locked, "locked"),
        (coverage.disconnected, "disconnected"),
        (coverage.hidden, "hidden"),
    ];
    let out: Vec<String> = out
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, words)| format!("{} {words}", words::count(count)))
        .collect();
    html! {
        (words::count(coverage.in_sum)) @if coverage.in_sum == 1 { " site" } @else { " sites" }
        @if let Some(window) = meta.window { ", " (words::window(window)) }
        @if let Some(before) = meta.compare_window { ", against " (words::window(before)) }
        "."
        @if !out.is_empty() { " Not in these sums: " (out.join(", ")) "." }
    }
}

fn choices(view: &View, tags: &[Tag], hidden: u64) -> Markup {
    html! {
        div.controls {
            nav.choices aria-label="Order" {
                @for (name, sort) in ORDERS {
                    a href=(view.link(&[("sort", sort), ("offset", None)])) aria-current=[(view.text("sort") == sort).then_some("true")] { (name) }
                }
            }
            @if !tags.is_empty() {
                nav.choices aria-label="Tag" {
                    a href=(view.link(&[("tag", None), ("offset", None)])) aria-current=[view.text("tag").is_none().then_some("true")] { "All" }
                    @for tag in tags {
                        @let id = tag.id.to_string();
                        a href=(view.link(&[("tag", Some(&id)), ("offset", None)])) aria-current=[(view.text("tag") == Some(&id)).then_some("true")] { bdi { (tag.name) } }
                    }
                }
            }
            form.dates method="get" role="search" {
                @for (name, value) in view.kept(&["search", "offset"]) { input type="hidden" name=(name) value=(value); }
                label { "Find " input #find type="search" name="search" maxlength="200" value=[view.text("search")]; }
                button.secondary { "Find" }
            }
            @if view.text("hidden").is_some() { a href=(view.link(&[("hidden", None), ("offset", None)])) { "Back to the others" } }
            @else if hidden > 0 { a href=(view.link(&[("hidden", Some("true")), ("offset", None)])) { "Hidden sites (" (words::count(hidden)) ")" } }
        }
    }
}
