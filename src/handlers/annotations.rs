//! Answers the operations on annotations.

use api::{
    annotations::{Annotation, AnnotationInput, AnnotationListParams, AnnotationsApi},
    answer::{Answer, Answered, Created, Listed, NoContent, Record},
    body::Body,
    params::{Ignored, Params},
    security::Caller,
};
use poem_openapi::param::Path;
use uuid::Uuid;

use super::{App, Established as _, record_of_property};
use crate::services::annotations;

impl AnnotationsApi for App {
    async fn list_property_annotations(
        &self,
        caller: Caller,
        Params(params): Params<AnnotationListParams>,
    ) -> Answered<Listed<Annotation>> {
        let access = caller.access()?;
        let found = annotations::list(&self.db, &self.search.system_annotations, &access, &params);
        self.lists.answer(&params.paging, found).await
    }

    async fn get_property_annotation(
        &self,
        caller: Caller,
        Path(id): Path<Uuid>,
        Params(ignored): Params<Ignored>,
    ) -> Answered<Record<Annotation>> {
        let access = caller.access()?;
        let annotation = annotations::one(&self.db, &self.search.system_annotations, &access, id).await?;
        Ok(record_of_property(annotation, |annotation| &annotation.etag, &ignored))
    }

    async fn create_property_annotation(
        &self,
        caller: Caller,
        Body(body): Body<AnnotationInput>,
    ) -> Answered<Created<Annotation>> {
        let change = self.change(&caller).await?;
        let data = annotations::create(&change, body).await?;
        let location = format!("/api/properties/{}/annotations/{}", change.by.property().id, data.id);
        Ok(Created { data, location })
    }

    async fn update_property_annotation(
        &self,
        caller: Caller,
        Path(id): Path<Uuid>,
        Body(body): Body<AnnotationInput>,
    ) -> Answered<Answer<Annotation>> {
        let change = self.change(&caller).await?;
        Ok(Answer(annotations::replace(&change, id, body).await?))
    }

    async fn delete_property_annotation(&self, caller: Caller, Path(id): Path<Uuid>) -> Answered<NoContent> {
        let change = self.change(&caller).await?;
        annotations::delete(&change, id).await?;
        Ok(NoContent)
    }
}
