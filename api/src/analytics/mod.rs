//! Analyses of a property's search data.

mod branded;
mod cannibalization;
mod countries;
mod explanation;
mod export;
mod growth;
mod headline;
mod performance;
mod performance_query;
mod query_count;
mod query_insights;
mod shared;
mod sparklines;
mod usual;

pub use branded::*;
pub use cannibalization::*;
pub use countries::*;
pub use explanation::*;
pub use export::*;
pub use growth::*;
pub use headline::*;
pub use performance::*;
pub use performance_query::*;
pub use query_count::*;
pub use query_insights::*;
pub use shared::*;
pub use sparklines::*;
pub use usual::*;

use macros::api_trait;

use crate::{
    answer::{Answered, Csv, Rendered},
    body::Body,
    params::Params,
    security::Caller,
};

/// Analyses of a property's search data.
#[api_trait(tag = Analytics, routes = AnalyticsRoutes)]
pub trait AnalyticsApi: Send + Sync + 'static {
    /// Time series and breakdown tables
    ///
    /// Returns totals for every scope; `scope` adds a series, five breakdown tables or both. Totals never come
    /// from query or page rows. With a comparison window, totals and rows also carry its metrics and the change, and
    /// `explain=true` adds the parts of the change in clicks: demand, position and CTR; brand, queries, pages, countries
    /// and devices that carry it; and the annotations of that time.
    #[get("/api/properties/{id}/performance")]
    #[etag(Weak)]
    #[errors(
        FilterTooComplex,
        NotAvailableForSearchType,
        SearchAccountDisconnected,
        SearchSiteRefused,
        SearchEngineUnavailable
    )]
    #[scope(SearchRead)]
    async fn get_property_performance(
        &self,
        caller: Caller,
        params: Params<PropertyPerformanceParams>,
    ) -> Answered<Rendered<PerformanceAnswer>>;

    /// Rows by any dimensions
    ///
    /// Groups the traffic by up to three of date, query, page, country and device, or by search appearance. Answers one page of the
    /// rows, each with its metrics, and with a comparison window with its metrics there and the change. Changes nothing.
    ///
    /// Rows come from the first 50,000 that the search engine lists, by clicks: `coverage.rows.totalRowsCapped` says that there may be
    /// more, and `orderExact: false` that some may belong before or among the rows shown. With `query` among the dimensions rows leave anonymised
    /// queries out; `clicksShare` says how much they explain. With `page` they count `byPage`. An answer holds at most 8 MiB of rows, whatever
    /// `limit` says; `coverage.rows.hasMore` is true then, and `offset` leads to the rest.
    #[post("/api/properties/{id}/performance/query")]
    #[idempotency(ignored)]
    #[errors(
        FilterTooComplex,
        NotAvailableForSearchType,
        SearchAccountDisconnected,
        SearchSiteRefused,
        SearchEngineUnavailable
    )]
    #[scope(SearchRead)]
    async fn query_property_performance(
        &self,
        caller: Caller,
        body: Body<PerformanceQueryInput>,
    ) -> Answered<Rendered<PerformanceQueryAnswer>>;

    /// Pages that compete for the same query
    ///
    /// Returns candidates to review, not verdicts: queries for which at least two pages of the property get a
    /// substantial share of the impressions. Queries with the most impressions at stake come first.
    #[get("/api/properties/{id}/cannibalization")]
    #[etag(Weak)]
    #[errors(
        FilterTooComplex,
        NotAvailableForSearchType,
        SearchAccountDisconnected,
        SearchSiteRefused,
        SearchEngineUnavailable
    )]
    #[scope(SearchRead)]
    async fn get_property_cannibalization(
        &self,
        caller: Caller,
        params: Params<CannibalizationParams>,
    ) -> Answered<Rendered<CannibalizationAnswer>>;

    /// Queries within striking distance
    ///
    /// Returns queries that would bring more clicks from a better position (`rank`), or from a better snippet at their
    /// current position (`snippet`). The gain is a heuristic based on a CTR curve: the property's own where it has
    /// enough data.
    #[get("/api/properties/{id}/growth-opportunities")]
    #[etag(Weak)]
    #[errors(
        FilterTooComplex,
        NotAvailableForSearchType,
        SearchAccountDisconnected,
        SearchSiteRefused,
        SearchEngineUnavailable
    )]
    #[scope(SearchRead)]
    async fn get_property_growth_opportunities(
        &self,
        caller: Caller,
        params: Params<GrowthParams>,
    ) -> Answered<Rendered<GrowthAnswer>>;

    /// Visibility and branded split
    ///
    /// Returns the distribution of the identified queries over positions, their visibility, and the split of the
    /// traffic into branded, non-branded and anonymised. With a comparison window, it also returns new, lost and moving
    /// queries.
    #[get("/api/properties/{id}/query-insights")]
    #[etag(Weak)]
    #[errors(
        FilterTooComplex,
        NotAvailableForSearchType,
        SearchAccountDisconnected,
        SearchSiteRefused,
        SearchEngineUnavailable
    )]
    #[scope(SearchRead)]
    async fn get_property_query_insights(
        &self,
        caller: Caller,
        params: Params<QueryInsightsParams>,
    ) -> Answered<Rendered<QueryInsightsAnswer>>;

    /// Unique queries by day, week or month
    ///
    /// Counts identified queries with at least one impression, by period and by their position in it. Legacy: query
    /// insights return more.
    #[get("/api/properties/{id}/query-count")]
    #[etag(Weak)]
    #[deprecated("2026-09-14", "getPropertyQueryInsights")]
    #[errors(
        FilterTooComplex,
        NotAvailableForSearchType,
        SearchAccountDisconnected,
        SearchSiteRefused,
        SearchEngineUnavailable
    )]
    #[scope(SearchRead)]
    async fn get_property_query_count(
        &self,
        caller: Caller,
        params: Params<QueryCountParams>,
    ) -> Answered<Rendered<QueryCountAnswer>>;

    /// Rows behind the query count, as CSV
    ///
    /// Returns one row per day and query, ordered by date, then clicks, impressions and query. Columns: `date`,
    /// `query`, `bucket`, `clicks`, `impressions`, `ctr`, `position`, `dayCapped` (true if the day's rows reached the
    /// search engine's cap), `dayNotFinal` (true if its numbers still change). Queries are always quoted. A part of one that a spreadsheet
    /// would run as a formula (`=`, `+`, `-`, `@` in front, or behind a semicolon, a tab or a line end) has a leading apostrophe.
    #[get("/api/properties/{id}/query-count-raw")]
    #[etag(None)]
    #[errors(
        FilterTooComplex,
        NotAvailableForSearchType,
        NotFinalYet,
        SearchAccountDisconnected,
        SearchSiteRefused,
        SearchEngineUnavailable
    )]
    #[scope(SearchRead)]
    async fn export_property_query_count_raw(
        &self,
        caller: Caller,
        params: Params<QueryCountRowsParams>,
    ) -> Answered<Csv>;

    /// Breakdown by country
    ///
    /// Returns each country's metrics, and its metrics in the comparison window if there is one.
    #[get("/api/properties/{id}/countries")]
    #[etag(Weak)]
    #[errors(
        FilterTooComplex,
        NotAvailableForSearchType,
        SearchAccountDisconnected,
        SearchSiteRefused,
        SearchEngineUnavailable
    )]
    #[scope(SearchRead)]
    async fn list_property_countries(
        &self,
        caller: Caller,
        params: Params<CountriesParams>,
    ) -> Answered<Rendered<CountriesAnswer>>;

    /// Trends of the largest countries
    ///
    /// Returns a series for each of the `top` countries by clicks, and one for all other countries combined.
    #[get("/api/properties/{id}/countries-timeseries")]
    #[etag(Weak)]
    #[errors(
        FilterTooComplex,
        NotAvailableForSearchType,
        SearchAccountDisconnected,
        SearchSiteRefused,
        SearchEngineUnavailable
    )]
    #[scope(SearchRead)]
    async fn get_property_countries_timeseries(
        &self,
        caller: Caller,
        params: Params<CountriesTimeseriesParams>,
    ) -> Answered<Rendered<CountriesTimeseriesAnswer>>;

    /// Small series for table rows
    ///
    /// Returns series for the rows named in `keys`, or for the first rows of a table.
    #[get("/api/properties/{id}/table-sparklines")]
    #[etag(Weak)]
    #[errors(
        FilterTooComplex,
        NotAvailableForSearchType,
        SearchAccountDisconnected,
        SearchSiteRefused,
        SearchEngineUnavailable
    )]
    #[scope(SearchRead)]
    async fn get_property_table_sparklines(
        &self,
        caller: Caller,
        params: Params<SparklinesParams>,
    ) -> Answered<Rendered<SparklinesAnswer>>;

    /// A breakdown table as CSV
    ///
    /// Returns the rows of one table of the performance answer, in the same order. Columns: `key`, `clicks`,
    /// `impressions`, `ctr`, `position`; with a comparison window also `previousClicks`, `previousImpressions`,
    /// `previousCtr`, `previousPosition`, `changeClicks`, `changeImpressions`, `changeCtr`, `changePosition`, `presence`. A change
    /// is the metric minus its previous one; a window without the row counts as no clicks and no impressions, and the change of an
    /// `unknown` row is empty. An undefined value is an empty cell. Keys are always quoted. A part of one that a spreadsheet
    /// would run as a formula (`=`, `+`, `-`, `@` in front, or behind a semicolon, a tab or a line end) has a leading apostrophe.
    ///
    /// `X-Window` and `X-Compare-Window` name the days that the rows count, `X-Last-Final-Date` the last final day, `X-Warnings` the
    /// facts that the numbers do not show. `X-Rows-Shown`, `X-Rows-Matched`, `X-Rows-Known`, `X-Rows-Ceiling`, `X-Total-Rows-Capped` and
    /// `X-Has-More` say what `coverage` says in JSON. A window without a counted day is refused with `not_final_yet`.
    #[get("/api/properties/{id}/export")]
    #[etag(None)]
    #[errors(
        FilterTooComplex,
        NotAvailableForSearchType,
        NotFinalYet,
        SearchAccountDisconnected,
        SearchSiteRefused,
        SearchEngineUnavailable
    )]
    #[scope(SearchRead)]
    async fn export_property_performance_csv(&self, caller: Caller, params: Params<ExportParams>) -> Answered<Csv>;

    /// Branded, non-branded and anonymised traffic
    ///
    /// A property without branded keywords is refused with a hint. Legacy: query insights return the same split.
    #[get("/api/properties/{id}/branded-traffic")]
    #[etag(Weak)]
    #[deprecated("2026-09-14", "getPropertyQueryInsights")]
    #[errors(
        FilterTooComplex,
        NotAvailableForSearchType,
        SearchAccountDisconnected,
        SearchSiteRefused,
        SearchEngineUnavailable
    )]
    #[scope(SearchRead)]
    async fn get_property_branded_traffic(
        &self,
        caller: Caller,
        params: Params<BrandedTrafficParams>,
    ) -> Answered<Rendered<BrandedTrafficAnswer>>;
}
