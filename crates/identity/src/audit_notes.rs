//! Notes in the audit trail what people allow applications. The embedded issuer notes what it is told. It knows its people before
//! the service does: what they allowed until then is noted when the service first sees them.

use chrono::{DateTime, Utc};
use common::allowance::Allowance;
use entity::{
    audit_event::{APPLICATION_ALLOWED, ActiveModel, Entity},
    consent, user,
};
use sea_orm::{ActiveValue::Set, ConnectionTrait, DbErr, EntityTrait as _, QuerySelect as _, sea_query::LockType};
use store::transaction::Transaction;
use uuid::Uuid;

use super::{clients, issuer::EMBEDDED};

/// The access that a person allows an application.
#[derive(Debug, Clone, Copy)]
pub struct Allowed<'a> {
    /// The name of the application, or its id.
    pub application: &'a str,
    /// The scopes that it asked for.
    pub scope: &'a str,
    /// How much of them the person allows.
    pub allowance: Allowance,
}

impl Allowed<'_> {
    /// The application and its scopes, as the trail names them.
    #[must_use]
    pub fn words(&self) -> String {
        format!("{}: {}", self.application, self.allowance.of(self.scope))
    }
}

/// Notes what a person of the embedded issuer allows an application, unless the service has not seen the person yet.
///
/// # Errors
/// The database cannot answer.
pub async fn note(
    tx: &Transaction,
    subject: &str,
    allowed: Allowed<'_>,
    id: Uuid,
    now: DateTime<Utc>,
) -> Result<(), DbErr> {
    // Locked, so that nothing is noted for a person who deletes their data meanwhile.
    let person = user::Entity::known_as(EMBEDDED, subject).lock(LockType::KeyShare).one(tx).await?;
    match person {
        Some(person) => {
            Entity::insert(event(person.id, &allowed, id, now)).exec_without_returning(tx).await.map(|_| ())
        }
        None => Ok(()),
    }
}

/// Notes what a person allowed applications before the service first saw them. `new_id` makes the ids.
///
/// # Errors
/// The database cannot answer.
pub async fn note_earlier(
    db: &impl ConnectionTrait,
    person: &user::Model,
    new_id: impl Fn(DateTime<Utc>) -> Uuid,
) -> Result<(), DbErr> {
    if person.issuer != EMBEDDED {
        return Ok(());
    }
    for known in consent::Entity::of_subject(&person.subject).all(db).await? {
        let application = clients::name(db, &known.client_id).await?;
        let (scope, allowance) = (&*known.scope, Allowance::stored(&known.allows));
        let allowed = Allowed { application: &application, scope, allowance };
        let event = event(person.id, &allowed, new_id(known.updated_at), known.updated_at);
        Entity::insert(event).exec_without_returning(db).await?;
    }
    Ok(())
}

fn event(person: Uuid, allowed: &Allowed<'_>, id: Uuid, at: DateTime<Utc>) -> ActiveModel {
    ActiveModel {
        id: Set(id),
        owner_id: Set(person),
        actor_id: Set(Some(person)),
        action: Set(APPLICATION_ALLOWED.to_owned()),
        what: Set(Some(allowed.words())),
        property_id: Set(None),
        whom: Set(None),
        whom_key: Set(None),
        role: Set(None),
        at: Set(at),
    }
}
