//! Changes to subscriptions: by an operator now, and by a payment provider's messages once they are received.

use chrono::{DateTime, Utc};
use common::{mail_address, plain_text::quoted};
use entity::user::{self, Plan, PlanState};
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, ConnectionTrait, DatabaseConnection, EntityTrait, IntoActiveModel,
    QueryFilter, QueryOrder as _,
};
use uuid::Uuid;

use crate::error::Error;

/// The subscription that a person is to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// The plan.
    pub plan: Plan,
    /// Its state.
    pub state: PlanState,
    /// The end of the trial or of the period.
    pub until: Option<DateTime<Utc>>,
}

/// The plan, active without an end.
impl From<Plan> for Wanted {
    fn from(plan: Plan) -> Self {
        Self { plan, state: PlanState::Active, until: None }
    }
}

/// Returns everybody, in the order of their addresses.
///
/// # Errors
/// Any, if the database does not answer.
pub async fn list(db: &impl ConnectionTrait) -> Result<Vec<user::Model>, Error> {
    Ok(user::Entity::find().order_by_asc(user::Column::Email).order_by_asc(user::Column::Id).all(db).await?)
}

/// Sets the subscription of `who` (id, verified e-mail address or subject), and ends a trial that ran.
///
/// # Errors
/// [`Error::InvalidRequest`] if `who` names nobody or several people, or if the state needs an end, or one in the future, or has no plan.
pub async fn set(
    db: &DatabaseConnection,
    who: &str,
    wanted: impl Into<Wanted>,
    now: DateTime<Utc>,
) -> Result<user::Model, Error> {
    let known = show(db, who).await?;
    Ok(changed(&known, wanted.into(), now)?.update(db).await?)
}

/// Returns the row with the subscription `wanted`. A trial or an active period begins now. A failed payment and a cancellation belong to the period
/// that runs.
fn changed(known: &user::Model, wanted: Wanted, now: DateTime<Utc>) -> Result<user::ActiveModel, Error> {
    let Wanted { plan, state, until } = wanted;
    if plan == Plan::None && wanted != Wanted::from(Plan::None) {
        return Err(Error::invalid("plan: with the plan none there is neither a state nor an end; leave both out"));
    }
    if matches!(state, PlanState::Trialing | PlanState::Active) && until.is_some_and(|end| end <= now) {
        return Err(Error::invalid(
            "until: a trial or an active period ends in the future; name a later time, or the state cancelled",
        ));
    }
    let (starts_at, ends_at, trial_ends_at) = match state {
        _ if plan == Plan::None => (None, None, None),
        PlanState::Trialing => {
            let end = until.ok_or_else(|| Error::invalid("until: the state trialing needs the end of the trial"))?;
            (Some(now), None, Some(end))
        }
        PlanState::Active => (Some(now), until, None),
        PlanState::PastDue => (known.period_starts_at, until.or(known.period_ends_at).or(Some(now)), None),
        PlanState::Cancelled => {
            let end = until.or(known.period_ends_at).ok_or_else(|| {
                Error::invalid("until: the state cancelled needs the end of the period that is paid for")
            })?;
            (known.period_starts_at, Some(end), None)
        }
    };
    let mut row = known.clone().into_active_model();
    row.plan = Set(plan);
    row.plan_state = Set(state);
    row.period_starts_at = Set(starts_at);
    row.period_ends_at = Set(ends_at);
    row.trial_ends_at = Set(trial_ends_at);
    row.updated_at = Set(now);
    Ok(row)
}

/// Returns the person that `who` names: an id, else a verified e-mail address, else a subject. Unverified addresses are ignored.
///
/// # Errors
/// [`Error::InvalidRequest`] if `who` matches nobody, or more than one person.
pub async fn show(db: &impl ConnectionTrait, who: &str) -> Result<user::Model, Error> {
    if let Ok(id) = Uuid::try_parse(who)
        && let Some(user) = user::Entity::find_by_id(id).one(db).await?
    {
        return Ok(user);
    }
    let mut found = user::Entity::verified_holders(&mail_address::key(who)).all(db).await?;
    if found.is_empty() {
        found = user::Entity::find().filter(user::Column::Subject.eq(who)).all(db).await?;
    }
    match (found.pop(), found.as_slice()) {
        (Some(user), []) => Ok(user),
        (None, _) => Err(Error::invalid(format!(
            "user: nobody who ever signed in has the id, the verified e-mail or the subject {}; an e-mail counts where the \
             issuer vouches for it",
            quoted(who)
        ))),
        (Some(one), others) => {
            let named =
                |user: &user::Model| format!("{} ({} at {})", user.id, quoted(&user.subject), quoted(&user.issuer));
            let people: Vec<_> = others.iter().chain([&one]).map(named).collect();
            Err(Error::invalid(format!(
                "user: {} means several people; give the id of one: {}",
                quoted(who),
                people.join(", ")
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use test_data::{noon, person};

    use super::*;
    use crate::testing::World;

    #[tokio::test]
    async fn a_person_is_found_by_id_email_or_subject() {
        let world = World::new().await;
        for who in [world.owner.to_string(), "Owner@demo.test".into(), "demo-owner".into()] {
            let user = set(&world.db, &who, Plan::Agency, noon()).await.unwrap();
            assert_eq!((user.id, user.plan, user.trial_ends_at), (world.owner, Plan::Agency, None));
        }
        assert!(matches!(show(&world.db, "nobody").await, Err(Error::InvalidRequest { .. })));
    }

    /// A state, the end given and the end of the period known. Then the start and both ends that are stored, in hours from now.
    type Case = (PlanState, Option<i64>, Option<i64>, [Option<i64>; 3]);

    #[tokio::test]
    async fn a_state_begins_a_period_or_belongs_to_the_one_that_runs() {
        let world = World::new().await;
        let at = |hours: Option<i64>| hours.map(|hours| noon() + chrono::TimeDelta::hours(hours));
        let cases: [Case; 9] = [
            (PlanState::Active, None, Some(5), [Some(0), None, None]),
            (PlanState::Active, Some(9), Some(5), [Some(0), Some(9), None]),
            (PlanState::Trialing, Some(9), Some(5), [Some(0), None, Some(9)]),
            (PlanState::PastDue, None, Some(-5), [Some(-10), Some(-5), None]),
            (PlanState::PastDue, None, None, [Some(-10), Some(0), None]),
            (PlanState::PastDue, Some(9), Some(5), [Some(-10), Some(9), None]),
            (PlanState::Cancelled, None, Some(5), [Some(-10), Some(5), None]),
            (PlanState::Cancelled, Some(9), Some(5), [Some(-10), Some(9), None]),
            (PlanState::Cancelled, Some(-1), None, [Some(-10), Some(-1), None]),
        ];
        for (number, (state, until, known, expected)) in cases.into_iter().enumerate() {
            let subject = format!("person {number}");
            let row = user::Model {
                subject: subject.clone(),
                email_key: None,
                period_starts_at: at(Some(-10)),
                period_ends_at: at(known),
                trial_ends_at: at(Some(1)),
                ..person("x")
            };
            world.insert(row).await;
            let wanted = Wanted { plan: Plan::Agency, state, until: at(until) };
            let user = set(&world.db, &subject, wanted, noon()).await.unwrap();
            let found = [user.period_starts_at, user.period_ends_at, user.trial_ends_at];
            assert_eq!((user.plan, user.plan_state, found), (Plan::Agency, state, expected.map(at)), "{wanted:?}");
        }
    }

    #[tokio::test]
    async fn a_state_without_the_end_that_it_needs_changes_nothing() {
        let world = World::new().await;
        let end = Some(noon());
        for (plan, state, until, named) in [
            (Plan::Pro, PlanState::Trialing, None, "until: "),
            (Plan::Pro, PlanState::Cancelled, None, "until: "),
            (Plan::Pro, PlanState::Trialing, end, "until: "),
            (Plan::Pro, PlanState::Active, end, "until: "),
            (Plan::None, PlanState::Cancelled, end, "plan: "),
            (Plan::None, PlanState::Active, end, "plan: "),
        ] {
            let before = show(&world.db, "demo-owner").await.unwrap();
            let refused = set(&world.db, "demo-owner", Wanted { plan, state, until }, noon()).await.unwrap_err();
            assert!(refused.to_string().starts_with(named), "{refused}");
            assert_eq!(show(&world.db, "demo-owner").await.unwrap(), before);
        }
    }

    #[tokio::test]
    async fn an_unverified_address_does_not_identify_a_person() {
        let world = World::new().await;
        world.add_person("newbie", false).await;
        let refused = show(&world.db, "newbie@demo.test").await.unwrap_err();
        assert!(refused.to_string().contains("verified"), "{refused}");
        assert!(show(&world.db, "demo-newbie").await.is_ok());
    }

    /// The issuer chooses subjects freely, so one may look like an address or an id.
    #[tokio::test]
    async fn an_id_comes_before_an_address_and_an_address_before_a_subject() {
        let world = World::new().await;
        let named = |subject: String| user::Model { subject, email: None, email_key: None, ..person("x") };
        for subject in ["owner@demo.test".to_owned(), world.owner.to_string()] {
            world.insert(named(subject)).await;
        }
        for who in ["owner@demo.test".to_owned(), world.owner.to_string()] {
            assert_eq!(show(&world.db, &who).await.unwrap().id, world.owner, "{who}");
        }
        for issuer in ["https://one.test", "https://two.test"] {
            world.insert(user::Model { issuer: issuer.into(), ..named("twin".to_owned()) }).await;
        }
        let said = show(&world.db, "twin").await.unwrap_err().to_string();
        assert!(said.contains("https://one.test") && said.contains("https://two.test"), "{said}");
    }
}
