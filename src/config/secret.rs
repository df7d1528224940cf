//! Secret settings, and how to print settings without them.

use std::fmt;

use common::urls::without_credentials;
use serde::{Deserialize, Serialize};

use super::{Database, Redis};

/// Text that is never logged.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// Prints the URL without user and password.
impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url, max_connections } = self;
        let url = url.as_deref().map(without_credentials);
        f.debug_struct("Database").field("url", &url).field("max_connections", max_connections).finish()
    }
}

/// Prints the URL without user and password.
impl fmt::Debug for Redis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url } = self;
        f.debug_struct("Redis").field("url", &url.as_deref().map(without_credentials)).finish()
    }
}
