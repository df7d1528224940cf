//! The features and limits of a person's plan at a given time.

use api::{
    billing::{PlanFeatures, SubscriptionStatus},
    models::Feature,
};
use chrono::{DateTime, Utc};
use common::rate_limit::Rate;
use entity::user::{self, Plan};

use super::state::Subscription;
use crate::{
    config::{Config, PlanTerms},
    error::{Error, Lack, Responsible},
};

/// The features that work. Plans may include others, which are neither shown nor sold until they are added here.
const BUILT: [Feature; 4] = [Feature::ShareLinks, Feature::Team, Feature::ToolEndpoint, Feature::SeoProviders];

/// The features and limits that a person has now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entitlement {
    /// The plan in effect, including a running trial.
    pub plan: Plan,
    /// The state of the subscription.
    pub status: SubscriptionStatus,
    /// The time at which the plan ends unless the subscription changes, or has ended.
    pub ends_at: Option<DateTime<Utc>>,
    /// The maximum number of tracked properties. `None` without billing.
    pub tracked_properties: Option<u32>,
    /// The rate limit.
    pub rate: Rate,
    features: Option<PlanFeatures>,
}

impl Entitlement {
    /// Returns the entitlement of `user` at `now`. Without billing it includes everything.
    #[must_use]
    pub fn of(config: &Config, user: &user::Model, now: DateTime<Utc>) -> Self {
        let Subscription { status, plan, ends_at } = Subscription::of(&config.billing, user, now);
        let terms = terms(config, plan);
        let (per_minute, burst) = rate(config, terms);
        let (tracked_properties, features) = match terms {
            _ if status == SubscriptionStatus::NotRequired => (None, Some(EVERYTHING)),
            Some(terms) => (Some(terms.tracked_properties), Some(features(terms))),
            None => (Some(0), None),
        };
        Self { plan, status, ends_at, tracked_properties, rate: Rate::new(per_minute, burst), features }
    }

    /// Returns whether there is any access at all.
    #[must_use]
    pub fn has_access(&self) -> bool {
        self.features.is_some()
    }

    /// Returns whether `feature` is included.
    #[must_use]
    pub fn includes(&self, feature: Feature) -> bool {
        self.features.is_some_and(|features| match feature {
            Feature::ShareLinks => features.share_links,
            Feature::Team => features.team,
            Feature::ToolEndpoint => features.mcp,
            Feature::SeoProviders => features.seo_providers,
        })
    }

    /// Returns the included features that work.
    #[must_use]
    pub fn usable(&self) -> PlanFeatures {
        built(self.features.unwrap_or(NOTHING))
    }

    /// Fails if `feature` is not included. `by` is the person whose plan it is.
    pub fn require(&self, feature: Feature, by: impl FnOnce() -> Responsible) -> Result<(), Error> {
        if self.includes(feature) { Ok(()) } else { Err(Error::SubscriptionRequired { by: by(), lack: Lack::This }) }
    }

    /// Fails if the person's own plan tracks no property at all.
    pub fn require_tracking(&self) -> Result<(), Error> {
        match self.tracked_properties {
            Some(0) => Err(Error::SubscriptionRequired { by: Responsible::Caller, lack: Lack::This }),
            _ => Ok(()),
        }
    }

    /// Returns the reason why the plan does not open one of its owner's properties, if there is one. A `member` needs a plan with a
    /// team. The properties tracked longest come first within the quota, and `longer` is the number of the owner's properties
    /// tracked for longer than this one.
    #[must_use]
    pub fn lack(&self, member: bool, longer: u64) -> Option<Lack> {
        if !self.has_access() {
            Some(Lack::This)
        } else if member && !self.includes(Feature::Team) {
            Some(Lack::Team)
        } else if self.tracked_properties.is_some_and(|quota| longer >= u64::from(quota)) {
            Some(Lack::Tracked(longer + 1))
        } else {
            None
        }
    }
}

/// The plans for sale, smallest first.
#[must_use]
pub fn catalogue(config: &Config) -> [(Plan, &PlanTerms); 3] {
    [(Plan::Free, &config.plans.free), (Plan::Pro, &config.plans.pro), (Plan::Agency, &config.plans.agency)]
}

/// Returns the terms of a plan, or `None` for [`Plan::None`].
#[must_use]
pub fn terms(config: &Config, plan: Plan) -> Option<&PlanTerms> {
    catalogue(config).into_iter().find(|(named, _)| *named == plan).map(|(_, terms)| terms)
}

/// Returns the sustained requests per minute and the burst of a plan, or the default without a plan.
#[must_use]
pub fn rate(config: &Config, terms: Option<&PlanTerms>) -> (u32, u32) {
    let base = &config.rate_limit;
    let (per_minute, burst) = terms.map_or((None, None), |terms| (terms.per_minute, terms.burst));
    (per_minute.unwrap_or(base.per_minute), burst.unwrap_or(base.burst))
}

/// Every feature, built or not.
pub const EVERYTHING: PlanFeatures = PlanFeatures { share_links: true, team: true, mcp: true, seo_providers: true };
const NOTHING: PlanFeatures = PlanFeatures { share_links: false, team: false, mcp: false, seo_providers: false };

/// Returns the features that the terms of a plan include.
#[must_use]
pub fn features(terms: &PlanTerms) -> PlanFeatures {
    PlanFeatures {
        share_links: terms.share_links,
        team: terms.team,
        mcp: terms.tool_endpoint,
        seo_providers: terms.seo_providers,
    }
}

/// Returns the working ones of `features`.
#[must_use]
pub fn built(features: PlanFeatures) -> PlanFeatures {
    let works = |feature| BUILT.contains(&feature);
    PlanFeatures {
        share_links: features.share_links && works(Feature::ShareLinks),
        team: features.team && works(Feature::Team),
        mcp: features.mcp && works(Feature::ToolEndpoint),
        seo_providers: features.seo_providers && works(Feature::SeoProviders),
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use entity::user::PlanState;
    use test_data::{noon, person};

    use super::*;

    #[test]
    fn the_plan_in_effect() {
        let (config, now) = (Config::default(), noon());
        let hour = TimeDelta::hours(1);
        let cases = [
            (Plan::None, None, Plan::None, 0),
            (Plan::Pro, Some(now + hour), Plan::Pro, 25),
            (Plan::Pro, Some(now), Plan::None, 0),
            (Plan::Free, Some(now + hour), Plan::Free, 1),
            (Plan::Agency, None, Plan::Agency, 250),
        ];
        for (plan, trial_ends_at, effective, quota) in cases {
            let plan_state = if trial_ends_at.is_some() { PlanState::Trialing } else { PlanState::Active };
            let user = user::Model { plan, plan_state, trial_ends_at, ..person("ann") };
            let entitlement = Entitlement::of(&config, &user, now);
            assert_eq!((entitlement.plan, entitlement.tracked_properties), (effective, Some(quota)));
            assert_eq!(entitlement.has_access(), effective != Plan::None);
            let share = matches!(effective, Plan::Pro | Plan::Agency);
            assert_eq!(entitlement.includes(Feature::ShareLinks), share);
            assert_eq!(entitlement.require(Feature::Team, || Responsible::Caller).is_ok(), share);
        }
    }

    #[test]
    fn a_plan_opens_properties_within_its_quota_and_team() {
        let config = Config::default();
        let cases = [
            (Plan::None, false, 0, Some(Lack::This)),
            (Plan::None, true, 99, Some(Lack::This)),
            (Plan::Free, false, 0, None),
            (Plan::Free, false, 1, Some(Lack::Tracked(2))),
            (Plan::Free, true, 0, Some(Lack::Team)),
            (Plan::Free, true, 1, Some(Lack::Team)),
            (Plan::Pro, true, 24, None),
            (Plan::Pro, true, 25, Some(Lack::Tracked(26))),
            (Plan::Agency, false, 249, None),
        ];
        for (plan, member, longer, lack) in cases {
            let entitlement = Entitlement::of(&config, &user::Model { plan, ..person("ann") }, noon());
            assert_eq!(entitlement.lack(member, longer), lack, "{plan:?} {member} {longer}");
        }
    }

    #[test]
    fn without_billing_everyone_has_everything() {
        let mut config = Config::default();
        config.billing.enabled = false;
        let entitlement = Entitlement::of(&config, &user::Model { plan: Plan::None, ..person("ann") }, noon());
        assert!(entitlement.has_access() && entitlement.includes(Feature::SeoProviders));
        assert_eq!((entitlement.tracked_properties, entitlement.usable()), (None, built(EVERYTHING)));
    }

    #[test]
    fn a_plan_may_have_its_own_rate() {
        let mut config = Config::default();
        config.plans.agency.burst = Some(500);
        let rate = |plan| Entitlement::of(&config, &user::Model { plan, ..person("ann") }, noon()).rate;
        assert_eq!(rate(Plan::Agency), Rate::new(600, 500));
        assert_eq!(rate(Plan::None), Rate::new(120, 60));
    }
}
