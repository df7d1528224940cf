//! What search data says about a property.

mod branded;
mod cannibalization;
mod countries;
mod export;
mod growth;
mod performance;
mod query_count;
mod query_insights;
mod shared;
mod sparklines;

pub use branded::*;
pub use cannibalization::*;
pub use countries::*;
pub use export::*;
pub use growth::*;
pub use performance::*;
pub use query_count::*;
pub use query_insights::*;
pub use shared::*;
pub use sparklines::*;

use macros::api_trait;

use crate::{
    answer::{Answered, Csv, Rendered},
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
    #[etag(Weak)]
    #[errors(
        FilterTooComplex,
        NotAvailableForSearchType,
        SearchAccountDisconnected,
        SearchSiteRefused,
        SearchEngineUnavailable
    )]
    async fn get_property_performance(
        &self,
        caller: Caller,
        params: Params<PerformanceParams>,
    ) -> Answered<Rendered<PerformanceAnswer>>;

    /// Pages that compete for the same query
    ///
    /// Candidates to look at, not verdicts: queries for which at least two pages of the property get a real share of the
    /// impressions, the most impressions at stake first.
    #[get("/api/properties/{id}/cannibalization")]
    #[etag(Weak)]
    #[errors(
        FilterTooComplex,
        NotAvailableForSearchType,
        SearchAccountDisconnected,
        SearchSiteRefused,
        SearchEngineUnavailable
    )]
    async fn get_property_cannibalization(
        &self,
        caller: Caller,
        params: Params<CannibalizationParams>,
    ) -> Answered<Rendered<CannibalizationAnswer>>;

    /// Queries within striking distance
    ///
    /// Queries that would bring more clicks from a better position (`rank`), or from a better snippet where they stand
    /// (`snippet`). The gain is a heuristic on a CTR curve, the property's own where it has enough data.
    #[get("/api/properties/{id}/growth-opportunities")]
    #[etag(Weak)]
    #[errors(
        FilterTooComplex,
        NotAvailableForSearchType,
        SearchAccountDisconnected,
        SearchSiteRefused,
        SearchEngineUnavailable
    )]
    async fn get_property_growth_opportunities(
        &self,
        caller: Caller,
        params: Params<GrowthParams>,
    ) -> Answered<Rendered<GrowthAnswer>>;

    /// Visibility and branded split
    ///
    /// How the identified queries are distributed over positions, how visible they make the property, how the traffic splits into
    /// branded, non-branded and anonymised; with a comparison window also which queries came, went and moved.
    #[get("/api/properties/{id}/query-insights")]
    #[etag(Weak)]
    #[errors(
        FilterTooComplex,
        NotAvailableForSearchType,
        SearchAccountDisconnected,
        SearchSiteRefused,
        SearchEngineUnavailable
    )]
    async fn get_property_query_insights(
        &self,
        caller: Caller,
        params: Params<QueryInsightsParams>,
    ) -> Answered<Rendered<QueryInsightsAnswer>>;

    /// Daily unique queries
    ///
    /// Identified queries with at least one impression, by day and by that day's position. Legacy: query insights say more.
    #[get("/api/properties/{id}/query-count")]
    #[etag(Weak)]
    #[deprecated]
    #[errors(
        FilterTooComplex,
        NotAvailableForSearchType,
        SearchAccountDisconnected,
        SearchSiteRefused,
        SearchEngineUnavailable
    )]
    async fn get_property_query_count(
        &self,
        caller: Caller,
        params: Params<QueryCountParams>,
    ) -> Answered<Rendered<QueryCountAnswer>>;

    /// Rows behind the query count, as CSV
    ///
    /// One row for each day and query, by date, then clicks, impressions and query. Columns: `date`, `query`, `bucket`, `clicks`,
    /// `impressions`, `ctr`, `position`, `dayCapped` (whether the day's rows stand at the search engine's cap). A query that a spreadsheet
    /// would run as a formula (`=`, `+`, `-`, `@` in front) has a leading apostrophe.
    #[get("/api/properties/{id}/query-count-raw")]
    #[etag(None)]
    #[errors(
        FilterTooComplex,
        NotAvailableForSearchType,
        SearchAccountDisconnected,
        SearchSiteRefused,
        SearchEngineUnavailable
    )]
    async fn export_property_query_count_raw(&self, caller: Caller, params: Params<QueryCountParams>) -> Answered<Csv>;

    /// Breakdown by country
    ///
    /// Each country's metrics, with those of the comparison window where one is asked for.
    #[get("/api/properties/{id}/countries")]
    #[etag(Weak)]
    #[errors(
        FilterTooComplex,
        NotAvailableForSearchType,
        SearchAccountDisconnected,
        SearchSiteRefused,
        SearchEngineUnavailable
    )]
    async fn list_property_countries(
        &self,
        caller: Caller,
        params: Params<CountriesParams>,
    ) -> Answered<Rendered<CountriesAnswer>>;

    /// Daily trends of the largest countries
    ///
    /// A daily series for each of the `top` countries by clicks, and one for all others together.
    #[get("/api/properties/{id}/countries-timeseries")]
    #[etag(Weak)]
    #[errors(
        FilterTooComplex,
        NotAvailableForSearchType,
        SearchAccountDisconnected,
        SearchSiteRefused,
        SearchEngineUnavailable
    )]
    async fn get_property_countries_timeseries(
        &self,
        caller: Caller,
        params: Params<CountriesTimeseriesParams>,
    ) -> Answered<Rendered<CountriesTimeseriesAnswer>>;

    /// Small daily series for table rows
    ///
    /// For the rows named in `keys`, or for the first rows of a table.
    #[get("/api/properties/{id}/table-sparklines")]
    #[etag(Weak)]
    #[errors(
        FilterTooComplex,
        NotAvailableForSearchType,
        SearchAccountDisconnected,
        SearchSiteRefused,
        SearchEngineUnavailable
    )]
    async fn get_property_table_sparklines(
        &self,
        caller: Caller,
        params: Params<SparklinesParams>,
    ) -> Answered<Rendered<SparklinesAnswer>>;

    /// A breakdown table as CSV
    ///
    /// The rows of one table of the performance answer, in its order. Columns: `key`, `clicks`, `impressions`, `ctr`, `position`; with
    /// a comparison window also `previousClicks`, `previousImpressions`, `previousCtr`, `previousPosition`, `presence`. An undefined value is
    /// an empty cell; a key that a spreadsheet would run as a formula (`=`, `+`, `-`, `@` in front) has a leading apostrophe. `X-Total-Rows-Capped` says whether the table was cut at the fetch ceiling of 5,000 rows.
    #[get("/api/properties/{id}/export")]
    #[etag(None)]
    #[errors(
        FilterTooComplex,
        NotAvailableForSearchType,
        SearchAccountDisconnected,
        SearchSiteRefused,
        SearchEngineUnavailable
    )]
    async fn export_property_performance_csv(&self, caller: Caller, params: Params<ExportParams>) -> Answered<Csv>;

    /// Branded, non-branded and anonymised traffic
    ///
    /// Refused with a hint on a property without branded keywords. Legacy: query insights hold the same split.
    #[get("/api/properties/{id}/branded-traffic")]
    #[etag(Weak)]
    #[deprecated]
    #[errors(
        FilterTooComplex,
        NotAvailableForSearchType,
        SearchAccountDisconnected,
        SearchSiteRefused,
        SearchEngineUnavailable
    )]
    async fn get_property_branded_traffic(
        &self,
        caller: Caller,
        params: Params<BrandedTrafficParams>,
    ) -> Answered<Rendered<BrandedTrafficAnswer>>;
}
