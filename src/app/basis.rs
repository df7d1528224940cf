//! Parts of sign-in, each made from the settings: the people, the embedded issuer, and the sign-in of browsers.

use std::sync::Arc;

use chrono::TimeDelta;
use common::{base_url::BaseUrl, clock::Clock, random::Random, secrets::Secrets};
use identity::{
    Users,
    departures::Departures,
    introspection::Introspection,
    jwks::Jwks,
    relying_party::RelyingParty,
    session::Sessions,
    token::{MAX_AGE, Verifier},
};
use issuer::{
    IdentityProvider, KEY_MAX_AGE, Settings as IssuerSettings,
    client_documents::{ClientDocuments, reach::SystemNames},
    demo::people,
    mail::Mailer,
    upstream::Upstream,
};
use pages::{page::Navigation, paths};
use sea_orm::DatabaseConnection;
use telemetry::events::EventMeter;

use super::http_clients::http_settings;
use crate::{
    config::{Config, Mail, Registration},
    error::Error,
    services::users::StoredUsers,
    web::sign_in::{self, BrowserSignIn},
};

/// Everything that most parts are made from.
pub(super) struct Basis<'a> {
    pub config: &'a Config,
    pub base_url: &'a BaseUrl,
    pub writer: &'a DatabaseConnection,
    pub secrets: &'a Secrets,
    pub clock: &'a Clock,
    pub random: &'a Random,
    pub events: &'a EventMeter,
}

impl Basis<'_> {
    pub fn users(&self, departures: &Departures) -> Arc<dyn Users> {
        Arc::new(StoredUsers {
            db: self.writer.clone(),
            random: self.random.clone(),
            clock: self.clock.clone(),
            trial_days: self.config.billing.trial_days,
            departures: departures.clone(),
        })
    }

    /// The embedded issuer, if no other is configured.
    pub fn provider(&self, demo_people: bool, upstream: Option<Upstream>) -> Result<Option<IdentityProvider>, Error> {
        let Self { config, base_url, writer, secrets, clock, random, events } = self;
        let mailer = mailer(&config.mail, base_url, clock, random)?;
        if !config.embeds_issuer() {
            return Ok(None);
        }
        let age = TimeDelta::from_std(config.identity.key_max_age.duration()).unwrap_or(KEY_MAX_AGE);
        let names = Arc::new(SystemNames);
        let documents = ClientDocuments::new(http_settings()?, names, base_url, (*clock).clone());
        let settings = issuer_settings(config, base_url, demo_people);
        let (writer, secrets) = ((*writer).clone(), (*secrets).clone());
        let provider = IdentityProvider::new(settings, writer, secrets, (*clock).clone(), (*random).clone())
            .with_limits(config.rate_limit.enabled)
            .with_mailer(mailer)
            .with_registration(config.identity.registration == Registration::Open)
            .with_key_max_age(age)
            .with_documents(documents.map_err(Error::internal)?)
            .with_navigation(navigation(config, base_url))
            .with_upstream(upstream)
            .with_events((*events).clone());
        Ok(Some(provider))
    }

    /// The verifier of access tokens that are signed with `keys`.
    pub fn verifier(&self, keys: &Jwks) -> Verifier {
        let client = self.config.identity.introspection.client();
        let introspection =
            client.map(|(id, secret)| Introspection::new(keys.issuer().clone(), id, secret, self.clock.clone()));
        Verifier::new(keys.clone(), self.clock.clone())
            .with_max_age(max_token_age(self.config))
            .with_introspection(introspection)
    }

    /// Sign-in of browsers, by the service's own client at the issuer of `keys`.
    pub fn sign_in(
        &self,
        client_id: &str,
        keys: Jwks,
        sessions: &Sessions,
        users: Arc<dyn Users>,
    ) -> Result<BrowserSignIn, Error> {
        let secret = self.config.identity.client_secret.clone().map(|secret| secret.0);
        let back = self.base_url.join(sign_in::CALLBACK);
        let party = RelyingParty::new(keys, client_id, secret, back, self.clock.clone());
        let party = party.map_err(|e| Error::invalid(format!("base_url: {e}")))?;
        let (clock, random) = (self.clock.clone(), self.random.clone());
        let sign_in = BrowserSignIn::new(party, sessions.clone(), users, self.secrets, clock, random, self.base_url);
        Ok(sign_in.with_events(self.events.clone()))
    }
}

fn issuer_settings(config: &Config, base_url: &BaseUrl, demo_people: bool) -> IssuerSettings {
    IssuerSettings {
        base_url: base_url.clone(),
        audiences: vec![audience(config, base_url), mcp_audience(config, base_url)],
        demo_people: if demo_people { people(config.simulator.sites > 0) } else { &[] },
        demo_sign_in: config.demo_sign_in(),
    }
}

/// The navigation of pages for people who are signed in.
pub fn navigation(config: &Config, base_url: &BaseUrl) -> Navigation {
    Navigation { plans: config.plans_page(base_url) }
}

/// The age beyond which access tokens are refused.
pub fn max_token_age(config: &Config) -> TimeDelta {
    TimeDelta::from_std(config.identity.max_token_age.duration()).unwrap_or(MAX_AGE)
}

/// The URL of the tool endpoint.
pub fn mcp_endpoint(config: &Config, base_url: &BaseUrl) -> String {
    config.mcp_url(base_url).join(paths::TOOLS)
}

/// The audience that the tool endpoint requires of access tokens.
pub fn mcp_audience(config: &Config, base_url: &BaseUrl) -> String {
    config.identity.mcp_audience.clone().unwrap_or_else(|| mcp_endpoint(config, base_url))
}

/// The audience that the API requires of access tokens.
pub fn audience(config: &Config, base_url: &BaseUrl) -> String {
    config.identity.audience.clone().unwrap_or_else(|| base_url.to_string())
}

/// The client of the configured mail server, if there is one.
///
/// # Errors
/// [`Error::InvalidRequest`] names the setting that cannot be used.
pub fn mailer(settings: &Mail, base_url: &BaseUrl, clock: &Clock, random: &Random) -> Result<Option<Mailer>, Error> {
    let Some(smtp_url) = &settings.smtp_url else { return Ok(None) };
    let from = settings.from.as_deref().unwrap_or_default();
    let own_host = base_url.url().host_str().unwrap_or_default();
    let hello_name = settings.hello_name.as_deref().unwrap_or(own_host);
    let mailer = Mailer::new(&smtp_url.0, from, hello_name, clock.clone(), random.clone());
    mailer.map(Some).map_err(|error| Error::invalid(error.to_string()))
}
