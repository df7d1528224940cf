//! Share links: anyone who has one can read the property's dashboard.
//!
//! A link's token has 256 bits. It is looked up by its SHA-256 digest. A sealed copy lets managers of links see the link again.

use api::{
    models::{Classification, Comparison, Filters, Role, SearchType, Slice, Window, WindowParams},
    params::{ParamValue as _, TextField},
    privacy::AuditAction,
    sharing::{ShareLink, ShareLinkInput, ShareLinkWindowInput, SharedPart},
};
use chrono::{DateTime, NaiveDate, SubsecRound as _, Utc};
use common::{base_url::BaseUrl, compute::beside, secrets::Secrets};
use entity::share_link::{self, Column, Entity};
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait as _, ConnectionTrait, DatabaseConnection, DbErr, EntityTrait as _,
    IntoActiveModel, QueryFilter as _,
};
use sha2::{Digest as _, Sha256};
use store::{
    resealing::{self, SealedColumn},
    transaction::Transaction,
};
use uuid::Uuid;

use super::{
    access::{Authors, PropertyAccess, View},
    analyses::{predicate, question::planned, requests::MOST_REQUESTS, windows::Windows},
    audit::Event,
    change::{Limit, Others, PropertyChange, etag, trimmed},
    classifications::conditions::stored_filters,
};
use crate::error::Error;

/// The maximum number of active links of a property.
pub(super) const MAX_LINKS: Limit = Limit { max: 100, noun: "active share links" };

/// The most parts of an answer, each of which takes the requests of a link's own conditions.
const PARTS: usize = 8;

/// The name of the table.
const TABLE: &str = "share_link";

/// The secrets and the address that showing and creating links need.
pub struct Links<'a> {
    /// Seals and opens tokens.
    pub secrets: &'a Secrets,
    /// The root of public links.
    pub base_url: &'a BaseUrl,
}

/// Returns the digest that a token is looked up by.
#[must_use]
pub fn token_hash(token: &str) -> Vec<u8> {
    Sha256::digest(token).to_vec()
}

impl Links<'_> {
    /// Returns the active links of a property, newest first. Includes their tokens only for people who may manage links.
    pub async fn list(
        &self,
        db: &impl ConnectionTrait,
        access: &PropertyAccess,
        now: DateTime<Utc>,
    ) -> Result<Vec<ShareLink>, Error> {
        let rows = Entity::active_of_property(access.property().id, now).all(db).await?;
        let authors = access.authors(db, rows.iter().map(|row| row.created_by).collect()).await?;
        let read = beside(move || {
            let view = |row: share_link::Model| Ok::<_, Error>((View::of(&row)?, row));
            rows.into_iter().rev().map(view).collect::<Result<Vec<_>, _>>()
        });
        let rows = read.await??;
        Ok(rows.into_iter().map(|(view, row)| self.to_api(&row, view, access, &authors)).collect())
    }

    /// Returns an active link of a property, with its token only for people who may manage links.
    pub async fn one(
        &self,
        db: &impl ConnectionTrait,
        access: &PropertyAccess,
        id: Uuid,
        now: DateTime<Utc>,
    ) -> Result<ShareLink, Error> {
        let row = Entity::active_one_of_property(access.property().id, id, now).one(db).await?;
        let row = row.ok_or(Error::NotFound)?;
        let authors = access.authors(db, vec![row.created_by]).await?;
        Ok(self.to_api(&row, View::of(&row)?, access, &authors))
    }

    /// Creates a link. `today` is the search engine's.
    pub async fn create(
        &self,
        change: &PropertyChange,
        input: ShareLinkInput,
        today: NaiveDate,
    ) -> Result<ShareLink, Error> {
        // Truncated to milliseconds, like every time here, so that the response equals what every database stores.
        let expires_at = input.expires_at.map(|end| DateTime::from(end).trunc_subsecs(3));
        if expires_at.is_some_and(|end| end <= change.now) {
            return Err(Error::invalid("expiresAt: must be in the future"));
        }
        let window = input.window.map(|window| checked_window(window, today)).transpose()?;
        let property_id = change.lock().await?;
        let filters = checked_filters(change, &input).await?;
        let classification = input.classification.as_ref();
        let pinned = pinned(change.tx(), property_id, classification.map(|classification| classification.0)).await?;
        let others = async |column| {
            Others::read(change.tx(), Entity::active_of_property(property_id, change.now), None, Some(column)).await
        };
        let of_filters = others(Column::Filters).await?;
        of_filters.check_room(MAX_LINKS)?;
        of_filters.check_bytes("filters", filters.as_ref().map_or(0, String::len), MAX_LINKS)?;
        if let Some(pinned) = &pinned {
            others(Column::Pinned).await?.check_bytes("classification", pinned.len(), MAX_LINKS)?;
        }
        let shows = |part| input.show.as_ref().is_none_or(|shown| shown.contains(&part));
        let (token, id) = (change.new_token(), change.new_id());
        let row = share_link::ActiveModel {
            id: Set(id),
            property_id: Set(property_id),
            created_by: Set(Some(change.by.user_id())),
            grant_id: Set(change.by.grant_id()),
            name: Set(input.name.as_deref().map(trimmed)),
            token_hash: Set(token_hash(&token)),
            sealed_token: Set(self.secrets.seal(token.as_bytes(), &context(&id))),
            first_day: Set(window.map(|window| window.start_date)),
            last_day: Set(window.map(|window| window.end_date)),
            filters: Set(filters),
            classification: Set(classification.map(written)),
            pinned: Set(pinned),
            shows_queries: Set(shows(SharedPart::Queries)),
            shows_pages: Set(shows(SharedPart::Pages)),
            shows_notes: Set(shows(SharedPart::Notes)),
            expires_at: Set(expires_at),
            revoked_at: Set(None),
            created_at: Set(change.now),
        };
        let row = row.insert(change.tx()).await?;
        change.note(named(&change.by, AuditAction::ShareLinkMade, &row)).await?;
        let authors = change.by.authors(change.tx(), vec![row.created_by]).await?;
        Ok(self.to_api(&row, View::of(&row)?, &change.by, &authors))
    }

    /// Converts the row to an API link. Omits a token that the current key cannot open: the link can still be revoked.
    fn to_api(&self, row: &share_link::Model, view: View, access: &PropertyAccess, authors: &Authors) -> ShareLink {
        let manages = access.role() >= Role::Admin;
        let token = self.secrets.open(&row.sealed_token, &context(&row.id)).ok().filter(|_| manages);
        let token = token.and_then(|token| String::from_utf8(token).ok());
        ShareLink {
            id: row.id,
            name: row.name.clone(),
            url: token.as_ref().map(|token| format!("{}/share/{token}", self.base_url)),
            api_url: token.as_ref().map(|token| format!("{}/api/share/{token}/performance", self.base_url)),
            token,
            created_by: authors.name(row.created_by),
            expires_at: row.expires_at.map(Into::into),
            window: view.window,
            filters: view.filters.map(|filters| filters.0),
            classification: view.classification.map(TextField),
            pinned: view.pinned,
            show: view.show,
            etag: etag(row),
            created_at: row.created_at.into(),
        }
    }
}

/// Checks the days of a new link, as those of a question are checked.
fn checked_window(window: ShareLinkWindowInput, today: NaiveDate) -> Result<Window, Error> {
    let ShareLinkWindowInput { start_date, end_date } = window;
    if start_date > end_date {
        return Err(Error::invalid("window.startDate: must not be after endDate"));
    }
    let asked = Window { start_date, end_date };
    match Windows::given(&WindowParams::from(asked), &Comparison::default(), today) {
        Ok(given) => Ok(given.window.unwrap_or(asked)),
        Err(Error::InvalidRequest { hint }) => Err(Error::invalid(format!("window.{hint}"))),
        Err(error) => Err(error),
    }
}

/// Checks the conditions of a new link, as those of a question are checked. Returns its filters as they are stored.
///
/// # Errors
/// The errors of a question with these conditions. [`Error::FilterTooComplex`] if answers would take too many requests.
async fn checked_filters(change: &PropertyChange, input: &ShareLinkInput) -> Result<Option<String>, Error> {
    let filters = input.filters.clone().filter(|filters| !filters.is_empty());
    let classification = input.classification.as_ref().map(|classification| classification.0);
    let stored = match &filters {
        Some(filters) => Some(stored_filters(filters.clone()).await?),
        None => None,
    };
    let slice = Slice { classification, search_type: SearchType::Web, filters: filters.map(Filters) };
    let (predicate, _) = predicate::of(change.tx(), &change.by, &slice).await?;
    let (terms, most) = (planned(predicate).await?.terms.len(), MOST_REQUESTS / PARTS);
    if terms > most {
        return Err(Error::FilterTooComplex(format!(
            "filters: the conditions of the link take {terms} upstream requests for each part of an answer, and at most {most} are made \
             for a link; use fewer conditions joined by or, or put alternatives on one dimension into one or_list or matches_regex"
        )));
    }
    Ok(stored)
}

/// Returns what a classification stands for now, as it is stored.
async fn pinned(
    db: &impl ConnectionTrait,
    property_id: Uuid,
    classification: Option<Classification>,
) -> Result<Option<String>, Error> {
    let Some(classification) = classification else { return Ok(None) };
    let (meaning, _) = predicate::meaning(db, property_id, classification).await?;
    Ok(Some(serde_json::to_string(&meaning).map_err(Error::internal)?))
}

/// Pins the classifications of links that version 0.1.0 made, while it runs beside this one or before. One whose record is gone stays as it is,
/// and opens nothing.
pub async fn pin_older(db: &DatabaseConnection) -> Result<(), Error> {
    let older = Entity::find().filter(Column::Classification.is_not_null()).filter(Column::Pinned.is_null());
    for link in older.filter(Column::RevokedAt.is_null()).all(db).await? {
        let classification = View::of(&link)?.classification;
        match pinned(db, link.property_id, classification).await {
            Ok(pinned) => {
                let row = share_link::ActiveModel { pinned: Set(pinned), ..Default::default() };
                let same = Entity::update_many().set(row).filter(Column::Id.eq(link.id));
                same.filter(Column::Pinned.is_null()).exec(db).await?;
            }
            Err(Error::NoSuch { .. } | Error::InvalidRequest { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Returns a classification as it is stored.
fn written(classification: &TextField<Classification>) -> String {
    classification.0.to_value().as_str().unwrap_or_default().to_owned()
}

/// Revokes a link with immediate effect.
pub async fn revoke(change: &PropertyChange, id: Uuid) -> Result<(), Error> {
    let property_id = change.lock().await?;
    let one = Entity::active_one_of_property(property_id, id, change.now);
    let row = change.current(one).await?;
    let event = named(&change.by, AuditAction::ShareLinkRevoked, &row);
    let mut row = row.into_active_model();
    row.revoked_at = Set(Some(change.now));
    row.update(change.tx()).await?;
    change.note(event).await
}

/// An event that names a link, if the link has a name.
fn named(access: &PropertyAccess, action: AuditAction, link: &share_link::Model) -> Event {
    let event = Event::on(access, action);
    match &link.name {
        Some(name) => event.record(name),
        None => event,
    }
}

/// Seals every token again that is not under the current secrets key. Returns their number.
pub async fn reseal(tx: &Transaction, secrets: &Secrets) -> Result<u64, Error> {
    let place = SealedColumn::<Entity> { name: TABLE, id: Column::Id, sealed: Column::SealedToken };
    Ok(resealing::reseal(tx, secrets, place, context).await?)
}

/// The row that a sealed token is bound to.
fn context(id: &Uuid) -> String {
    format!("{TABLE}/{id}")
}

/// Revokes the links made under a grant, except for the `kept` properties, where the grant still allows making links.
pub async fn revoke_made_under(
    tx: &Transaction,
    grant_id: Uuid,
    kept: &[Uuid],
    now: DateTime<Utc>,
) -> Result<(), DbErr> {
    Entity::update_many()
        .set(share_link::ActiveModel { revoked_at: Set(Some(now)), ..Default::default() })
        .filter(Column::GrantId.eq(grant_id))
        .filter(Column::PropertyId.is_not_in(kept.iter().copied()))
        .filter(Column::RevokedAt.is_null())
        .exec(tx)
        .await?;
    Ok(())
}
