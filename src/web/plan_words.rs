//! Plans in plain words, for the account page and the page of plans.

use api::billing::{BillingInterval, PlanFeatures, Price, SubscriptionStatus};
use maud::{Markup, html};
use pages::page::words::time;

use crate::{
    config::{Config, in_major_unit},
    services::users::{Member, plans},
};

/// Names the features that `offered` contains, and that `included` contains or lacks.
pub(super) fn features(offered: PlanFeatures, included: PlanFeatures, contained: bool) -> Vec<&'static str> {
    let all = [
        ("Share links", offered.share_links, included.share_links),
        ("Team members", offered.team, included.team),
        ("Tools for assistants", offered.mcp, included.mcp),
        ("Data of SEO providers", offered.seo_providers, included.seo_providers),
    ];
    let named = all.into_iter().filter(|(_, offered, included)| *offered && *included == contained);
    named.map(|(name, ..)| name).collect()
}

/// Says which plan a person has, in which state and until when.
pub(super) fn state(config: &Config, member: &Member) -> Markup {
    let (user, entitlement) = (&member.user, &member.entitlement);
    let name = plans::terms(config, user.plan).map(|terms| terms.name.as_str()).unwrap_or_default();
    let end = html! { @if let Some(end) = entitlement.ends_at { (time(end)) } };
    html! {
        @match entitlement.status {
            SubscriptionStatus::NotRequired => "Everything is included: billing is off.",
            SubscriptionStatus::None => {
                "None. "
                @if entitlement.ends_at.is_some() {
                    @if user.trial_ends_at.is_some() { "Your trial" } @else { "Your plan " (name) }
                    " ended on " (end) ". "
                }
                "Your records are kept. With a plan you read your search data again."
            },
            SubscriptionStatus::Trialing => { (name) ", as a trial until " (end) },
            SubscriptionStatus::Active => {
                (name) @if let Some(end) = user.period_ends_at { ", paid until " (time(end)) }
            },
            SubscriptionStatus::PastDue => { (name) ". A payment is missing; without it the plan ends on " (end) "." },
            SubscriptionStatus::Cancelled => { (name) ", cancelled: it ends on " (end) },
        }
    }
}

/// A price, such as `29.00 EUR a month`.
pub(super) fn price(price: &Price) -> String {
    if price.amount_minor == 0 {
        return "Free of charge".to_owned();
    }
    let interval = match price.interval {
        BillingInterval::Month => "a month",
        BillingInterval::Year => "a year",
    };
    format!("{} {} {interval}", in_major_unit(price.amount_minor, &price.currency), price.currency)
}
