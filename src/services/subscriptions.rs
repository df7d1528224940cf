//! The operator's way to set and show a person's plan.

use chrono::{DateTime, Utc};
use entity::user::{self, Plan};
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, Condition, ConnectionTrait, EntityTrait, IntoActiveModel,
    QueryFilter,
};
use uuid::Uuid;

use crate::error::Error;

/// Sets the plan of `who` (id, e-mail or subject) and ends a trial.
pub async fn set(db: &impl ConnectionTrait, who: &str, plan: Plan, now: DateTime<Utc>) -> Result<user::Model, Error> {
    let mut row = show(db, who).await?.into_active_model();
    row.plan = Set(plan);
    row.trial_ends_at = Set(None);
    row.updated_at = Set(now);
    Ok(row.update(db).await?)
}

/// The person that an operator calls `who`: an id, an e-mail or a subject.
///
/// # Errors
/// [`Error::InvalidRequest`] where nobody, or more than one person, is called so.
pub async fn show(db: &impl ConnectionTrait, who: &str) -> Result<user::Model, Error> {
    use user::Column;
    let mut named = Condition::any().add(Column::EmailKey.eq(entity::email_key(who))).add(Column::Subject.eq(who));
    if let Ok(id) = Uuid::try_parse(who) {
        named = named.add(Column::Id.eq(id));
    }
    let mut found = user::Entity::find().filter(named).all(db).await?;
    match (found.pop(), found.is_empty()) {
        (Some(user), true) => Ok(user),
        (None, _) => Err(Error::invalid(format!("user: nobody with the id, e-mail or subject {who} ever signed in"))),
        (Some(_), false) => Err(Error::invalid(format!("user: {who} means several people, give the id"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::services::world::{World, noon};

    #[tokio::test]
    async fn a_person_is_found_by_id_email_or_subject() {
        let world = World::new().await;
        for who in [world.owner.to_string(), "Owner@demo.test".into(), "demo-owner".into()] {
            let user = set(&world.db, &who, Plan::Agency, noon()).await.unwrap();
            assert_eq!((user.id, user.plan, user.trial_ends_at), (world.owner, Plan::Agency, None));
        }
        assert!(matches!(show(&world.db, "nobody").await, Err(Error::InvalidRequest { .. })));
    }
}
