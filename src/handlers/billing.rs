//! Answers the operations on subscriptions.

use api::{
    answer::{Answer, Answered},
    billing::{BillingApi, BillingSummary, Plan},
    security::Caller,
};
use common::rate_limit::LimitState;

use super::{App, Established as _};
use crate::services::billing;

impl BillingApi for App {
    async fn list_billing_plans(&self) -> Answered<Answer<Vec<Plan>>> {
        Ok(Answer(billing::catalogue(&self.config)))
    }

    async fn get_billing_summary(&self, caller: Caller) -> Answered<Answer<BillingSummary>> {
        let (member, requests) = (caller.member()?, caller.find::<LimitState>());
        let summary = billing::summary(&self.db, &self.config, &self.base_url, &member, requests, self.clock.now());
        Ok(Answer(summary.await?))
    }
}
