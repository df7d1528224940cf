//! Subscription commands for operators.

use chrono::{DateTime, Utc};
use entity::user::{self, Plan};
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, ConnectionTrait, DatabaseConnection, EntityTrait, IntoActiveModel,
    QueryFilter,
};
use uuid::Uuid;

use crate::error::Error;

/// Sets the plan of `who` (id, verified e-mail address or subject) and ends a trial.
pub async fn set(db: &DatabaseConnection, who: &str, plan: Plan, now: DateTime<Utc>) -> Result<user::Model, Error> {
    let mut row = show(db, who).await?.into_active_model();
    row.plan = Set(plan);
    row.trial_ends_at = Set(None);
    row.updated_at = Set(now);
    Ok(row.update(db).await?)
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
    let mut found = user::Entity::verified_holders(&entity::email_key(who)).all(db).await?;
    if found.is_empty() {
        found = user::Entity::find().filter(user::Column::Subject.eq(who)).all(db).await?;
    }
    match (found.pop(), found.as_slice()) {
        (Some(user), []) => Ok(user),
        (None, _) => Err(Error::invalid(format!(
            "user: nobody who ever signed in has the id, the verified e-mail or the subject {who:?}; an e-mail counts where the \
             issuer vouches for it"
        ))),
        (Some(one), others) => {
            let named = |user: &user::Model| format!("{} ({:?} at {:?})", user.id, user.subject, user.issuer);
            let people: Vec<_> = others.iter().chain([&one]).map(named).collect();
            Err(Error::invalid(format!(
                "user: {who:?} means several people; give the id of one: {}",
                people.join(", ")
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{World, noon, person};

    #[tokio::test]
    async fn a_person_is_found_by_id_email_or_subject() {
        let world = World::new().await;
        for who in [world.owner.to_string(), "Owner@demo.test".into(), "demo-owner".into()] {
            let user = set(&world.db, &who, Plan::Agency, noon()).await.unwrap();
            assert_eq!((user.id, user.plan, user.trial_ends_at), (world.owner, Plan::Agency, None));
        }
        assert!(matches!(show(&world.db, "nobody").await, Err(Error::InvalidRequest { .. })));
    }

    #[tokio::test]
    async fn whoever_claims_an_address_without_the_issuers_word_is_not_meant() {
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
