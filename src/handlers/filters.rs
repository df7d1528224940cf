//! Filter presets.

use api::{
    answer::{Answer, Answered, Created, Listed, NoContent},
    body::Body,
    filters::{FilterPreset, FilterPresetInput, FiltersApi},
    security::Caller,
};
use poem_openapi::param::Path;
use uuid::Uuid;

use super::{App, Established as _, lists::listed};
use crate::services::filters;

impl FiltersApi for App {
    async fn list_filter_presets(&self, caller: Caller) -> Answered<Listed<FilterPreset>> {
        listed(caller.member()?.user.id, filters::list(&self.db, caller.member()?.user.id)).await
    }

    async fn create_filter_preset(
        &self,
        caller: Caller,
        Body(body): Body<FilterPresetInput>,
    ) -> Answered<Created<FilterPreset>> {
        let (user, unit) = (caller.member()?.user.id, caller.unit()?);
        let transaction = unit.transaction().await?;
        let data = filters::create(transaction, user, body, self.fresh()).await?;
        let location = format!("/api/filter-presets/{}", data.id);
        Ok(Created { data, location })
    }

    async fn update_filter_preset(
        &self,
        caller: Caller,
        Path(id): Path<Uuid>,
        Body(body): Body<FilterPresetInput>,
    ) -> Answered<Answer<FilterPreset>> {
        let (user, unit, if_match) = (caller.member()?.user.id, caller.unit()?, caller.if_match()?);
        let transaction = unit.transaction().await?;
        let now = self.clock.now();
        Ok(Answer(filters::replace(transaction, user, (id, &if_match), body, now).await?))
    }

    async fn delete_filter_preset(&self, caller: Caller, Path(id): Path<Uuid>) -> Answered<NoContent> {
        let (user, unit, if_match) = (caller.member()?.user.id, caller.unit()?, caller.if_match()?);
        let transaction = unit.transaction().await?;
        filters::delete(transaction, user, (id, &if_match)).await?;
        Ok(NoContent)
    }
}
