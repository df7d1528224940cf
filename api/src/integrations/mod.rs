//! The search-engine account and the two SEO data providers.

mod backlinks;
mod connection;
mod keywords;
mod research;

pub use backlinks::*;
pub use connection::*;
pub use keywords::*;
pub use research::*;

use macros::api_trait;

use crate::{
    answer::{Answer, Answered, NoContent, Rendered},
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
    #[scope(Account)]
    async fn get_integrations_status(&self, caller: Caller) -> Answered<Answer<IntegrationsStatus>>;

    /// Connection to provider A
    ///
    /// Returns the last known state. Credentials are never shown.
    #[get("/api/integrations/provider-a")]
    #[scope(Account)]
    async fn get_provider_a_integration(&self, caller: Caller) -> Answered<Answer<ProviderConnection>>;

    /// Store credentials for provider A
    ///
    /// Tests the credentials at the provider's account endpoint, which is free of charge, and stores them if they work. Otherwise
    /// nothing is stored, stored credentials stay, and the hint says if the credentials are wrong, the account is unverified
    /// or blocked, its plan has no access to the API, or no credit is left.
    #[put("/api/integrations/provider-a")]
    #[idempotency(ignored)]
    #[plan(SeoProviders)]
    #[errors(SubscriptionRequired, ProviderRejectedCredentials, ProviderOutOfCredit, ProviderUnavailable)]
    #[scope(Account)]
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
    #[scope(Account)]
    async fn disconnect_provider_a_integration(&self, caller: Caller) -> Answered<NoContent>;

    /// Test the stored credentials for provider A
    ///
    /// Calls the provider's account endpoint, which is free of charge. The result is `state`, not an error.
    #[post("/api/integrations/provider-a/test")]
    #[idempotency(ignored)]
    #[plan(SeoProviders)]
    #[errors(SubscriptionRequired, ProviderNotConnected)]
    #[scope(Account)]
    async fn test_provider_a_integration(&self, caller: Caller) -> Answered<Answer<ProviderConnection>>;

    /// Connection to provider B
    ///
    /// Returns the last known state. Credentials are never shown.
    #[get("/api/integrations/provider-b")]
    #[scope(Account)]
    async fn get_provider_b_integration(&self, caller: Caller) -> Answered<Answer<ProviderConnection>>;

    /// Store credentials for provider B
    ///
    /// Tests the credentials at the provider's account endpoint, which is free of charge, and stores them if they work. Otherwise
    /// nothing is stored, stored credentials stay, and the hint says if the credentials are wrong, the account is unverified
    /// or blocked, its plan has no access to the API, or no credit is left.
    #[put("/api/integrations/provider-b")]
    #[idempotency(ignored)]
    #[plan(SeoProviders)]
    #[errors(SubscriptionRequired, ProviderRejectedCredentials, ProviderOutOfCredit, ProviderUnavailable)]
    #[scope(Account)]
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
    #[scope(Account)]
    async fn disconnect_provider_b_integration(&self, caller: Caller) -> Answered<NoContent>;

    /// Test the stored credentials for provider B
    ///
    /// Calls the provider's account endpoint, which is free of charge. The result is `state`, not an error.
    #[post("/api/integrations/provider-b/test")]
    #[idempotency(ignored)]
    #[plan(SeoProviders)]
    #[errors(SubscriptionRequired, ProviderNotConnected)]
    #[scope(Account)]
    async fn test_provider_b_integration(&self, caller: Caller) -> Answered<Answer<ProviderConnection>>;

    /// Keyword research
    ///
    /// Asks the caller's own connected SEO provider, never the owner's, and spends its credit; the same question costs nothing again
    /// while its answer is cached. With `keywords`, returns ideas from these seeds; without, the provider's figures for the
    /// property's own top queries. Rows carry the property's own performance where it has any. Ordered by search volume, highest
    /// first. `HEAD` is not allowed, since it would cost as much.
    #[get("/api/properties/{id}/keyword-research")]
    #[paid]
    #[plan(SeoProviders)]
    #[errors(
        ProviderNotConnected,
        ProviderRejectedCredentials,
        ProviderOutOfCredit,
        ProviderUnavailable,
        SearchAccountDisconnected,
        SearchSiteRefused,
        SearchEngineUnavailable
    )]
    #[scope(Account)]
    async fn get_property_keyword_research(
        &self,
        caller: Caller,
        params: Params<KeywordResearchParams>,
    ) -> Answered<Rendered<KeywordResearchAnswer>>;

    /// Backlinks
    ///
    /// Asks the caller's own connected SEO provider, never the owner's, and spends its credit; the same question costs nothing again
    /// while its answer is cached. Returns a summary, links and referring domains, strongest first, or the part that `scope` names.
    /// `HEAD` is not allowed, since it would cost as much.
    #[get("/api/properties/{id}/backlinks")]
    #[paid]
    #[plan(SeoProviders)]
    #[errors(ProviderNotConnected, ProviderRejectedCredentials, ProviderOutOfCredit, ProviderUnavailable)]
    #[scope(Account)]
    async fn get_property_backlinks(
        &self,
        caller: Caller,
        params: Params<BacklinksParams>,
    ) -> Answered<Rendered<BacklinksAnswer>>;
}
