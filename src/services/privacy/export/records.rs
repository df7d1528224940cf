//! The person's own records, grants, and what the person wrote on properties of others.

use std::collections::HashMap;

use api::privacy::{AnnotationElsewhere, ReceivedGrant, TagRecord};
use entity::{annotation, filter_preset, property, property_tag, share_link, tag};
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _, QuerySelect as _, QueryTrait as _,
    sea_query::SelectStatement,
};
use uuid::Uuid;

use super::{Export, properties};
use crate::{
    error::Error,
    services::{annotations, filters, integrations, team},
};

/// The number of tags whose properties are read at once. A tag is on at most a thousand.
const TAGS: usize = 50;

impl Export {
    pub(super) async fn records(&mut self) -> Result<(), Error> {
        self.elsewhere().await?;
        self.tags().await?;
        self.begin("filterPresets");
        for row in filter_preset::Entity::of_user(self.person.id).all(&self.db).await? {
            self.items([filters::to_api(&row)?]).await?;
        }
        self.end();
        let made = team::list(&self.db, &self.member).await?;
        self.list("grantsMade", made).await?;
        let member = self.member.clone();
        let received = team::received(&self.db, &member, self.now).await?;
        let grant = |grant: api::team::TeamGrant| ReceivedGrant {
            id: grant.id,
            email: grant.email,
            role: grant.role,
            all_properties: grant.all_properties,
            property_ids: grant.property_ids,
            owner_name: grant.owner_name,
            owner_email: grant.owner_email,
            accepted_at: grant.accepted_at,
            created_at: grant.created_at,
            updated_at: grant.updated_at,
        };
        self.list("grantsReceived", received.into_iter().map(grant)).await?;
        let providers = integrations::connections(&self.db, self.person.id).await?;
        self.list("providers", providers.into_iter().filter(|provider| provider.connected)).await
    }

    /// The person's annotations on properties of others.
    async fn elsewhere(&mut self) -> Result<(), Error> {
        let notes = annotation::Entity::find()
            .filter(annotation::Column::AuthorId.eq(self.person.id))
            .filter(annotation::Column::PropertyId.not_in_subquery(self.own_properties()))
            .order_by_asc(annotation::Column::Id);
        self.begin("annotationsElsewhere");
        let mut after = Uuid::nil();
        loop {
            let page = notes.clone().filter(annotation::Column::Id.gt(after)).limit(500).all(&self.db).await?;
            let Some(last) = page.last() else { break };
            after = last.id;
            let note = |row: &annotation::Model| AnnotationElsewhere {
                property_id: row.property_id,
                annotation: annotations::to_api(row),
            };
            self.items(page.iter().map(note)).await?;
        }
        self.end();
        let links = share_link::Entity::find()
            .filter(share_link::Column::CreatedBy.eq(self.person.id))
            .filter(share_link::Column::PropertyId.not_in_subquery(self.own_properties()))
            .order_by_asc(share_link::Column::Id);
        let links = links.all(&self.db).await?;
        self.list("shareLinksElsewhere", links.into_iter().map(properties::link)).await
    }

    fn own_properties(&self) -> SelectStatement {
        let own = property::Entity::find().filter(property::Column::UserId.eq(self.person.id));
        own.select_only().column(property::Column::Id).into_query()
    }

    async fn tags(&mut self) -> Result<(), Error> {
        let tags = tag::Entity::of_user(self.person.id).all(&self.db).await?;
        self.begin("tags");
        for tags in tags.chunks(TAGS) {
            let ids = tags.iter().map(|tag| tag.id);
            let carried = property_tag::Entity::find().filter(property_tag::Column::TagId.is_in(ids));
            let carried = carried.order_by_asc(property_tag::Column::PropertyId).all(&self.db).await?;
            let mut by_tag: HashMap<Uuid, Vec<Uuid>> = HashMap::new();
            for row in carried {
                by_tag.entry(row.tag_id).or_default().push(row.property_id);
            }
            let shown = |row: &tag::Model| TagRecord {
                id: row.id,
                name: row.name.clone(),
                order: u32::try_from(row.position).unwrap_or_default(),
                property_ids: by_tag.remove(&row.id).unwrap_or_default(),
                created_at: row.created_at.into(),
                updated_at: row.updated_at.into(),
            };
            self.items(tags.iter().map(shown)).await?;
        }
        self.end();
        Ok(())
    }
}
