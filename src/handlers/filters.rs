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
        let member = caller.member()?;
        listed(member.user.id, filters::list(&self.db, &member)).await
    }

    async fn create_filter_preset(
        &self,
        caller: Caller,
        Body(body): Body<FilterPresetInput>,
    ) -> Answered<Created<FilterPreset>> {
        let change = self.change(&caller).await?;
        let data = filters::create(&change, body).await?;
        let location = format!("/api/filter-presets/{}", data.id);
        Ok(Created { data, location })
    }

    async fn update_filter_preset(
        &self,
        caller: Caller,
        Path(id): Path<Uuid>,
        Body(body): Body<FilterPresetInput>,
    ) -> Answered<Answer<FilterPreset>> {
        let change = self.change(&caller).await?;
        Ok(Answer(filters::replace(&change, id, body).await?))
    }

    async fn delete_filter_preset(&self, caller: Caller, Path(id): Path<Uuid>) -> Answered<NoContent> {
        let change = self.change(&caller).await?;
        filters::delete(&change, id).await?;
        Ok(NoContent)
    }
}
