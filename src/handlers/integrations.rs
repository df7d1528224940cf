//! Answers the operations of SEO providers: connections, keyword research and backlinks.

use api::{
    answer::{Answer, Answered, NoContent, Rendered},
    body::Body,
    error::ApiError,
    integrations::{
        BacklinksAnswer, BacklinksParams, IntegrationsApi, IntegrationsStatus, KeywordResearchAnswer,
        KeywordResearchParams, Provider, ProviderACredentials, ProviderBCredentials, ProviderConnection,
    },
    params::Params,
    security::Caller,
};
use seo::Credentials;

use super::{App, Established as _, rendered};

impl App {
    async fn connection(&self, caller: &Caller, provider: Provider) -> Answered<Answer<ProviderConnection>> {
        Ok(Answer(self.integrations.connection(&*caller.member()?, provider).await?))
    }

    /// The provider is asked before the transaction begins.
    async fn connect(
        &self,
        caller: &Caller,
        provider: Provider,
        credentials: Credentials,
    ) -> Answered<Answer<ProviderConnection>> {
        let checked = self.integrations.check(&*caller.member()?, provider, credentials).await?;
        let change = self.change(caller).await?;
        Ok(Answer(self.integrations.connect(&change, checked).await?))
    }

    async fn disconnect(&self, caller: &Caller, provider: Provider) -> Answered<NoContent> {
        let change = self.change(caller).await?;
        self.integrations.disconnect(&change, provider).await?;
        Ok(NoContent)
    }

    async fn test(&self, caller: &Caller, provider: Provider) -> Answered<Answer<ProviderConnection>> {
        let tested = self.integrations.test(&*caller.member()?, provider).await?;
        let change = self.change(caller).await?;
        Ok(Answer(self.integrations.note_test(&change, provider, tested).await?))
    }
}

impl IntegrationsApi for App {
    async fn get_integrations_status(&self, caller: Caller) -> Answered<Answer<IntegrationsStatus>> {
        Ok(Answer(self.integrations.status(&*caller.member()?).await?))
    }

    async fn get_provider_a_integration(&self, caller: Caller) -> Answered<Answer<ProviderConnection>> {
        self.connection(&caller, Provider::A).await
    }

    async fn connect_provider_a_integration(
        &self,
        caller: Caller,
        Body(ProviderACredentials { login, password }): Body<ProviderACredentials>,
    ) -> Answered<Answer<ProviderConnection>> {
        self.connect(
            &caller,
            Provider::A,
            Credentials::Login { login: login.trim().to_owned(), password: password.into() },
        )
        .await
    }

    async fn disconnect_provider_a_integration(&self, caller: Caller) -> Answered<NoContent> {
        self.disconnect(&caller, Provider::A).await
    }

    async fn test_provider_a_integration(&self, caller: Caller) -> Answered<Answer<ProviderConnection>> {
        self.test(&caller, Provider::A).await
    }

    async fn get_provider_b_integration(&self, caller: Caller) -> Answered<Answer<ProviderConnection>> {
        self.connection(&caller, Provider::B).await
    }

    async fn connect_provider_b_integration(
        &self,
        caller: Caller,
        Body(ProviderBCredentials { api_key }): Body<ProviderBCredentials>,
    ) -> Answered<Answer<ProviderConnection>> {
        let key = api_key.trim();
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ApiError::invalid(
                "apiKey",
                "must be printable ASCII without blanks; copy it again from the provider",
            ));
        }
        self.connect(&caller, Provider::B, Credentials::Key(key.into())).await
    }

    async fn disconnect_provider_b_integration(&self, caller: Caller) -> Answered<NoContent> {
        self.disconnect(&caller, Provider::B).await
    }

    async fn test_provider_b_integration(&self, caller: Caller) -> Answered<Answer<ProviderConnection>> {
        self.test(&caller, Provider::B).await
    }

    async fn get_property_keyword_research(
        &self,
        caller: Caller,
        Params(params): Params<KeywordResearchParams>,
    ) -> Answered<Rendered<KeywordResearchAnswer>> {
        let (member, access) = (caller.member()?, caller.access()?);
        Ok(rendered(&self.integrations.keyword_research(&member, &access, &params).await?))
    }

    async fn get_property_backlinks(
        &self,
        caller: Caller,
        Params(params): Params<BacklinksParams>,
    ) -> Answered<Rendered<BacklinksAnswer>> {
        let (member, access) = (caller.member()?, caller.access()?);
        Ok(rendered(&self.integrations.backlinks(&member, &access, &params).await?))
    }
}
