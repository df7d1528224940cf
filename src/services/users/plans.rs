//! The features and limits of a person's plan at a given time.

use api::models::Feature;
use chrono::{DateTime, Utc};
use entity::user::{self, Plan};

use crate::{
    config::{Config, PlanTerms},
    error::{Error, Lack},
    store::rate_limit::Rate,
};

/// The features and limits that a person has now.
#[derive(Debug, Clone, PartialEq)]
pub struct Entitlement {
    /// The plan in effect, including a running trial.
    pub plan: Plan,
    /// True if the plan is in effect because of the trial.
    pub trial: bool,
    /// The maximum number of tracked properties. [`u32::MAX`] without billing.
    pub tracked_properties: u32,
    /// The rate limit.
    pub rate: Rate,
    terms: Option<PlanTerms>,
}

impl Entitlement {
    /// Returns the entitlement of `user` at `now`. Without billing it includes everything.
    #[must_use]
    pub fn of(config: &Config, user: &user::Model, now: DateTime<Utc>) -> Self {
        let trial = user.plan == Plan::None && user.trial_ends_at.is_some_and(|end| now < end);
        let plan = match (config.billing.enabled, trial) {
            (false, _) => Plan::Agency,
            (true, true) => Plan::Pro,
            (true, false) => user.plan,
        };
        let terms = terms(config, plan).map(|terms| if config.billing.enabled { terms.clone() } else { all(terms) });
        let base = &config.rate_limit;
        let (per_minute, burst) = terms.as_ref().map_or((None, None), |terms| (terms.per_minute, terms.burst));
        Self {
            plan,
            trial: trial && config.billing.enabled,
            tracked_properties: terms.as_ref().map_or(0, |terms| terms.tracked_properties),
            rate: Rate::new(per_minute.unwrap_or(base.per_minute), burst.unwrap_or(base.burst)),
            terms,
        }
    }

    /// Returns whether there is any access at all.
    #[must_use]
    pub fn has_access(&self) -> bool {
        self.terms.is_some()
    }

    /// Returns whether `feature` is included.
    #[must_use]
    pub fn includes(&self, feature: Feature) -> bool {
        self.terms.as_ref().is_some_and(|terms| match feature {
            Feature::ShareLinks => terms.share_links,
            Feature::Team => terms.team,
            Feature::ToolEndpoint => terms.tool_endpoint,
            Feature::SeoProviders => terms.seo_providers,
        })
    }

    /// Fails if `feature` is not included. `owner_must` is true if the plan is another person's.
    pub fn require(&self, feature: Feature, owner_must: bool) -> Result<(), Error> {
        if self.includes(feature) { Ok(()) } else { Err(Error::SubscriptionRequired { owner_must, lack: Lack::This }) }
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
        } else if longer >= u64::from(self.tracked_properties) {
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

fn terms(config: &Config, plan: Plan) -> Option<&PlanTerms> {
    catalogue(config).into_iter().find(|(named, _)| *named == plan).map(|(_, terms)| terms)
}

fn all(terms: &PlanTerms) -> PlanTerms {
    PlanTerms {
        tracked_properties: u32::MAX,
        share_links: true,
        team: true,
        tool_endpoint: true,
        seo_providers: true,
        ..terms.clone()
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;
    use crate::testing::{noon, person};

    #[test]
    fn the_plan_in_effect() {
        let (config, now) = (Config::default(), noon());
        let hour = TimeDelta::hours(1);
        let cases = [
            (Plan::None, None, Plan::None, false, 0),
            (Plan::None, Some(now + hour), Plan::Pro, true, 25),
            (Plan::None, Some(now), Plan::None, false, 0),
            (Plan::Free, Some(now + hour), Plan::Free, false, 1),
            (Plan::Agency, None, Plan::Agency, false, 250),
        ];
        for (plan, trial_ends_at, effective, trial, quota) in cases {
            let user = user::Model { plan, trial_ends_at, ..person("ann") };
            let entitlement = Entitlement::of(&config, &user, now);
            assert_eq!(entitlement.plan, effective);
            assert_eq!((entitlement.trial, entitlement.tracked_properties), (trial, quota));
            assert_eq!(entitlement.has_access(), effective != Plan::None);
            let share = matches!(effective, Plan::Pro | Plan::Agency);
            assert_eq!(entitlement.includes(Feature::ShareLinks), share);
            assert_eq!(entitlement.require(Feature::Team, true).is_ok(), share);
        }
    }

    #[test]
    fn a_plan_opens_as_many_properties_as_it_tracks_and_to_members_only_with_a_team() {
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
        assert_eq!(entitlement.tracked_properties, u32::MAX);
    }

    #[test]
    fn a_plan_may_have_its_own_rate() {
        let mut config = Config::default();
        config.plans.agency.burst = Some(500);
        let rate = |plan| Entitlement::of(&config, &user::Model { plan, ..person("ann") }, noon()).rate;
        assert_eq!(rate(Plan::Agency), Rate::new(120, 500));
        assert_eq!(rate(Plan::None), Rate::new(120, 60));
    }
}
