//! The people whom the issuer knows: holders of accounts and, where they are present, demo people.

use common::mail_address;
use entity::account;
use sea_orm::{DbErr, EntityTrait};
use uuid::Uuid;

use super::{IdentityProvider, demo};

/// A person as tokens and pages name them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Person {
    /// Stable identifier (`sub`).
    pub subject: String,
    /// Display name.
    pub name: Option<String>,
    /// Name to sign in with, of a demo person.
    pub username: Option<String>,
    /// E-mail address.
    pub email: String,
    /// True if the person has shown that the address is theirs.
    pub email_verified: bool,
}

impl Person {
    /// Returns whether a client that sends `hint` (`login_hint`) means this person.
    pub fn is_meant_by(&self, hint: &str) -> bool {
        self.username.as_deref() == Some(hint) || mail_address::key(&self.email) == mail_address::key(hint)
    }
}

impl From<&demo::Person> for Person {
    fn from(person: &demo::Person) -> Self {
        Self {
            subject: person.subject.to_owned(),
            name: Some(person.display_name.to_owned()),
            username: Some(person.name.to_owned()),
            email: person.email.to_owned(),
            email_verified: true,
        }
    }
}

impl From<account::Model> for Person {
    fn from(account: account::Model) -> Self {
        Self {
            subject: account.id.to_string(),
            name: account.name,
            username: None,
            email: account.email,
            email_verified: account.email_verified_at.is_some(),
        }
    }
}

impl IdentityProvider {
    /// Returns the person with this subject. A demo person is unknown where demo people are not present, and so is the holder of an
    /// account who may no longer sign in.
    pub(super) async fn person(&self, subject: &str) -> Result<Option<Person>, DbErr> {
        if let Some(person) = self.settings.demo_by_subject(subject) {
            return Ok(Some(person.into()));
        }
        let Ok(id) = Uuid::try_parse(subject) else { return Ok(None) };
        let Some(account) = account::Entity::find_by_id(id).one(&self.db).await? else { return Ok(None) };
        Ok(self.is_welcome(&self.db, &account).await?.then(|| account.into()))
    }
}
