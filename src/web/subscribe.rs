//! `GET /subscribe`: the catalogue of plans, and how to subscribe at this deployment.
//!
//! No payment is taken here. Messages of a payment provider would come to `POST /billing/webhook`, mounted beside this page (docs/design/rights.md).

use std::sync::Arc;

use api::billing::{Plan, PlanFeatures, SubscriptionStatus};
use common::base_url::BaseUrl;
use maud::{Markup, html};
use pages::{
    own_host::on_own_host,
    page::{Navigation, Page},
    paths::Paths,
};
use poem::{EndpointExt as _, Request, Response, get, handler, web::Data};
use url::Url;

use super::{
    account::{redirect, unavailable},
    plan_words::{features, price, state},
};
use crate::{
    admission::{AdmissionError, Admissions},
    config::Config,
    services::{billing, users::Member},
};

/// The path of the page.
pub const PATH: &str = "/subscribe";

/// Everything that the page needs.
#[derive(Clone)]
pub struct Subscribe {
    /// Admits the session cookie. `None` if browsers cannot sign in.
    pub admissions: Option<Admissions>,
    /// The settings.
    pub config: Arc<Config>,
    /// The service's public root.
    pub base_url: BaseUrl,
    /// The navigation.
    pub navigation: Navigation,
}

/// The way to a plan for a visitor.
enum Way {
    /// The visitor signs in first.
    SignIn,
    /// At the page of a payment provider, with the visitor's reference.
    Checkout(Url, String),
    /// The visitor asks at this address, with their reference.
    Contact(String, Option<String>),
    /// The visitor asks the operator, with their reference.
    Unknown(Option<String>),
}

impl Subscribe {
    /// Adds the page.
    #[must_use]
    pub fn mount(self, paths: Paths) -> Paths {
        let base_url = self.base_url.clone();
        paths.at(PATH, "GET, HEAD", on_own_host(get(show).data(self), &base_url))
    }

    /// Returns the person whose session the request carries.
    async fn visitor(&self, request: &Request) -> Result<Option<Arc<Member>>, AdmissionError> {
        let Some(admissions) = &self.admissions else { return Ok(None) };
        match admissions.visitor(request.method(), request.headers(), None).await {
            Ok(admitted) => Ok(admitted.map(|admitted| admitted.member)),
            Err(AdmissionError::Database(error)) => Err(error.into()),
            Err(_) => Ok(None),
        }
    }

    fn way(&self, visitor: Option<&Member>) -> Way {
        let billing = &self.config.billing;
        // The id says nothing about the person, and `sightline subscription set` takes it.
        let reference = visitor.map(|visitor| visitor.user.id.to_string());
        match (&billing.checkout_url, &billing.contact_url, reference) {
            (Some(url), _, Some(reference)) => Way::Checkout(url.url().clone(), reference),
            (Some(_), _, None) if self.admissions.is_some() => Way::SignIn,
            (_, Some(url), reference) => Way::Contact(url.to_string(), reference),
            (_, None, reference) => Way::Unknown(reference),
        }
    }
}

/// Shows the page.
#[handler]
async fn show(Data(page): Data<&Subscribe>, request: &Request) -> Response {
    if let Some(url) = page.config.plans_elsewhere(&page.base_url) {
        return redirect(url);
    }
    let visitor = match page.visitor(request).await {
        Ok(visitor) => visitor,
        Err(error) => {
            tracing::error!(%error, "the page of plans cannot be shown");
            return unavailable();
        }
    };
    let frame = Page::new("Plans");
    let frame = if visitor.is_some() { frame.signed_in(&page.navigation) } else { frame };
    frame.render(&contents(page, visitor.as_deref()))
}

fn contents(page: &Subscribe, visitor: Option<&Member>) -> Markup {
    let plans = billing::catalogue(&page.config);
    if plans.is_empty() {
        return html! { p { "Nothing is for sale here: billing is off, and everything is included." } };
    }
    let way = page.way(visitor);
    let everywhere = everywhere(&plans);
    html! {
        @if let Some(visitor) = visitor { p.notice { strong { "Your plan: " } (state(&page.config, visitor)) } }
        (advice(&way))
        @for (index, plan) in plans.iter().enumerate() {
            @let before = index.checked_sub(1).and_then(|before| plans.get(before)).filter(|before| has_all_of(plan, before));
            @let own = rows(plan, &plans, before).into_iter().filter(|row| !everywhere.contains(row)).collect::<Vec<_>>();
            (card(plan, before, &own, &way, visitor))
        }
        @if !everywhere.is_empty() {
            section aria-labelledby="every-plan" {
                h2 #every-plan { "Every plan" }
                (listed(&everywhere))
            }
        }
    }
}

/// A row of a plan: its term and what it says.
type Row = (&'static str, String);

/// The rows of a plan: with a plan `before`, of which it has everything, only what it adds. What every plan includes is in none.
fn rows(plan: &Plan, plans: &[Plan], before: Option<&Plan>) -> Vec<Row> {
    let prices = plan.prices.iter().map(price).collect::<Vec<_>>().join(", or ");
    let told = merged(offered(plans), included_everywhere(plans), |offered, everywhere| offered && !everywhere);
    let own = before.map_or(plan.features, |before| merged(plan.features, before.features, |has, had| has && !had));
    let lacking = if before.is_some() { String::new() } else { features(told, plan.features, false).join(", ") };
    let rate = |plan: &Plan| format!("{} a minute, {} at once", plan.rate_limit.per_minute, plan.rate_limit.burst);
    let tracked = |plan: &Plan| plan.tracked_properties.to_string();
    let unless_before = |said: &dyn Fn(&Plan) -> String| {
        if before.is_some_and(|before| said(before) == said(plan)) { String::new() } else { said(plan) }
    };
    let all = [
        ("Price", prices),
        ("Tracked properties", unless_before(&tracked)),
        ("Included", features(told, own, true).join(", ")),
        ("Not included", lacking),
        ("Requests", unless_before(&rate)),
    ];
    all.into_iter().filter(|(_, words)| !words.is_empty()).collect()
}

/// The rows that are the same in every plan, if there are several plans.
fn everywhere(plans: &[Plan]) -> Vec<Row> {
    let [first, others @ ..] = plans else { return Vec::new() };
    if others.is_empty() {
        return Vec::new();
    }
    let shared = |row: &Row| others.iter().all(|other| rows(other, plans, None).contains(row));
    let common = included_everywhere(plans);
    let included = ("Included", features(common, common, true).join(", "));
    let same = rows(first, plans, None).into_iter().filter(shared);
    same.chain([included]).filter(|(_, words)| !words.is_empty()).collect()
}

/// Returns whether a plan has everything that another one has.
fn has_all_of(plan: &Plan, other: &Plan) -> bool {
    let missing = merged(other.features, plan.features, |has, included| has && !included);
    let (rate, least) = (&plan.rate_limit, &other.rate_limit);
    features(missing, missing, true).is_empty()
        && plan.tracked_properties >= other.tracked_properties
        && rate.per_minute >= least.per_minute
        && rate.burst >= least.burst
}

/// The features that at least one plan includes.
fn offered(plans: &[Plan]) -> PlanFeatures {
    let none = PlanFeatures { share_links: false, team: false, mcp: false, seo_providers: false };
    plans.iter().fold(none, |found, plan| merged(found, plan.features, |one, other| one || other))
}

/// The features that every plan includes, if there are several plans.
fn included_everywhere(plans: &[Plan]) -> PlanFeatures {
    let several = plans.len() > 1;
    let all = PlanFeatures { share_links: several, team: several, mcp: several, seo_providers: several };
    plans.iter().fold(all, |found, plan| merged(found, plan.features, |one, other| one && other))
}

fn merged(one: PlanFeatures, other: PlanFeatures, by: fn(bool, bool) -> bool) -> PlanFeatures {
    PlanFeatures {
        share_links: by(one.share_links, other.share_links),
        team: by(one.team, other.team),
        mcp: by(one.mcp, other.mcp),
        seo_providers: by(one.seo_providers, other.seo_providers),
    }
}

fn listed(rows: &[Row]) -> Markup {
    html! { dl { @for (term, words) in rows { dt { (term) } dd { (words) } } } }
}

/// The card of a plan. `before` is the plan of which it has everything.
fn card(plan: &Plan, before: Option<&Plan>, rows: &[Row], way: &Way, visitor: Option<&Member>) -> Markup {
    let is_current = visitor.is_some_and(|visitor| {
        let entitlement = &visitor.entitlement;
        entitlement.status == SubscriptionStatus::Active && entitlement.plan.name() == plan.key
    });
    html! {
        section.card aria-labelledby=(plan.key) {
            h2 id=(plan.key) { (plan.name) }
            @if let Some(before) = before { p { "Everything of " (before.name) @if !rows.is_empty() { ", and:" } @else { "." } } }
            @if !rows.is_empty() { (listed(rows)) }
            @if is_current {
                p.state.good { "This is your plan." }
            } @else if let Way::Checkout(url, reference) = way {
                p { a.button href=(checkout(url, plan, reference)) { "Choose " (plan.name) } }
            }
        }
    }
}

/// The payment provider's page for a plan, with the plan and the reference that it gives back.
fn checkout(url: &Url, plan: &Plan, reference: &str) -> String {
    let mut url = url.clone();
    url.query_pairs_mut().append_pair("plan", &plan.key).append_pair("reference", reference);
    url.into()
}

/// The paragraph on the way to a plan.
fn advice(way: &Way) -> Markup {
    html! {
        @match way {
            Way::SignIn => p { a.button href={ "/auth/login?return_to=" (PATH) } { "Sign in to subscribe" } },
            Way::Checkout(url, _) => p.quiet-text {
                "You pay at " (url.host_str().unwrap_or_default()) ". The plan is in force once the payment has arrived there."
            },
            Way::Contact(url, reference) => {
                p { "No plan is sold on this page. Ask for the one that you need." (named(reference.as_deref())) }
                p { a.button href=(url) { "Ask for a plan" } }
            },
            Way::Unknown(reference) => p {
                "No plan is sold on this page: the operator of this service sets plans. Ask them for the one that you need."
                (named(reference.as_deref()))
            },
        }
    }
}

/// The reference by which the operator knows the visitor.
fn named(reference: Option<&str>) -> Markup {
    html! { @if let Some(reference) = reference { " Name your reference: " code { (reference) } } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkout_keeps_its_own_query_and_escapes_what_is_appended() {
        let plan = Plan {
            key: "pro".to_owned(),
            name: "Pro".to_owned(),
            prices: Vec::new(),
            tracked_properties: 1,
            features: PlanFeatures { share_links: false, team: false, mcp: false, seo_providers: false },
            rate_limit: api::billing::PlanRateLimit { per_minute: 1, burst: 1 },
        };
        for (url, expected) in [
            ("https://pay.example/x", "https://pay.example/x?plan=pro&reference=a%26b"),
            ("https://pay.example/x?shop=7", "https://pay.example/x?shop=7&plan=pro&reference=a%26b"),
        ] {
            assert_eq!(checkout(&url.parse().unwrap(), &plan, "a&b"), expected);
        }
    }
}
