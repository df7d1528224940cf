//! The embedded OAuth 2.0 / `OpenID` Connect issuer, for deployments without their own.
//!
//! Authorization code with PKCE, or a device code (RFC 8628); public clients only. The server uses it over HTTP like any other issuer. The two share one
//! database; the crate `identity` holds what both do with it: grants, sessions and revocations.

pub mod accounts;
pub mod client_documents;
pub mod client_metadata;
pub mod clients;
mod codes;
mod consents;
mod counts;
pub mod demo;
mod device_codes;
mod endpoints;
mod exchanges;
mod family;
pub mod grants;
mod issue;
pub mod keys;
pub mod mail;
mod parameters;
mod people;
mod redirect_uri;
mod refresh;
pub mod registry;
mod request;
mod reserved_names;
mod response;
mod scope;
mod sessions;
mod sweep;
pub mod upstream;
mod user_code;

use std::sync::Arc;

use chrono::TimeDelta;
use common::{base_url::BaseUrl, clock::Clock, random::Random, secrets::Secrets};
use pages::page::Navigation;
use sea_orm::DatabaseConnection;
use telemetry::events::EventMeter;

use self::{
    accounts::attempts::Attempts, client_documents::ClientDocuments, counts::Counts, keys::Keys, upstream::Upstream,
};
use crate::mail::Mailer;

pub use endpoints::registration::MAX_CLIENTS;

/// Settings of the issuer.
#[derive(Clone, Debug)]
pub struct Settings {
    /// URL of the service, without a trailing slash: the issuer identifier, byte for byte.
    pub base_url: BaseUrl,
    /// The resources that tokens may be for: `base_url` and `mcp_url` + `/mcp`. A token names all of them unless a client
    /// asks for fewer.
    pub audiences: Vec<String>,
    /// The demo people who are present. Some only if everything stays on this machine.
    pub demo_people: &'static [demo::Person],
    /// True if `login_hint` may sign a demo person in without a page (see [`demo`]).
    pub demo_sign_in: bool,
}

/// The embedded issuer.
#[derive(Clone)]
pub struct IdentityProvider {
    /// The settings.
    pub settings: Arc<Settings>,
    db: DatabaseConnection,
    /// The signing keys.
    pub keys: Keys,
    secrets: Secrets,
    key_max_age: TimeDelta,
    /// The clock.
    pub clock: Clock,
    /// The source of ids and tokens.
    pub random: Random,
    /// Counts registrations and authorizations, if they are limited.
    counts: Option<Counts>,
    registration_is_open: bool,
    documents: Option<ClientDocuments>,
    attempts: Attempts,
    mailer: Option<Mailer>,
    /// The navigation of pages for people who are signed in.
    navigation: Navigation,
    upstream: Option<Upstream>,
    /// Counts messages and sign-ins.
    events: EventMeter,
}

/// The age at which a signing key is replaced, unless the settings say otherwise.
pub const KEY_MAX_AGE: TimeDelta = TimeDelta::days(90);

impl IdentityProvider {
    /// An issuer that stores its state in `db`, including its signing keys, encrypted by `secrets`.
    #[must_use]
    pub fn new(settings: Settings, db: DatabaseConnection, secrets: Secrets, clock: Clock, random: Random) -> Self {
        Self {
            settings: Arc::new(settings),
            keys: Keys::new(db.clone(), secrets.clone(), clock.clone()),
            attempts: Attempts::new(Counts::new(db.clone(), secrets.clone(), clock.clone())),
            db,
            secrets,
            key_max_age: KEY_MAX_AGE,
            clock,
            random,
            counts: None,
            registration_is_open: true,
            documents: None,
            mailer: None,
            upstream: None,
            events: EventMeter::default(),
            navigation: Navigation::default(),
        }
    }

    /// Returns the issuer with the navigation of its pages for people who are signed in.
    #[must_use]
    pub fn with_navigation(self, navigation: Navigation) -> Self {
        Self { navigation, ..self }
    }

    /// Returns the issuer with limits on registrations by address and on authorizations by person, or without.
    #[must_use]
    pub fn with_limits(self, is_limited: bool) -> Self {
        let counts = is_limited.then(|| Counts::new(self.db.clone(), self.secrets.clone(), self.clock.clone()));
        Self { counts, ..self }
    }

    /// Returns the issuer with a server that mails links for forgotten passwords.
    #[must_use]
    pub fn with_mailer(self, mailer: Option<Mailer>) -> Self {
        Self { mailer, ..self }
    }

    /// Returns the issuer with counters of messages, and of sign-ins with a password that fail.
    #[must_use]
    pub fn with_events(self, events: EventMeter) -> Self {
        Self { events, ..self }
    }

    /// Returns the issuer with another provider at which people sign in.
    #[must_use]
    pub fn with_upstream(self, upstream: Option<Upstream>) -> Self {
        Self { upstream, ..self }
    }

    /// Returns the issuer with registration open to anyone, or closed.
    #[must_use]
    pub fn with_registration(self, is_open: bool) -> Self {
        Self { registration_is_open: is_open, ..self }
    }

    /// Returns the issuer with clients that are described by a metadata document at their id.
    #[must_use]
    pub fn with_documents(self, documents: ClientDocuments) -> Self {
        Self { documents: Some(documents), ..self }
    }

    /// Returns the issuer with another age at which a signing key is replaced.
    #[must_use]
    pub fn with_key_max_age(self, age: TimeDelta) -> Self {
        Self { key_max_age: age, ..self }
    }

    /// Returns the issuer without demo people, for tests of local accounts.
    #[must_use]
    pub fn without_demo_people(self) -> Self {
        Self { settings: Arc::new(Settings { demo_people: &[], ..(*self.settings).clone() }), ..self }
    }

    fn base_url(&self) -> &BaseUrl {
        &self.settings.base_url
    }

    fn issuer(&self) -> &str {
        self.settings.base_url.as_str()
    }
}
