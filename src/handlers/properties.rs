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
use crate::services::properties::{self, headlines, sync, tracking};

impl PropertiesApi for App {
    async fn list_properties(
        &self,
        caller: Caller,
        Params(params): Params<PropertyListParams>,
    ) -> Answered<Answer<Vec<TrackedProperty>>> {
        let user = caller.member()?.user;
        Ok(Answer(headlines::list(&self.search, &self.config, &user, params.days.0).await?))
    }

    async fn sync_properties(&self, caller: Caller) -> Answered<Answer<SyncResult>> {
        let user = caller.member()?.user.id;
        Ok(Answer(sync::of_user(&self.search, &self.random, user).await?))
    }

    async fn get_property_tracking(&self, caller: Caller) -> Answered<Answer<Tracking>> {
        let user = caller.member()?.user.id;
        let found = tracking::read(&self.db, &self.config, user, self.clock.now()).await?;
        Ok(Answer(found.wire()))
    }

    async fn replace_property_tracking(
        &self,
        caller: Caller,
        Body(body): Body<TrackingSelection>,
    ) -> Answered<Answer<Tracking>> {
        let (user, unit, if_match) = (caller.member()?.user.id, caller.unit()?, caller.if_match()?);
        let transaction = unit.transaction().await?;
        let (wanted, now) = (&body.property_ids, self.clock.now());
        Ok(Answer(tracking::replace(transaction, &self.config, user, (wanted, &if_match), now).await?.wire()))
    }

    async fn set_property_favorite(
        &self,
        caller: Caller,
        Body(body): Body<FavoriteInput>,
    ) -> Answered<Answer<PropertyPreference>> {
        let (access, unit) = (caller.access()?, caller.unit()?);
        Ok(Answer(properties::set_favorite(unit.transaction().await?, &access, body.favorite).await?))
    }

    async fn set_property_hidden(
        &self,
        caller: Caller,
        Body(body): Body<HiddenInput>,
    ) -> Answered<Answer<PropertyPreference>> {
        let (access, unit) = (caller.access()?, caller.unit()?);
        Ok(Answer(properties::set_hidden(unit.transaction().await?, &access, body.hidden).await?))
    }
}
