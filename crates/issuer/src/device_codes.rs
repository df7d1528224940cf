//! Device codes (RFC 8628): a machine without a browser asks for one, a person decides in a browser elsewhere, and the machine redeems it
//! once.

use chrono::{DateTime, TimeDelta, Utc};
use common::{addresses::ClientAddress, allowance::Allowance, digest::sha256_hex, rate_limit::Rate};
use entity::{
    device_code::{ActiveModel, Column, Entity, Model},
    oauth_grant,
};
use poem::Response;
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait, DatabaseConnection, DbErr, EntityTrait, ExprTrait as _, PaginatorTrait as _, QueryFilter, UpdateMany,
    sea_query::{Expr, OnConflict},
};
use store::database;

use super::{
    IdentityProvider,
    clients::{Client, Recipient},
    consents::Choice,
    exchanges,
    grants::{self, Basis},
    parameters::Parameters,
    request::Access,
    response::{OAuthError, refused},
    scope,
    sessions::SignedIn,
    user_code::UserCode,
};

/// The grant type of device codes.
pub(super) const GRANT_TYPE: &str = "urn:ietf:params:oauth:grant-type:device_code";
/// Lifetime of both codes.
pub(super) const LIFETIME: TimeDelta = TimeDelta::minutes(10);
/// Seconds between two polls. Each one that comes too early adds as many.
pub(super) const INTERVAL: i32 = 5;
/// The place of consents that are given by a device code, which leads back to no address.
const PLACE: &str = "device";
/// The context of the keyed hashes of the codes that people type.
const CONTEXT: &str = "user code";
/// Requests that one address may make in an hour.
const MAX_PER_HOUR_AND_ADDRESS: u32 = 60;
/// Requests that one network ([`ClientAddress::network`]) may make in an hour.
const MAX_PER_HOUR_AND_NETWORK: u32 = 120;
/// Codes that wait at the same time, before each network has only [`MAX_BEYOND`] more. So a guess at any of them is right once in two and a half million times.
const MAX_WAITING: u64 = 10_000;
/// Codes that one network may have in an hour, and at once, although there are too many, so that no flood shuts out other networks.
const MAX_BEYOND: (u32, u32) = (6, 1);
/// Seconds to wait before retrying at the limit.
const NO_ROOM_RETRY: u64 = 60;

/// The two codes of a machine.
pub(super) struct Codes {
    pub device: String,
    pub user: UserCode,
}

/// The state of a machine's request, for somebody whose answer was not taken.
pub(super) enum Settled {
    /// This person has allowed it.
    Allowed,
    /// It has no access to this person's account: it was denied, or somebody else has allowed it.
    Denied,
    /// Nobody has decided, and nobody can any more.
    Expired,
    /// The codes are used up or unknown, so it is not known here who has decided what.
    Gone,
}

impl IdentityProvider {
    /// Counts a machine that asks against its address and network.
    pub(super) async fn count_device(&self, from: &ClientAddress) -> Result<(), OAuthError> {
        let Some(counts) = &self.counts else { return Ok(()) };
        let network = format!("device/network/{}", from.network());
        counts.count(&format!("device/{from}"), Rate::per_hour(MAX_PER_HOUR_AND_ADDRESS)).await?;
        counts.count(&network, Rate::per_hour(MAX_PER_HOUR_AND_NETWORK)).await
    }

    /// Issues codes to a client that asks for `access` from an address.
    pub(super) async fn issue_device_code(
        &self,
        client: &Client,
        access: &Access,
        from: &ClientAddress,
    ) -> Result<Codes, OAuthError> {
        let now = self.clock.now();
        if Entity::find().filter(Column::ExpiresAt.gt(now)).count(&self.db).await? >= MAX_WAITING {
            let counts = self.counts.as_ref().ok_or(OAuthError::TooMany(NO_ROOM_RETRY))?;
            counts.count_beyond("device", from, MAX_BEYOND).await?;
        }
        let device = self.random.token();
        // Two machines never show the same code.
        for _ in 0..3 {
            let user = UserCode::new(&self.random);
            let row = ActiveModel {
                hash: Set(sha256_hex(&device)),
                user_code: Set(self.user_code_hash(&user)),
                client_id: Set(client.id.clone()),
                scope: Set(access.scope.clone()),
                resources: Set(serde_json::to_string(&access.resources).unwrap_or_default()),
                asked_from: Set(Some(from.to_string())),
                created_at: Set(now),
                expires_at: Set(now + LIFETIME),
                interval_seconds: Set(INTERVAL),
                next_poll_at: Set(now),
                grant_id: Set(None),
                denied_at: Set(None),
            };
            let first_wins = OnConflict::column(Column::UserCode).do_nothing().to_owned();
            if Entity::insert(row).on_conflict(first_wins).exec_without_returning(&self.db).await? == 1 {
                return Ok(Codes { device, user });
            }
        }
        Err(OAuthError::TooMany(NO_ROOM_RETRY))
    }

    /// Returns the request of the machine that shows `code`, if it still waits for a decision.
    pub(super) async fn waiting_device(&self, code: &UserCode) -> Result<Option<Model>, DbErr> {
        let shown = Entity::find().filter(Column::UserCode.eq(self.user_code_hash(code)));
        let found = shown.one(&self.db).await?;
        Ok(found.filter(|row| is_undecided(row) && self.clock.now() < row.expires_at))
    }

    /// Allows a machine so much of what it asks for. The grant names no more. What the person allows the client elsewhere stays, or becomes as
    /// much if that is more and `held` still holds. Returns whether the machine still waited.
    pub(super) async fn allow_device(
        &self,
        asked: &Model,
        client: &Client,
        signed_in: &SignedIn,
        allowance: Allowance,
        held: Option<Allowance>,
    ) -> Result<bool, OAuthError> {
        let subject = &signed_in.person.subject;
        let asked_for = access_of(asked);
        let rights = scope::rights(&asked_for.scope).and(allowance.scopes());
        let access = Access { scope: scope::with_rights(&asked_for.scope, rights), ..asked_for };
        let tx = database::begin(&self.db).await?;
        let basis = Basis::Allowed(Choice::OfMachine { chosen: allowance, held });
        let to = Recipient { client, place: PLACE.to_owned() };
        let Some(grant) = self.record_grant(&tx, &to, &access, subject, Some(&signed_in.session), basis).await? else {
            return Ok(false);
        };
        let decided = self.decided(asked).col_expr(Column::GrantId, Expr::value(grant));
        if decided.exec(&tx).await?.rows_affected == 0 {
            return Ok(false);
        }
        tx.commit().await?;
        Ok(true)
    }

    /// Denies a machine what it asks for. Returns whether it still waited.
    pub(super) async fn deny_device(&self, asked: &Model) -> Result<bool, DbErr> {
        let decided = self.decided(asked).col_expr(Column::DeniedAt, Expr::value(self.clock.now()));
        Ok(decided.exec(&self.db).await?.rows_affected == 1)
    }

    /// Returns what became of the request of the machine that shows `code`.
    pub(super) async fn settled(&self, code: &UserCode, subject: &str) -> Result<Settled, DbErr> {
        let shown = Entity::find().filter(Column::UserCode.eq(self.user_code_hash(code)));
        let Some(row) = shown.one(&self.db).await? else { return Ok(Settled::Gone) };
        let Some(grant) = row.grant_id else {
            return Ok(if row.denied_at.is_some() { Settled::Denied } else { Settled::Expired });
        };
        let grant = grants::find(&self.db, grant).await?;
        let holds = grant.is_some_and(|grant| grant.subject == subject && grant.ended_at.is_none());
        Ok(if holds { Settled::Allowed } else { Settled::Denied })
    }

    /// Redeems a device code (`grant_type=urn:ietf:params:oauth:grant-type:device_code`).
    pub(super) async fn redeem_device_code(&self, client_id: &str, form: &Parameters) -> Result<Response, OAuthError> {
        let code = form.require("device_code", "device_code is missing.")?;
        let Some(row) = Entity::find_by_id(sha256_hex(code)).one(&self.db).await? else {
            return self.repeat_device_code(client_id, code, form).await;
        };
        if row.client_id != client_id {
            return Err(unusable());
        }
        if self.clock.now() >= row.expires_at {
            return Err(refused("expired_token", "The device code has expired. Ask for a new one."));
        }
        if row.denied_at.is_some() {
            return Err(refused("access_denied", "The person did not agree."));
        }
        let Some(grant_id) = row.grant_id else { return Err(self.pace(&row).await?) };
        let grant = grants::find(&self.db, grant_id).await?.ok_or_else(unusable)?;
        let resources = self.narrowed(&grant, form)?;
        let refreshes = scope::has(&grant.scope, "offline_access");
        self.check_running(&grant).await?;
        let tx = database::begin(&self.db).await?;
        // A single statement decides between two requests with the same code.
        if Entity::delete_by_id(row.hash).exec(&tx).await?.rows_affected == 0 {
            tx.rollback().await?;
            return self.repeat_device_code(client_id, code, form).await;
        }
        let renewal = self.exchange_code(&tx, &grant, code).await?;
        if refreshes {
            self.store_refresh_token(&tx, &grant, &renewal).await?;
        }
        tx.commit().await?;
        self.answer(&grant, &grant.scope, &resources, None, refreshes.then_some(renewal)).await
    }

    /// Answers a device code that was redeemed before. A machine may poll again, so a late use takes nothing away.
    async fn repeat_device_code(&self, client_id: &str, code: &str, form: &Parameters) -> Result<Response, OAuthError> {
        let exchange = exchanges::find(&self.db, code).await?.ok_or_else(unusable)?;
        let grant = grants::find(&self.db, exchange.grant_id).await?;
        let grant = grant.filter(|grant| grant.client_id == client_id).ok_or_else(unusable)?;
        self.check_running(&grant).await?;
        let resources = self.narrowed(&grant, form)?;
        let refreshes = scope::has(&grant.scope, "offline_access");
        let renewal = self.repeat_exchange(code, None, refreshes).await?.ok_or_else(unusable)?;
        self.answer(&grant, &grant.scope, &resources, None, refreshes.then_some(renewal)).await
    }

    /// Returns the answer to a poll before the decision, and notes when the next one may come.
    async fn pace(&self, row: &Model) -> Result<OAuthError, DbErr> {
        let now = self.clock.now();
        let of_row = || Entity::update_many().filter(Column::Hash.eq(&row.hash));
        let interval = TimeDelta::seconds(row.interval_seconds.into());
        // A time beyond the interval was noted before the clock was set back.
        if row.next_poll_at <= now || row.next_poll_at > now + interval {
            let noted = of_row()
                .col_expr(Column::NextPollAt, Expr::value(now + interval))
                .filter(Column::NextPollAt.eq(row.next_poll_at))
                .exec(&self.db)
                .await?;
            if noted.rows_affected == 1 {
                return Ok(refused("authorization_pending", "The person has not decided yet."));
            }
        }
        let next = now + TimeDelta::seconds((row.interval_seconds + INTERVAL).into());
        of_row()
            .col_expr(Column::IntervalSeconds, Expr::col(Column::IntervalSeconds).add(INTERVAL))
            .col_expr(Column::NextPollAt, Expr::value(next))
            .exec(&self.db)
            .await?;
        Ok(refused("slow_down", "Wait five seconds longer between two requests from now on."))
    }

    /// Selects a request that still waits, for a statement that decides it. The address is not needed any more.
    fn decided(&self, asked: &Model) -> UpdateMany<Entity> {
        Entity::update_many()
            .col_expr(Column::AskedFrom, Expr::value(Option::<String>::None))
            .filter(Column::Hash.eq(&asked.hash))
            .filter(Column::GrantId.is_null())
            .filter(Column::DeniedAt.is_null())
            .filter(Column::ExpiresAt.gt(self.clock.now()))
    }

    /// Refuses a grant that has ended, or whose person has signed out since.
    async fn check_running(&self, grant: &oauth_grant::Model) -> Result<(), OAuthError> {
        if !self.is_running(grant.issuer_session_id).await? {
            grants::end(&self.db, grant, self.clock.now()).await?;
            return Err(unusable());
        }
        if grant.ended_at.is_some() { Err(unusable()) } else { Ok(()) }
    }

    fn user_code_hash(&self, code: &UserCode) -> String {
        self.secrets.digest(code.letters().as_bytes(), CONTEXT)
    }
}

/// The access that a machine asks for.
pub(super) fn access_of(asked: &Model) -> Access {
    Access { scope: asked.scope.clone(), resources: serde_json::from_str(&asked.resources).unwrap_or_default() }
}

/// Deletes codes some time after their expiry, so that a machine is still told of it. Returns their number.
pub(super) async fn sweep(db: &DatabaseConnection, now: DateTime<Utc>) -> Result<u64, DbErr> {
    Ok(Entity::delete_many().filter(Column::ExpiresAt.lt(now - LIFETIME)).exec(db).await?.rows_affected)
}

fn is_undecided(row: &Model) -> bool {
    row.grant_id.is_none() && row.denied_at.is_none()
}

fn unusable() -> OAuthError {
    refused("invalid_grant", "The device code is unknown or used, or was issued for another client.")
}
