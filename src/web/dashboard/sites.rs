//! All sites of a person, with the clicks of each and the sums of all.

use api::{
    error::ApiError,
    params::Metric,
    properties::{Headline, PortfolioAnswer, PropertyAccessState, PropertyListAnswer, TrackedProperty},
    tags::Tag,
};
use maud::{Markup, html};

use super::{
    ask::Asker,
    draw::{svg::spark, words},
    view::View,
};
use crate::web::role_words;

/// The parameters of the page.
const NAMES: [&str; 4] = ["tag", "search", "sort", "hidden"];

/// The orders of the list.
const ORDERS: [(&str, Option<&str>); 4] = [
    ("Favourites first", None),
    ("By clicks", Some("-clicks")),
    ("Most gained", Some("-change.clicks")),
    ("Most lost", Some("change.clicks")),
];

/// Draws the page.
pub async fn page(asker: Asker<'_>) -> Result<Markup, ApiError> {
    let view = View::read(asker.page.query(), &NAMES)?;
    let kept = |names: &[&'static str]| {
        names.iter().filter_map(|name| Some((*name, view.text(name)?.to_owned()))).collect::<Vec<_>>()
    };
    let mut of_list = kept(&["tag", "search", "sort"]);
    of_list.push(("series", "true".to_owned()));
    of_list.push(("hidden", view.text("hidden").unwrap_or("false").to_owned()));
    let mut of_sums = kept(&["tag", "search"]);
    of_sums.push(("series", "false".to_owned()));
    let (list, sums, tags) = tokio::try_join!(
        asker.ask::<PropertyListAnswer>("/api/properties", &of_list),
        asker.ask::<PortfolioAnswer>("/api/portfolio", &of_sums),
        asker.ask::<api::answer::List<Tag>>("/api/tags", &[]),
    )?;
    let is_filtered = ["tag", "search", "hidden"].iter().any(|name| view.text(name).is_some());
    if list.data.is_empty() && !is_filtered {
        return Ok(empty());
    }
    let reading = list.meta.progress.map_or(0, |progress| progress.still_reading);
    Ok(html! {
        (totals(&sums))
        (choices(&view, &tags.data))
        @if reading > 0 {
            p.notice role="status" { (reading) " of these sites are still being read. " a href=(view.link(&[])) { "Look again" } }
        }
        @if list.data.is_empty() { p { "No site fits. " a href="/" { "Show all sites" } } }
        ul.sites { @for site in &list.data { li.card { (card(site, &tags.data)) } } }
    })
}

/// The page of a person who sees no site yet.
fn empty() -> Markup {
    html! {
        div.card.empty {
            p { strong { "Nothing is connected yet." } " Connect the search account of your sites, and choose the sites that you want to see here." }
            form method="post" action="/account/search/connect" { button { "Connect your search account" } }
            p.quiet-text { "If it is connected already, choose its sites on " a href="/account" { "your account page" } ". Somebody who shares a site with you sends you an invitation." }
        }
    }
}

/// The sums over the sites.
fn totals(sums: &PortfolioAnswer) -> Markup {
    let (now, change) = (&sums.data.totals, &sums.data.change);
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
    }
}

fn choices(view: &View, tags: &[Tag]) -> Markup {
    html! {
        div.controls {
            nav.choices aria-label="Order" {
                @for (name, sort) in ORDERS {
                    a href=(view.link(&[("sort", sort)])) aria-current=[(view.text("sort") == sort).then_some("true")] { (name) }
                }
            }
            @if !tags.is_empty() {
                nav.choices aria-label="Tag" {
                    a href=(view.link(&[("tag", None)])) aria-current=[view.text("tag").is_none().then_some("true")] { "All" }
                    @for tag in tags {
                        @let id = tag.id.to_string();
                        a href=(view.link(&[("tag", Some(&id))])) aria-current=[(view.text("tag") == Some(&id)).then_some("true")] { bdi { (tag.name) } }
                    }
                }
            }
            form.dates method="get" role="search" {
                @for (name, value) in view.kept(&["search"]) { input type="hidden" name=(name) value=(value); }
                label { "Find " input #find type="search" name="search" maxlength="200" value=[view.text("search")]; }
                button.secondary { "Find" }
            }
            @if view.text("hidden").is_some() { a href=(view.link(&[("hidden", None)])) { "Back to the others" } }
            @else { a href=(view.link(&[("hidden", Some("true"))])) { "Hidden sites" } }
        }
    }
}

/// One site.
fn card(site: &TrackedProperty, tags: &[Tag]) -> Markup {
    let own = tags.iter().filter(|tag| site.tag_ids.contains(&tag.id));
    html! {
        h2 {
            @if site.favorite { span title="Favourite" aria-label="Favourite" role="img" { "★ " } }
            a href={ "/p/" (site.id) } { bdi { (site.name) } }
        }
        p.quiet-text {
            (role_words::role(site.role))
            @if let Some(owner) = site.owner_name.as_ref().or(site.owner_email.as_ref()) { " · of " bdi { (owner) } }
            @for tag in own { " " span.tag { (tag.name) } }
        }
        @match &site.headline {
            Some(headline) => (headline_of(headline)),
            None => p { strong.state.warn { (state(site.access)) } @if let Some(hint) = &site.hint { " " (hint) } },
        }
    }
}

fn headline_of(headline: &Headline) -> Markup {
    let now = &headline.current;
    let values = [
        (Metric::Clicks, Some(now.clicks as f64)),
        (Metric::Impressions, Some(now.impressions as f64)),
        (Metric::Position, now.position),
    ];
    let days: Vec<f64> = headline.series.iter().flatten().map(|day| day.metrics.clicks as f64).collect();
    html! {
        (spark(&days))
        dl.figures {
            @for (metric, value) in values {
                div {
                    dt { (words::name(metric)) }
                    dd {
                        strong { (words::value(metric, value)) } " "
                        @if let Some(change) = &headline.change { (words::change(metric, change, false)) }
                    }
                }
            }
        }
        p.quiet-text { (words::window(headline.window)) @if headline.previous.is_some() { ", against the days before" } }
    }
}

/// The state of a site without numbers.
fn state(access: PropertyAccessState) -> &'static str {
    match access {
        PropertyAccessState::Ok => "No numbers yet.",
        PropertyAccessState::StillReading => "Still being read.",
        PropertyAccessState::SubscriptionRequired => "Locked.",
        PropertyAccessState::SearchAccountDisconnected => "Disconnected.",
        PropertyAccessState::Lost => "No longer readable.",
        PropertyAccessState::SearchEngineUnavailable => "The search engine does not answer.",
    }
}
