//! The person's plan, its limits and what is used of them.

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
    let billed = account.config.billing.enabled;
    let paid = matches!(entitlement.status, SubscriptionStatus::Active | SubscriptionStatus::PastDue);
    Ok(html! {
        section aria-labelledby="plan" {
            h2 #plan { "Plan and usage" }
            dl {
                dt { "Plan" }
                dd { (state(&account.config, &visitor.member)) }
                dt { "Tracked properties" }
                dd { (usage(&tracking, billed)) }
                @if entitlement.has_access() {
                    @for (term, contained) in [("Included", true), ("Not included", false)] {
                        @let names = features(plans::built(plans::EVERYTHING), entitlement.usable(), contained);
                        @if !names.is_empty() { dt { (term) } dd { (names.join(", ")) } }
                    }
                }
            }
            @if let Some(page) = account.config.plans_page(&account.base_url) {
                p { a href=(page) { @if paid { "Change the plan" } @else { "Subscribe" } } }
            }
        }
    })
}

fn usage(tracking: &Tracking, billed: bool) -> Markup {
    let used = tracking.used();
    let beyond = billed && used > usize::try_from(tracking.quota).unwrap_or(usize::MAX);
    html! {
        @if billed { (used) " of " (tracking.quota) } @else { (used) ", without a limit" }
        @if beyond && tracking.quota > 0 { ". Those tracked longest stay open; the others are locked." }
    }
}
