//! Search accounts, properties, and the records of each property.

use api::{
    classifications::{Segment, TopicCluster},
    params::TextField,
    privacy::{PropertyListing, SearchAccountRecord, ShareLinkRecord},
    properties::PropertyPreference,
    stream::ToJSON,
    system::SearchAccountStatus,
};
use entity::{
    annotation, branded_keyword, classification, property, property_account, property_preference,
    search_account::{self, Status},
    share_link,
};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _};
use search_engine::READONLY_SCOPE;
use uuid::Uuid;

use super::Export;
use crate::{
    error::Error,
    services::{
        access::{Authors, View},
        annotations,
        classifications::{Shown, branded_keywords, shown},
        properties::{self, owned},
        search_accounts,
    },
};

impl Export {
    pub(super) async fn properties(&mut self) -> Result<(), Error> {
        let accounts = search_accounts::of_user(&self.db, self.person.id).await?;
        self.list("searchAccounts", accounts.into_iter().map(account)).await?;
        let own = property::Entity::of_owner(self.person.id).all(&self.db).await?;
        let ids: Vec<Uuid> = own.iter().map(|property| property.id).collect();
        self.list("properties", own.into_iter().map(owned)).await?;
        let listings = property_account::Entity::of_owner(self.person.id);
        let listings = listings.order_by_asc(property_account::Column::PropertyId);
        let listings = listings.order_by_asc(property_account::Column::AccountId).all(&self.db).await?;
        self.list("propertyListings", listings.iter().map(listing)).await?;
        let marks = property_preference::Entity::find();
        let marks = marks.filter(property_preference::Column::UserId.eq(self.person.id));
        let marks = marks.order_by_asc(property_preference::Column::PropertyId).all(&self.db).await?;
        let mark = |row: property_preference::Model| PropertyPreference {
            id: row.property_id,
            favorite: row.favorite,
            hidden: row.hidden,
        };
        self.list("preferences", marks.into_iter().map(mark)).await?;
        self.begin("propertyRecords");
        for id in ids {
            self.records_of(id).await?;
        }
        self.end();
        Ok(())
    }

    /// Each kind of record takes at most 4 MiB, and one kind of one property is in memory at once.
    async fn records_of(&mut self, id: Uuid) -> Result<(), Error> {
        self.out.begin_object();
        self.out.field("propertyId", &id);
        let notes = annotation::Entity::of_property(id).all(&self.db).await?;
        let authors = self.authors(notes.iter().map(|row| row.author_id).collect()).await?;
        self.list("annotations", notes.into_iter().map(move |row| annotations::to_api(&row, &authors))).await?;
        let keywords = branded_keyword::Entity::of_property(id).all(&self.db).await?;
        self.list("brandedKeywords", branded_keywords::shown(keywords)).await?;
        self.classifications::<Segment>("segments", id).await?;
        self.classifications::<TopicCluster>("topicClusters", id).await?;
        let links = share_link::Entity::find().filter(share_link::Column::PropertyId.eq(id));
        let links = links.order_by_asc(share_link::Column::Id).all(&self.db).await?;
        let authors = self.authors(links.iter().map(|row| row.created_by).collect()).await?;
        let links: Vec<_> = links.into_iter().map(|row| link(row, &authors)).collect::<Result<_, _>>()?;
        self.list("shareLinks", links).await?;
        self.out.end_object();
        Ok(())
    }

    async fn classifications<C: Shown + ToJSON>(&mut self, name: &'static str, id: Uuid) -> Result<(), Error> {
        let rows = classification::Entity::of_property(id, C::KIND).all(&self.db).await?;
        let authors = self.authors(rows.iter().map(|row| row.created_by).collect()).await?;
        self.begin(name);
        for row in rows {
            self.items([shown::<C>(&row, &authors)?]).await?;
        }
        self.end();
        Ok(())
    }
}

fn account(row: search_account::Model) -> SearchAccountRecord {
    let granted = row.refresh_token.is_some();
    let scopes = if granted { vec!["openid", "email", READONLY_SCOPE] } else { Vec::new() };
    SearchAccountRecord {
        id: row.id,
        subject: row.subject,
        email: row.email,
        scopes: scopes.into_iter().map(str::to_owned).collect(),
        status: match row.status {
            Status::Connected => SearchAccountStatus::Connected,
            Status::ReconnectRequired => SearchAccountStatus::ReconnectRequired,
            Status::ScopeMissing => SearchAccountStatus::ScopeMissing,
            Status::Disconnected => SearchAccountStatus::Disconnected,
        },
        grant_stored: granted,
        last_error: row.last_error,
        connected_at: row.connected_at.into(),
        ended_at: row.status_at.map(Into::into),
        synced_at: row.synced_at.map(Into::into),
    }
}

fn listing(row: &property_account::Model) -> PropertyListing {
    PropertyListing {
        property_id: row.property_id,
        account_id: row.account_id,
        permission: properties::permission(&row.permission_level),
        lost_at: row.lost_at.map(Into::into),
    }
}

pub(super) fn link(row: share_link::Model, authors: &Authors) -> Result<ShareLinkRecord, Error> {
    let View { window, classification, pinned, filters, show } = View::of(&row)?;
    Ok(ShareLinkRecord {
        id: row.id,
        property_id: row.property_id,
        name: row.name,
        created_by: authors.name(row.created_by),
        expires_at: row.expires_at.map(Into::into),
        window,
        filters: filters.map(|filters| filters.0),
        classification: classification.map(TextField),
        pinned,
        show,
        revoked_at: row.revoked_at.map(Into::into),
        created_at: row.created_at.into(),
    })
}
