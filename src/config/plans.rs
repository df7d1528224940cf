//! Settings of plans: who is held to them, what each includes and costs, and where people subscribe.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    CheckoutUrl, ContactUrl, Price,
    check::{Refusal, require},
};

/// The maximum number of days of a setting: a hundred years.
const MAX_DAYS: u32 = 36_500;

/// The maximum number of prices of a plan.
const MAX_PRICES: usize = 20;

/// The maximum length of a plan's name.
const MAX_NAME: usize = 100;

/// Enforcement of plans.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Billing {
    /// `false` gives every user every feature.
    pub enabled: bool,
    /// Days for which a new user has the plan `pro`.
    #[schemars(range(max = MAX_DAYS))]
    pub trial_days: u32,
    /// Days for which a plan stays in force after a period that was not paid for.
    #[schemars(range(max = MAX_DAYS))]
    pub grace_days: u32,
    /// The page or address at which people ask for a plan.
    pub contact_url: Option<ContactUrl>,
    /// A payment provider's page where people [pay for a plan](SELF-HOSTING.md#plans). `plan` and `reference` are appended to its query.
    pub checkout_url: Option<CheckoutUrl>,
}

/// The terms of each plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Plans {
    /// The plan `free`.
    pub free: PlanTerms,
    /// The plan `pro`.
    pub pro: PlanTerms,
    /// The plan `agency`.
    pub agency: PlanTerms,
}

/// The terms of a plan. An absent setting keeps the plan's default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own that an operator switches")]
pub struct PlanTerms {
    /// Name of the plan that people read.
    #[schemars(extend("x-allowed" = "a text of 1 to 100 characters"))]
    pub name: String,
    /// Prices that people read, one for each interval and currency. The amount is in the currency's minor unit, such as cents.
    #[schemars(extend("x-allowed" = "at most 20 of AMOUNT CURRENCY INTERVAL, such as `2900 EUR month`: an amount up to 1,000,000,000,000, the \
        code of ISO 4217, and `month` or `year`"))]
    pub prices: Vec<Price>,
    /// Maximum number of open tracked properties. If more are tracked, those tracked longest are open.
    pub tracked_properties: u32,
    /// Includes public links to a dashboard.
    pub share_links: bool,
    /// Lets the owner grant access, and members use it.
    pub team: bool,
    /// Includes the tool-protocol endpoint.
    pub tool_endpoint: bool,
    /// Includes keyword research and backlinks from a connected provider.
    pub seo_providers: bool,
    /// Sustained requests per user and minute with this plan.
    #[schemars(range(min = 1), extend("x-default" = "`rate_limit.per_minute`"))]
    pub per_minute: Option<u32>,
    /// Maximum number of requests that may come at once with this plan.
    #[schemars(range(min = 1), extend("x-default" = "`rate_limit.burst`"))]
    pub burst: Option<u32>,
}

impl Default for Billing {
    fn default() -> Self {
        Self { enabled: true, trial_days: 14, grace_days: 14, contact_url: None, checkout_url: None }
    }
}

impl Default for Plans {
    fn default() -> Self {
        let pro = PlanTerms {
            name: "Pro".to_owned(),
            prices: Vec::new(),
            tracked_properties: 25,
            share_links: true,
            team: true,
            tool_endpoint: true,
            seo_providers: true,
            per_minute: None,
            burst: None,
        };
        let free = PlanTerms {
            name: "Free".to_owned(),
            tracked_properties: 1,
            share_links: false,
            team: false,
            seo_providers: false,
            ..pro.clone()
        };
        let agency = PlanTerms {
            name: "Agency".to_owned(),
            tracked_properties: 250,
            per_minute: Some(600),
            burst: Some(120),
            ..pro.clone()
        };
        Self { free, pro, agency }
    }
}

impl Plans {
    pub(super) fn check(&self) -> Result<(), Refusal> {
        for (name, plan) in [("free", &self.free), ("pro", &self.pro), ("agency", &self.agency)] {
            let shown = plan.name.trim() == plan.name && !plan.name.chars().any(char::is_control);
            let length = plan.name.chars().count();
            require(shown && (1..=MAX_NAME).contains(&length), &format!("plans.{name}.name"))?;
            require(plan.prices.len() <= MAX_PRICES, &format!("plans.{name}.prices"))?;
        }
        Ok(())
    }
}
