//! Connects people's search accounts: consent, the first sync, the choice of properties, and the end of a connection.

mod consent;
mod ending;
mod syncs;
mod view;

use std::sync::Arc;

use common::{base_url::BaseUrl, random::Random};
use store::database::OpenDatabase;

use crate::{config::Config, services::analyses::search_data::SearchData};

pub use consent::{Answered, Attempt, NotConnected};
pub use ending::Ended;
pub use syncs::Progress;
pub use view::{AccountView, Choice, SiteView};

/// The path to which the search engine sends browsers back.
pub const CALLBACK: &str = "/account/search/callback";

/// Connects and disconnects search accounts.
#[derive(Clone)]
pub struct SearchConnections {
    search: SearchData,
    store: OpenDatabase,
    random: Random,
    config: Arc<Config>,
    redirect_uri: String,
    syncs: syncs::Syncs,
}

impl SearchConnections {
    /// Connects accounts for the service at `base_url`.
    #[must_use]
    pub fn new(
        search: SearchData,
        store: OpenDatabase,
        random: Random,
        config: Arc<Config>,
        base_url: &BaseUrl,
    ) -> Self {
        let redirect_uri = base_url.join(CALLBACK);
        Self { search, store, random, config, redirect_uri, syncs: syncs::Syncs::default() }
    }

    /// Returns whether the operator has configured a client at the search engine.
    #[must_use]
    pub fn is_configured(&self) -> bool {
        self.config.connects_search_accounts()
    }

    /// The URL that must be registered with the client at the search engine.
    #[must_use]
    pub fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }
}
