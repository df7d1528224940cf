//! The audit trail in the export of a user's data.

use poem_openapi::{Enum, Object};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::models::Timestamp;

/// One event of an audit trail.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct AuditEvent {
    /// The event's id.
    pub id: Uuid,
    /// Time of the event.
    pub at: Timestamp,
    /// The action.
    pub action: AuditAction,
    /// The user who acted.
    pub actor: AuditActor,
    /// Name or e-mail address of that user, if it is another one.
    #[oai(validator(max_length = 320))]
    pub actor_name: Option<String>,
    /// Name of the changed record: of an application with the scopes that it may use, of properties one after the other.
    #[oai(validator(max_length = 4096))]
    pub what: Option<String>,
    /// Id of the property that it belongs to.
    pub property_id: Option<Uuid>,
    /// E-mail address of the person concerned, or `a former member`.
    #[oai(validator(max_length = 320))]
    pub whom: Option<String>,
    /// Role that was given or taken.
    #[oai(validator(max_length = 16))]
    pub role: Option<String>,
    /// True if the event belongs to another user's trail, and is here because it names the caller.
    pub elsewhere: bool,
}

/// The user who acted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum)]
#[oai(rename_all = "snake_case")]
pub enum AuditActor {
    /// The caller.
    You,
    /// Another user.
    Other,
    /// A user who has deleted their data.
    FormerMember,
}

/// The action of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum, Serialize, Deserialize)]
#[oai(rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum AuditAction {
    /// Somebody was given a role on properties.
    GrantMade,
    /// The role or the properties of a grant were changed.
    GrantChanged,
    /// A grant was removed, or its holder left.
    GrantRemoved,
    /// A share link was made.
    ShareLinkMade,
    /// A share link was revoked.
    ShareLinkRevoked,
    /// A search account was connected, or connected again.
    SearchAccountConnected,
    /// A search account was disconnected.
    SearchAccountDisconnected,
    /// An SEO provider was connected.
    ProviderConnected,
    /// An SEO provider was disconnected.
    ProviderDisconnected,
    /// The access of an application was revoked.
    ApplicationRevoked,
    /// An application was allowed, or a refused one was allowed again.
    ApplicationAllowed,
    /// The choice of how much an application may do was changed.
    ApplicationChanged,
    /// Properties are tracked from now on.
    TrackingBegun,
    /// Properties are no longer tracked.
    TrackingEnded,
    /// An annotation was deleted.
    AnnotationDeleted,
    /// A segment was deleted.
    SegmentDeleted,
    /// A topic cluster was deleted.
    TopicClusterDeleted,
    /// A branded keyword was deleted.
    BrandedKeywordDeleted,
    /// A tag was deleted.
    TagDeleted,
    /// A filter preset was deleted.
    FilterPresetDeleted,
}

impl AuditAction {
    /// The name of the action, as it is stored and as answers have it.
    #[must_use]
    pub fn name(self) -> String {
        let name = serde_json::to_value(self).ok();
        name.and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
    }
}
