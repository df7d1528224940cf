//! Answers the operations on branded keywords, segments and topic clusters.

use api::{
    answer::{Answer, Answered, Created, Listed, NoContent, Record, Rendered},
    body::Body,
    classifications::{
        BrandedKeyword, BrandedKeywordParams, BrandedKeywordsAnswer, BrandedKeywordsInput, BrandedKeywordsMeta,
        BrandedKeywordsParams, ClassificationPreviewAnswer, ClassificationPreviewInput, ClassificationsApi, Segment,
        SegmentInput, TopicCluster, TopicClusterInput,
    },
    params::{Ignored, Paging, Params},
    security::Caller,
};
use poem_openapi::param::Path;
use uuid::Uuid;

use super::{App, Established as _, record_of_property, rendered};
use crate::services::{
    access::PropertyAccess,
    analyses::{brand_suggestions::suggested, preview::preview},
    classifications::{self, Shown, branded_keywords},
};

impl App {
    async fn preview<C: Shown>(
        &self,
        caller: &Caller,
        input: ClassificationPreviewInput,
    ) -> Answered<Rendered<ClassificationPreviewAnswer>> {
        let access = caller.access()?;
        let expression = classifications::preview::<C>(input).await?;
        Ok(rendered(&preview(&self.search, &access, expression).await?))
    }
}

impl App {
    /// The branded keywords of a property, with suggestions if they are asked for.
    pub async fn branded_keywords(
        &self,
        access: &PropertyAccess,
        params: &BrandedKeywordsParams,
    ) -> Answered<BrandedKeywordsAnswer> {
        let all = branded_keywords::list(&self.db, access).await?;
        let list = params.paging.meta(all.len());
        let meta = if params.suggest {
            suggested(&self.search, access, &all, list).await?
        } else {
            BrandedKeywordsMeta { list, suggestions: None, queries: None, unread: None }
        };
        Ok(BrandedKeywordsAnswer { data: params.paging.page(all).0, meta })
    }
}

impl ClassificationsApi for App {
    async fn list_property_branded_keywords(
        &self,
        caller: Caller,
        Params(params): Params<BrandedKeywordsParams>,
    ) -> Answered<Rendered<BrandedKeywordsAnswer>> {
        Ok(rendered(&self.branded_keywords(&*caller.access()?, &params).await?))
    }

    async fn create_property_branded_keywords(
        &self,
        caller: Caller,
        Body(body): Body<BrandedKeywordsInput>,
    ) -> Answered<Created<Vec<BrandedKeyword>>> {
        let change = self.change(&caller).await?;
        let data = branded_keywords::add(&change, body).await?;
        let location = format!("/api/properties/{}/branded-keywords", change.by.property().id);
        Ok(Created { data, location })
    }

    async fn preview_property_branded_keywords(
        &self,
        caller: Caller,
        Body(body): Body<BrandedKeywordsInput>,
    ) -> Answered<Rendered<ClassificationPreviewAnswer>> {
        let access = caller.access()?;
        let expression = branded_keywords::preview(&self.db, &access, body).await?;
        Ok(rendered(&preview(&self.search, &access, expression).await?))
    }

    async fn delete_property_branded_keyword(
        &self,
        caller: Caller,
        Params(params): Params<BrandedKeywordParams>,
    ) -> Answered<NoContent> {
        let change = self.change(&caller).await?;
        branded_keywords::remove(&change, &params.keyword.0).await?;
        Ok(NoContent)
    }

    async fn list_property_segments(
        &self,
        caller: Caller,
        Params(paging): Params<Paging>,
    ) -> Answered<Listed<Segment>> {
        self.lists.answer(&paging, classifications::list(&self.db, &*caller.access()?)).await
    }

    async fn create_property_segment(
        &self,
        caller: Caller,
        Body(body): Body<SegmentInput>,
    ) -> Answered<Created<Segment>> {
        let change = self.change(&caller).await?;
        let data: Segment = classifications::create(&change, body).await?;
        let location = format!("/api/properties/{}/segments/{}", change.by.property().id, data.id);
        Ok(Created { data, location })
    }

    async fn preview_property_segment(
        &self,
        caller: Caller,
        Body(body): Body<ClassificationPreviewInput>,
    ) -> Answered<Rendered<ClassificationPreviewAnswer>> {
        self.preview::<Segment>(&caller, body).await
    }

    async fn get_property_segment(
        &self,
        caller: Caller,
        Path(id): Path<Uuid>,
        Params(ignored): Params<Ignored>,
    ) -> Answered<Record<Segment>> {
        let found: Segment = classifications::one(&self.db, &*caller.access()?, id).await?;
        Ok(record_of_property(found, |found| &found.etag, &ignored))
    }

    async fn update_property_segment(
        &self,
        caller: Caller,
        Path(id): Path<Uuid>,
        Body(body): Body<SegmentInput>,
    ) -> Answered<Answer<Segment>> {
        let change = self.change(&caller).await?;
        Ok(Answer(classifications::replace(&change, id, body).await?))
    }

    async fn delete_property_segment(&self, caller: Caller, Path(id): Path<Uuid>) -> Answered<NoContent> {
        let change = self.change(&caller).await?;
        classifications::delete::<Segment>(&change, id).await?;
        Ok(NoContent)
    }

    async fn list_property_topic_clusters(
        &self,
        caller: Caller,
        Params(paging): Params<Paging>,
    ) -> Answered<Listed<TopicCluster>> {
        self.lists.answer(&paging, classifications::list(&self.db, &*caller.access()?)).await
    }

    async fn create_property_topic_cluster(
        &self,
        caller: Caller,
        Body(body): Body<TopicClusterInput>,
    ) -> Answered<Created<TopicCluster>> {
        let change = self.change(&caller).await?;
        let data: TopicCluster = classifications::create(&change, body).await?;
        let location = format!("/api/properties/{}/topic-clusters/{}", change.by.property().id, data.id);
        Ok(Created { data, location })
    }

    async fn preview_property_topic_cluster(
        &self,
        caller: Caller,
        Body(body): Body<ClassificationPreviewInput>,
    ) -> Answered<Rendered<ClassificationPreviewAnswer>> {
        self.preview::<TopicCluster>(&caller, body).await
    }

    async fn get_property_topic_cluster(
        &self,
        caller: Caller,
        Path(id): Path<Uuid>,
        Params(ignored): Params<Ignored>,
    ) -> Answered<Record<TopicCluster>> {
        let found: TopicCluster = classifications::one(&self.db, &*caller.access()?, id).await?;
        Ok(record_of_property(found, |found| &found.etag, &ignored))
    }

    async fn update_property_topic_cluster(
        &self,
        caller: Caller,
        Path(id): Path<Uuid>,
        Body(body): Body<TopicClusterInput>,
    ) -> Answered<Answer<TopicCluster>> {
        let change = self.change(&caller).await?;
        Ok(Answer(classifications::replace(&change, id, body).await?))
    }

    async fn delete_property_topic_cluster(&self, caller: Caller, Path(id): Path<Uuid>) -> Answered<NoContent> {
        let change = self.change(&caller).await?;
        classifications::delete::<TopicCluster>(&change, id).await?;
        Ok(NoContent)
    }
}
