//! People: who signs in, under (issuer, subject).

use chrono::{DateTime, TimeDelta, Utc};
use entity::user::{self, Plan};
use sea_orm::{ActiveModelTrait, ActiveValue::Set, ConnectionTrait, EntityTrait, IntoActiveModel};
use uuid::Uuid;

use crate::{error::Error, random::Random};

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
/// Grants to a verified e-mail need no binding here: they are matched by address whenever access is asked for.
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
    find(db, profile).await?.ok_or_else(|| Error::internal("a person just inserted is not there"))
}

/// The person with this id.
pub async fn by_id(db: &impl ConnectionTrait, id: Uuid) -> Result<user::Model, Error> {
    user::Entity::find_by_id(id).one(db).await?.ok_or(Error::NotFound)
}

async fn find(db: &impl ConnectionTrait, profile: &Profile) -> Result<Option<user::Model>, Error> {
    Ok(user::Entity::known_as(&profile.issuer, &profile.subject).one(db).await?)
}

/// A row for a person seen for the first time.
pub(super) fn fresh(
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
        name: Set(profile.name.clone()),
        plan: Set(plan),
        trial_ends_at: Set(trial_ends_at),
        created_at: Set(now),
        updated_at: Set(now),
    }
}

/// Inserts the row unless (issuer, subject) is known: two first requests of one person may come at once.
pub(super) async fn insert_if_new(db: &impl ConnectionTrait, row: user::ActiveModel) -> Result<(), Error> {
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
    if let Some(email) = &profile.email {
        row.email.set_if_not_equals(Some(email.address.clone()));
        row.email_key.set_if_not_equals(Some(entity::email_key(&email.address)));
        row.email_verified.set_if_not_equals(email.verified);
    }
    if profile.name.is_some() {
        row.name.set_if_not_equals(profile.name.clone());
    }
    if !row.is_changed() {
        return Ok(known);
    }
    row.updated_at = Set(now);
    Ok(row.update(db).await?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{services::world::noon, store::database::for_a_test};

    fn ann(email: Option<(&str, bool)>, name: Option<&str>) -> Profile {
        Profile {
            issuer: "https://issuer.test".into(),
            subject: "ann".into(),
            email: email.map(|(address, verified)| Email { address: address.into(), verified }),
            name: name.map(Into::into),
        }
    }

    #[tokio::test]
    async fn a_new_person_gets_a_trial_and_keeps_what_later_tokens_leave_out() {
        let (db, random, now) = (for_a_test().await, Random::seeded(1), noon());
        let first = sign_in(&db, &random, now, 14, &ann(Some(("Ann@Test.Example", true)), Some("Ann"))).await.unwrap();
        assert_eq!((first.plan, first.trial_ends_at), (Plan::None, Some(now + TimeDelta::days(14))));
        assert_eq!(first.email_key.as_deref(), Some("ann@test.example"));

        let later = now + TimeDelta::days(1);
        assert_eq!(sign_in(&db, &random, later, 14, &ann(None, None)).await.unwrap(), first);

        let changed = sign_in(&db, &random, later, 14, &ann(Some(("new@test.example", false)), None)).await.unwrap();
        assert_eq!((changed.id, changed.updated_at, changed.trial_ends_at), (first.id, later, first.trial_ends_at));
        assert_eq!((changed.email_key.as_deref(), changed.email_verified), (Some("new@test.example"), false));
        assert_eq!(changed.name.as_deref(), Some("Ann"));
    }

    #[tokio::test]
    async fn the_same_subject_of_two_issuers_is_two_people() {
        let (db, random) = (for_a_test().await, Random::seeded(1));
        let one = sign_in(&db, &random, noon(), 14, &ann(None, None)).await.unwrap();
        let other = Profile { issuer: "https://other.test".into(), ..ann(None, None) };
        assert_ne!(sign_in(&db, &random, noon(), 14, &other).await.unwrap().id, one.id);
    }
}
