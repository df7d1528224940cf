//! The plan catalogue and the caller's subscription.

use macros::api_trait;
use poem_openapi::{Enum, Object};

use crate::{
    answer::{Answer, Answered},
    models::Timestamp,
    security::Caller,
};

/// The plan catalogue and the caller's subscription.
#[api_trait(tag = Billing, routes = BillingRoutes)]
pub trait BillingApi: Send + Sync + 'static {
    /// Plan catalogue
    ///
    /// Returns every plan of this deployment, smallest first. The list is empty if billing is switched off; every
    /// feature is then available to everyone.
    #[get("/api/billing/plans")]
    #[access(Public)]
    async fn list_billing_plans(&self) -> Answered<Answer<Vec<Plan>>>;

    /// Subscription and usage
    ///
    /// Returns the caller's own plan and its usage. Needs no plan.
    #[get("/api/billing/summary")]
    #[scope(Account)]
    async fn get_billing_summary(&self, caller: Caller) -> Answered<Answer<BillingSummary>>;
}

/// A plan.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase")]
pub struct Plan {
    /// Stable identifier of the plan.
    #[oai(validator(max_length = 64, pattern = "^[a-z][a-z0-9_-]*$"))]
    pub key: String,
    /// Display name of the plan.
    #[oai(validator(max_length = 100))]
    pub name: String,
    /// Prices, one for each interval and currency; empty if the deployment states none.
    #[oai(validator(max_items = 20))]
    pub prices: Vec<Price>,
    /// Maximum number of tracked properties.
    pub tracked_properties: u64,
    /// Features of the plan.
    pub features: PlanFeatures,
    /// Rate limit of the plan.
    pub rate_limit: PlanRateLimit,
}

/// A price of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase")]
pub struct Price {
    /// Amount in the minor unit of the currency, such as cents; 0 is free of charge.
    pub amount_minor: u64,
    /// Currency, as a code of ISO 4217.
    #[oai(validator(pattern = "^[A-Z]{3}$"))]
    pub currency: String,
    /// Time that the amount pays for.
    pub interval: BillingInterval,
}

/// The time that an amount pays for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum)]
#[oai(rename_all = "snake_case")]
pub enum BillingInterval {
    /// A month.
    Month,
    /// A year.
    Year,
}

/// Features of a plan that this deployment offers.
#[expect(clippy::struct_excessive_bools, reason = "each is a feature of its own on the wire")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase")]
pub struct PlanFeatures {
    /// Public share links.
    pub share_links: bool,
    /// Access for other users.
    pub team: bool,
    /// The tool-protocol endpoint.
    pub mcp: bool,
    /// Connecting SEO data providers.
    pub seo_providers: bool,
}

/// Rate limit of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase")]
pub struct PlanRateLimit {
    /// Sustained rate, in requests per minute.
    pub per_minute: u64,
    /// Burst, in requests.
    pub burst: u64,
}

/// The caller's subscription and usage.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct BillingSummary {
    /// State of the subscription.
    pub status: SubscriptionStatus,
    /// The plan in force; absent if none is and if billing is switched off.
    pub plan: Option<Plan>,
    /// The period of the plan in force, as far as it is known.
    pub period: Option<BillingPeriod>,
    /// Time at which access ends unless the subscription changes: the end of the trial, of the days of grace after an
    /// unpaid period, or of a cancelled period. In the status `none`, the time at which it ended. Absent if no end is
    /// set.
    pub access_ends_at: Option<Timestamp>,
    /// Features that the caller can use right now.
    pub features: PlanFeatures,
    /// Usage of the limits.
    pub usage: Usage,
    /// End of the trial; absent if no trial is running.
    pub trial_ends_at: Option<Timestamp>,
    /// URL of the subscription page.
    #[oai(validator(max_length = 2048))]
    pub subscribe_url: String,
}

/// State of a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum)]
#[oai(rename_all = "snake_case")]
pub enum SubscriptionStatus {
    /// The trial of a new user is running.
    Trialing,
    /// A plan is in force.
    Active,
    /// The payment for the time after the period is missing; the plan stays in force for some days of grace.
    PastDue,
    /// The plan is in force until the end of its period and is not renewed.
    Cancelled,
    /// No plan: no access to properties.
    None,
    /// Billing is switched off; every feature is available to everyone.
    NotRequired,
}

/// The period of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct BillingPeriod {
    /// Start of the period; absent if it is not known.
    pub starts_at: Option<Timestamp>,
    /// End of the period, or of the trial; absent for a plan without an end.
    pub ends_at: Option<Timestamp>,
}

/// Usage of the limits. A limit of 0 means that the plan does not include it, or that there is nothing to have it on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct Usage {
    /// Tracked properties.
    pub tracked_properties: UsageCount,
    /// Members: grants made to other users, also grants that are not accepted yet.
    pub team_grants: UsageCount,
    /// Active share links of all tracked properties together, and how many they can have: 100 each.
    pub share_links: UsageCount,
    /// Requests of the caller, this one counted; absent if requests are not limited.
    pub requests: Option<RequestUsage>,
}

/// Requests in the window of the rate limit, as the `X-RateLimit-*` headers state it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase")]
pub struct RequestUsage {
    /// Requests that count at the moment. Each stops counting after its part of the window.
    pub used: u64,
    /// Maximum number at once.
    pub limit: u64,
    /// Time at which none counts any more.
    pub resets_at: Timestamp,
}

/// A count and its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Object)]
pub struct UsageCount {
    /// Number in use.
    pub used: u64,
    /// Maximum number; null without a limit.
    #[oai(nullable)]
    pub limit: Option<u64>,
}
