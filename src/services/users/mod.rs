//! People: who signs in, under (issuer, subject).

pub mod addresses;
pub mod plans;
pub mod subscriptions;

use chrono::{DateTime, TimeDelta, Utc};
use entity::user::{self, Plan};
use sea_orm::{ActiveModelTrait, ActiveValue::Set, ConnectionTrait, EntityTrait, IntoActiveModel};
use uuid::Uuid;

use crate::{error::Error, random::Random};

/// A statement that says nothing new is written down at most this often: requests come more often than that.
const RESTATED_EVERY: TimeDelta = TimeDelta::hours(1);

/// What an issuer says about a person who signs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// The issuer's URL.
    pub issuer: String,
    /// The person's name there.
    pub subject: String,
    /// E-mail and whether the issuer vouches for it; none leaves what is known (access tokens often carry none).
    pub email: Option<Email>,
    /// Display name; none leaves what is known.
    pub name: Option<String>,
    /// When the token was issued that says so.
    pub issued_at: DateTime<Utc>,
}

/// An e-mail address as an issuer gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Email {
    /// The address.
    pub address: String,
    /// Whether the issuer vouches for it.
    pub verified: bool,
}

/// The person behind `profile`, made at first sight with a trial of `trial_days`, else brought up to date.
///
/// Each claim is taken from a token that was issued after the one it was last taken from. Grants to a verified e-mail need no binding
/// here: they are matched by address whenever access is asked for.
pub async fn sign_in(
    db: &impl ConnectionTrait,
    random: &Random,
    now: DateTime<Utc>,
    trial_days: u32,
    profile: &Profile,
) -> Result<user::Model, Error> {
    if let Some(known) = find(db, profile).await? {
        return refresh(db, known, profile, now).await;
    }
    let trial_ends_at = now + TimeDelta::days(trial_days.into());
    let row = fresh(random.id(now), profile, Plan::None, Some(trial_ends_at), now);
    insert_if_new(db, row).await?;
    let person = find(db, profile).await?.ok_or_else(|| Error::internal("a person just inserted is not there"))?;
    settled(db, person, now).await
}

/// The person, once it is settled whose the address is.
async fn settled(db: &impl ConnectionTrait, person: user::Model, now: DateTime<Utc>) -> Result<user::Model, Error> {
    if addresses::settle(db, &person, now).await? { by_id(db, person.id).await } else { Ok(person) }
}

/// The person with this id.
pub async fn by_id(db: &impl ConnectionTrait, id: Uuid) -> Result<user::Model, Error> {
    user::Entity::find_by_id(id).one(db).await?.ok_or(Error::NotFound)
}

async fn find(db: &impl ConnectionTrait, profile: &Profile) -> Result<Option<user::Model>, Error> {
    Ok(user::Entity::known_as(&profile.issuer, &profile.subject).one(db).await?)
}

/// A row for a person seen for the first time.
pub(crate) fn fresh(
    id: Uuid,
    profile: &Profile,
    plan: Plan,
    trial_ends_at: Option<DateTime<Utc>>,
    now: DateTime<Utc>,
) -> user::ActiveModel {
    let email = profile.email.as_ref();
    user::ActiveModel {
        id: Set(id),
        issuer: Set(profile.issuer.clone()),
        subject: Set(profile.subject.clone()),
        email: Set(email.map(|email| email.address.clone())),
        email_key: Set(email.map(|email| entity::email_key(&email.address))),
        email_verified: Set(email.is_some_and(|email| email.verified)),
        email_stated_at: Set(email.map(|_| profile.issued_at)),
        name: Set(profile.name.clone()),
        name_stated_at: Set(profile.name.as_ref().map(|_| profile.issued_at)),
        plan: Set(plan),
        trial_ends_at: Set(trial_ends_at),
        created_at: Set(now),
        updated_at: Set(now),
    }
}

/// Inserts the row unless (issuer, subject) is known: two first requests of one person may come at once.
pub(crate) async fn insert_if_new(db: &impl ConnectionTrait, row: user::ActiveModel) -> Result<(), Error> {
    user::Entity::insert(row)
        .on_conflict_do_nothing_on([user::Column::Issuer, user::Column::Subject])
        .exec_without_returning(db)
        .await?;
    Ok(())
}

async fn refresh(
    db: &impl ConnectionTrait,
    known: user::Model,
    profile: &Profile,
    now: DateTime<Utc>,
) -> Result<user::Model, Error> {
    let mut row = known.clone().into_active_model();
    if let Some(email) = &profile.email
        && addresses::counts(&known, email.verified, profile.issued_at)
    {
        row.email.set_if_not_equals(Some(email.address.clone()));
        row.email_key.set_if_not_equals(Some(entity::email_key(&email.address)));
        row.email_verified.set_if_not_equals(email.verified);
        if row.is_changed() || is_restated(known.email_stated_at, profile.issued_at) {
            row.email_stated_at = Set(Some(profile.issued_at));
        }
    }
    let states_address = row.is_changed();
    if known.name_stated_at.is_none_or(|stated_at| stated_at < profile.issued_at)
        && profile.name.is_some()
        && profile.name != known.name
    {
        row.name = Set(profile.name.clone());
        row.name_stated_at = Set(Some(profile.issued_at));
    }
    if !row.is_changed() {
        return Ok(known);
    }
    row.updated_at = Set(now);
    let person = row.update(db).await?;
    if states_address { settled(db, person, now).await } else { Ok(person) }
}

/// Whether what was stated at `known` is worth being written down again, although it says nothing new.
fn is_restated(known: Option<DateTime<Utc>>, issued_at: DateTime<Utc>) -> bool {
    known.is_none_or(|stated_at| issued_at - stated_at >= RESTATED_EVERY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{store::database::for_a_test, testing::noon};

    fn ann(email: Option<(&str, bool)>, name: Option<&str>, issued_at: DateTime<Utc>) -> Profile {
        Profile {
            issuer: "https://issuer.test".into(),
            subject: "ann".into(),
            email: email.map(|(address, verified)| Email { address: address.into(), verified }),
            name: name.map(Into::into),
            issued_at,
        }
    }

    #[tokio::test]
    async fn a_new_person_gets_a_trial_and_keeps_what_later_tokens_leave_out() {
        let (db, random, now) = (for_a_test().await, Random::seeded(1), noon());
        let said = ann(Some(("Ann@Test.Example", true)), Some("Ann"), now);
        let first = sign_in(&db, &random, now, 14, &said).await.unwrap();
        assert_eq!((first.plan, first.trial_ends_at), (Plan::None, Some(now + TimeDelta::days(14))));
        assert_eq!(first.email_key.as_deref(), Some("ann@test.example"));

        let later = now + TimeDelta::days(1);
        assert_eq!(sign_in(&db, &random, later, 14, &ann(None, None, later)).await.unwrap(), first);

        let said = ann(Some(("new@test.example", false)), None, later);
        let changed = sign_in(&db, &random, later, 14, &said).await.unwrap();
        assert_eq!((changed.id, changed.updated_at, changed.trial_ends_at), (first.id, later, first.trial_ends_at));
        assert_eq!((changed.email_key.as_deref(), changed.email_verified), (Some("new@test.example"), false));
        assert_eq!(changed.name.as_deref(), Some("Ann"));
    }

    #[tokio::test]
    async fn the_same_subject_of_two_issuers_is_two_people() {
        let (db, random) = (for_a_test().await, Random::seeded(1));
        let one = sign_in(&db, &random, noon(), 14, &ann(None, None, noon())).await.unwrap();
        let other = Profile { issuer: "https://other.test".into(), ..ann(None, None, noon()) };
        assert_ne!(sign_in(&db, &random, noon(), 14, &other).await.unwrap().id, one.id);
    }

    #[tokio::test]
    async fn what_says_nothing_new_is_written_once_an_hour() {
        let (db, random, now) = (for_a_test().await, Random::seeded(1), noon());
        let seen = async |minutes: i64| {
            let at = now + TimeDelta::minutes(minutes);
            let said = ann(Some(("ann@test.example", true)), Some("Ann"), at);
            let person = sign_in(&db, &random, at, 14, &said).await.unwrap();
            (person.updated_at, person.email_stated_at.unwrap())
        };
        let (written, hour) = ((now, now), now + TimeDelta::hours(1));
        assert_eq!((seen(0).await, seen(1).await, seen(59).await), (written, written, written));
        assert_eq!((seen(60).await, seen(61).await, seen(30).await), ((hour, hour), (hour, hour), (hour, hour)));
    }

    #[tokio::test]
    async fn a_name_is_taken_from_the_later_token() {
        let (db, random, now) = (for_a_test().await, Random::seeded(1), noon());
        let named = async |name: &str, minutes: i64| {
            let said = ann(None, Some(name), now + TimeDelta::minutes(minutes));
            sign_in(&db, &random, now, 14, &said).await.unwrap().name.unwrap()
        };
        assert_eq!(
            (named("Ann", 0).await, named("Anne", 2).await, named("Ann", 1).await),
            ("Ann".into(), "Anne".into(), "Anne".into())
        );
    }
}
