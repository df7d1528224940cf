//! Team.

use api::{
    answer::{Answer, Answered, Created, NoContent},
    body::Body,
    params::Params,
    security::Caller,
    team::{InviteInput, RoleInput, TeamApi, TeamGrant, TeamListParams},
};
use poem_openapi::param::Path;
use uuid::Uuid;

use super::{App, Established as _};
use crate::services::team;

impl TeamApi for App {
    async fn list_team_members(
        &self,
        caller: Caller,
        Params(params): Params<TeamListParams>,
    ) -> Answered<Answer<Vec<TeamGrant>>> {
        let user = caller.member()?.user;
        let grants = if params.received {
            team::received(&self.db, &user, self.clock.now()).await
        } else {
            team::list(&self.db, user.id).await
        };
        Ok(Answer(grants?))
    }

    async fn invite_team_member(&self, caller: Caller, Body(body): Body<InviteInput>) -> Answered<Created<TeamGrant>> {
        let (user, unit) = (caller.member()?.user.id, caller.unit()?);
        let transaction = unit.transaction().await?;
        let data = team::invite(transaction, &self.config, user, body, self.fresh()).await?;
        let location = format!("/api/team/{}", data.id);
        Ok(Created { data, location })
    }

    async fn update_team_member_role(
        &self,
        caller: Caller,
        Path(id): Path<Uuid>,
        Body(body): Body<RoleInput>,
    ) -> Answered<Answer<TeamGrant>> {
        let (user, unit, if_match) = (caller.member()?.user.id, caller.unit()?, caller.if_match()?);
        let transaction = unit.transaction().await?;
        let now = self.clock.now();
        let changed = team::change_role(transaction, &self.config, user, (id, &if_match), body.role, now).await?;
        Ok(Answer(changed))
    }

    async fn remove_team_member(&self, caller: Caller, Path(id): Path<Uuid>) -> Answered<NoContent> {
        let (user, unit, if_match) = (caller.member()?.user, caller.unit()?, caller.if_match()?);
        let transaction = unit.transaction().await?;
        team::remove(transaction, &user, (id, &if_match), self.clock.now()).await?;
        Ok(NoContent)
    }
}
