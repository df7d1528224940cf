//! The last known state of everything outside. No upstream request is made.

use api::{
    integrations::IntegrationsStatus,
    system::{SearchAccountHealth, SearchAccountStatus},
};
use entity::{property, search_account};
use search_engine::{Trouble, TroubleKind};

use super::{Integrations, view};
use crate::{
    error::{Error, Responsible},
    services::{search_accounts, system, users::Member},
};

impl Integrations {
    /// Returns the last known state of a person's search accounts and providers.
    pub async fn status(&self, member: &Member) -> Result<IntegrationsStatus, Error> {
        let db = &self.search.db;
        let mut accounts = Vec::new();
        for account in search_accounts::of_user(db, member.user.id).await? {
            let properties = property::Entity::of_account(account.id).all(db).await?;
            accounts.push(self.last_known(account, &properties));
        }
        let [provider_a, provider_b] = view::connections(db, member.user.id).await?;
        Ok(IntegrationsStatus { search_accounts: accounts, provider_a, provider_b })
    }

    fn last_known(&self, account: search_account::Model, properties: &[property::Model]) -> SearchAccountHealth {
        let ended = search_accounts::disconnection(&account)
            .map(|reason| self.search.disconnected(reason, &Responsible::Caller));
        let trouble = self.search.reader.engine().trouble(account.id);
        let (status, hint) = match (ended, trouble) {
            (Some(error), _) => (system::status_of(&error), error.hint().map(Into::into)),
            (None, Some(Trouble { kind: TroubleKind::Quota, .. })) => {
                (SearchAccountStatus::QuotaExceeded, Some(system::quota_used_up()))
            }
            (None, Some(_)) => (SearchAccountStatus::Unreachable, Some(system::unanswered())),
            (None, None) => (SearchAccountStatus::Connected, None),
        };
        let changed_at = account.status_at.unwrap_or(account.connected_at);
        let (last_success_at, last_error) = system::last_outcomes(&self.search, &account);
        SearchAccountHealth {
            last_success_at: last_success_at.map(Into::into),
            last_error,
            id: account.id,
            checked_at: account.synced_at.map_or(changed_at, |synced_at| synced_at.max(changed_at)).into(),
            since: Some(system::since(&self.search, &account, status).into()),
            email: account.email,
            status,
            hint,
            refused_sites: system::refused_sites(&self.search, account.id, properties),
            properties: properties.len() as u64,
        }
    }
}
