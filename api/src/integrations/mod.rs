//! The search-engine account and the two SEO data providers.

mod connection;
mod research;

pub use connection::*;
pub use research::*;

use macros::api_trait;

use crate::{
    answer::{Answer, Answered, NoContent},
    body::Body,
    params::Params,
    security::Caller,
};

/// The search-engine account and the two SEO data providers.
#[api_trait(tag = Integrations, routes = IntegrationsRoutes)]
pub trait IntegrationsApi: Send + Sync + 'static {
    /// Connection status of everything outside
    ///
    /// Returns the last known state of the caller's search-engine accounts and SEO providers. Sends no upstream request.
    #[get("/api/integrations/status")]
    async fn get_integrations_status(&self, caller: Caller) -> Answered<Answer<IntegrationsStatus>>;

    /// Connection to provider A
    ///
    /// Returns the last known state. Credentials are never shown.
    #[get("/api/integrations/provider-a")]
    async fn get_provider_a_integration(&self, caller: Caller) -> Answered<Answer<ProviderConnection>>;

    /// Store credentials for provider A
    ///
    /// Replaces stored credentials and tests them. They are stored whatever the result, which `state` reports.
    #[put("/api/integrations/provider-a")]
    #[idempotency(ignored)]
    #[errors(SubscriptionRequired)]
    async fn connect_provider_a_integration(
        &self,
        caller: Caller,
        body: Body<ProviderACredentials>,
    ) -> Answered<Answer<ProviderConnection>>;

    /// Delete the credentials for provider A
    ///
    /// Succeeds also if none are stored.
    #[delete("/api/integrations/provider-a")]
    #[idempotency(ignored)]
    async fn disconnect_provider_a_integration(&self, caller: Caller) -> Answered<NoContent>;

    /// Test the stored credentials for provider A
    ///
    /// Calls the provider's account endpoint, which is free of charge. The result is `state`, not an error.
    #[post("/api/integrations/provider-a/test")]
    #[idempotency(ignored)]
    #[errors(SubscriptionRequired, ProviderNotConnected)]
    async fn test_provider_a_integration(&self, caller: Caller) -> Answered<Answer<ProviderConnection>>;

    /// Connection to provider B
    ///
    /// Returns the last known state. Credentials are never shown.
    #[get("/api/integrations/provider-b")]
    async fn get_provider_b_integration(&self, caller: Caller) -> Answered<Answer<ProviderConnection>>;

    /// Store credentials for provider B
    ///
    /// Replaces stored credentials and tests them. They are stored whatever the result, which `state` reports.
    #[put("/api/integrations/provider-b")]
    #[idempotency(ignored)]
    #[errors(SubscriptionRequired)]
    async fn connect_provider_b_integration(
        &self,
        caller: Caller,
        body: Body<ProviderBCredentials>,
    ) -> Answered<Answer<ProviderConnection>>;

    /// Delete the credentials for provider B
    ///
    /// Succeeds also if none are stored.
    #[delete("/api/integrations/provider-b")]
    #[idempotency(ignored)]
    async fn disconnect_provider_b_integration(&self, caller: Caller) -> Answered<NoContent>;

    /// Test the stored credentials for provider B
    ///
    /// Calls the provider's account endpoint, which is free of charge. The result is `state`, not an error.
    #[post("/api/integrations/provider-b/test")]
    #[idempotency(ignored)]
    #[errors(SubscriptionRequired, ProviderNotConnected)]
    async fn test_provider_b_integration(&self, caller: Caller) -> Answered<Answer<ProviderConnection>>;

    /// Keyword research
    ///
    /// Asks the caller's connected SEO provider and spends its credit. With `keyword`, returns ideas that contain it;
    /// without, the provider's figures for the property's own top queries. Ordered by search volume, highest first.
    #[get("/api/properties/{id}/keyword-research")]
    #[errors(
        ProviderNotConnected,
        ProviderRejectedCredentials,
        ProviderOutOfCredit,
        ProviderUnavailable,
        SearchAccountDisconnected,
        SearchSiteRefused,
        SearchEngineUnavailable
    )]
    async fn get_property_keyword_research(
        &self,
        caller: Caller,
        params: Params<KeywordResearchParams>,
    ) -> Answered<Answer<KeywordResearch>>;

    /// Backlinks
    ///
    /// Asks the caller's connected SEO provider and spends its credit. Returns a summary, links and referring domains,
    /// strongest first.
    #[get("/api/properties/{id}/backlinks")]
    #[errors(ProviderNotConnected, ProviderRejectedCredentials, ProviderOutOfCredit, ProviderUnavailable)]
    async fn get_property_backlinks(
        &self,
        caller: Caller,
        params: Params<BacklinksParams>,
    ) -> Answered<Answer<Backlinks>>;
}
