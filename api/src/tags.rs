//! A user's own labels on properties.

use macros::api_trait;
use poem_openapi::{Object, param::Path};
use uuid::Uuid;

use crate::{
    answer::{Answer, Answered, Created, Listed, NoContent, Record},
    body::Body,
    models::{Name, Timestamp},
    params::{Paging, Params},
    security::Caller,
};

/// A user's own labels on properties.
#[api_trait(tag = Tags, routes = TagsRoutes)]
pub trait TagsApi: Send + Sync + 'static {
    /// Replace a property's tags
    ///
    /// Sets the caller's tags on the property to exactly the listed ones. The change is all or nothing. Other users' tags
    /// are unchanged.
    #[post("/api/properties/{id}/tags")]
    #[idempotency(ignored)]
    #[scope(RecordsWrite)]
    async fn replace_property_tags(
        &self,
        caller: Caller,
        body: Body<PropertyTagsInput>,
    ) -> Answered<Answer<PropertyTags>>;

    /// The caller's tags
    ///
    /// Ordered by `order`, then by name.
    #[get("/api/tags")]
    #[scope(SearchRead)]
    async fn list_tags(&self, caller: Caller, params: Params<Paging>) -> Answered<Listed<Tag>>;

    /// Create a tag
    ///
    /// Names are unique per user, ignoring case. At most 10,000 tags per user.
    #[post("/api/tags")]
    #[idempotency(enforced)]
    #[scope(RecordsWrite)]
    async fn create_tag(&self, caller: Caller, body: Body<TagInput>) -> Answered<Created<Tag>>;

    /// A tag
    ///
    /// One of the caller's tags, as `listTags` shows it.
    #[get("/api/tags/{id}")]
    #[id(Tag)]
    #[scope(SearchRead)]
    async fn get_tag(&self, caller: Caller, id: Path<Uuid>) -> Answered<Record<Tag>>;

    /// Rename or reorder a tag
    ///
    /// A partial update, although it is a PUT: takes `name`, `order` or both, and absent fields stay. With `order`, the tags between its old and its new position move up
    /// or down.
    #[put("/api/tags/{id}")]
    #[id(Tag)]
    #[idempotency(ignored)]
    #[if_match]
    #[scope(RecordsWrite)]
    async fn update_tag(&self, caller: Caller, id: Path<Uuid>, body: Body<TagUpdate>) -> Answered<Answer<Tag>>;

    /// Delete a tag
    ///
    /// The properties that carried it are kept.
    #[delete("/api/tags/{id}")]
    #[id(Tag)]
    #[idempotency(ignored)]
    #[if_match]
    #[scope(RecordsWrite)]
    async fn delete_tag(&self, caller: Caller, id: Path<Uuid>) -> Answered<NoContent>;

    /// Properties that carry a tag
    ///
    /// Ordered by site. Properties the caller can no longer see are omitted.
    #[get("/api/tags/{id}/properties")]
    #[id(Tag)]
    #[scope(SearchRead)]
    async fn list_tag_properties(
        &self,
        caller: Caller,
        id: Path<Uuid>,
        params: Params<Paging>,
    ) -> Answered<Listed<TaggedProperty>>;

    /// Replace the properties that carry a tag
    ///
    /// Sets the tag on exactly the listed properties. The change is all or nothing.
    #[post("/api/tags/{id}/properties")]
    #[id(Tag)]
    #[idempotency(ignored)]
    #[scope(RecordsWrite)]
    async fn replace_tag_properties(
        &self,
        caller: Caller,
        id: Path<Uuid>,
        body: Body<TagPropertiesInput>,
    ) -> Answered<Answer<Vec<TaggedProperty>>>;
}

/// A label.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase")]
pub struct Tag {
    /// The tag's id.
    pub id: Uuid,
    /// The label.
    #[oai(validator(min_length = 1, max_length = 100))]
    pub name: String,
    /// Position among the caller's tags, 0 is the first.
    #[oai(validator(minimum(value = "0"), maximum(value = "1000000")))]
    pub order: u32,
    /// Number of properties with this tag that the caller can see: the rows of `/api/tags/{id}/properties`.
    pub rows_matched: u64,
    /// Version of the record; send it in `If-Match`.
    #[oai(validator(max_length = 128))]
    pub etag: String,
    /// Creation time.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
}

/// Content of a tag.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(deny_unknown_fields, skip_serializing_if_is_none)]
pub struct TagInput {
    /// The label.
    #[oai(validator(max_length = 100))]
    pub name: Name,
    /// Position among the caller's tags, 0 is the first; the other tags move. A value beyond the end means last. A new
    /// tag without `order` is placed last.
    #[oai(validator(minimum(value = "0"), maximum(value = "1000000")))]
    pub order: Option<u32>,
}

/// A change of a tag: `name`, `order` or both.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(deny_unknown_fields, skip_serializing_if_is_none)]
pub struct TagUpdate {
    /// The new label.
    #[oai(validator(max_length = 100))]
    pub name: Option<Name>,
    /// New position among the caller's tags, 0 is the first; the other tags move. A value beyond the end means last.
    #[oai(validator(minimum(value = "0"), maximum(value = "1000000")))]
    pub order: Option<u32>,
}

/// Tags to set on a property.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", deny_unknown_fields)]
pub struct PropertyTagsInput {
    /// Ids of the caller's tags; an empty list removes all.
    #[oai(validator(max_items = 10000, unique_items))]
    pub tag_ids: Vec<Uuid>,
}

/// The caller's tags on a property.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase")]
pub struct PropertyTags {
    /// The property's id.
    pub id: Uuid,
    /// Ids of the caller's tags on it, in their order.
    pub tag_ids: Vec<Uuid>,
}

/// Properties to set a tag on.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", deny_unknown_fields)]
pub struct TagPropertiesInput {
    /// Ids of properties that the caller can see; an empty list removes the tag from all of them.
    #[oai(validator(max_items = 1000, unique_items))]
    pub property_ids: Vec<Uuid>,
}

/// A property that carries a tag.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase")]
pub struct TaggedProperty {
    /// The property's id.
    pub id: Uuid,
    /// The search engine's identifier of the site, byte for byte.
    #[oai(validator(max_length = 2048))]
    pub site_url: String,
    /// Short name of the site, for display: its host in Unicode, its port, and its path. Sites of one name differ by `siteUrl`.
    #[oai(validator(max_length = 2048))]
    pub name: String,
}
