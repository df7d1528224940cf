//! Sign-in, applications and the audit trail.

use api::privacy::{
    ApplicationGrant, ApplicationRefusal, ApplicationToken, ApplicationTokenKind, ApplicationUse, Consent,
    IssuerSessionRecord, LocalAccount, LocalAccountLink, ReplayRecord, SessionRecord,
};
use chrono::{DateTime, Utc};
use entity::{
    account, account_link, authorization_code, client_refusal, client_use, consent, issuer_session, oauth_grant,
    refresh_token, replay, session,
};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _, QuerySelect as _};
use uuid::Uuid;

use super::Export;
use crate::{error::Error, services::audit};

/// The number of audit events that are read at once.
const PAGE: u64 = 500;

/// The columns of a stored answer that are shown: method, path, status, and the times when it was stored and expires.
type Shown = (String, String, i32, DateTime<Utc>, DateTime<Utc>);

fn words(scopes: &str) -> Vec<String> {
    scopes.split_ascii_whitespace().map(str::to_owned).collect()
}

impl Export {
    pub(super) async fn local_account(&mut self) -> Result<(), Error> {
        let Some(row) = account::Entity::find_by_id(self.person.account()).one(&self.db).await? else { return Ok(()) };
        let links = account_link::Entity::find().filter(account_link::Column::AccountId.eq(row.id));
        let links = links.order_by_asc(account_link::Column::ExpiresAt).all(&self.db).await?;
        let link = |link: account_link::Model| LocalAccountLink {
            expires_at: link.expires_at.into(),
            used_at: link.used_at.map(Into::into),
        };
        let shown = LocalAccount {
            id: row.id,
            email: row.email,
            name: row.name,
            has_password: row.password_hash.is_some(),
            email_verified_at: row.email_verified_at.map(Into::into),
            password_changed_at: row.password_changed_at.into(),
            last_sign_in_at: row.last_sign_in_at.map(Into::into),
            upstream_issuer: row.upstream_issuer,
            upstream_subject: row.upstream_subject,
            added_by_operator: row.added_by_operator,
            added_as: row.added_as_key,
            links: links.into_iter().map(link).collect(),
            created_at: row.created_at.into(),
            updated_at: row.updated_at.into(),
        };
        self.out.field("localAccount", &shown);
        Ok(())
    }

    pub(super) async fn access(&mut self) -> Result<(), Error> {
        self.sessions().await?;
        self.grants().await?;
        let person = self.person.id;
        let uses = client_use::Entity::of_user(person).order_by_asc(client_use::Column::ClientId).all(&self.db).await?;
        let shown = |row: client_use::Model| ApplicationUse {
            client_id: row.client_id,
            scopes: words(&row.scopes),
            first_used_at: row.first_used_at.into(),
            last_used_at: row.last_used_at.into(),
            tools_used_at: row.tools_used_at.map(Into::into),
        };
        self.list("applicationUses", uses.into_iter().map(shown)).await?;
        let refusals = client_refusal::Entity::of_user(person).order_by_asc(client_refusal::Column::ClientId);
        let refused = |row: client_refusal::Model| ApplicationRefusal {
            client_id: row.client_id,
            refused_at: row.refused_at.into(),
        };
        let refusals = refusals.all(&self.db).await?;
        self.list("applicationRefusals", refusals.into_iter().map(refused)).await?;
        self.replays().await
    }

    async fn sessions(&mut self) -> Result<(), Error> {
        let here = session::Entity::find().filter(session::Column::UserId.eq(self.person.id));
        let here = here.order_by_asc(session::Column::Id).all(&self.db).await?;
        let shown = |row: session::Model| SessionRecord {
            user_agent: row.user_agent,
            created_at: row.created_at.into(),
            expires_at: row.expires_at.into(),
        };
        self.list("sessions", here.into_iter().map(shown)).await?;
        let there = issuer_session::Entity::find().filter(issuer_session::Column::Subject.eq(self.person.subject()));
        let there = there.order_by_asc(issuer_session::Column::Id).all(&self.db).await?;
        let shown = |row: issuer_session::Model| IssuerSessionRecord {
            user_agent: row.user_agent,
            auth_time: row.auth_time.into(),
            created_at: row.created_at.into(),
            expires_at: row.expires_at.into(),
        };
        self.list("issuerSessions", there.into_iter().map(shown)).await
    }

    async fn grants(&mut self) -> Result<(), Error> {
        let subject = self.person.subject().to_owned();
        let consents = consent::Entity::of_subject(&subject).all(&self.db).await?;
        let shown = |row: consent::Model| Consent {
            client_id: row.client_id,
            address: row.address,
            scopes: words(&row.scope),
            allows: row.allows,
            created_at: row.created_at.into(),
            updated_at: row.updated_at.into(),
        };
        self.list("consents", consents.into_iter().map(shown)).await?;
        let grants = oauth_grant::Entity::find().filter(oauth_grant::Column::Subject.eq(&subject));
        let grants = grants.order_by_asc(oauth_grant::Column::Id).all(&self.db).await?;
        let ids: Vec<Uuid> = grants.iter().map(|grant| grant.id).collect();
        let shown = |row: oauth_grant::Model| ApplicationGrant {
            id: row.id,
            client_id: row.client_id,
            scopes: words(&row.scope),
            auth_time: row.auth_time.map(Into::into),
            created_at: row.created_at.into(),
            expires_at: row.expires_at.into(),
            ended_at: row.ended_at.map(Into::into),
        };
        self.list("applicationGrants", grants.into_iter().map(shown)).await?;
        self.begin("applicationTokens");
        for ids in ids.chunks(100) {
            self.tokens(ids).await?;
        }
        self.end();
        Ok(())
    }

    async fn tokens(&mut self, grants: &[Uuid]) -> Result<(), Error> {
        let own = authorization_code::Column::GrantId.is_in(grants.iter().copied());
        let codes = authorization_code::Entity::find().filter(own).all(&self.db).await?;
        let code = |row: authorization_code::Model| ApplicationToken {
            kind: ApplicationTokenKind::AuthorizationCode,
            grant_id: row.grant_id,
            expires_at: row.expires_at.into(),
            used_at: row.used_at.map(Into::into),
        };
        self.items(codes.into_iter().map(code)).await?;
        let own = refresh_token::Column::GrantId.is_in(grants.iter().copied());
        let tokens = refresh_token::Entity::find().filter(own).all(&self.db).await?;
        let token = |row: refresh_token::Model| ApplicationToken {
            kind: ApplicationTokenKind::RefreshToken,
            grant_id: row.grant_id,
            expires_at: row.expires_at.into(),
            // A used one is deleted.
            used_at: None,
        };
        self.items(tokens.into_iter().map(token)).await
    }

    /// The bodies of stored answers are what the answers showed. They are megabytes and not read.
    async fn replays(&mut self) -> Result<(), Error> {
        use replay::Column::{CreatedAt, ExpiresAt, Id, Method, Path, Status, UserId};
        let stored = replay::Entity::find().filter(UserId.eq(self.person.id)).order_by_asc(Id).select_only();
        let columns = [Method, Path, Status, CreatedAt, ExpiresAt];
        let stored: Vec<Shown> = stored.columns(columns).into_tuple().all(&self.db).await?;
        let shown = |(method, path, status, stored_at, expires_at): Shown| ReplayRecord {
            method,
            path,
            status: u32::try_from(status).unwrap_or_default(),
            stored_at: stored_at.into(),
            expires_at: expires_at.into(),
        };
        self.list("storedReplays", stored.into_iter().map(shown)).await
    }

    pub(super) async fn audit_trail(&mut self) -> Result<(), Error> {
        self.begin("auditTrail");
        let mut before = None;
        loop {
            let (user, email_key) = (self.member.user.clone(), self.email_key.clone());
            let events = audit::about(&self.db, &user, email_key.as_deref(), before, PAGE).await?;
            let Some(last) = events.last() else { break };
            before = Some((last.at.into(), last.id));
            self.items(events).await?;
        }
        self.end();
        Ok(())
    }
}
