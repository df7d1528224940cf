//! Analytics.

use api::{
    analytics::{AnalyticsApi, PerformanceAnswer, PerformanceParams},
    answer::{Answered, Rendered},
    params::Params,
    security::Caller,
};

use super::{App, Established as _};
use crate::services::performance;

impl AnalyticsApi for App {
    async fn get_property_performance(
        &self,
        caller: Caller,
        Params(params): Params<PerformanceParams>,
    ) -> Answered<Rendered<PerformanceAnswer>> {
        let answer = performance::performance(&self.search, &caller.access()?, &params).await?;
        Ok(Rendered::new(answer.body.clone()).with_digest(&answer.digest))
    }
}
