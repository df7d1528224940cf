//! Settings of plans: who is held to them, what each includes and costs, and where people subscribe.

use common::urls::is_secure;
use serde::{Deserialize, Serialize};
use url::Url;

use super::{
    ConfigError, Price,
    check::{allow, has_no_user, is_http_url},
};

/// The maximum number of days of a setting: a hundred years.
const MAX_DAYS: u32 = 36_500;

/// The maximum number of prices of a plan.
const MAX_PRICES: usize = 20;

/// The maximum length of a plan's name.
const MAX_NAME: usize = 100;

/// Enforcement of plans.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Billing {
    /// `false` gives all features to everyone, for self-hosting.
    pub enabled: bool,
    /// Days for which a new user has the `pro` plan.
    pub trial_days: u32,
    /// Days for which a plan stays in force after a payment was due.
    pub grace_days: u32,
    /// The place to ask for a plan: a web page, or `mailto:` and an address.
    pub contact_url: Option<String>,
    /// The page of a payment provider where people pay for a plan. The plan and a reference are appended as query parameters.
    pub checkout_url: Option<String>,
}

/// The terms of each plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own that an operator switches")]
pub struct PlanTerms {
    /// The name that people read.
    pub name: String,
    /// The prices, one for each interval and currency.
    pub prices: Vec<Price>,
    /// Properties that can be tracked at once.
    pub tracked_properties: u32,
    /// Public links to a dashboard.
    pub share_links: bool,
    /// Team members.
    pub team: bool,
    /// The tool-protocol endpoint.
    pub tool_endpoint: bool,
    /// Keyword research and backlinks from a connected provider.
    pub seo_providers: bool,
    /// Sustained requests per minute, if different from `rate_limit.per_minute`.
    pub per_minute: Option<u32>,
    /// Burst, if different from `rate_limit.burst`.
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
        let agency = PlanTerms { name: "Agency".to_owned(), tracked_properties: 250, ..pro.clone() };
        Self { free, pro, agency }
    }
}

impl Billing {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        for (name, days) in [("trial_days", self.trial_days), ("grace_days", self.grace_days)] {
            allow(days <= MAX_DAYS, &format!("billing.{name}"), "0 to 36,500")?;
        }
        if let Some(url) = &self.contact_url {
            let mail = Url::parse(url).is_ok_and(|url| url.scheme() == "mailto" && url.path().contains('@'));
            allow(is_http_url(url) || mail, "billing.contact_url", "an http or https URL, or mailto: and an address")?;
            let anyones = Url::parse(url).is_ok_and(|url| has_no_user(&url));
            allow(anyones, "billing.contact_url", "a URL without a user and a password")?;
        }
        if let Some(url) = &self.checkout_url {
            let secure = is_http_url(url) && Url::parse(url).is_ok_and(|url| is_secure(&url));
            allow(
                secure,
                "billing.checkout_url",
                "an absolute https URL without a fragment, or an http one on a loopback address",
            )?;
            let is_taken = |url: &Url| url.query_pairs().any(|(name, _)| matches!(&*name, "plan" | "reference"));
            let open = Url::parse(url).is_ok_and(|url| has_no_user(&url) && !is_taken(&url));
            allow(
                open,
                "billing.checkout_url",
                "a URL without a user and a password, and without plan and reference in its query, which are appended",
            )?;
        }
        Ok(())
    }
}

impl Plans {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        for (name, plan) in [("free", &self.free), ("pro", &self.pro), ("agency", &self.agency)] {
            let setting = |setting: &str| format!("plans.{name}.{setting}");
            allow(plan.per_minute != Some(0), &setting("per_minute"), "a whole number from 1")?;
            allow(plan.burst != Some(0), &setting("burst"), "a whole number from 1")?;
            let shown = plan.name.trim() == plan.name && !plan.name.chars().any(char::is_control);
            let length = plan.name.chars().count();
            allow(shown && (1..=MAX_NAME).contains(&length), &setting("name"), "a text of 1 to 100 characters")?;
            allow(plan.prices.len() <= MAX_PRICES, &setting("prices"), "at most 20 prices")?;
        }
        Ok(())
    }
}
