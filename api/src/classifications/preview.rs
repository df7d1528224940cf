//! Dry runs of writes, and previews of what a classification would match.

use poem::{IntoResponse, Response, http::StatusCode};
use poem_openapi::{
    ApiResponse, Object,
    registry::{MetaMediaType, MetaResponse, MetaResponses, MetaSchema, MetaSchemaRef, Registry},
    types::Type as _,
};

use crate::{analytics::AnswerMeta, answer::json_body, models::Metrics, params::QueryParams};

/// The parameter of a write that can be tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, QueryParams)]
pub struct DryRunParams {
    /// `true` stores nothing and answers 200 with what the classification would match in web search in the last 28 final days. It
    /// is refused for the same reasons as the write, and leaves the `Idempotency-Key` unused.
    #[param(default = "false", example = "true")]
    pub dry_run: bool,
}

/// The answer `W` of a write, or the preview of a dry run.
#[derive(Debug, Clone)]
pub enum Tried<W> {
    /// The write was made.
    Written(W),
    /// The write was tried.
    Preview(Box<ClassificationPreviewAnswer>),
}

/// The preview of a classification.
#[derive(Debug, Clone, PartialEq, Object)]
pub struct ClassificationPreviewAnswer {
    /// The preview.
    pub data: ClassificationPreview,
    /// Metadata of the answer.
    pub meta: AnswerMeta,
}

/// The traffic that a classification would match: pages for a segment, queries for a topic cluster and for branded keywords. `matched`,
/// `unmatched` and `anonymised` together are all traffic of the property.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct ClassificationPreview {
    /// Traffic that it would match. With branded keywords: branded traffic.
    pub matched: MatchedPart,
    /// Traffic that it would not match although its page or query is known. With branded keywords: non-branded traffic.
    pub unmatched: RemainingPart,
    /// Queries that the search engine does not name, so that they match nothing; absent for segments, because their pages are
    /// known.
    pub anonymised: Option<RemainingPart>,
    /// Number of pages or queries that it would match.
    pub rows: u64,
    /// True if the list was cut at the fetch ceiling of 50,000, so that `rows` is a lower bound.
    pub rows_capped: bool,
    /// The ten with the most clicks.
    #[oai(validator(max_items = 10))]
    pub largest: Vec<MatchedRow>,
}

/// The part of the traffic that a classification would match.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase")]
pub struct MatchedPart {
    /// Its metrics.
    #[oai(flatten)]
    pub metrics: Metrics,
    /// Share of the property's clicks, 0 to 1; null without clicks.
    #[oai(nullable, validator(minimum(value = "0")))]
    pub clicks_share: Option<f64>,
    /// Share of the property's impressions, 0 to 1; null without impressions.
    #[oai(nullable, validator(minimum(value = "0")))]
    pub impressions_share: Option<f64>,
}

/// A remainder of the traffic, never below 0. It has no CTR and no position.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase")]
pub struct RemainingPart {
    /// Clicks, a count.
    pub clicks: u64,
    /// Impressions, a count.
    pub impressions: u64,
    /// Share of the property's clicks, 0 to 1; null without clicks.
    #[oai(nullable, validator(minimum(value = "0")))]
    pub clicks_share: Option<f64>,
    /// Share of the property's impressions, 0 to 1; null without impressions.
    #[oai(nullable, validator(minimum(value = "0")))]
    pub impressions_share: Option<f64>,
}

/// A page or query that a classification would match.
#[derive(Debug, Clone, PartialEq, Object)]
pub struct MatchedRow {
    /// The page's URL, or the query.
    pub key: String,
    /// Its metrics.
    #[oai(flatten)]
    pub metrics: Metrics,
}

impl<W: ApiResponse> ApiResponse for Tried<W> {
    fn meta() -> MetaResponses {
        let MetaResponses { mut responses } = W::meta();
        let is_ok = |response: &MetaResponse| response.status == Some(200);
        // Both shapes stand at 200 even where the write answers 201: some generators take the schema of the lowest success for all.
        let either = responses
            .iter()
            .flat_map(|response| &response.content)
            .map(|media| MetaMediaType { content_type: media.content_type, schema: one_of_preview_and(&media.schema) });
        let tried = MetaResponse {
            description: if responses.iter().any(is_ok) {
                "Success, or with `dryRun=true` a preview."
            } else {
                "With `dryRun=true`: a preview."
            },
            status: Some(200),
            status_range: None,
            content: either.collect(),
            headers: vec![],
        };
        responses.retain(|response| !is_ok(response));
        responses.insert(0, tried);
        MetaResponses { responses }
    }

    fn register(registry: &mut Registry) {
        W::register(registry);
        ClassificationPreviewAnswer::register(registry);
    }
}

/// The preview comes first: some clients take the first schema whose required fields are there.
fn one_of_preview_and(written: &MetaSchemaRef) -> MetaSchemaRef {
    let one_of = vec![ClassificationPreviewAnswer::schema_ref(), written.clone()];
    MetaSchemaRef::Inline(Box::new(MetaSchema { one_of, ..MetaSchema::ANY }))
}

impl<W: IntoResponse> IntoResponse for Tried<W> {
    fn into_response(self) -> Response {
        match self {
            Self::Written(written) => written.into_response(),
            Self::Preview(preview) => json_body(StatusCode::OK, &*preview),
        }
    }
}
