//! Tags.

use api::{
    answer::{Answer, Answered, Created, Listed, NoContent},
    body::Body,
    security::Caller,
    tags::{PropertyTags, PropertyTagsInput, Tag, TagInput, TagPropertiesInput, TaggedProperty, TagsApi},
};
use poem_openapi::param::Path;
use uuid::Uuid;

use super::{App, Established as _, lists::listed};
use crate::services::tags;

impl TagsApi for App {
    async fn replace_property_tags(
        &self,
        caller: Caller,
        Body(body): Body<PropertyTagsInput>,
    ) -> Answered<Answer<PropertyTags>> {
        let (access, unit) = (caller.access()?, caller.unit()?);
        let transaction = unit.transaction().await?;
        Ok(Answer(tags::replace_of_property(transaction, &access, &body.tag_ids).await?))
    }

    async fn list_tags(&self, caller: Caller) -> Answered<Listed<Tag>> {
        let user = caller.member()?.user;
        listed(user.id, tags::list(&self.db, &user, self.clock.now())).await
    }

    async fn create_tag(&self, caller: Caller, Body(body): Body<TagInput>) -> Answered<Created<Tag>> {
        let (user, unit) = (caller.member()?.user.id, caller.unit()?);
        let transaction = unit.transaction().await?;
        let data = tags::create(transaction, user, body, self.fresh()).await?;
        let location = format!("/api/tags/{}", data.id);
        Ok(Created { data, location })
    }

    async fn update_tag(
        &self,
        caller: Caller,
        Path(id): Path<Uuid>,
        Body(body): Body<TagInput>,
    ) -> Answered<Answer<Tag>> {
        let (user, unit, if_match) = (caller.member()?.user, caller.unit()?, caller.if_match()?);
        let transaction = unit.transaction().await?;
        let now = self.clock.now();
        Ok(Answer(tags::replace(transaction, &user, (id, &if_match), body, now).await?))
    }

    async fn delete_tag(&self, caller: Caller, Path(id): Path<Uuid>) -> Answered<NoContent> {
        let (user, unit, if_match) = (caller.member()?.user.id, caller.unit()?, caller.if_match()?);
        let transaction = unit.transaction().await?;
        tags::delete(transaction, user, (id, &if_match)).await?;
        Ok(NoContent)
    }

    async fn list_tag_properties(&self, caller: Caller, Path(id): Path<Uuid>) -> Answered<Answer<Vec<TaggedProperty>>> {
        let user = caller.member()?.user;
        Ok(Answer(tags::properties(&self.db, &self.config, &user, id, self.clock.now()).await?))
    }

    async fn replace_tag_properties(
        &self,
        caller: Caller,
        Path(id): Path<Uuid>,
        Body(body): Body<TagPropertiesInput>,
    ) -> Answered<Answer<Vec<TaggedProperty>>> {
        let (user, unit) = (caller.member()?.user, caller.unit()?);
        let transaction = unit.transaction().await?;
        let now = self.clock.now();
        let found = tags::replace_properties(transaction, &self.config, &user, id, &body.property_ids, now).await?;
        Ok(Answer(found))
    }
}
