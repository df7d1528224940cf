//! The plan catalogue and the caller's subscription.

use chrono::{DateTime, Utc};
use macros::api_trait;
use poem_openapi::{Enum, Object};

use crate::{
    answer::{Answer, Answered},
    security::Caller,
};

/// The plan catalogue and the caller's subscription.
#[api_trait(tag = Billing, routes = BillingRoutes)]
pub trait BillingApi: Send + Sync + 'static {
    /// Plan catalogue
    ///
    /// Every plan of this deployment, smallest first. Empty where billing is switched off and everyone has everything.
    #[get("/api/billing/plans")]
    #[access(Public)]
    async fn list_billing_plans(&self) -> Answered<Answer<Vec<Plan>>>;

    /// Subscription and usage
    ///
    /// The caller's own plan, and how much of it is used. Never refused for want of a plan.
    #[get("/api/billing/summary")]
    async fn get_billing_summary(&self, caller: Caller) -> Answered<Answer<BillingSummary>>;
}

/// A plan.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase")]
pub struct Plan {
    /// The plan's stable name.
    #[oai(validator(max_length = 64, pattern = "^[a-z][a-z0-9_-]*$"))]
    pub key: String,
    /// The plan's name for people.
    #[oai(validator(max_length = 100))]
    pub name: String,
    /// The most properties that may be tracked.
    pub tracked_properties: u64,
    /// What the plan includes.
    pub features: PlanFeatures,
    /// How fast requests may come.
    pub rate_limit: PlanRateLimit,
}

/// What a plan includes.
#[expect(clippy::struct_excessive_bools, reason = "each is a feature of its own on the wire")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase")]
pub struct PlanFeatures {
    /// Public share links.
    pub share_links: bool,
    /// Granting access to others.
    pub team: bool,
    /// The tool-protocol endpoint.
    pub mcp: bool,
    /// Connecting SEO data providers.
    pub seo_providers: bool,
}

/// How fast requests may come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase")]
pub struct PlanRateLimit {
    /// Requests a minute, sustained.
    pub per_minute: u64,
    /// Requests at once.
    pub burst: u64,
}

/// The caller's subscription and usage.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct BillingSummary {
    /// Whether there is a subscription.
    pub status: SubscriptionStatus,
    /// The plan; absent without a subscription and where billing is switched off.
    pub plan: Option<Plan>,
    /// What the caller may use right now.
    pub features: PlanFeatures,
    /// How much is used.
    pub usage: Usage,
    /// When the trial ends; only while it runs.
    pub trial_ends_at: Option<DateTime<Utc>>,
    /// Where to subscribe.
    #[oai(validator(max_length = 2048))]
    pub subscribe_url: String,
}

/// Whether there is a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum)]
#[oai(rename_all = "snake_case")]
pub enum SubscriptionStatus {
    /// The first days of a new user.
    Trialing,
    /// A plan is in force.
    Active,
    /// No plan: no access to properties.
    None,
    /// Billing is switched off; everyone has everything.
    NotRequired,
}

/// How much of the limits is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase")]
pub struct Usage {
    /// Tracked properties.
    pub tracked_properties: UsageCount,
    /// Team grants.
    pub team_grants: UsageCount,
    /// Active share links over all properties; the limit holds for each property.
    pub share_links: UsageCount,
}

/// A count and its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Object)]
#[oai(skip_serializing_if_is_none)]
pub struct UsageCount {
    /// How many there are.
    pub used: u64,
    /// The most there may be; absent where nothing limits it.
    pub limit: Option<u64>,
}
