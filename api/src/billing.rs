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
    /// Returns every plan of this deployment, smallest first. The list is empty if billing is switched off; every
    /// feature is then available to everyone.
    #[get("/api/billing/plans")]
    #[access(Public)]
    async fn list_billing_plans(&self) -> Answered<Answer<Vec<Plan>>>;

    /// Subscription and usage
    ///
    /// Returns the caller's own plan and its usage. Needs no plan.
    #[get("/api/billing/summary")]
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
    /// Maximum number of tracked properties.
    pub tracked_properties: u64,
    /// Features of the plan.
    pub features: PlanFeatures,
    /// Rate limit of the plan.
    pub rate_limit: PlanRateLimit,
}

/// Features of a plan.
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
    /// The plan; absent without a subscription and if billing is switched off.
    pub plan: Option<Plan>,
    /// Features that the caller can use right now.
    pub features: PlanFeatures,
    /// Usage of the limits.
    pub usage: Usage,
    /// End of the trial; absent if no trial is running.
    pub trial_ends_at: Option<DateTime<Utc>>,
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
    /// No plan: no access to properties.
    None,
    /// Billing is switched off; every feature is available to everyone.
    NotRequired,
}

/// Usage of the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase")]
pub struct Usage {
    /// Tracked properties.
    pub tracked_properties: UsageCount,
    /// Team grants.
    pub team_grants: UsageCount,
    /// Active share links over all properties; the limit applies to each property.
    pub share_links: UsageCount,
}

/// A count and its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Object)]
#[oai(skip_serializing_if_is_none)]
pub struct UsageCount {
    /// Number in use.
    pub used: u64,
    /// Maximum number; absent without a limit.
    pub limit: Option<u64>,
}
