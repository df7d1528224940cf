//! Annotations.

use api::{
    annotations::{Annotation, AnnotationInput, AnnotationListParams, AnnotationsApi},
    answer::{Answer, Answered, Created, Listed, NoContent},
    body::Body,
    params::Params,
    security::Caller,
};
use poem_openapi::param::Path;
use uuid::Uuid;

use super::{App, Established as _, lists::listed};
use crate::services::annotations;

impl AnnotationsApi for App {
    async fn list_property_annotations(
        &self,
        caller: Caller,
        Params(params): Params<AnnotationListParams>,
    ) -> Answered<Listed<Annotation>> {
        listed(caller.member()?.user.id, annotations::list(&self.db, &caller.access()?, &params)).await
    }

    async fn create_property_annotation(
        &self,
        caller: Caller,
        Body(body): Body<AnnotationInput>,
    ) -> Answered<Created<Annotation>> {
        let (access, unit) = (caller.access()?, caller.unit()?);
        let transaction = unit.transaction().await?;
        let data = annotations::create(transaction, &access, body, self.fresh()).await?;
        let location = format!("/api/properties/{}/annotations/{}", access.property().id, data.id);
        Ok(Created { data, location })
    }

    async fn update_property_annotation(
        &self,
        caller: Caller,
        Path(id): Path<Uuid>,
        Body(body): Body<AnnotationInput>,
    ) -> Answered<Answer<Annotation>> {
        let (access, unit, if_match) = (caller.access()?, caller.unit()?, caller.if_match()?);
        let transaction = unit.transaction().await?;
        let now = self.clock.now();
        Ok(Answer(annotations::replace(transaction, &access, (id, &if_match), body, now).await?))
    }

    async fn delete_property_annotation(&self, caller: Caller, Path(id): Path<Uuid>) -> Answered<NoContent> {
        let (access, unit, if_match) = (caller.access()?, caller.unit()?, caller.if_match()?);
        let transaction = unit.transaction().await?;
        annotations::delete(transaction, &access, (id, &if_match)).await?;
        Ok(NoContent)
    }
}
