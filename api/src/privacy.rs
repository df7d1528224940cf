//! Export and deletion of a user's data.

use chrono::{DateTime, Utc};
use macros::api_trait;
use poem_openapi::Object;
use uuid::Uuid;

use crate::{
    annotations::Annotation,
    answer::{Answer, Answered, NoContent},
    billing::SubscriptionStatus,
    classifications::{BrandedKeyword, Segment, TopicCluster},
    filters::FilterPreset,
    integrations::ProviderConnection,
    properties::{OwnedProperty, PropertyPreference},
    security::Caller,
    sharing::ShareLink,
    system::SearchAccountStatus,
    team::{GrantRole, TeamGrant},
};

/// Export and deletion of a user's data.
#[api_trait(tag = Privacy, routes = PrivacyRoutes)]
pub trait PrivacyApi: Send + Sync + 'static {
    /// Export the caller's data
    ///
    /// Returns everything that is stored about the caller. Search data is never stored, so there is none. Secrets
    /// (grants, credentials, session ids) are named but not shown.
    #[get("/api/privacy/access")]
    async fn export_personal_data(&self, caller: Caller) -> Answered<Answer<PersonalData>>;

    /// Delete the caller's data
    ///
    /// Removes everything that the export lists, revokes the search-engine grants, and invalidates every token and
    /// session of the caller at once. It cannot be undone.
    #[post("/api/privacy/delete")]
    #[idempotency(ignored)]
    async fn delete_personal_data(&self, caller: Caller) -> Answered<NoContent>;
}

/// Everything that is stored about a user.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase")]
pub struct PersonalData {
    /// Time of the export.
    pub exported_at: DateTime<Utc>,
    /// Profile of the user.
    pub profile: Profile,
    /// The subscription.
    pub subscription: SubscriptionRecord,
    /// Search-engine accounts.
    pub search_accounts: Vec<SearchAccountRecord>,
    /// Properties of these accounts.
    pub properties: Vec<OwnedProperty>,
    /// Favourites and hidden marks.
    pub preferences: Vec<PropertyPreference>,
    /// Records of each of these properties.
    pub property_records: Vec<PropertyRecords>,
    /// Tags and the properties that carry them.
    pub tags: Vec<TagRecord>,
    /// Filter presets.
    pub filter_presets: Vec<FilterPreset>,
    /// Grants made by the user.
    pub grants_made: Vec<TeamGrant>,
    /// Grants received by the user.
    pub grants_received: Vec<ReceivedGrant>,
    /// SEO providers, without their credentials.
    pub providers: Vec<ProviderConnection>,
    /// Sessions of the web app.
    pub sessions: Vec<SessionRecord>,
    /// Responses stored for idempotent retries, at most 24 hours.
    pub stored_replays: Vec<ReplayRecord>,
}

/// Profile of a user.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct Profile {
    /// The user's id in this service.
    pub id: Uuid,
    /// The identity provider that authenticates the user.
    #[oai(validator(max_length = 2048))]
    pub issuer: String,
    /// The user's identifier at the identity provider.
    #[oai(validator(max_length = 255))]
    pub subject: String,
    /// E-mail address.
    #[oai(validator(max_length = 320))]
    pub email: Option<String>,
    /// True if the identity provider has verified the address.
    pub email_verified: bool,
    /// Display name.
    #[oai(validator(max_length = 255))]
    pub name: Option<String>,
    /// Time of the first sign-in.
    pub created_at: DateTime<Utc>,
    /// Time when name or address last changed.
    pub updated_at: DateTime<Utc>,
}

/// A user's subscription.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct SubscriptionRecord {
    /// State of the subscription.
    pub status: SubscriptionStatus,
    /// Stable identifier of the plan.
    #[oai(validator(max_length = 64))]
    pub plan: Option<String>,
    /// Time when the trial ends or ended.
    pub trial_ends_at: Option<DateTime<Utc>>,
}

/// A search-engine account.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct SearchAccountRecord {
    /// The account's id in this service.
    pub id: Uuid,
    /// The account's identifier at the search engine.
    #[oai(validator(max_length = 255))]
    pub subject: String,
    /// E-mail address.
    #[oai(validator(max_length = 320))]
    pub email: Option<String>,
    /// OAuth scopes of the stored grant.
    #[oai(validator(max_length = 255))]
    pub scopes: Vec<String>,
    /// State of the stored grant at the last check.
    pub status: SearchAccountStatus,
    /// Time when it was connected.
    pub connected_at: DateTime<Utc>,
}

/// Records of one property.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase")]
pub struct PropertyRecords {
    /// The property's id.
    pub property_id: Uuid,
    /// Dated notes.
    pub annotations: Vec<Annotation>,
    /// Branded keywords.
    pub branded_keywords: Vec<BrandedKeyword>,
    /// Segments of pages.
    pub segments: Vec<Segment>,
    /// Topic clusters of queries.
    pub topic_clusters: Vec<TopicCluster>,
    /// Active share links.
    pub share_links: Vec<ShareLink>,
}

/// A tag and the properties that carry it.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase")]
pub struct TagRecord {
    /// The tag's id.
    pub id: Uuid,
    /// The label.
    #[oai(validator(max_length = 100))]
    pub name: String,
    /// Position among the user's tags, 0 is the first.
    pub order: u32,
    /// The properties that carry it.
    #[oai(validator(max_items = 1000))]
    pub property_ids: Vec<Uuid>,
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
}

/// A grant that the user received.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase")]
pub struct ReceivedGrant {
    /// The grant's id.
    pub id: Uuid,
    /// Role that it grants.
    pub role: GrantRole,
    /// True if it covers all properties of its owner.
    pub all_properties: bool,
    /// The properties it covers; empty when it covers all.
    #[oai(validator(max_items = 1000))]
    pub property_ids: Vec<Uuid>,
    /// Creation time.
    pub created_at: DateTime<Utc>,
}

/// A session of the web app.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase")]
pub struct SessionRecord {
    /// Time when it began.
    pub created_at: DateTime<Utc>,
    /// Time when it ends.
    pub expires_at: DateTime<Utc>,
}

/// A response stored for idempotent retries.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase")]
pub struct ReplayRecord {
    /// The HTTP method of the request.
    #[oai(validator(max_length = 10))]
    pub method: String,
    /// Path of the request.
    #[oai(validator(max_length = 2048))]
    pub path: String,
    /// HTTP status of the response.
    pub status: u32,
    /// Time when it was stored.
    pub stored_at: DateTime<Utc>,
    /// Time when it will be deleted.
    pub expires_at: DateTime<Utc>,
}
