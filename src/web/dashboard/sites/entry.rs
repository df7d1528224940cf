//! One site of the list: as a card, or as a row where there are many.

use api::{
    models::{Role, Window},
    params::Metric,
    properties::{Headline, PropertyAccessState, TrackedProperty},
    tags::Tag,
};
use common::names::sites::{self, SiteName};
use maud::{Markup, html};

use super::{FAVORITE, HIDE, UNFAVORITE, UNHIDE};
use crate::web::{
    dashboard::{
        draw::{svg::spark, words},
        forms,
        view::View,
    },
    role_words, site_words,
};

/// The metrics of a site.
const METRICS: [Metric; 3] = [Metric::Clicks, Metric::Impressions, Metric::Position];

/// The part that all entries of a list share.
pub struct Entries<'a> {
    pub view: &'a View,
    /// The person's tags.
    pub tags: &'a [Tag],
    /// The days that the page names above the list. A card with other days names its own.
    pub days: Option<Window>,
    /// The page of plans.
    pub plans: Option<&'a str>,
    /// The number of sites before these.
    pub offset: u32,
    /// The number of all sites of the list.
    pub total: u64,
}

impl Entries<'_> {
    /// A card for each site.
    pub fn cards(&self, sites: &[TrackedProperty]) -> Markup {
        html! {
            ul.sites { @for (site, name) in named(sites) { li.card id={ "site-" (site.id) } { (self.card(site, &name)) } } }
        }
    }

    fn card(&self, site: &TrackedProperty, name: &SiteName) -> Markup {
        html! {
            h2 { a href={ "/p/" (site.id) } { (site_words::name(name)) } }
            p.quiet-text {
                (role_words::role(site.role))
                @if let Some(owner) = site.owner_name.as_ref().or(site.owner_email.as_ref()) { " · of " bdi { (owner) } }
                (self.tags_of(site))
            }
            @match &site.headline {
                Some(headline) => (self.headline_of(headline)),
                None => p { (self.state(site)) },
            }
            (marks(site, name, true))
        }
    }

    /// The curve and the metrics of a site.
    fn headline_of(&self, headline: &Headline) -> Markup {
        html! {
            (curve(headline))
            dl.figures {
                @for (metric, value) in values(headline) {
                    div {
                        dt { (words::name(metric)) }
                        dd {
                            strong { (words::value(metric, value)) } " "
                            @if let Some(change) = &headline.change { (words::change(metric, change, false)) }
                        }
                    }
                }
            }
            @if self.days != Some(headline.window) {
                p.quiet-text { (words::window(headline.window)) @if headline.previous.is_some() { ", against the days before" } }
            }
        }
    }

    /// A row for each site.
    pub fn rows(&self, sites: &[TrackedProperty]) -> Markup {
        let days = sites.iter().find_map(|site| site.headline.as_ref()).map(|headline| words::window(headline.window));
        html! {
            @if let Some(days) = days { p.quiet-text { (self.place(sites.len())) " · " (days) ", against the days before" } }
            table.figures.rows.many {
                thead {
                    tr {
                        th { "Site" } th { "Clicks" } th { "Change" }
                        th.second { "Impressions" } th.second { "Change" }
                        th.second { "Position" } th.second { "28 days" }
                        th { span.visually-hidden { "Marks" } }
                    }
                }
                tbody { @for (site, name) in named(sites) { tr id={ "site-" (site.id) } { (self.row(site, &name)) } } }
            }
        }
    }

    /// The places of the `shown` sites in the list.
    fn place(&self, shown: usize) -> String {
        let (offset, shown) = (u64::from(self.offset), shown as u64);
        let total = words::count(self.total);
        if shown == self.total {
            return format!("{total} sites");
        }
        format!("Sites {} to {} of {total}", words::count(offset + 1), words::count(offset + shown))
    }

    fn row(&self, site: &TrackedProperty, name: &SiteName) -> Markup {
        html! {
            th scope="row" title=(name) {
                a href={ "/p/" (site.id) } { (site_words::name(name)) }
                @if site.role != Role::Owner { " " span.quiet-text { (role_words::role(site.role)) } }
                (self.tags_of(site))
            }
            @match &site.headline {
                Some(headline) => (row_of(headline)),
                None => {
                    td.state-of colspan="2" { (self.state(site)) }
                    td.second colspan="4" {}
                },
            }
            td { (marks(site, name, false)) }
        }
    }

    fn tags_of(&self, site: &TrackedProperty) -> Markup {
        let own = self.tags.iter().filter(|tag| site.tag_ids.contains(&tag.id));
        html! { @for tag in own { " " span.tag { bdi { (tag.name) } } } }
    }

    /// Why a site has no numbers, and the way on.
    fn state(&self, site: &TrackedProperty) -> Markup {
        let is_own = site.role == Role::Owner;
        let hint = site.hint.as_deref().unwrap_or_default();
        let again = html! { a href=(self.view.link(&[])) { "Look again" } };
        let accounts = "/account#search-accounts";
        match site.access {
            PropertyAccessState::Ok => told("No numbers yet.", hint, &html! {}),
            PropertyAccessState::StillReading => told("Still being read.", "", &again),
            PropertyAccessState::SubscriptionRequired => told(
                "Locked.",
                hint,
                &html! { @if let Some(plans) = self.plans.filter(|_| is_own) { a href=(plans) { "Plans" } } },
            ),
            PropertyAccessState::SearchAccountDisconnected if is_own => {
                told("The search account is disconnected.", "", &html! { a href=(accounts) { "Reconnect it" } })
            }
            PropertyAccessState::SearchAccountDisconnected => told("Disconnected.", hint, &html! {}),
            PropertyAccessState::Lost => told(
                "No longer readable.",
                hint,
                &html! { @if is_own { a href=(accounts) { "Your search accounts" } } },
            ),
            PropertyAccessState::SearchEngineUnavailable => told("The search engine does not answer.", "", &again),
        }
    }
}

/// The sites with their names among one another.
fn named(sites: &[TrackedProperty]) -> impl Iterator<Item = (&TrackedProperty, SiteName)> {
    let addresses: Vec<&str> = sites.iter().map(|site| site.site_url.as_str()).collect();
    sites.iter().zip(sites::among(&addresses))
}

fn told(state: &str, hint: &str, way: &Markup) -> Markup {
    html! { strong.state.warn { (state) } @if !hint.is_empty() { " " (hint) } " " (way) }
}

fn values(headline: &Headline) -> [(Metric, Option<f64>); 3] {
    let now = &headline.current;
    METRICS.map(|metric| {
        let value = match metric {
            Metric::Clicks => Some(now.clicks as f64),
            Metric::Impressions => Some(now.impressions as f64),
            Metric::Ctr => now.ctr,
            Metric::Position => now.position,
        };
        (metric, value)
    })
}

fn curve(headline: &Headline) -> Markup {
    let days: Vec<f64> = headline.series.iter().flatten().map(|day| day.metrics.clicks as f64).collect();
    spark(&days)
}

fn row_of(headline: &Headline) -> Markup {
    let [(_, clicks), (_, impressions), (_, position)] = values(headline);
    let change = |metric| html! { @if let Some(change) = &headline.change { (words::change(metric, change, false)) } };
    html! {
        td { strong { (words::value(Metric::Clicks, clicks)) } }
        td { (change(Metric::Clicks)) }
        td.second { (words::value(Metric::Impressions, impressions)) }
        td.second { (change(Metric::Impressions)) }
        td.second { (words::value(Metric::Position, position)) }
        td.second { (curve(headline)) }
    }
}

/// The buttons that mark a site as a favourite and hide it. In a row they have no room for words. A locked site takes no marks.
fn marks(site: &TrackedProperty, name: &SiteName, with_words: bool) -> Markup {
    if site.access == PropertyAccessState::SubscriptionRequired {
        return html! {};
    }
    let star = if site.favorite { "★" } else { "☆" };
    html! {
        form.marks method="post" {
            input type="hidden" name="id" value=(site.id);
            button.quiet name=(forms::ACTION) value=(if site.favorite { UNFAVORITE } else { FAVORITE }) aria-pressed=(site.favorite.to_string()) {
                span aria-hidden="true" { (star) }
                span.visually-hidden[!with_words] { " Favourite" }
                span.visually-hidden { ": " (site_words::name(name)) }
            }
            " "
            button.quiet name=(forms::ACTION) value=(if site.hidden { UNHIDE } else { HIDE }) {
                (if site.hidden { "Show again" } else { "Hide" })
                span.visually-hidden { " " (site_words::name(name)) }
            }
        }
    }
}
