//! Tries everything that the settings name, without changing anything.

mod engine;
mod machine;
mod outside;
mod reached;

use common::{clock::Clock, random::Random};
use identity::issuer::Issuer;
use issuer::mail::Mailer;
use store::{
    database::{self, OpenDatabase},
    postgres, rights, schema,
};

use self::{
    engine::{answers, engine},
    reached::TIMEOUT,
};
use super::{
    basis::mailer,
    data, http_client,
    key_file::{KeyFile, configured},
};
use crate::{
    config::{Config, IdentifierUrl},
    error::Error,
};

/// The outcome of trying one part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    /// The part of the service.
    pub part: &'static str,
    /// A description of the part, or the reason why it failed.
    pub said: String,
    /// True if the service can work with it.
    pub is_well: bool,
}

type Outcome = Result<String, String>;

/// Tries the database, the disk, the key, Redis, the clock, `base_url`, the issuers, the search engine, the providers and the mail server of
/// `config`.
///
/// # Errors
/// No client for requests can be made.
pub async fn try_settings(config: &Config, clock: &Clock, random: &Random) -> Result<Vec<Tried>, Error> {
    let http = http_client()?;
    let issuers = &config.identity;
    let opened = connect(config).await;
    let outcomes: [(&'static str, Outcome); 11] = [
        ("database", database(config, opened.as_ref()).await),
        ("disk", machine::disk(config)),
        ("secrets.key", key(config, opened.as_ref()).await),
        ("Redis", redis(config).await),
        ("clock", machine::clock(config, opened.as_ref(), clock).await),
        ("base_url", outside::outside(config).await),
        ("issuer", issuer(issuers.issuer.as_ref().map(IdentifierUrl::as_str), "embedded", &http, clock).await),
        ("sign-in", sign_in(config, &http, clock).await),
        ("search engine", engine(config, &http).await),
        ("SEO providers", providers(config, &http).await),
        ("mail", mail(config, clock, random).await),
    ];
    let tried = outcomes.map(|(part, outcome)| {
        let is_well = outcome.is_ok();
        Tried { part, said: outcome.unwrap_or_else(|said| said), is_well }
    });
    Ok(tried.into())
}

/// Opens the database. Returns `None` if its file does not exist yet.
async fn connect(config: &Config) -> Option<Result<OpenDatabase, String>> {
    match database::missing_file(&config.database_url()) {
        Some(_) => None,
        None => Some(data::connect(config).await.map_err(said)),
    }
}

async fn database(config: &Config, opened: Option<&Result<OpenDatabase, String>>) -> Outcome {
    let url = config.database_url();
    let Some(opened) = opened else {
        let missing = database::missing_file(&url).unwrap_or_default();
        return Ok(format!("{}: `sightline serve` makes it", missing.display()));
    };
    let opened = opened.as_ref().map_err(Clone::clone)?;
    rights::check_for_rows(&opened.writer).await.map_err(|error| said(error.into()))?;
    let schema = match schema::lacks(&opened.writer).await.map_err(|error| said(error.into()))? {
        None => "its schema is up to date".to_owned(),
        Some(first) if config.database.migrate => {
            rights::check_for_migrations(&opened.writer).await.map_err(|error| said(error.into()))?;
            format!("`sightline serve` applies migrations, from {first} on")
        }
        Some(_) => {
            return Err(schema::check(&opened.writer)
                .await
                .map_or_else(|error| said(error.into()), |()| String::new()));
        }
    };
    let file = url.strip_prefix("sqlite://").and_then(|rest| rest.split('?').next());
    Ok(format!("{}: {schema}", file.unwrap_or("PostgreSQL")))
}

async fn key(config: &Config, opened: Option<&Result<OpenDatabase, String>>) -> Outcome {
    if configured(config).map_err(said)?.is_some() {
        return Ok("set".to_owned());
    }
    let file = KeyFile::of(config);
    if file.read().map_err(said)?.is_some() {
        return Ok(format!("in {}", file.path().display()));
    }
    if let Some(Ok(opened)) = opened
        && matches!(schema::lacks(&opened.writer).await, Ok(None))
    {
        file.check_not_lost(&opened.writer).await.map_err(said)?;
    }
    if postgres::is_elsewhere(&config.database_url()) {
        return Err(said(file.demand()));
    }
    Ok(format!("{}: `sightline serve` makes it", file.path().display()))
}

async fn redis(config: &Config) -> Outcome {
    let Some(addresses) = config.redis.addresses() else { return Ok("not set".to_owned()) };
    for (setting, url) in [("redis.url", &addresses.counters), ("redis.cache_url", &addresses.cache)] {
        replicas::probe(url).await.map_err(|error| format!("{setting}: {error}"))?;
    }
    Ok("answers".to_owned())
}

/// Reads the metadata of the provider at which people sign in. At another issuer the service needs a client for browsers.
async fn sign_in(config: &Config, http: &reqwest::Client, clock: &Clock) -> Outcome {
    let identity = &config.identity;
    if !config.embeds_issuer() && identity.client_id.is_none() {
        return Err(
            "identity.client_id: is not set, so nobody can sign in in a browser, where search accounts are connected. Register a client for this \
             service at the issuer, and set its id"
                .to_owned(),
        );
    }
    issuer(identity.sign_in.issuer.as_ref().map(IdentifierUrl::as_str), "at the issuer", http, clock).await
}

/// Reads the metadata of an issuer. Without one, says `otherwise`.
async fn issuer(url: Option<&str>, otherwise: &str, http: &reqwest::Client, clock: &Clock) -> Outcome {
    let Some(url) = url else { return Ok(otherwise.to_owned()) };
    let issuer = Issuer::new(url, http.clone(), clock.clone()).map_err(|error| error.to_string())?;
    let found = tokio::time::timeout(TIMEOUT, issuer.metadata())
        .await
        .map_err(|_| format!("{url}: no answer in time. Start the issuer, or correct the setting"))?;
    found.map(|_| format!("{url}: its metadata are good")).map_err(|error| format!("{url}: {error}"))
}

async fn providers(config: &Config, http: &reqwest::Client) -> Outcome {
    let urls = [&config.seo.provider_a.url, &config.seo.provider_b.url];
    if config.simulates_search_engine() && urls.iter().all(|url| url.is_none()) {
        return Ok("simulated".to_owned());
    }
    let mut hosts = Vec::new();
    for (url, real) in urls.into_iter().zip(super::providers::REAL) {
        hosts.push(answers(url.as_ref().map_or(real, |url| url.as_str()), http).await?);
    }
    Ok(format!("{} answer", hosts.join(" and ")))
}

async fn mail(config: &Config, clock: &Clock, random: &Random) -> Outcome {
    let Some(mailer) = mailer(&config.mail, &config.base_url(config.listen), clock, random).map_err(said)? else {
        return Ok("not set".to_owned());
    };
    let answered = tokio::time::timeout(TIMEOUT, Mailer::probe(&mailer)).await;
    let answered = answered.map_err(|_| "mail.smtp_url: no answer in time. Correct the host and the port, and see that the network lets this machine reach them".to_owned())?;
    answered.map(|()| "the server answers".to_owned()).map_err(|error| format!("mail.smtp_url: {error}"))
}

#[expect(clippy::needless_pass_by_value, reason = "an argument of map_err")]
fn said(error: Error) -> String {
    error.to_string()
}
