//! Answers health, feature flags and the health of search accounts.

use api::{
    answer::{Answer, Answered},
    error::ApiError,
    params::Params,
    scope::{Granted, Scope},
    security::Caller,
    system::{FeatureFlags, HealthAnswer, HealthParams, HealthProbe, HealthResponse, SearchAccountHealth, SystemApi},
};
use poem_openapi::payload::Json;

use super::{App, Established as _};
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

    async fn list_search_account_health(&self, caller: Caller) -> Answered<Answer<Vec<SearchAccountHealth>>> {
        let granted: Granted = caller.get()?;
        let mut accounts = system::accounts(&self.search, &*caller.member()?).await?;
        if !granted.allowed.contains(Scope::Account) {
            for account in &mut accounts {
                account.email = None;
            }
        }
        Ok(Answer(accounts))
    }

    async fn get_feature_flags(&self, caller: Caller) -> Answered<Answer<FeatureFlags>> {
        Ok(Answer(system::feature_flags(&self.config, &*caller.member()?)))
    }
}
