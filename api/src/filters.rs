//! Saved sets of filter conditions.

use macros::api_trait;
use poem_openapi::{Object, param::Path};
use uuid::Uuid;

use crate::{
    answer::{Answer, Answered, Created, Listed, NoContent, Record},
    body::Body,
    models::{FilterCondition, Name, Timestamp},
    params::{Paging, Params},
    security::Caller,
};

/// Saved sets of filter conditions.
#[api_trait(tag = Filters, routes = FiltersRoutes)]
pub trait FiltersApi: Send + Sync + 'static {
    /// The caller's filter presets
    ///
    /// Ordered by name, ignoring case, in code-point order.
    #[get("/api/filter-presets")]
    #[scope(SearchRead)]
    async fn list_filter_presets(&self, caller: Caller, params: Params<Paging>) -> Answered<Listed<FilterPreset>>;

    /// Save a filter preset
    ///
    /// Conditions that could not be used as filters are refused. As JSON they take at most 60,000 bytes. At most 500
    /// presets per user, with conditions of at most 4 MiB in total.
    #[post("/api/filter-presets")]
    #[idempotency(enforced)]
    #[errors(FilterTooComplex)]
    #[scope(RecordsWrite)]
    async fn create_filter_preset(
        &self,
        caller: Caller,
        body: Body<FilterPresetInput>,
    ) -> Answered<Created<FilterPreset>>;

    /// A filter preset
    ///
    /// One of the caller's presets, as `listFilterPresets` shows it.
    #[get("/api/filter-presets/{id}")]
    #[id(FilterPreset)]
    #[scope(SearchRead)]
    async fn get_filter_preset(&self, caller: Caller, id: Path<Uuid>) -> Answered<Record<FilterPreset>>;

    /// Replace a filter preset
    ///
    /// Replaces the whole record: name and conditions.
    #[put("/api/filter-presets/{id}")]
    #[id(FilterPreset)]
    #[idempotency(ignored)]
    #[errors(FilterTooComplex)]
    #[if_match]
    #[scope(RecordsWrite)]
    async fn update_filter_preset(
        &self,
        caller: Caller,
        id: Path<Uuid>,
        body: Body<FilterPresetInput>,
    ) -> Answered<Answer<FilterPreset>>;

    /// Delete a filter preset
    ///
    /// Other requests are not affected, because clients copy a preset into the `filters` parameter.
    #[delete("/api/filter-presets/{id}")]
    #[id(FilterPreset)]
    #[idempotency(ignored)]
    #[if_match]
    #[scope(RecordsWrite)]
    async fn delete_filter_preset(&self, caller: Caller, id: Path<Uuid>) -> Answered<NoContent>;
}

/// A saved set of conditions.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase")]
pub struct FilterPreset {
    /// The preset's id.
    pub id: Uuid,
    /// Name.
    #[oai(validator(min_length = 1, max_length = 100))]
    pub name: String,
    /// The conditions, ready to be sent as the `filters` parameter.
    #[oai(validator(min_items = 1, max_items = 50))]
    pub filters: Vec<FilterCondition>,
    /// Version of the record; send it in `If-Match`.
    #[oai(validator(max_length = 128))]
    pub etag: String,
    /// Creation time.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
}

/// Content of a preset.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(deny_unknown_fields)]
pub struct FilterPresetInput {
    /// Name.
    #[oai(validator(max_length = 100))]
    pub name: Name,
    /// The conditions.
    #[oai(validator(min_items = 1, max_items = 50))]
    pub filters: Vec<FilterCondition>,
}
