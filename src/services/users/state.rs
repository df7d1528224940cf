//! The state of a person's subscription at a given time.

use api::billing::SubscriptionStatus as Status;
use chrono::{DateTime, TimeDelta, Utc};
use entity::user::{self, Plan, PlanState};

use crate::config::Billing;

/// The subscription that is in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subscription {
    /// Its state.
    pub status: Status,
    /// The plan that is in force. [`Plan::None`] if none is.
    pub plan: Plan,
    /// The time at which the plan ends unless the subscription changes, or has ended. `None` if no end is set.
    pub ends_at: Option<DateTime<Utc>>,
}

impl Subscription {
    /// Returns the subscription of `user` at `now`.
    ///
    /// A trial and a cancelled plan last until their end. After the end of a period that was not renewed, as after a failed payment,
    /// the plan is past due and stays in force for the days of grace.
    #[must_use]
    pub fn of(billing: &Billing, user: &user::Model, now: DateTime<Utc>) -> Self {
        if !billing.enabled {
            return Self { status: Status::NotRequired, plan: Plan::Agency, ends_at: None };
        }
        if user.plan == Plan::None {
            return Self { status: Status::None, plan: Plan::None, ends_at: None };
        }
        let with_grace = user.period_ends_at.map(|end| end + TimeDelta::days(billing.grace_days.into()));
        let (status, ends_at) = match user.plan_state {
            PlanState::Trialing => (Status::Trialing, user.trial_ends_at),
            PlanState::Active if user.period_ends_at.is_none_or(|end| now < end) => {
                return Self { status: Status::Active, plan: user.plan, ends_at: None };
            }
            PlanState::Active | PlanState::PastDue => (Status::PastDue, with_grace),
            PlanState::Cancelled => (Status::Cancelled, user.period_ends_at),
        };
        if ends_at.is_some_and(|end| now < end) {
            Self { status, plan: user.plan, ends_at }
        } else {
            Self { status: Status::None, plan: Plan::None, ends_at }
        }
    }
}

#[cfg(test)]
mod tests {
    use test_data::{noon, person};

    use super::*;

    /// A state, its end in days from now, and what is in force in each of some days.
    type Case = (PlanState, Option<i64>, &'static [(i64, Status, Option<i64>)]);

    #[test]
    fn a_plan_lasts_as_its_state_says() {
        let cases: [Case; 7] = [
            (PlanState::Active, None, &[(0, Status::Active, None), (9_000, Status::Active, None)]),
            (
                PlanState::Active,
                Some(30),
                &[
                    (0, Status::Active, None),
                    (29, Status::Active, None),
                    (30, Status::PastDue, Some(44)),
                    (43, Status::PastDue, Some(44)),
                    (44, Status::None, Some(44)),
                ],
            ),
            (
                PlanState::PastDue,
                Some(3),
                &[(0, Status::PastDue, Some(17)), (16, Status::PastDue, Some(17)), (17, Status::None, Some(17))],
            ),
            (PlanState::PastDue, None, &[(0, Status::None, None)]),
            (PlanState::Cancelled, Some(5), &[(4, Status::Cancelled, Some(5)), (5, Status::None, Some(5))]),
            (PlanState::Trialing, Some(14), &[(13, Status::Trialing, Some(14)), (14, Status::None, Some(14))]),
            (PlanState::Trialing, None, &[(0, Status::None, None)]),
        ];
        let in_days = |days: i64| noon() + TimeDelta::days(days);
        for (plan_state, end, expected) in cases {
            let end = end.map(in_days);
            let is_trial = plan_state == PlanState::Trialing;
            let user = user::Model {
                plan_state,
                period_ends_at: end.filter(|_| !is_trial),
                trial_ends_at: end.filter(|_| is_trial),
                ..person("ann")
            };
            for (days, status, ends_at) in expected {
                let plan = if *status == Status::None { Plan::None } else { Plan::Pro };
                let expected = Subscription { status: *status, plan, ends_at: ends_at.map(in_days) };
                let found = Subscription::of(&Billing::default(), &user, in_days(*days));
                assert_eq!(found, expected, "{plan_state:?} until {end:?}, after {days} days");
            }
        }
    }

    #[test]
    fn without_days_of_grace_a_period_that_is_not_renewed_ends_the_plan() {
        let billing = Billing { grace_days: 0, ..Billing::default() };
        let user = user::Model { period_ends_at: Some(noon()), ..person("ann") };
        let status = |seconds| Subscription::of(&billing, &user, noon() + TimeDelta::seconds(seconds)).status;
        assert_eq!((status(-1), status(0)), (Status::Active, Status::None));
    }

    #[test]
    fn without_a_plan_or_without_billing_no_time_matters() {
        let ended = user::Model { plan: Plan::None, period_ends_at: Some(noon()), ..person("ann") };
        let none = Subscription { status: Status::None, plan: Plan::None, ends_at: None };
        assert_eq!(Subscription::of(&Billing::default(), &ended, noon()), none);
        let off = Billing { enabled: false, ..Billing::default() };
        assert_eq!(Subscription::of(&off, &ended, noon()).status, Status::NotRequired);
    }
}
