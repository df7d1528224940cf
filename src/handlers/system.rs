//! Answers health, feature flags and the health of search accounts.

use api::{
    answer::{Answer, Answered, Data, Rendered},
    error::ApiError,
    params::Params,
    scope::{Granted, Scope},
    security::Caller,
    system::{
        FeatureFlags, HealthAnswer, HealthParams, HealthProbe, HealthResponse, SearchAccountFailure,
        SearchAccountHealth, SystemApi,
    },
};
use chrono::DateTime;
use common::digest::opaque_tag;
use poem_openapi::{payload::Json, types::ToJSON as _};

use super::{App, Established as _, rendered};
use crate::services::system;

impl SystemApi for App {
    async fn get_health(&self, Params(params): Params<HealthParams>) -> Result<HealthResponse, ApiError> {
        let (data, serving) = match params.probe {
            HealthProbe::Live => (self.health.soon().await, true),
            HealthProbe::Ready => {
                let health = self.health.recent().await?;
                let ready = health.ready;
                (health, ready)
            }
        };
        let answer = Json(HealthAnswer { data });
        Ok(if serving { HealthResponse::Serving(answer) } else { HealthResponse::Down(answer) })
    }

    async fn list_search_account_health(&self, caller: Caller) -> Answered<Rendered<Data<Vec<SearchAccountHealth>>>> {
        let granted: Granted = caller.get()?;
        let mut accounts = system::accounts(&self.search, &*caller.member()?).await?;
        if !granted.allowed.contains(Scope::Account) {
            for account in &mut accounts {
                account.email = None;
            }
        }
        let state = Data::from(accounts.iter().cloned().map(without_times).collect::<Vec<_>>()).to_json_string();
        Ok(rendered(&Data::from(accounts)).with_digest(&opaque_tag(state.as_bytes())))
    }

    async fn get_feature_flags(&self, caller: Caller) -> Answered<Answer<FeatureFlags>> {
        Ok(Answer(system::feature_flags(&self.config, &*caller.member()?)))
    }
}

/// The account without the times at which it was asked. They differ in each answer.
fn without_times(mut account: SearchAccountHealth) -> SearchAccountHealth {
    account.checked_at = DateTime::UNIX_EPOCH.into();
    account.last_success_at = None;
    account.last_error =
        account.last_error.map(|error| SearchAccountFailure { at: DateTime::UNIX_EPOCH.into(), ..error });
    account
}
