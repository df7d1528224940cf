//! The reads of pages, one function for each operation.

use api::{
    analytics::{
        CannibalizationAnswer, CountriesTimeseriesAnswer, GrowthAnswer, PerformanceAnswer, QueryInsightsAnswer,
        SparklinesAnswer,
    },
    annotations::{Annotation, AnnotationListParams},
    answer::{Answered, List},
    billing::BillingSummary,
    classifications::{BrandedKeywordsAnswer, Segment, TopicCluster},
    filters::FilterPreset,
    properties::{PortfolioAnswer, PropertyAnswer, PropertyListAnswer},
    sharing::{ShareLink, SharedPerformanceAnswer},
    system::SearchAccountHealth,
    tags::Tag,
    team::TeamGrant,
};
use common::{names::sites::SiteName, rate_limit::LimitState};
use poem_openapi::types::{ParseFromJSON, ToJSON};

use super::{Query, Visitor};
use crate::{
    error::Error,
    services::{
        analyses::{cannibalization, countries, growth, performance, query_insights, shared, sparklines},
        annotations, billing,
        classifications::{
            self, Shown,
            names::{self, Names},
        },
        filters,
        properties::{headlines, portfolio, reference},
        system, tags,
    },
};

impl Visitor<'_> {
    /// Calls `listProperties`.
    pub async fn properties(self, query: &Query<'_>) -> Answered<PropertyListAnswer> {
        let call = self.call("listProperties")?;
        let work = async {
            let (app, member) = (call.app, call.member()?);
            Ok(headlines::list(&call.search(), &app.config, &member, &call.params(query)?).await?)
        };
        call.answer(work).await
    }

    /// Calls `getPortfolio`.
    pub async fn portfolio(self, query: &Query<'_>) -> Answered<PortfolioAnswer> {
        let call = self.call("getPortfolio")?;
        let work = async {
            let (app, member) = (call.app, call.member()?);
            Ok(portfolio::read(&call.search(), &app.config, &member, &call.params(query)?).await?)
        };
        call.answer(work).await
    }

    /// Calls `listTags`.
    pub async fn tags(self) -> Answered<List<Tag>> {
        let call = self.call("listTags")?;
        let work = async {
            let (app, member) = (call.app, call.member()?);
            app.lists.records(&call.params(&[])?, tags::list(&app.db, &member, app.clock.now())).await
        };
        call.answer(work).await
    }

    /// Calls `listFilterPresets`.
    pub async fn filter_presets(self, query: &Query<'_>) -> Answered<List<FilterPreset>> {
        let call = self.call("listFilterPresets")?;
        let work = async {
            let (app, member) = (call.app, call.member()?);
            app.lists.records(&call.params(query)?, filters::list(&app.db, &member)).await
        };
        call.answer(work).await
    }

    /// Calls `listTeamMembers`.
    pub async fn team(self, query: &Query<'_>) -> Answered<List<TeamGrant>> {
        let call = self.call("listTeamMembers")?;
        let work = async {
            let member = call.member()?;
            call.app.team(&member, &call.params(query)?).await
        };
        call.answer(work).await
    }

    /// Calls `listSearchAccountHealth`. A page is a person's own, so it shows the addresses of accounts.
    pub async fn search_accounts(self) -> Answered<Vec<SearchAccountHealth>> {
        let call = self.call("listSearchAccountHealth")?;
        call.answer(async { Ok(system::accounts(&call.app.search, &*call.member()?).await?) }).await
    }

    /// Calls `getBillingSummary`.
    pub async fn billing(self) -> Answered<BillingSummary> {
        let call = self.call("getBillingSummary")?;
        let work = async {
            let (app, member, requests) = (call.app, call.member()?, self.known.get::<LimitState>().copied());
            let summary = billing::summary(&app.db, &app.config, &app.base_url, &member, requests, app.clock.now());
            Ok(summary.await?)
        };
        call.answer(work).await
    }

    /// Calls `getProperty` for the property of the page.
    pub async fn property(self, query: &Query<'_>) -> Answered<PropertyAnswer> {
        let call = self.call("getProperty")?;
        let work = async {
            let access = call.access()?;
            Ok(headlines::one(&call.search(), &access, &call.params(query)?).await?)
        };
        call.answer(work).await
    }

    /// Calls `getProperty` for the property of the page, without the visitor's marks and tags.
    pub async fn unmarked_property(self, query: &Query<'_>) -> Answered<PropertyAnswer> {
        let call = self.call("getProperty")?;
        let work = async {
            let access = call.access()?;
            Ok(headlines::unmarked(&call.search(), &access, &call.params(query)?).await?)
        };
        call.answer(work).await
    }

    /// The name of a property among those that `listProperties` returns.
    pub async fn site_name(self, site_url: &str) -> Answered<SiteName> {
        let call = self.call("listProperties")?;
        let work = async {
            let member = call.member()?;
            Ok(reference::name_of(&call.app.db, &member, site_url, call.app.clock.now()).await?)
        };
        call.answer(work).await
    }

    /// The names of what `listPropertySegments` and its siblings return.
    pub async fn classification_names(self) -> Answered<Names> {
        let call = self.call("listPropertySegments")?;
        call.answer(async { Ok(names::names(&call.app.db, &call.access()?).await.map_err(Error::from)?) }).await
    }

    /// Calls `listPropertyBrandedKeywords`.
    pub async fn branded_keywords(self, query: &Query<'_>) -> Answered<BrandedKeywordsAnswer> {
        let call = self.call("listPropertyBrandedKeywords")?;
        let work = async {
            let access = call.access()?;
            call.app.branded_keywords(&access, &call.params(query)?).await
        };
        call.answer(work).await
    }

    /// Calls `listPropertySegments`.
    pub async fn segments(self, query: &Query<'_>) -> Answered<List<Segment>> {
        self.classifications("listPropertySegments", query).await
    }

    /// Calls `listPropertyTopicClusters`.
    pub async fn topic_clusters(self, query: &Query<'_>) -> Answered<List<TopicCluster>> {
        self.classifications("listPropertyTopicClusters", query).await
    }

    async fn classifications<C>(self, operation: &str, query: &Query<'_>) -> Answered<List<C>>
    where
        C: Shown + ToJSON + ParseFromJSON + Send + Sync,
    {
        let call = self.call(operation)?;
        let work = async {
            let (app, access) = (call.app, call.access()?);
            app.lists.records(&call.params(query)?, classifications::list(&app.db, &access)).await
        };
        call.answer(work).await
    }

    /// Calls `listPropertyAnnotations`.
    pub async fn annotations(self, query: &Query<'_>) -> Answered<List<Annotation>> {
        let call = self.call("listPropertyAnnotations")?;
        let work = async {
            let (app, access) = (call.app, call.access()?);
            let params: AnnotationListParams = call.params(query)?;
            let found = annotations::list(&app.db, &app.search.system_annotations, &access, &params);
            app.lists.records(&params.paging, found).await
        };
        call.answer(work).await
    }

    /// Calls `listPropertyShareLinks`.
    pub async fn share_links(self) -> Answered<List<ShareLink>> {
        let call = self.call("listPropertyShareLinks")?;
        call.answer(async { call.app.share_links(&call.access()?, &call.params(&[])?).await }).await
    }
}

/// A function for each analysis: its operation, its name, the right that it needs, and the service that prepares its answer.
macro_rules! analyses {
    ($($operation:literal $name:ident($right:ident) = $service:path => $answer:ty),* $(,)?) => {
        impl Visitor<'_> {
            $(
                #[doc = concat!("Calls `", $operation, "`.")]
                pub async fn $name(self, query: &Query<'_>) -> Answered<$answer> {
                    let call = self.call($operation)?;
                    let work = async {
                        let right = call.$right()?;
                        call.value($service(&call.search(), &right, &call.params(query)?).await?).await
                    };
                    call.answer(work).await
                }
            )*
        }
    };
}

analyses! {
    "getPropertyPerformance" performance(access) = performance::performance => PerformanceAnswer,
    "getSharedPerformance" shared_performance(link) = shared::performance => SharedPerformanceAnswer,
    "getPropertyTableSparklines" sparklines(access) = sparklines::sparklines => SparklinesAnswer,
    "getPropertyCountriesTimeseries" countries_by_time(access) = countries::timeseries => CountriesTimeseriesAnswer,
    "getPropertyGrowthOpportunities" growth(access) = growth::growth => GrowthAnswer,
    "getPropertyCannibalization" cannibalization(access) = cannibalization::cannibalization => CannibalizationAnswer,
    "getPropertyQueryInsights" query_insights(access) = query_insights::query_insights => QueryInsightsAnswer,
}
