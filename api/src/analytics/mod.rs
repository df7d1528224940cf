//! What search data says about a property.

pub mod performance;

pub use performance::*;

use macros::api_trait;

use crate::{
    answer::{Answered, Rendered},
    params::Params,
    security::Caller,
};

/// What search data says about a property.
#[api_trait(tag = Analytics, routes = AnalyticsRoutes)]
pub trait AnalyticsApi: Send + Sync + 'static {
    /// Time series and breakdown tables
    ///
    /// Totals for every scope; a daily series and five breakdown tables as `scope` asks. Totals never come from query or page
    /// rows. With a comparison window, totals and rows also carry its metrics and the change.
    #[get("/api/properties/{id}/performance")]
    #[errors(
        InvalidRequest,
        FilterTooComplex,
        NotAvailableForSearchType,
        SearchAccountDisconnected,
        SearchEngineUnavailable
    )]
    async fn get_property_performance(
        &self,
        caller: Caller,
        params: Params<PerformanceParams>,
    ) -> Answered<Rendered<PerformanceAnswer>>;
}
