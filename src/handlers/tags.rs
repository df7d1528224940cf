//! Answers the operations on tags.

use api::{
    answer::{Answer, Answered, Created, Listed, NoContent, Record},
    body::Body,
    params::{Paging, Params},
    security::Caller,
    tags::{PropertyTags, PropertyTagsInput, Tag, TagInput, TagPropertiesInput, TagUpdate, TaggedProperty, TagsApi},
};
use poem_openapi::param::Path;
use uuid::Uuid;

use super::{App, Established as _, page_of, record, rendered};
use crate::services::tags;

impl TagsApi for App {
    async fn replace_property_tags(
        &self,
        caller: Caller,
        Body(body): Body<PropertyTagsInput>,
    ) -> Answered<Answer<PropertyTags>> {
        let change = self.change(&caller).await?;
        Ok(Answer(tags::replace_of_property(&change, &body.tag_ids).await?))
    }

    async fn list_tags(&self, caller: Caller, Params(paging): Params<Paging>) -> Answered<Listed<Tag>> {
        let member = caller.member()?;
        self.lists.answer(&paging, tags::list(&self.db, &member, self.clock.now())).await
    }

    async fn create_tag(&self, caller: Caller, Body(body): Body<TagInput>) -> Answered<Created<Tag>> {
        let change = self.change(&caller).await?;
        let data = tags::create(&change, body).await?;
        let location = format!("/api/tags/{}", data.id);
        Ok(Created { data, location })
    }

    async fn get_tag(&self, caller: Caller, Path(id): Path<Uuid>) -> Answered<Record<Tag>> {
        let tag = tags::one(&self.db, &*caller.member()?, id, self.clock.now()).await?;
        Ok(record(tag, |tag| &tag.etag))
    }

    async fn update_tag(
        &self,
        caller: Caller,
        Path(id): Path<Uuid>,
        Body(body): Body<TagUpdate>,
    ) -> Answered<Answer<Tag>> {
        let change = self.change(&caller).await?;
        Ok(Answer(tags::update(&change, id, body).await?))
    }

    async fn delete_tag(&self, caller: Caller, Path(id): Path<Uuid>) -> Answered<NoContent> {
        let change = self.change(&caller).await?;
        tags::delete(&change, id).await?;
        Ok(NoContent)
    }

    async fn list_tag_properties(
        &self,
        caller: Caller,
        Path(id): Path<Uuid>,
        Params(paging): Params<Paging>,
    ) -> Answered<Listed<TaggedProperty>> {
        let member = caller.member()?;
        let all = tags::properties(&self.db, &member, id, self.clock.now()).await?;
        Ok(rendered(&page_of(all, &paging)))
    }

    async fn replace_tag_properties(
        &self,
        caller: Caller,
        Path(id): Path<Uuid>,
        Body(body): Body<TagPropertiesInput>,
    ) -> Answered<Answer<Vec<TaggedProperty>>> {
        let change = self.change(&caller).await?;
        Ok(Answer(tags::replace_properties(&change, id, &body.property_ids).await?))
    }
}
