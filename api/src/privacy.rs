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
    /// Everything that is kept about the caller. Search data is never stored, so there is none; secrets (grants, credentials,
    /// session ids) are named but not shown.
    #[get("/api/privacy/access")]
    async fn export_personal_data(&self, caller: Caller) -> Answered<Answer<PersonalData>>;

    /// Delete the caller's data
    ///
    /// Removes everything that the export lists, revokes the search-engine grants and invalidates every token and session of
    /// the caller at once. It cannot be undone.
    #[post("/api/privacy/delete")]
    #[idempotency(ignored)]
    async fn delete_personal_data(&self, caller: Caller) -> Answered<NoContent>;
}

/// Everything that is kept about a user.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase")]
pub struct PersonalData {
    /// When this was put together.
    pub exported_at: DateTime<Utc>,
    /// Who the user is.
    pub profile: Profile,
    /// The subscription.
    pub subscription: SubscriptionRecord,
    /// Search-engine accounts.
    pub search_accounts: Vec<SearchAccountRecord>,
    /// Properties of these accounts.
    pub properties: Vec<OwnedProperty>,
    /// Favourites and hidden marks.
    pub preferences: Vec<PropertyPreference>,
    /// What stands on each of these properties.
    pub property_records: Vec<PropertyRecords>,
    /// Tags, and what carries them.
    pub tags: Vec<TagRecord>,
    /// Filter presets.
    pub filter_presets: Vec<FilterPreset>,
    /// Grants that the user made.
    pub grants_made: Vec<TeamGrant>,
    /// Grants that the user received.
    pub grants_received: Vec<ReceivedGrant>,
    /// SEO providers, without their credentials.
    pub providers: Vec<ProviderConnection>,
    /// Sessions of the web app.
    pub sessions: Vec<SessionRecord>,
    /// Answers kept for idempotent retries, at most 24 hours.
    pub stored_replays: Vec<ReplayRecord>,
}

/// Who a user is.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct Profile {
    /// The user's id here.
    pub id: Uuid,
    /// The identity provider that vouches for the user.
    #[oai(validator(max_length = 2048))]
    pub issuer: String,
    /// What the identity provider knows the user by.
    #[oai(validator(max_length = 255))]
    pub subject: String,
    /// E-mail address.
    #[oai(validator(max_length = 320))]
    pub email: Option<String>,
    /// Whether the identity provider has verified the address.
    pub email_verified: bool,
    /// Name.
    #[oai(validator(max_length = 255))]
    pub name: Option<String>,
    /// First sign-in.
    pub created_at: DateTime<Utc>,
    /// When name or address last changed.
    pub updated_at: DateTime<Utc>,
}

/// A user's subscription.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct SubscriptionRecord {
    /// Whether there is one.
    pub status: SubscriptionStatus,
    /// The plan's stable name.
    #[oai(validator(max_length = 64))]
    pub plan: Option<String>,
    /// When the trial ends or ended.
    pub trial_ends_at: Option<DateTime<Utc>>,
}

/// A search-engine account.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct SearchAccountRecord {
    /// The account's id here.
    pub id: Uuid,
    /// What the search engine knows the account by.
    #[oai(validator(max_length = 255))]
    pub subject: String,
    /// E-mail address.
    #[oai(validator(max_length = 320))]
    pub email: Option<String>,
    /// What the stored grant allows.
    #[oai(validator(max_length = 255))]
    pub scopes: Vec<String>,
    /// Whether the stored grant works, as last seen.
    pub status: SearchAccountStatus,
    /// When it was connected.
    pub connected_at: DateTime<Utc>,
}

/// What stands on a property.
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

/// A tag, and what carries it.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase")]
pub struct TagRecord {
    /// The tag's id.
    pub id: Uuid,
    /// The label.
    #[oai(validator(max_length = 100))]
    pub name: String,
    /// Its place.
    pub order: u32,
    /// The properties that carry it.
    #[oai(validator(max_items = 1000))]
    pub property_ids: Vec<Uuid>,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
}

/// A grant that the user received.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase")]
pub struct ReceivedGrant {
    /// The grant's id.
    pub id: Uuid,
    /// What it allows.
    pub role: GrantRole,
    /// Whether it covers all properties of whoever made it.
    pub all_properties: bool,
    /// The properties it covers; empty when it covers all.
    #[oai(validator(max_items = 1000))]
    pub property_ids: Vec<Uuid>,
    /// When it was made.
    pub created_at: DateTime<Utc>,
}

/// A session of the web app.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase")]
pub struct SessionRecord {
    /// When it began.
    pub created_at: DateTime<Utc>,
    /// When it ends.
    pub expires_at: DateTime<Utc>,
}

/// An answer kept for idempotent retries.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase")]
pub struct ReplayRecord {
    /// The HTTP method of the request.
    #[oai(validator(max_length = 10))]
    pub method: String,
    /// Its path.
    #[oai(validator(max_length = 2048))]
    pub path: String,
    /// The HTTP status of the answer.
    pub status: u32,
    /// When it was stored.
    pub stored_at: DateTime<Utc>,
    /// When it will be forgotten.
    pub expires_at: DateTime<Utc>,
}
