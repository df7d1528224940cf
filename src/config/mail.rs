//! Settings of mail.

use serde::{Deserialize, Serialize};

use super::Secret;

/// Mail to people with local accounts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mail {
    /// `smtps://user:password@host` or `smtp://…`. Without it, links are printed for the operator.
    pub smtp_url: Option<Secret>,
    /// The sender's address.
    pub from: Option<String>,
}
