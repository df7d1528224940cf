//! The person's own records, grants, and what the person wrote on properties of others.

use std::collections::HashMap;

use api::{
    privacy::{AnnotationElsewhere, ReceivedGrant, SegmentElsewhere, TagRecord, TopicClusterElsewhere},
    stream::ToJSON,
};
use entity::{annotation, classification, filter_preset, property, property_tag, share_link, tag};
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _, QuerySelect as _, QueryTrait as _,
    sea_query::SelectStatement,
};
use uuid::Uuid;

use super::{Export, properties};
use crate::{
    error::Error,
    services::{
        access::Authors,
        annotations,
        classifications::{Shown, shown},
        filters, integrations, team,
    },
};

/// The number of records of other people's properties that are read at once.
const PAGE: u64 = 500;

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

    /// The records that the person made on properties of others.
    async fn elsewhere(&mut self) -> Result<(), Error> {
        let authors = self.authors(vec![Some(self.person.id)]).await?;
        let notes = annotation::Entity::find()
            .filter(annotation::Column::AuthorId.eq(self.person.id))
            .filter(annotation::Column::PropertyId.not_in_subquery(self.own_properties()))
            .order_by_asc(annotation::Column::Id);
        self.begin("annotationsElsewhere");
        let mut after = Uuid::nil();
        loop {
            let page = notes.clone().filter(annotation::Column::Id.gt(after)).limit(PAGE).all(&self.db).await?;
            let Some(last) = page.last() else { break };
            after = last.id;
            let note = |row: annotation::Model| AnnotationElsewhere {
                property_id: row.property_id,
                annotation: annotations::to_api(&row, &authors),
            };
            let notes: Vec<AnnotationElsewhere> = page.into_iter().map(note).collect();
            self.items(notes).await?;
        }
        self.end();
        let segment = |property_id, segment| SegmentElsewhere { property_id, segment };
        self.classifications_elsewhere("segmentsElsewhere", &authors, segment).await?;
        let cluster = |property_id, topic_cluster| TopicClusterElsewhere { property_id, topic_cluster };
        self.classifications_elsewhere("topicClustersElsewhere", &authors, cluster).await?;
        let links = share_link::Entity::find()
            .filter(share_link::Column::CreatedBy.eq(self.person.id))
            .filter(share_link::Column::PropertyId.not_in_subquery(self.own_properties()))
            .order_by_asc(share_link::Column::Id);
        let links = links.all(&self.db).await?;
        let links: Vec<_> = links.into_iter().map(|row| properties::link(row, &authors)).collect::<Result<_, _>>()?;
        self.list("shareLinksElsewhere", links).await
    }

    async fn classifications_elsewhere<C: Shown, T: ToJSON>(
        &mut self,
        name: &'static str,
        authors: &Authors,
        with_property: impl Fn(Uuid, C) -> T,
    ) -> Result<(), Error> {
        use classification::Column::{CreatedBy, Id, Kind, PropertyId};
        let made = classification::Entity::find().filter(CreatedBy.eq(self.person.id)).filter(Kind.eq(C::KIND));
        let made = made.filter(PropertyId.not_in_subquery(self.own_properties())).order_by_asc(Id);
        self.begin(name);
        let mut after = Uuid::nil();
        loop {
            let page = made.clone().filter(Id.gt(after)).limit(PAGE).all(&self.db).await?;
            let Some(last) = page.last() else { break };
            after = last.id;
            for row in page {
                self.items([with_property(row.property_id, shown::<C>(&row, authors)?)]).await?;
            }
        }
        self.end();
        Ok(())
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
