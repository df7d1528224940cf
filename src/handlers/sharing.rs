//! Answers the operations on share links, and the readers of shared dashboards.

use api::{
    analytics::PropertyPerformanceParams,
    answer::{Answered, Created, List, Listed, NoContent, Record, Rendered},
    body::Body,
    params::{Ignored, Paging, Params},
    security::Caller,
    sharing::{ShareLink, ShareLinkInput, SharedPerformanceAnswer, SharingApi},
};
use poem_openapi::param::Path;
use uuid::Uuid;

use super::{App, Established as _, page_of, record_of_property, rendered};
use crate::services::{
    access::{PropertyAccess, SharedProperty},
    analyses::shared,
    sharing::{self, Links},
};

impl App {
    /// The share links of a property.
    pub async fn share_links(&self, access: &PropertyAccess, paging: &Paging) -> Answered<List<ShareLink>> {
        Ok(page_of(self.links().list(&self.db, access, self.clock.now()).await?, paging))
    }

    fn links(&self) -> Links<'_> {
        Links { secrets: &self.search.secrets, base_url: &self.base_url }
    }
}

impl SharingApi for App {
    async fn list_property_share_links(
        &self,
        caller: Caller,
        Params(paging): Params<Paging>,
    ) -> Answered<Listed<ShareLink>> {
        Ok(rendered(&self.share_links(&*caller.access()?, &paging).await?))
    }

    async fn get_property_share_link(
        &self,
        caller: Caller,
        Path(id): Path<Uuid>,
        Params(ignored): Params<Ignored>,
    ) -> Answered<Record<ShareLink>> {
        let link = self.links().one(&self.db, &*caller.access()?, id, self.clock.now()).await?;
        Ok(record_of_property(link, |link| &link.etag, &ignored))
    }

    async fn create_property_share_link(
        &self,
        caller: Caller,
        Body(body): Body<ShareLinkInput>,
    ) -> Answered<Created<ShareLink>> {
        let change = self.change(&caller).await?;
        let data = self.links().create(&change, body, self.search.clock.pacific_today()).await?;
        let location = format!("/api/properties/{}/share-links/{}", change.by.property().id, data.id);
        Ok(Created { data, location })
    }

    async fn revoke_property_share_link(&self, caller: Caller, Path(id): Path<Uuid>) -> Answered<NoContent> {
        let change = self.change(&caller).await?;
        sharing::revoke(&change, id).await?;
        Ok(NoContent)
    }

    async fn get_shared_performance(
        &self,
        caller: Caller,
        _: Path<String>,
        Params(params): Params<PropertyPerformanceParams>,
    ) -> Answered<Rendered<SharedPerformanceAnswer>> {
        let property: SharedProperty = caller.get()?;
        self.sent(shared::performance(&self.search, &property, &params).await?).await
    }
}
