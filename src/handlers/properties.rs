//! Properties.

use api::{
    answer::{Answer, Answered},
    body::Body,
    params::Params,
    properties::{
        FavoriteInput, HiddenInput, PropertiesApi, PropertyListParams, PropertyPreference, SyncResult, TrackedProperty,
        Tracking, TrackingSelection,
    },
    security::Caller,
};

use super::{App, Established as _};
use crate::services::{headlines, owned, properties, tracking};

impl PropertiesApi for App {
    async fn list_properties(
        &self,
        caller: Caller,
        Params(params): Params<PropertyListParams>,
    ) -> Answered<Answer<Vec<TrackedProperty>>> {
        let user = caller.identity()?.user_id;
        Ok(Answer(headlines::list(&self.search, &self.config, user, params.days.0).await?))
    }

    async fn sync_properties(&self, caller: Caller) -> Answered<Answer<SyncResult>> {
        let user = caller.identity()?.user_id;
        Ok(Answer(owned::sync(&self.search, &self.random, user).await?))
    }

    async fn get_property_tracking(&self, caller: Caller) -> Answered<Answer<Tracking>> {
        let user = caller.identity()?.user_id;
        let found = tracking::read(&self.db, &self.config, user, self.clock.now()).await?;
        Ok(Answer(owned::tracking(found)))
    }

    async fn replace_property_tracking(
        &self,
        caller: Caller,
        Body(body): Body<TrackingSelection>,
    ) -> Answered<Answer<Tracking>> {
        let user = caller.identity()?.user_id;
        let now = self.clock.now();
        let found = tracking::replace(&self.db, &self.config, user, &body.property_ids, now).await?;
        Ok(Answer(owned::tracking(found)))
    }

    async fn set_property_favorite(
        &self,
        caller: Caller,
        Body(body): Body<FavoriteInput>,
    ) -> Answered<Answer<PropertyPreference>> {
        let marks = properties::set_favorite(&self.db, &*caller.access()?, body.favorite).await?;
        Ok(Answer(owned::preference(&marks)))
    }

    async fn set_property_hidden(
        &self,
        caller: Caller,
        Body(body): Body<HiddenInput>,
    ) -> Answered<Answer<PropertyPreference>> {
        let marks = properties::set_hidden(&self.db, &*caller.access()?, body.hidden).await?;
        Ok(Answer(owned::preference(&marks)))
    }
}
