//! Finds people who may no longer sign in. Each sign-in, each code and each refresh asks.

use common::mail_address;
use entity::{account, issuer_session, oauth_grant};
use identity::issuer::EMBEDDED;
use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, PaginatorTrait, QueryFilter, Statement, Value};
use store::database;
use uuid::Uuid;

use crate::{IdentityProvider, accounts::ending::end_everything};

impl IdentityProvider {
    /// Returns whether the holder of `account` may sign in: an operator added them, or their last verified address is still allowed.
    pub(crate) async fn is_welcome(&self, db: &impl ConnectionTrait, account: &account::Model) -> Result<bool, DbErr> {
        if account.added_by_operator {
            return Ok(true);
        }
        Ok(account.email_verified_at.is_some() && self.opens_to(db, &account.email).await?)
    }

    /// Returns whether a verified address may sign in: the settings name it, or it has a role on properties, given by somebody who may
    /// sign in without an invitation.
    pub(super) async fn opens_to(&self, db: &impl ConnectionTrait, address: &str) -> Result<bool, DbErr> {
        if self.lists(address) {
            return Ok(true);
        }
        let inviting = inviting(db, EMBEDDED, &mail_address::key(address)).await?;
        if inviting.iter().any(|subject| self.settings.demo_by_subject(subject).is_some()) {
            return Ok(true);
        }
        let ids = inviting.iter().filter_map(|subject| Uuid::try_parse(subject).ok());
        let holders = account::Entity::find().filter(account::Column::Id.is_in(ids)).all(db).await?;
        Ok(holders.iter().any(|holder| {
            holder.added_by_operator || (holder.email_verified_at.is_some() && self.lists(&holder.email))
        }))
    }

    /// Returns whether the settings name the address.
    fn lists(&self, address: &str) -> bool {
        self.upstream.as_ref().is_some_and(|upstream| upstream.rules.list(address))
    }

    /// Ends the sessions and grants of people who may no longer sign in.
    ///
    /// # Errors
    /// The database does not respond.
    pub async fn sign_out_the_unwelcome(&self) -> Result<(), DbErr> {
        let let_in_by_address = account::Entity::find().filter(account::Column::AddedByOperator.eq(false));
        for account in let_in_by_address.all(&self.db).await? {
            let subject = account.id.to_string();
            if self.is_welcome(&self.db, &account).await? || !self.has_anything_running(&subject).await? {
                continue;
            }
            let tx = database::begin(&self.db).await?;
            end_everything(&tx, &subject, None, self.clock.now()).await?;
            tx.commit().await?;
            tracing::info!("a person who may no longer sign in was signed out");
        }
        Ok(())
    }

    async fn has_anything_running(&self, subject: &str) -> Result<bool, DbErr> {
        let sessions = issuer_session::Entity::find().filter(issuer_session::Column::Subject.eq(subject));
        if sessions.count(&self.db).await? > 0 {
            return Ok(true);
        }
        let grants = oauth_grant::Entity::find()
            .filter(oauth_grant::Column::Subject.eq(subject))
            .filter(oauth_grant::Column::EndedAt.is_null());
        Ok(grants.count(&self.db).await? > 0)
    }
}

/// The subjects of the people who gave an address a role on a property that is tracked.
const INVITING: &str = "SELECT DISTINCT o.subject AS subject FROM team_grant g JOIN users o ON o.id = g.owner_id \
     WHERE g.email_key = $1 AND o.issuer = $2 AND EXISTS (SELECT 1 FROM property p WHERE p.user_id = g.owner_id AND p.tracked \
     AND (g.all_properties OR EXISTS (SELECT 1 FROM team_grant_property c WHERE c.grant_id = g.id AND c.property_id = p.id)))";

/// Returns the subjects of the people of an issuer, by its name in their records, who gave an address a role on a property that is tracked.
async fn inviting(db: &impl ConnectionTrait, issuer: &str, email_key: &str) -> Result<Vec<String>, DbErr> {
    let values: [Value; 2] = [email_key.into(), issuer.into()];
    let ask = Statement::from_sql_and_values(db.get_database_backend(), INVITING, values);
    db.query_all_raw(ask).await?.iter().map(|row| row.try_get("", "subject")).collect()
}
