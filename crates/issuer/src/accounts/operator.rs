//! Changes that operators make to accounts, each in one transaction.

use chrono::{DateTime, Utc};
use common::{
    mail_address,
    plain_text::{self, PLAIN_NAME},
    random::Random,
};
use entity::{
    account::{ActiveModel, Column, Entity, Model},
    account_link::Purpose,
};
use lettre::Address;
use sea_orm::{
    ActiveValue::Set, ColumnTrait, DatabaseConnection, DbErr, EntityTrait, QueryFilter, QueryOrder, SqlErr,
    sea_query::Expr,
};
use store::{Error, database, erasure, transaction::Transaction};

use super::{
    ending::{end_everything, end_links},
    links, with_email,
};

/// The maximum length of an address (RFC 5321).
const MAX_ADDRESS_BYTES: usize = 254;

/// The accounts of one service.
pub struct Operator {
    /// The write connection.
    pub db: DatabaseConnection,
    /// The source of ids and tokens.
    pub random: Random,
    /// The time.
    pub now: DateTime<Utc>,
}

/// An account, and the token of the link that sets its password.
#[derive(Debug)]
pub struct Invitation {
    /// The account.
    pub account: Model,
    /// The token.
    pub token: String,
    /// True if the account was made with it.
    pub is_new: bool,
}

impl Operator {
    /// Adds an account without a password.
    ///
    /// # Errors
    /// [`Error::Refused`] if the address or name is unusable, or the address has an account.
    pub async fn add(&self, email: &str, name: Option<&str>) -> Result<Invitation, Error> {
        let (email, name) = (checked_address(email)?, name.map(checked_name).transpose()?);
        let exists = || {
            Error::refused(format!(
                "email: {email} has an account already; `sightline user reset {email}` makes a new link"
            ))
        };
        if with_email(&self.db, &email).await?.is_some() {
            return Err(exists());
        }
        let tx = database::begin(&self.db).await?;
        let row = ActiveModel {
            id: Set(self.random.id(self.now)),
            email: Set(email.clone()),
            email_key: Set(mail_address::key(&email)),
            name: Set(name),
            password_hash: Set(None),
            email_verified_at: Set(None),
            password_changed_at: Set(self.now),
            last_sign_in_at: Set(None),
            upstream_issuer: Set(None),
            upstream_subject: Set(None),
            added_by_operator: Set(true),
            added_as_key: Set(Some(mail_address::key(&email))),
            created_at: Set(self.now),
            updated_at: Set(self.now),
        };
        let account = Entity::insert(row).exec_with_returning(&tx).await.map_err(|error| match error.sql_err() {
            Some(SqlErr::UniqueConstraintViolation(_)) => exists(),
            _ => error.into(),
        })?;
        let token = links::make(&tx, &self.random, account.id, Purpose::Operator, self.now).await?;
        tx.commit().await?;
        Ok(Invitation { account, token, is_new: true })
    }

    /// Every account, by address.
    ///
    /// # Errors
    /// The database cannot answer.
    pub async fn list(&self) -> Result<Vec<Model>, Error> {
        Ok(Entity::find().order_by_asc(Column::EmailKey).all(&self.db).await?)
    }

    /// Takes the password of an account and its tie to another provider away, ends everything that the person has running, and makes
    /// a new link. From now on the account counts as added by an operator.
    ///
    /// # Errors
    /// [`Error::Refused`] if the address has no account.
    pub async fn reset(&self, email: &str) -> Result<Invitation, Error> {
        let account = self.known(email).await?;
        let tx = database::begin(&self.db).await?;
        // The account's row is written first: a sign-in with the old password waits for it, or is ended.
        Entity::update_many()
            .col_expr(Column::PasswordHash, Expr::value(Option::<String>::None))
            .col_expr(Column::PasswordChangedAt, Expr::value(self.now))
            .col_expr(Column::UpstreamIssuer, Expr::value(Option::<String>::None))
            .col_expr(Column::UpstreamSubject, Expr::value(Option::<String>::None))
            .col_expr(Column::AddedByOperator, Expr::value(true))
            .col_expr(Column::AddedAsKey, Expr::value(account.email_key.clone()))
            .col_expr(Column::UpdatedAt, Expr::value(self.now))
            .filter(Column::Id.eq(account.id))
            .exec(&tx)
            .await?;
        end_links(&tx, account.id, self.now).await?;
        end_everything(&tx, &account.id.to_string(), None, self.now).await?;
        let token = links::make(&tx, &self.random, account.id, Purpose::Operator, self.now).await?;
        tx.commit().await?;
        Ok(Invitation { account, token, is_new: false })
    }

    /// Deletes an account and ends everything that the person has running. Also finds the account by its original address, because
    /// another provider may have changed it. `end_gifts` ends what the person gave to others, in the same transaction.
    ///
    /// # Errors
    /// [`Error::Refused`] if the address has no account, or several were added by it.
    pub async fn remove(
        &self,
        email: &str,
        end_gifts: impl AsyncFnOnce(&Transaction, &str) -> Result<(), DbErr>,
    ) -> Result<Model, Error> {
        let account = match self.known(email).await {
            Ok(account) => account,
            Err(unknown @ Error::Refused(_)) => self.added_as(email).await?.ok_or(unknown)?,
            Err(error) => return Err(error),
        };
        let tx = database::begin(&self.db).await?;
        Entity::delete_by_id(account.id).exec(&tx).await?;
        end_everything(&tx, &account.id.to_string(), None, self.now).await?;
        end_gifts(&tx, &account.id.to_string()).await?;
        erasure::mark(&tx).await?;
        tx.commit().await?;
        Ok(account)
    }

    async fn added_as(&self, email: &str) -> Result<Option<Model>, Error> {
        let mut found = Entity::added_as(&mail_address::key(email)).all(&self.db).await?;
        if found.len() < 2 {
            return Ok(found.pop());
        }
        let now: Vec<_> = found.into_iter().map(|account| account.email).collect();
        Err(Error::refused(format!(
            "email: several accounts were added as {email}; name one by its address now: {}",
            now.join(", ")
        )))
    }

    async fn known(&self, email: &str) -> Result<Model, Error> {
        let found = with_email(&self.db, email).await?;
        found.ok_or_else(|| {
            let email = plain_text::quoted(email);
            Error::refused(format!("email: {email} has no account; `sightline user list` prints all accounts"))
        })
    }
}

/// Returns the address without surrounding space.
pub(crate) fn checked_address(text: &str) -> Result<String, Error> {
    let address = mail_address::in_ascii(text);
    let address = address.filter(|address| address.len() <= MAX_ADDRESS_BYTES && address.parse::<Address>().is_ok());
    address.ok_or_else(|| {
        let text = plain_text::quoted(text.trim());
        Error::refused(format!("email: {text} is not an e-mail address; write one such as ann@example.org"))
    })
}

/// Returns the name without surrounding space.
fn checked_name(text: &str) -> Result<String, Error> {
    let name = plain_text::plain_name(text).ok_or_else(|| Error::refused(format!("name: {PLAIN_NAME}")))?;
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use test_data::{database, noon};

    use super::*;

    async fn operator() -> Operator {
        Operator { db: database().await, random: Random::seeded(1), now: noon() }
    }

    #[tokio::test]
    async fn an_address_has_one_account_in_any_spelling() {
        let operator = operator().await;
        let ann = operator.add(" Ann@Corp.test ", Some("Ann")).await.unwrap().account;
        assert_eq!((ann.email.as_str(), ann.email_key.as_str()), ("Ann@Corp.test", "ann@corp.test"));
        let said = operator.add("ann@corp.TEST", None).await.unwrap_err().to_string();
        assert!(said.contains("sightline user reset"), "{said}");
        assert_eq!(operator.list().await.unwrap(), [ann]);
        operator.add("bea@b\u{fc}ro.example", None).await.unwrap();
        for spelling in ["bea@xn--bro-hoa.example", "Bea@b\u{fc}ro.example", "bea@bu\u{308}ro.example"] {
            assert!(operator.add(spelling, None).await.is_err(), "{spelling}");
            assert_eq!(operator.reset(spelling).await.unwrap().account.email_key, "bea@xn--bro-hoa.example");
        }
    }

    #[tokio::test]
    async fn an_invalid_address_or_name_is_refused_by_name() {
        let operator = operator().await;
        for bad in ["", "ann", "ann@", "@corp.test", "a nn@corp.test", "ann@corp.test\nbcc: x@y.test", "änn@corp.test"]
        {
            let said = operator.add(bad, None).await.unwrap_err().to_string();
            assert!(said.starts_with("email: "), "{bad}: {said}");
        }
        for bad in ["", "a\u{202e}b", "a\nb", "A\u{200b}nn", "A\u{200d}nn", "Ann\u{e0041}"] {
            let said = operator.add("ann@corp.test", Some(bad)).await.unwrap_err().to_string();
            assert!(said.starts_with("name: must be 1 to 100 characters that can be seen"), "{bad:?}: {said}");
        }
        for email in ["nobody@corp.test", "nobody"] {
            assert!(operator.reset(email).await.unwrap_err().to_string().contains("sightline user list"));
            assert!(operator.remove(email, async |_, _| Ok(())).await.is_err());
        }
    }
}
