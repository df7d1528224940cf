//! Branded keywords, segments and topic clusters.

use api::{
    answer::{Answer, Answered, Created, Listed, NoContent},
    body::Body,
    classifications::{
        BrandedKeyword, BrandedKeywordParams, BrandedKeywordsInput, ClassificationsApi, Segment, SegmentInput,
        TopicCluster, TopicClusterInput,
    },
    params::Params,
    security::Caller,
};
use poem_openapi::param::Path;
use uuid::Uuid;

use super::{App, Established as _, lists::listed};
use crate::services::classifications::{self, branded_keywords};

impl ClassificationsApi for App {
    async fn list_property_branded_keywords(&self, caller: Caller) -> Answered<Answer<Vec<BrandedKeyword>>> {
        Ok(Answer(branded_keywords::list(&self.db, &*caller.access()?).await?))
    }

    async fn create_property_branded_keywords(
        &self,
        caller: Caller,
        Body(body): Body<BrandedKeywordsInput>,
    ) -> Answered<Created<Vec<BrandedKeyword>>> {
        let change = self.change(&caller).await?;
        let data = branded_keywords::add(&change, body).await?;
        Ok(Created { data, location: format!("/api/properties/{}/branded-keywords", change.by.property().id) })
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

    async fn list_property_segments(&self, caller: Caller) -> Answered<Listed<Segment>> {
        listed(caller.member()?.user.id, classifications::list(&self.db, &*caller.access()?)).await
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

    async fn list_property_topic_clusters(&self, caller: Caller) -> Answered<Listed<TopicCluster>> {
        listed(caller.member()?.user.id, classifications::list(&self.db, &*caller.access()?)).await
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
