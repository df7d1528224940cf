//! The person's plan, its limits and their use.

use api::billing::SubscriptionStatus;
use maud::{Markup, html};

use super::{Account, Visitor};
use crate::{
    error::Error,
    services::{
        properties::tracking::{self, Tracking},
        users::plans,
    },
    web::plan_words::{features, state},
};

/// Plan and usage.
pub(super) async fn section(account: &Account, visitor: &Visitor) -> Result<Markup, Error> {
    let tracking = tracking::read(&account.reader, &visitor.member).await?;
    let entitlement = &visitor.member.entitlement;
    let paid = matches!(entitlement.status, SubscriptionStatus::Active | SubscriptionStatus::PastDue);
    Ok(html! {
        section aria-labelledby="plan" {
            h2 #plan { "Plan and usage" }
            dl {
                dt { "Plan" }
                dd { (state(&account.config, &visitor.member)) }
                dt { "Tracked properties" }
                dd { (usage(&tracking)) }
                @if entitlement.has_access() {
                    @for (term, contained) in [("Included", true), ("Not included", false)] {
                        @let names = features(plans::built(plans::EVERYTHING), entitlement.usable(), contained);
                        @if !names.is_empty() { dt { (term) } dd { (names.join(", ")) } }
                    }
                }
            }
            @if let Some(page) = account.config.plans_page(&account.base_url) {
                p { a href=(page) { (link_words(account, paid)) } }
            }
        }
    })
}

/// The words of the link to the page of plans. Nobody can subscribe where no payment is taken.
fn link_words(account: &Account, paid: bool) -> &'static str {
    match (account.config.sells_plans(&account.base_url), paid) {
        (false, _) => "Plans",
        (true, true) => "Change the plan",
        (true, false) => "Subscribe",
    }
}

fn usage(tracking: &Tracking) -> Markup {
    let used = tracking.used();
    html! {
        @if let Some(quota) = tracking.quota {
            @if used as u64 <= u64::from(quota) { (used) " of the " (quota) " that the plan allows" }
            @else if quota == 0 { (used) ", locked until you have a plan" }
            @else { (used) ", but the plan opens " (quota) " only: those tracked longest stay open, the others are locked" }
        } @else {
            (used) ", without a limit"
        }
    }
}
