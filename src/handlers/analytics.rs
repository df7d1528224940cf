//! Answers the operations of analytics.

use api::{
    analytics::{
        AnalyticsApi, BrandedTrafficAnswer, BrandedTrafficParams, CannibalizationAnswer, CannibalizationParams,
        CountriesAnswer, CountriesParams, CountriesTimeseriesAnswer, CountriesTimeseriesParams, ExportParams,
        GrowthAnswer, GrowthParams, PerformanceAnswer, PerformanceQueryAnswer, PerformanceQueryInput,
        PropertyPerformanceParams, QueryCountAnswer, QueryCountParams, QueryCountRowsParams, QueryInsightsAnswer,
        QueryInsightsParams, SparklinesAnswer, SparklinesParams,
    },
    answer::{Answered, Csv, Rendered},
    body::Body,
    params::Params,
    security::Caller,
};

use super::{App, Established as _};
use crate::services::analyses::{self, csv::CsvFile};

fn streamed(file: CsvFile) -> Csv {
    Csv { body: poem::Body::from_bytes_stream(file.blocks), file_name: file.name, rows: file.rows, days: file.days }
}

impl AnalyticsApi for App {
    async fn get_property_performance(
        &self,
        caller: Caller,
        Params(params): Params<PropertyPerformanceParams>,
    ) -> Answered<Rendered<PerformanceAnswer>> {
        self.sent(analyses::performance::performance(&self.search, &*caller.access()?, &params).await?).await
    }

    async fn query_property_performance(
        &self,
        caller: Caller,
        Body(body): Body<PerformanceQueryInput>,
    ) -> Answered<Rendered<PerformanceQueryAnswer>> {
        let answer = analyses::breakdown::query(&self.search, &*caller.access()?, &body.asked()?).await?;
        Ok(Rendered::new(self.search.answers.rendered(answer).await?.body))
    }

    async fn get_property_cannibalization(
        &self,
        caller: Caller,
        Params(params): Params<CannibalizationParams>,
    ) -> Answered<Rendered<CannibalizationAnswer>> {
        self.sent(analyses::cannibalization::cannibalization(&self.search, &*caller.access()?, &params).await?).await
    }

    async fn get_property_growth_opportunities(
        &self,
        caller: Caller,
        Params(params): Params<GrowthParams>,
    ) -> Answered<Rendered<GrowthAnswer>> {
        self.sent(analyses::growth::growth(&self.search, &*caller.access()?, &params).await?).await
    }

    async fn get_property_query_insights(
        &self,
        caller: Caller,
        Params(params): Params<QueryInsightsParams>,
    ) -> Answered<Rendered<QueryInsightsAnswer>> {
        self.sent(analyses::query_insights::query_insights(&self.search, &*caller.access()?, &params).await?).await
    }

    async fn get_property_query_count(
        &self,
        caller: Caller,
        Params(params): Params<QueryCountParams>,
    ) -> Answered<Rendered<QueryCountAnswer>> {
        self.sent(analyses::query_count::query_count(&self.search, &*caller.access()?, &params).await?).await
    }

    async fn export_property_query_count_raw(
        &self,
        caller: Caller,
        Params(params): Params<QueryCountRowsParams>,
    ) -> Answered<Csv> {
        Ok(streamed(analyses::export::query_count_rows(&self.search, &*caller.access()?, &params).await?))
    }

    async fn list_property_countries(
        &self,
        caller: Caller,
        Params(params): Params<CountriesParams>,
    ) -> Answered<Rendered<CountriesAnswer>> {
        self.sent(analyses::countries::breakdown(&self.search, &*caller.access()?, &params).await?).await
    }

    async fn get_property_countries_timeseries(
        &self,
        caller: Caller,
        Params(params): Params<CountriesTimeseriesParams>,
    ) -> Answered<Rendered<CountriesTimeseriesAnswer>> {
        self.sent(analyses::countries::timeseries(&self.search, &*caller.access()?, &params).await?).await
    }

    async fn get_property_table_sparklines(
        &self,
        caller: Caller,
        Params(params): Params<SparklinesParams>,
    ) -> Answered<Rendered<SparklinesAnswer>> {
        self.sent(analyses::sparklines::sparklines(&self.search, &*caller.access()?, &params).await?).await
    }

    async fn export_property_performance_csv(
        &self,
        caller: Caller,
        Params(params): Params<ExportParams>,
    ) -> Answered<Csv> {
        Ok(streamed(analyses::export::breakdown(&self.search, &*caller.access()?, &params).await?))
    }

    async fn get_property_branded_traffic(
        &self,
        caller: Caller,
        Params(params): Params<BrandedTrafficParams>,
    ) -> Answered<Rendered<BrandedTrafficAnswer>> {
        self.sent(analyses::branded_traffic::branded_traffic(&self.search, &*caller.access()?, &params).await?).await
    }
}
