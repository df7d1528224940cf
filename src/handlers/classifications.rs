//! Branded keywords, segments and topic clusters.

use api::{
    answer::{Answer, Answered, Created, Listed, NoContent, Rendered},
    body::Body,
    classifications::{
        BrandedKeyword, BrandedKeywordParams, BrandedKeywordsAnswer, BrandedKeywordsInput, BrandedKeywordsParams,
        ClassificationsApi, DryRunParams, Segment, SegmentInput, TopicCluster, TopicClusterInput, Tried,
    },
    params::Params,
    security::Caller,
};
use poem_openapi::param::Path;
use uuid::Uuid;

use super::{App, Established as _, lists::listed, rendered};
use crate::services::{
    analyses::{brand_suggestions::suggested, preview::preview},
    classifications::{self, Content, Shown, branded_keywords},
};

impl App {
    /// Answers a dry run of a creation.
    async fn try_create<C: Shown, W>(&self, caller: &Caller, content: impl Into<Content>) -> Answered<Tried<W>> {
        let access = caller.access()?;
        let expression = classifications::check_create::<C>(&self.db, &access, content).await?;
        Ok(Tried::Preview(Box::new(preview(&self.search, &access, expression).await?)))
    }

    /// Answers a dry run of a replacement.
    async fn try_replace<C: Shown, W>(
        &self,
        caller: &Caller,
        id: Uuid,
        content: impl Into<Content>,
    ) -> Answered<Tried<W>> {
        let (access, if_match) = (caller.access()?, caller.get()?);
        let expression = classifications::check_replace::<C>(&self.db, &access, &if_match, id, content).await?;
        Ok(Tried::Preview(Box::new(preview(&self.search, &access, expression).await?)))
    }
}

impl ClassificationsApi for App {
    async fn list_property_branded_keywords(
        &self,
        caller: Caller,
        Params(params): Params<BrandedKeywordsParams>,
    ) -> Answered<Rendered<BrandedKeywordsAnswer>> {
        let access = caller.access()?;
        let data = branded_keywords::list(&self.db, &access).await?;
        let meta = if params.suggest { Some(suggested(&self.search, &access, &data).await?) } else { None };
        Ok(rendered(&BrandedKeywordsAnswer { data, meta }))
    }

    async fn create_property_branded_keywords(
        &self,
        caller: Caller,
        Params(params): Params<DryRunParams>,
        Body(body): Body<BrandedKeywordsInput>,
    ) -> Answered<Tried<Created<Vec<BrandedKeyword>>>> {
        if params.dry_run {
            let access = caller.access()?;
            let expression = branded_keywords::check_add(&self.db, &access, body).await?;
            return Ok(Tried::Preview(Box::new(preview(&self.search, &access, expression).await?)));
        }
        let change = self.change(&caller).await?;
        let data = branded_keywords::add(&change, body).await?;
        let location = format!("/api/properties/{}/branded-keywords", change.by.property().id);
        Ok(Tried::Written(Created { data, location }))
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
        Params(params): Params<DryRunParams>,
        Body(body): Body<SegmentInput>,
    ) -> Answered<Tried<Created<Segment>>> {
        if params.dry_run {
            return self.try_create::<Segment, _>(&caller, body).await;
        }
        let change = self.change(&caller).await?;
        let data: Segment = classifications::create(&change, body).await?;
        let location = format!("/api/properties/{}/segments/{}", change.by.property().id, data.id);
        Ok(Tried::Written(Created { data, location }))
    }

    async fn update_property_segment(
        &self,
        caller: Caller,
        Path(id): Path<Uuid>,
        Params(params): Params<DryRunParams>,
        Body(body): Body<SegmentInput>,
    ) -> Answered<Tried<Answer<Segment>>> {
        if params.dry_run {
            return self.try_replace::<Segment, _>(&caller, id, body).await;
        }
        let change = self.change(&caller).await?;
        Ok(Tried::Written(Answer(classifications::replace(&change, id, body).await?)))
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
        Params(params): Params<DryRunParams>,
        Body(body): Body<TopicClusterInput>,
    ) -> Answered<Tried<Created<TopicCluster>>> {
        if params.dry_run {
            return self.try_create::<TopicCluster, _>(&caller, body).await;
        }
        let change = self.change(&caller).await?;
        let data: TopicCluster = classifications::create(&change, body).await?;
        let location = format!("/api/properties/{}/topic-clusters/{}", change.by.property().id, data.id);
        Ok(Tried::Written(Created { data, location }))
    }

    async fn update_property_topic_cluster(
        &self,
        caller: Caller,
        Path(id): Path<Uuid>,
        Params(params): Params<DryRunParams>,
        Body(body): Body<TopicClusterInput>,
    ) -> Answered<Tried<Answer<TopicCluster>>> {
        if params.dry_run {
            return self.try_replace::<TopicCluster, _>(&caller, id, body).await;
        }
        let change = self.change(&caller).await?;
        Ok(Tried::Written(Answer(classifications::replace(&change, id, body).await?)))
    }

    async fn delete_property_topic_cluster(&self, caller: Caller, Path(id): Path<Uuid>) -> Answered<NoContent> {
        let change = self.change(&caller).await?;
        classifications::delete::<TopicCluster>(&change, id).await?;
        Ok(NoContent)
    }
}
