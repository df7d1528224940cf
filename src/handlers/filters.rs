//! Answers the operations on filter presets.

use api::{
    answer::{Answer, Answered, Created, Listed, NoContent, Record},
    body::Body,
    filters::{FilterPreset, FilterPresetInput, FiltersApi},
    params::{Paging, Params},
    security::Caller,
};
use poem_openapi::param::Path;
use uuid::Uuid;

use super::{App, Established as _, record};
use crate::services::filters;

impl FiltersApi for App {
    async fn list_filter_presets(
        &self,
        caller: Caller,
        Params(paging): Params<Paging>,
    ) -> Answered<Listed<FilterPreset>> {
        let member = caller.member()?;
        self.lists.answer(&paging, filters::list(&self.db, &member)).await
    }

    async fn get_filter_preset(&self, caller: Caller, Path(id): Path<Uuid>) -> Answered<Record<FilterPreset>> {
        let preset = filters::one(&self.db, &*caller.member()?, id).await?;
        Ok(record(preset, |preset| &preset.etag))
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
