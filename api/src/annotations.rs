//! Dated notes on a property.

use chrono::NaiveDate;
use macros::api_trait;
use poem_openapi::{Enum, Object, param::Path};
use serde::Serialize;
use uuid::Uuid;

use crate::{
    answer::{Answer, Answered, Created, Listed, NoContent, Record},
    body::Body,
    error::ApiError,
    models::{Name, Timestamp, check_pair},
    params::{Ignored, Paging, Params, QueryParams},
    security::Caller,
};

/// Dated notes on a property.
#[api_trait(tag = Annotations, routes = AnnotationsRoutes)]
pub trait AnnotationsApi: Send + Sync + 'static {
    /// Annotations of a property
    ///
    /// Ordered by date, newest first. With a window, only annotations that overlap it.
    #[get("/api/properties/{id}/annotations")]
    #[scope(SearchRead)]
    async fn list_property_annotations(
        &self,
        caller: Caller,
        params: Params<AnnotationListParams>,
    ) -> Answered<Listed<Annotation>>;

    /// Add an annotation
    ///
    /// A property holds at most 5,000 annotations, with texts of at most 4 MiB in total.
    #[post("/api/properties/{id}/annotations")]
    #[idempotency(enforced)]
    #[role(Editor)]
    #[scope(RecordsWrite)]
    async fn create_property_annotation(
        &self,
        caller: Caller,
        body: Body<AnnotationInput>,
    ) -> Answered<Created<Annotation>>;

    /// An annotation
    ///
    /// As `listPropertyAnnotations` shows it. System annotations are found, too.
    #[get("/api/properties/{id}/annotations/{annotationId}")]
    #[scope(SearchRead)]
    async fn get_property_annotation(
        &self,
        caller: Caller,
        annotation_id: Path<Uuid>,
        ignored: Params<Ignored>,
    ) -> Answered<Record<Annotation>>;

    /// Replace an annotation
    ///
    /// Replaces the whole record: absent optional fields are removed.
    #[put("/api/properties/{id}/annotations/{annotationId}")]
    #[idempotency(ignored)]
    #[role(Editor)]
    #[if_match]
    #[scope(RecordsWrite)]
    async fn update_property_annotation(
        &self,
        caller: Caller,
        annotation_id: Path<Uuid>,
        body: Body<AnnotationInput>,
    ) -> Answered<Answer<Annotation>>;

    /// Delete an annotation
    ///
    /// System annotations cannot be changed or deleted (404).
    #[delete("/api/properties/{id}/annotations/{annotationId}")]
    #[idempotency(ignored)]
    #[role(Editor)]
    #[if_match]
    #[scope(RecordsWrite)]
    async fn delete_property_annotation(&self, caller: Caller, annotation_id: Path<Uuid>) -> Answered<NoContent>;
}

/// Parameters of the list of annotations.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams)]
#[params(check = AnnotationListParams::check)]
pub struct AnnotationListParams {
    /// First day; annotations that overlap the window are listed. Requires `endDate`. Without both: all annotations.
    #[param(example = "2026-10-22")]
    pub start_date: Option<NaiveDate>,
    /// Last day, inclusive; it may be in the future. Without both: all annotations.
    #[param(example = "2026-11-18")]
    pub end_date: Option<NaiveDate>,
    /// Includes system annotations: ranking updates that the search engine has confirmed, and known incidents of its data.
    #[param(default = "false", example = "true")]
    pub include_system: bool,
    /// The page of the list.
    #[param(flatten)]
    pub paging: Paging,
}

impl AnnotationListParams {
    fn check(&self) -> Result<(), ApiError> {
        check_pair(("startDate", self.start_date), ("endDate", self.end_date))
    }
}

/// A dated note.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct Annotation {
    /// The annotation's id.
    pub id: Uuid,
    /// The day, or the first day of a range.
    pub date: NaiveDate,
    /// The last day of a range.
    pub end_date: Option<NaiveDate>,
    /// The note.
    #[oai(validator(min_length = 1, max_length = 2000))]
    pub text: String,
    /// Category, chosen by the user.
    #[oai(validator(min_length = 1, max_length = 50))]
    pub category: Option<String>,
    /// Origin of the note. System annotations cannot be changed.
    pub source: AnnotationSource,
    /// Name of the user who wrote it, or else that user's verified e-mail address; absent if the user is unknown or has left, and on system annotations.
    #[oai(validator(max_length = 320))]
    pub created_by: Option<String>,
    /// The page that tells of a system annotation.
    #[oai(validator(max_length = 2048))]
    pub source_url: Option<String>,
    /// Version of the record; send it in `If-Match`.
    #[oai(validator(max_length = 128))]
    pub etag: String,
    /// Creation time.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
}

/// Origin of an annotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum, Serialize)]
#[oai(rename_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum AnnotationSource {
    /// A user with at least the role editor.
    User,
    /// The product or its operator: a ranking update that the search engine has confirmed, or a known incident of its data.
    System,
}

/// Content of an annotation.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", deny_unknown_fields, skip_serializing_if_is_none)]
pub struct AnnotationInput {
    /// The day, or the first day of a range.
    pub date: NaiveDate,
    /// The last day of a range; not before `date`.
    pub end_date: Option<NaiveDate>,
    /// The note.
    #[oai(validator(
        min_length = 1,
        max_length = 2000,
        pattern = r"^[^\x00-\x08\x0B\x0C\x0E-\x1F\x7F-\x9F\u202A-\u202E\u2066-\u2069]*[^\s\x00-\x1F\x7F-\x9F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u202A-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0][^\x00-\x08\x0B\x0C\x0E-\x1F\x7F-\x9F\u202A-\u202E\u2066-\u2069]*$"
    ))]
    pub text: String,
    /// Category, chosen by the user.
    #[oai(validator(max_length = 50))]
    pub category: Option<Name>,
}
