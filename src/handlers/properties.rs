//! Answers the operations on properties.

use api::{
    answer::{Answer, Answered, Rendered},
    body::Body,
    params::Params,
    properties::{
        FavoriteInput, HiddenInput, PortfolioAnswer, PortfolioParams, PropertiesApi, PropertyAnswer,
        PropertyListAnswer, PropertyListParams, PropertyParams, PropertyPreference, SyncResult, Tracking,
        TrackingSelection,
    },
    security::Caller,
};

use super::{App, Established as _, rendered};
use crate::services::properties::{self, headlines, portfolio, sync, tracking};

impl PropertiesApi for App {
    async fn list_properties(
        &self,
        caller: Caller,
        Params(params): Params<PropertyListParams>,
    ) -> Answered<Rendered<PropertyListAnswer>> {
        Ok(rendered(&headlines::list(&self.search, &self.config, &*caller.member()?, &params).await?))
    }

    async fn get_portfolio(
        &self,
        caller: Caller,
        Params(params): Params<PortfolioParams>,
    ) -> Answered<Rendered<PortfolioAnswer>> {
        Ok(rendered(&portfolio::read(&self.search, &self.config, &*caller.member()?, &params).await?))
    }

    async fn get_property(
        &self,
        caller: Caller,
        Params(params): Params<PropertyParams>,
    ) -> Answered<Rendered<PropertyAnswer>> {
        Ok(rendered(&headlines::one(&self.search, &*caller.access()?, &params).await?))
    }

    async fn sync_properties(&self, caller: Caller) -> Answered<Answer<SyncResult>> {
        Ok(Answer(sync::of_member(&self.search, &self.random, &*caller.member()?).await?))
    }

    async fn get_property_tracking(&self, caller: Caller) -> Answered<Answer<Tracking>> {
        Ok(Answer(tracking::read(&self.db, &*caller.member()?).await?.to_api()))
    }

    async fn replace_property_tracking(
        &self,
        caller: Caller,
        Body(body): Body<TrackingSelection>,
    ) -> Answered<Answer<Tracking>> {
        let selection = tracking::Selection::of(body)?;
        let change = self.change(&caller).await?;
        Ok(Answer(tracking::replace(&change, &self.config, &selection).await?.to_api()))
    }

    async fn set_property_favorite(
        &self,
        caller: Caller,
        Body(body): Body<FavoriteInput>,
    ) -> Answered<Answer<PropertyPreference>> {
        let change = self.change(&caller).await?;
        Ok(Answer(properties::set_favorite(&change, body.favorite).await?))
    }

    async fn set_property_hidden(
        &self,
        caller: Caller,
        Body(body): Body<HiddenInput>,
    ) -> Answered<Answer<PropertyPreference>> {
        let change = self.change(&caller).await?;
        Ok(Answer(properties::set_hidden(&change, body.hidden).await?))
    }
}
