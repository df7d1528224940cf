//! The people of a property: its owner as members see them, and the address of a member.

use chrono::{DateTime, Utc};
use entity::user;
use uuid::Uuid;

use crate::{error::Responsible, services::users::addresses};

/// Returns the owner of a property as the person who must act, for `reader`.
#[must_use]
pub fn responsible(owner: &user::Model, reader: Uuid) -> Responsible {
    if owner.id == reader {
        return Responsible::Caller;
    }
    let name = match shown(owner) {
        (Some(name), Some(email)) => Some(format!("{name} ({email})")),
        (name, email) => name.or(email).map(str::to_owned),
    };
    Responsible::Owner(name.map(Into::into))
}

/// Returns the name and the e-mail address that members are shown of an owner. An address that nobody verified is not shown.
#[must_use]
pub fn shown(owner: &user::Model) -> (Option<&str>, Option<&str>) {
    (owner.name.as_deref(), owner.email.as_deref().filter(|_| owner.email_verified))
}

/// Returns the address that grants are matched by, if the issuer verified it and a token stated it recently.
#[must_use]
pub fn verified_email_key(user: &user::Model, now: DateTime<Utc>) -> Option<&str> {
    let is_current = user.email_stated_at.is_some_and(|stated_at| now - stated_at < addresses::COUNTS_FOR);
    user.email_key.as_deref().filter(|_| user.email_verified && is_current)
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;
    use crate::testing::{noon, person};

    #[test]
    fn an_address_counts_for_a_week_after_it_was_stated() {
        let key = |email_verified: bool, email_stated_at: Option<DateTime<Utc>>| {
            let user = user::Model { email_verified, email_stated_at, ..person("ann") };
            verified_email_key(&user, noon()).is_some()
        };
        let second = TimeDelta::seconds(1);
        assert!(key(true, Some(noon())) && key(true, Some(noon() - addresses::COUNTS_FOR + second)));
        assert!(key(true, Some(noon() + second)), "the issuer's clock may be ahead");
        assert!(!key(true, Some(noon() - addresses::COUNTS_FOR)) && !key(true, None) && !key(false, Some(noon())));
    }
}
