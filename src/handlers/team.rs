//! Answers the operations on team grants.

use api::{
    answer::{Answer, Answered, Created, List, Listed, NoContent, Record},
    body::Body,
    params::Params,
    security::Caller,
    team::{GrantUpdate, InviteInput, TeamApi, TeamGrant, TeamListParams},
};
use poem_openapi::param::Path;
use uuid::Uuid;

use super::{App, Established as _, page_of, record, rendered};
use crate::services::{team, users::Member};

impl App {
    /// The grants that a person made, or received.
    pub async fn team(&self, member: &Member, params: &TeamListParams) -> Answered<List<TeamGrant>> {
        let grants = if params.received {
            team::received(&self.db, member, self.clock.now()).await
        } else {
            team::list(&self.db, member).await
        };
        Ok(page_of(grants?, &params.paging))
    }
}

impl TeamApi for App {
    async fn list_team_members(
        &self,
        caller: Caller,
        Params(params): Params<TeamListParams>,
    ) -> Answered<Listed<TeamGrant>> {
        Ok(rendered(&self.team(&*caller.member()?, &params).await?))
    }

    async fn get_team_member(&self, caller: Caller, Path(id): Path<Uuid>) -> Answered<Record<TeamGrant>> {
        let grant = team::one(&self.db, &*caller.member()?, id, self.clock.now()).await?;
        Ok(record(grant, |grant| &grant.etag))
    }

    async fn invite_team_member(&self, caller: Caller, Body(body): Body<InviteInput>) -> Answered<Created<TeamGrant>> {
        let change = self.change(&caller).await?;
        let data = team::invite(&change, &self.config, body).await?;
        let location = format!("/api/team/{}", data.id);
        Ok(Created { data, location })
    }

    async fn update_team_member_role(
        &self,
        caller: Caller,
        Path(id): Path<Uuid>,
        Body(body): Body<GrantUpdate>,
    ) -> Answered<Answer<TeamGrant>> {
        let change = self.change(&caller).await?;
        Ok(Answer(team::update(&change, &self.config, id, body).await?))
    }

    async fn remove_team_member(&self, caller: Caller, Path(id): Path<Uuid>) -> Answered<NoContent> {
        let change = self.change(&caller).await?;
        team::remove(&change, id).await?;
        Ok(NoContent)
    }
}
