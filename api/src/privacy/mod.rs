//! Export and deletion of a user's data.

mod access;
mod audit;

use macros::api_trait;
use poem_openapi::Object;
use uuid::Uuid;

pub use self::{
    access::{
        ApplicationGrant, ApplicationRefusal, ApplicationToken, ApplicationTokenKind, ApplicationUse, Consent,
        IssuerSessionRecord, LocalAccount, LocalAccountLink, SessionRecord,
    },
    audit::{AuditAction, AuditActor, AuditEvent},
};
use crate::{
    annotations::Annotation,
    answer::{Answered, NoContent, Streamed},
    billing::SubscriptionStatus,
    classifications::{BrandedKeyword, Segment, TopicCluster},
    filters::FilterPreset,
    integrations::ProviderConnection,
    models::{Classification, DateRange, FilterCondition, Timestamp},
    params::TextField,
    properties::{OwnedProperty, PropertyPreference, SitePermission},
    security::Caller,
    sharing::{PinnedClassification, SharedPart},
    system::SearchAccountStatus,
    team::{GrantRole, TeamGrant},
};

/// Export and deletion of a user's data.
#[api_trait(tag = Privacy, routes = PrivacyRoutes)]
pub trait PrivacyApi: Send + Sync + 'static {
    /// Export the caller's data
    ///
    /// Returns everything that is stored about the caller, as one document that is written while it is read. Search data
    /// is never stored, so there is none. Secrets (grants, tokens, passwords, session ids) are named but not shown, and
    /// records of others are left out. Grants that others made to the caller's verified address are included. If the
    /// service fails meanwhile, the document ends early and is not valid JSON. A caller has one export at a time; a second
    /// one waits.
    #[get("/api/privacy/access")]
    #[etag(None)]
    #[scope(Account)]
    async fn export_personal_data(&self, caller: Caller) -> Answered<Streamed<PersonalData>>;

    /// Delete the caller's data
    ///
    /// Removes everything of the caller's that the export lists, in one transaction, and invalidates every token and session of the caller
    /// at once. The search-engine grants are revoked afterwards, and again later if the search engine does not answer.
    /// Records that belong to others stay; in them the caller is a former member. No body is needed. It cannot be undone.
    /// A new sign-in afterwards starts afresh.
    #[post("/api/privacy/delete")]
    #[idempotency(ignored)]
    #[scope(Account)]
    async fn delete_personal_data(&self, caller: Caller) -> Answered<NoContent>;
}

/// Everything that is stored about a user.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct PersonalData {
    /// Time of the export.
    pub exported_at: Timestamp,
    /// Profile of the user.
    pub profile: Profile,
    /// The subscription.
    pub subscription: SubscriptionRecord,
    /// The account with which the user signs in at this service, if it is here.
    pub local_account: Option<LocalAccount>,
    /// Search-engine accounts.
    pub search_accounts: Vec<SearchAccountRecord>,
    /// Properties of these accounts.
    pub properties: Vec<OwnedProperty>,
    /// The accounts that list each of these properties.
    pub property_listings: Vec<PropertyListing>,
    /// Favourites and hidden marks.
    pub preferences: Vec<PropertyPreference>,
    /// Records of each of these properties.
    pub property_records: Vec<PropertyRecords>,
    /// Annotations that the user wrote on properties of others.
    pub annotations_elsewhere: Vec<AnnotationElsewhere>,
    /// Segments that the user made on properties of others.
    pub segments_elsewhere: Vec<SegmentElsewhere>,
    /// Topic clusters that the user made on properties of others.
    pub topic_clusters_elsewhere: Vec<TopicClusterElsewhere>,
    /// Share links that the user made for properties of others.
    pub share_links_elsewhere: Vec<ShareLinkRecord>,
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
    /// Browsers that are signed in at the embedded issuer.
    pub issuer_sessions: Vec<IssuerSessionRecord>,
    /// Consents that the embedded issuer remembers.
    pub consents: Vec<Consent>,
    /// Grants of the embedded issuer to applications.
    pub application_grants: Vec<ApplicationGrant>,
    /// Codes and refresh tokens of these grants.
    pub application_tokens: Vec<ApplicationToken>,
    /// Applications that have acted for the user.
    pub application_uses: Vec<ApplicationUse>,
    /// Applications that the user refuses.
    pub application_refusals: Vec<ApplicationRefusal>,
    /// Responses stored for idempotent retries, at most 24 hours.
    pub stored_replays: Vec<ReplayRecord>,
    /// The user's audit trail of the last 90 days, and the events about the user in others' trails, latest first.
    pub audit_trail: Vec<AuditEvent>,
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
    /// Time of the last token that stated something about the address.
    pub email_stated_at: Option<Timestamp>,
    /// Display name.
    #[oai(validator(max_length = 255))]
    pub name: Option<String>,
    /// Time of the token that the name was taken from.
    pub name_stated_at: Option<Timestamp>,
    /// Time of the first sign-in.
    pub created_at: Timestamp,
    /// Time when name or address last changed.
    pub updated_at: Timestamp,
}

/// A user's subscription.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct SubscriptionRecord {
    /// State of the subscription.
    pub status: SubscriptionStatus,
    /// Stable identifier of the plan that the user has, tries or had.
    #[oai(validator(max_length = 64))]
    pub plan: Option<String>,
    /// Start of the period.
    pub period_starts_at: Option<Timestamp>,
    /// End of the period.
    pub period_ends_at: Option<Timestamp>,
    /// Time when the trial ends or ended.
    pub trial_ends_at: Option<Timestamp>,
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
    /// True if a refresh token is stored. It is not shown.
    pub grant_stored: bool,
    /// The search engine's last refusal.
    #[oai(validator(max_length = 10000))]
    pub last_error: Option<String>,
    /// Time when it was connected.
    pub connected_at: Timestamp,
    /// Time since which it is no longer connected.
    pub ended_at: Option<Timestamp>,
    /// Time when its sites were last read.
    pub synced_at: Option<Timestamp>,
}

/// A property's site in the list of a search-engine account.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct PropertyListing {
    /// The property's id.
    pub property_id: Uuid,
    /// The account's id in this service.
    pub account_id: Uuid,
    /// Permission of the account on the site.
    pub permission: SitePermission,
    /// Time since which the account no longer lists the site.
    pub lost_at: Option<Timestamp>,
}

/// An annotation on a property of another user.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase")]
pub struct AnnotationElsewhere {
    /// The property's id.
    pub property_id: Uuid,
    /// The annotation.
    pub annotation: Annotation,
}

/// A segment on a property of another user.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase")]
pub struct SegmentElsewhere {
    /// The property's id.
    pub property_id: Uuid,
    /// The segment.
    pub segment: Segment,
}

/// A topic cluster on a property of another user.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase")]
pub struct TopicClusterElsewhere {
    /// The property's id.
    pub property_id: Uuid,
    /// The topic cluster.
    pub topic_cluster: TopicCluster,
}

/// A share link, without its token.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct ShareLinkRecord {
    /// The link's id.
    pub id: Uuid,
    /// The property's id.
    pub property_id: Uuid,
    /// Name that tells links apart.
    #[oai(validator(max_length = 100))]
    pub name: Option<String>,
    /// Name of the user who made it, or else that user's verified e-mail address; absent if the user is unknown or has left.
    #[oai(validator(max_length = 320))]
    pub created_by: Option<String>,
    /// Expiry time.
    pub expires_at: Option<Timestamp>,
    /// Days of every answer.
    pub window: Option<DateRange>,
    /// Conditions that narrow every question of readers.
    #[oai(validator(max_items = 50))]
    pub filters: Option<Vec<FilterCondition>>,
    /// Subset of the traffic that every answer is about.
    pub classification: Option<TextField<Classification>>,
    /// What the classification stood for when the link was made.
    pub pinned: Option<PinnedClassification>,
    /// Parts that readers see.
    #[oai(validator(max_items = 3))]
    pub show: Vec<SharedPart>,
    /// Time when it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// Creation time.
    pub created_at: Timestamp,
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
    /// Share links, also revoked and expired ones.
    pub share_links: Vec<ShareLinkRecord>,
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
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
}

/// A grant that the user received.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct ReceivedGrant {
    /// The grant's id.
    pub id: Uuid,
    /// The user's address, as the owner wrote it.
    #[oai(validator(max_length = 320))]
    pub email: String,
    /// Role that it grants.
    pub role: GrantRole,
    /// True if it covers all properties of its owner.
    pub all_properties: bool,
    /// The properties it covers; empty when it covers all.
    #[oai(validator(max_items = 1000))]
    pub property_ids: Vec<Uuid>,
    /// Name of the owner.
    #[oai(validator(max_length = 255))]
    pub owner_name: Option<String>,
    /// The owner's verified address.
    #[oai(validator(max_length = 320))]
    pub owner_email: Option<String>,
    /// Time of the first use.
    pub accepted_at: Option<Timestamp>,
    /// Creation time.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
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
    pub stored_at: Timestamp,
    /// Time when it will be deleted.
    pub expires_at: Timestamp,
}
