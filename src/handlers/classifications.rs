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
use crate::services::classifications::{branded_keywords, segments, topic_clusters};

impl ClassificationsApi for App {
    async fn list_property_branded_keywords(&self, caller: Caller) -> Answered<Answer<Vec<BrandedKeyword>>> {
        Ok(Answer(branded_keywords::list(&self.db, &caller.access()?).await?))
    }

    async fn create_property_branded_keywords(
        &self,
        caller: Caller,
        Body(body): Body<BrandedKeywordsInput>,
    ) -> Answered<Created<Vec<BrandedKeyword>>> {
        let (access, unit) = (caller.access()?, caller.unit()?);
        let transaction = unit.transaction().await?;
        let data = branded_keywords::add(transaction, &access, body, &self.random, self.clock.now()).await?;
        Ok(Created { data, location: format!("/api/properties/{}/branded-keywords", access.property().id) })
    }

    async fn delete_property_branded_keyword(
        &self,
        caller: Caller,
        Params(params): Params<BrandedKeywordParams>,
    ) -> Answered<NoContent> {
        let (access, unit) = (caller.access()?, caller.unit()?);
        let transaction = unit.transaction().await?;
        branded_keywords::remove(transaction, &access, &params.keyword.0).await?;
        Ok(NoContent)
    }

    async fn list_property_segments(&self, caller: Caller) -> Answered<Listed<Segment>> {
        listed(caller.member()?.user.id, segments::list(&self.db, &caller.access()?)).await
    }

    async fn create_property_segment(
        &self,
        caller: Caller,
        Body(body): Body<SegmentInput>,
    ) -> Answered<Created<Segment>> {
        let (access, unit) = (caller.access()?, caller.unit()?);
        let transaction = unit.transaction().await?;
        let data = segments::create(transaction, &access, body, self.fresh()).await?;
        let location = format!("/api/properties/{}/segments/{}", access.property().id, data.id);
        Ok(Created { data, location })
    }

    async fn update_property_segment(
        &self,
        caller: Caller,
        Path(id): Path<Uuid>,
        Body(body): Body<SegmentInput>,
    ) -> Answered<Answer<Segment>> {
        let (access, unit, if_match) = (caller.access()?, caller.unit()?, caller.if_match()?);
        let transaction = unit.transaction().await?;
        let now = self.clock.now();
        Ok(Answer(segments::replace(transaction, &access, (id, &if_match), body, now).await?))
    }

    async fn delete_property_segment(&self, caller: Caller, Path(id): Path<Uuid>) -> Answered<NoContent> {
        let (access, unit, if_match) = (caller.access()?, caller.unit()?, caller.if_match()?);
        let transaction = unit.transaction().await?;
        segments::delete(transaction, &access, (id, &if_match)).await?;
        Ok(NoContent)
    }

    async fn list_property_topic_clusters(&self, caller: Caller) -> Answered<Listed<TopicCluster>> {
        listed(caller.member()?.user.id, topic_clusters::list(&self.db, &caller.access()?)).await
    }

    async fn create_property_topic_cluster(
        &self,
        caller: Caller,
        Body(body): Body<TopicClusterInput>,
    ) -> Answered<Created<TopicCluster>> {
        let (access, unit) = (caller.access()?, caller.unit()?);
        let transaction = unit.transaction().await?;
        let data = topic_clusters::create(transaction, &access, body, self.fresh()).await?;
        let location = format!("/api/properties/{}/topic-clusters/{}", access.property().id, data.id);
        Ok(Created { data, location })
    }

    async fn update_property_topic_cluster(
        &self,
        caller: Caller,
        Path(id): Path<Uuid>,
        Body(body): Body<TopicClusterInput>,
    ) -> Answered<Answer<TopicCluster>> {
        let (access, unit, if_match) = (caller.access()?, caller.unit()?, caller.if_match()?);
        let transaction = unit.transaction().await?;
        let now = self.clock.now();
        Ok(Answer(topic_clusters::replace(transaction, &access, (id, &if_match), body, now).await?))
    }

    async fn delete_property_topic_cluster(&self, caller: Caller, Path(id): Path<Uuid>) -> Answered<NoContent> {
        let (access, unit, if_match) = (caller.access()?, caller.unit()?, caller.if_match()?);
        let transaction = unit.transaction().await?;
        topic_clusters::delete(transaction, &access, (id, &if_match)).await?;
        Ok(NoContent)
    }
}
