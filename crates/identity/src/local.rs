//! People of the embedded issuer.

use entity::{account, user};
use sea_orm::{DatabaseConnection, DbErr, EntityTrait as _};
use uuid::Uuid;

use super::issuer::EMBEDDED;

/// The ways in which a person of the embedded issuer signs in. A demo person has neither.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LocalAccount {
    /// True if they have a password here.
    pub has_password: bool,
    /// The issuer of the provider at which they sign in.
    pub provider: Option<String>,
}

/// The person's subject at the embedded issuer. `None` for people of another issuer: their subject may equal that of somebody here.
#[must_use]
pub fn local_subject(is_embedded: bool, user: &user::Model) -> Option<&str> {
    (is_embedded && user.issuer == EMBEDDED).then_some(user.subject.as_str())
}

/// Returns the ways in which a person signs in here, or `None` for people of another issuer.
///
/// # Errors
/// The database cannot answer.
pub async fn local_account(
    db: &DatabaseConnection,
    is_embedded: bool,
    user: &user::Model,
) -> Result<Option<LocalAccount>, DbErr> {
    let Some(subject) = local_subject(is_embedded, user) else { return Ok(None) };
    let Ok(id) = Uuid::try_parse(subject) else { return Ok(Some(LocalAccount::default())) };
    let row = account::Entity::find_by_id(id).one(db).await?;
    Ok(Some(row.map_or_else(LocalAccount::default, |row| LocalAccount {
        has_password: row.password_hash.is_some(),
        provider: row.upstream_issuer,
    })))
}

#[cfg(test)]
mod tests {
    use sea_orm::ActiveValue::Set;
    use test_data::{database, noon, person};

    use super::*;

    #[tokio::test]
    async fn people_sign_in_here_or_at_a_provider() {
        let db = database().await;
        let provider = "https://provider.test".to_owned();
        for (number, hash, issuer) in [
            (1, Some("hash".to_owned()), None),
            (2, None, Some(provider.clone())),
            (3, Some("hash".to_owned()), Some(provider.clone())),
        ] {
            let (id, email) = (Uuid::from_u128(number), format!("{number}@people.test"));
            let row = account::ActiveModel {
                id: Set(id),
                email: Set(email.clone()),
                email_key: Set(email),
                name: Set(None),
                password_hash: Set(hash.clone()),
                email_verified_at: Set(None),
                password_changed_at: Set(noon()),
                last_sign_in_at: Set(None),
                upstream_issuer: Set(issuer.clone()),
                upstream_subject: Set(issuer.as_ref().map(|_| number.to_string())),
                added_by_operator: Set(true),
                added_as_key: Set(None),
                created_at: Set(noon()),
                updated_at: Set(noon()),
            };
            account::Entity::insert(row).exec_without_returning(&db).await.unwrap();
            let user = user::Model { issuer: EMBEDDED.into(), subject: id.to_string(), ..person("ann") };
            let expected = LocalAccount { has_password: hash.is_some(), provider: issuer };
            assert_eq!(local_account(&db, true, &user).await.unwrap(), Some(expected));
            assert_eq!(
                local_account(&db, true, &user::Model { issuer: provider.clone(), ..user }).await.unwrap(),
                None
            );
        }
        let demo = user::Model { issuer: EMBEDDED.into(), ..person("ann") };
        assert_eq!(local_account(&db, true, &demo).await.unwrap(), Some(LocalAccount::default()));
        assert_eq!(local_account(&db, false, &demo).await.unwrap(), None);
    }
}
