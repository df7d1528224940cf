//! People: users who sign in, identified by (issuer, subject).

pub mod addresses;
pub mod plans;
pub mod state;
pub mod subscriptions;

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use common::{clock::Clock, digest::sha256_hex, mail_address, random::Random};
use entity::user::{self, Plan, PlanState};
use identity::{
    Claims, Users, audit_notes,
    departures::{self, Departures},
};
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ConnectionTrait, DatabaseConnection, DbErr, EntityTrait, IntoActiveModel,
    QuerySelect as _, TryInsertResult, sea_query::LockType,
};
use store::{database, transaction::Transaction};
use uuid::Uuid;

use self::plans::Entitlement;
use crate::{config::Config, error::Error};

/// The minimum interval between writes of a statement that repeats the known one. Requests are more frequent than that.
const RESTATED_EVERY: TimeDelta = TimeDelta::hours(1);

/// A user who makes a request, with the plan in effect.
#[derive(Debug, Clone)]
pub struct Member {
    /// The user's record at the time of the request.
    pub user: Arc<user::Model>,
    /// The features and limits of the user's plan.
    pub entitlement: Entitlement,
}

impl Member {
    /// The person in lines of the log: the start of the SHA-256 of their id. Nobody can trace it once the id is deleted.
    #[must_use]
    pub fn pseudonym(&self) -> String {
        sha256_hex(&self.user.id.to_string())[..8].to_owned()
    }

    /// Returns the member for a request of `user` at `now`.
    #[must_use]
    pub fn of(config: &Config, user: Arc<user::Model>, now: DateTime<Utc>) -> Self {
        Self { entitlement: Entitlement::of(config, &user, now), user }
    }
}

/// The users in the database.
pub struct StoredUsers {
    /// The write connection.
    pub db: DatabaseConnection,
    /// The source of new ids.
    pub random: Random,
    /// The clock.
    pub clock: Clock,
    /// The length of a new user's trial, in days.
    pub trial_days: u32,
    /// The people who have left.
    pub departures: Departures,
}

#[async_trait]
impl Users for StoredUsers {
    async fn resolve(&self, claims: &Claims) -> Result<Option<user::Model>, DbErr> {
        match self.sign_in(claims, self.clock.now()).await {
            Ok(user) => Ok(user),
            Err(Error::DatabaseUnavailable(error)) => Err(error),
            Err(error) => Err(DbErr::Custom(error.to_string())),
        }
    }

    fn is_up_to_date(&self, known: &user::Model, claims: &Claims) -> bool {
        !change(known, claims).is_changed()
    }
}

impl StoredUsers {
    /// Returns the person behind `claims`. Creates them on first sign-in, with a trial unless they have left within a year, otherwise
    /// updates the record. Returns `None` if the person deleted their data since that sign-in, also while this runs.
    ///
    /// A claim is updated only from a token issued later than the one it was last taken from. Grants to a verified e-mail address
    /// are not bound to the person here: they are matched by address at each request.
    async fn sign_in(&self, claims: &Claims, now: DateTime<Utc>) -> Result<Option<user::Model>, Error> {
        let db = &self.db;
        let known = find(db, claims).await?;
        // Read after the person: the departure of a person who is gone by then is visible by now.
        let left_at = self.departures.left_at(db, &claims.issuer, &claims.subject).await?;
        if left_at.is_some_and(|left_at| departures::is_from_before(claims, left_at)) {
            return Ok(None);
        }
        if let Some(known) = known {
            return refresh(db, known, claims, now).await;
        }
        let (id, had_trial) =
            (self.random.id(now), self.departures.had_trial(db, &claims.issuer, &claims.subject, now).await?);
        let row = if had_trial {
            fresh(id, claims, Plan::None, None, now)
        } else {
            let trial_ends_at = now + TimeDelta::days(self.trial_days.into());
            fresh(id, claims, Plan::Pro, Some(trial_ends_at), now)
        };
        let tx = database::begin(db).await?;
        let is_new = insert_if_new(&tx, row).await?;
        let person = find(&tx, claims).await?;
        if let Some(person) = person.as_ref().filter(|_| is_new) {
            audit_notes::note_earlier(&tx, person, |at| self.random.id(at)).await?;
        }
        tx.commit().await?;
        match person {
            Some(person) => settled(db, person, now).await,
            None => Ok(None),
        }
    }
}

/// Settles who holds the person's address and returns the current record.
async fn settled(
    db: &DatabaseConnection,
    person: user::Model,
    now: DateTime<Utc>,
) -> Result<Option<user::Model>, Error> {
    if addresses::settle(db, &person, now).await? {
        return Ok(user::Entity::find_by_id(person.id).one(db).await?);
    }
    Ok(Some(person))
}

/// Returns the person with this id.
pub async fn by_id(db: &impl ConnectionTrait, id: Uuid) -> Result<user::Model, Error> {
    user::Entity::find_by_id(id).one(db).await?.ok_or(Error::NotFound)
}

/// Locks a person's row (`FOR NO KEY UPDATE`) until the transaction ends. Prevents concurrent changes to the person's records, so
/// that counts, names and positions stay valid. Rows that refer to the person can still be written.
pub async fn lock(tx: &Transaction, id: Uuid) -> Result<user::Model, Error> {
    user::Entity::find_by_id(id).lock(LockType::NoKeyUpdate).one(tx).await?.ok_or(Error::NotFound)
}

async fn find(db: &impl ConnectionTrait, claims: &Claims) -> Result<Option<user::Model>, Error> {
    Ok(user::Entity::known_as(&claims.issuer, &claims.subject).one(db).await?)
}

/// Returns a row for a new person, who has `plan` or tries it until `trial_ends_at`.
pub(crate) fn fresh(
    id: Uuid,
    claims: &Claims,
    plan: Plan,
    trial_ends_at: Option<DateTime<Utc>>,
    now: DateTime<Utc>,
) -> user::ActiveModel {
    let email = claims.email.as_ref();
    user::ActiveModel {
        id: Set(id),
        issuer: Set(claims.issuer.clone()),
        subject: Set(claims.subject.clone()),
        email: Set(email.map(|email| email.address.clone())),
        email_key: Set(email.map(|email| mail_address::key(&email.address))),
        email_verified: Set(email.is_some_and(|email| email.verified)),
        email_stated_at: Set(email.map(|_| claims.issued_at)),
        name: Set(claims.name.clone()),
        name_stated_at: Set(claims.name.as_ref().map(|_| claims.issued_at)),
        plan: Set(plan),
        plan_state: Set(if trial_ends_at.is_some() { PlanState::Trialing } else { PlanState::Active }),
        period_starts_at: Set(trial_ends_at.map(|_| now)),
        period_ends_at: Set(None),
        trial_ends_at: Set(trial_ends_at),
        created_at: Set(now),
        updated_at: Set(now),
    }
}

/// Inserts the row unless (issuer, subject) exists, because the first two requests of a person can arrive at once. Returns whether it did.
pub(crate) async fn insert_if_new(db: &impl ConnectionTrait, row: user::ActiveModel) -> Result<bool, Error> {
    let inserted = user::Entity::insert(row)
        .on_conflict_do_nothing_on([user::Column::Issuer, user::Column::Subject])
        .exec_without_returning(db)
        .await?;
    Ok(matches!(inserted, TryInsertResult::Inserted(rows) if rows > 0))
}

async fn refresh(
    db: &DatabaseConnection,
    known: user::Model,
    claims: &Claims,
    now: DateTime<Utc>,
) -> Result<Option<user::Model>, Error> {
    let mut row = change(&known, claims);
    if !row.is_changed() {
        return Ok(Some(known));
    }
    let states_address = row.email_stated_at.is_set();
    row.updated_at = Set(now);
    let person = match row.update(db).await {
        Err(DbErr::RecordNotUpdated) => return Ok(None),
        updated => updated?,
    };
    if states_address { settled(db, person, now).await } else { Ok(Some(person)) }
}

/// Returns the changes that newer claims make to a person's record.
fn change(known: &user::Model, claims: &Claims) -> user::ActiveModel {
    let mut row = known.clone().into_active_model();
    if let Some(email) = &claims.email
        && addresses::counts(known, email.verified, claims.issued_at)
    {
        row.email.set_if_not_equals(Some(email.address.clone()));
        row.email_key.set_if_not_equals(Some(mail_address::key(&email.address)));
        row.email_verified.set_if_not_equals(email.verified);
        if row.is_changed() || is_restated(known.email_stated_at, claims.issued_at) {
            row.email_stated_at = Set(Some(claims.issued_at));
        }
    }
    if known.name_stated_at.is_none_or(|stated_at| stated_at < claims.issued_at)
        && claims.name.is_some()
        && claims.name != known.name
    {
        row.name = Set(claims.name.clone());
        row.name_stated_at = Set(Some(claims.issued_at));
    }
    row
}

/// Returns whether a repeated statement must be stored again, because the one from `known` is too old.
fn is_restated(known: Option<DateTime<Utc>>, issued_at: DateTime<Utc>) -> bool {
    known.is_none_or(|stated_at| issued_at - stated_at >= RESTATED_EVERY)
}

#[cfg(test)]
mod tests {
    use identity::Email;
    use store::database::begin;
    use test_data::{database, noon};

    use super::*;

    fn ann(email: Option<(&str, bool)>, name: Option<&str>, issued_at: DateTime<Utc>) -> Claims {
        Claims {
            issuer: "https://issuer.test".into(),
            subject: "ann".into(),
            email: email.map(|(address, verified)| Email { address: address.into(), verified }),
            name: name.map(Into::into),
            issued_at,
            auth_time: None,
        }
    }

    fn users(db: &DatabaseConnection) -> StoredUsers {
        let (random, clock) = (Random::seeded(1), Clock::manual(noon()).0);
        StoredUsers { db: db.clone(), random, clock, trial_days: 14, departures: Departures::new([7; 32]) }
    }

    async fn sign_in(users: &StoredUsers, claims: &Claims, now: DateTime<Utc>) -> user::Model {
        users.sign_in(claims, now).await.unwrap().unwrap()
    }

    #[tokio::test]
    async fn a_new_person_gets_a_trial_and_keeps_what_later_tokens_leave_out() {
        let (users, now) = (users(&database().await), noon());
        let said = ann(Some(("Ann@Test.Example", true)), Some("Ann"), now);
        let first = sign_in(&users, &said, now).await;
        assert_eq!((first.plan, first.plan_state), (Plan::Pro, PlanState::Trialing));
        assert_eq!((first.period_starts_at, first.trial_ends_at), (Some(now), Some(now + TimeDelta::days(14))));
        assert_eq!(first.email_key.as_deref(), Some("ann@test.example"));

        let later = now + TimeDelta::days(1);
        assert_eq!(sign_in(&users, &ann(None, None, later), later).await, first);

        let said = ann(Some(("new@test.example", false)), None, later);
        let changed = sign_in(&users, &said, later).await;
        assert_eq!((changed.id, changed.updated_at, changed.trial_ends_at), (first.id, later, first.trial_ends_at));
        assert_eq!((changed.email_key.as_deref(), changed.email_verified), (Some("new@test.example"), false));
        assert_eq!(changed.name.as_deref(), Some("Ann"));
    }

    #[tokio::test]
    async fn a_person_back_within_a_year_gets_no_new_trial() {
        for (days, plan, state) in [(364, Plan::None, PlanState::Active), (365, Plan::Pro, PlanState::Trialing)] {
            let users = users(&database().await);
            let tx = begin(&users.db).await.unwrap();
            users.departures.note(&tx, "https://issuer.test", "ann", noon()).await.unwrap();
            tx.commit().await.unwrap();
            let later = noon() + TimeDelta::days(days);
            let claims = Claims { auth_time: Some(later), ..ann(None, None, later) };
            let back = sign_in(&users, &claims, later).await;
            assert_eq!((back.plan, back.plan_state), (plan, state), "after {days} days");
            assert_eq!(back.trial_ends_at.is_some(), plan == Plan::Pro);
        }
    }

    #[tokio::test]
    async fn the_same_subject_of_two_issuers_is_two_people() {
        let users = users(&database().await);
        let one = sign_in(&users, &ann(None, None, noon()), noon()).await;
        let other = Claims { issuer: "https://other.test".into(), ..ann(None, None, noon()) };
        assert_ne!(sign_in(&users, &other, noon()).await.id, one.id);
    }

    #[tokio::test]
    async fn what_says_nothing_new_is_written_once_an_hour() {
        let (users, now) = (users(&database().await), noon());
        let seen = async |minutes: i64| {
            let at = now + TimeDelta::minutes(minutes);
            let said = ann(Some(("ann@test.example", true)), Some("Ann"), at);
            let person = sign_in(&users, &said, at).await;
            (person.updated_at, person.email_stated_at.unwrap())
        };
        let (written, hour) = ((now, now), now + TimeDelta::hours(1));
        assert_eq!((seen(0).await, seen(1).await, seen(59).await), (written, written, written));
        assert_eq!((seen(60).await, seen(61).await, seen(30).await), ((hour, hour), (hour, hour), (hour, hour)));
    }

    #[tokio::test]
    async fn a_name_is_taken_from_the_later_token() {
        let (users, now) = (users(&database().await), noon());
        let named = async |name: &str, minutes: i64| {
            let said = ann(None, Some(name), now + TimeDelta::minutes(minutes));
            sign_in(&users, &said, now).await.name.unwrap()
        };
        assert_eq!(
            (named("Ann", 0).await, named("Anne", 2).await, named("Ann", 1).await),
            ("Ann".into(), "Anne".into(), "Anne".into())
        );
    }
}
