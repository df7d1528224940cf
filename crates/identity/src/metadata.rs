//! The members of an issuer's discovery document.

use openidconnect::{
    AdditionalProviderMetadata, ProviderMetadata,
    core::{
        CoreAuthDisplay, CoreClaimName, CoreClaimType, CoreClientAuthMethod, CoreGrantType, CoreJsonWebKey,
        CoreJweContentEncryptionAlgorithm, CoreJweKeyManagementAlgorithm, CoreResponseMode, CoreResponseType,
        CoreSubjectIdentifierType,
    },
};
use serde::{Deserialize, Serialize};

/// A discovery document (`OpenID` Connect Discovery 1.0) with members of RFC 8414.
pub type Metadata = ProviderMetadata<
    Additional,
    CoreAuthDisplay,
    CoreClientAuthMethod,
    CoreClaimName,
    CoreClaimType,
    CoreGrantType,
    CoreJweContentEncryptionAlgorithm,
    CoreJweKeyManagementAlgorithm,
    CoreJsonWebKey,
    CoreResponseMode,
    CoreResponseType,
    CoreSubjectIdentifierType,
>;

/// Members beyond `OpenID` Connect Discovery. Text, so that an address that cannot be read spoils no sign-in.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Additional {
    /// The address of token introspection (RFC 7662).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub introspection_endpoint: Option<String>,
}

impl AdditionalProviderMetadata for Additional {}
