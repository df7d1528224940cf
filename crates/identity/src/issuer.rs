//! The client side of the issuer: its discovery document, fetched on first use, so that `serve` starts without it.

use std::{sync::Arc, time::Duration};

use chrono::TimeDelta;
use common::{
    bounded,
    clock::Clock,
    urls::{is_secure, without_credentials},
};
use serde::de::DeserializeOwned;
use url::Url;

use super::{
    IssuerUnavailable,
    metadata::Metadata,
    reading::{Attempt, LONG_WAIT, Reading, SHORT_WAIT},
};

const TIME_LIMIT: Duration = Duration::from_secs(10);
const FRESH_FOR: TimeDelta = TimeDelta::hours(1);

/// The name of the embedded issuer in the records of people. No URL of an issuer equals it.
pub const EMBEDDED: &str = "embedded";

/// The error for an issuer URL that may not be used.
#[derive(Debug, thiserror::Error)]
#[error("{0} is not a usable issuer: https is required (http only on loopback), without user, query and fragment")]
pub struct UnusableIssuer(String);

/// A client of one `OpenID` Connect issuer.
#[derive(Clone)]
pub struct Issuer {
    url: String,
    people: String,
    http: reqwest::Client,
    document: Reading<Metadata>,
}

impl Issuer {
    /// A client of the issuer whose identifier is exactly `url`. Sends no request.
    pub fn new(url: &str, http: reqwest::Client, clock: Clock) -> Result<Self, UnusableIssuer> {
        let parsed = Url::parse(url).map_err(|_| UnusableIssuer(without_credentials(url)))?;
        let has_user = !parsed.username().is_empty() || parsed.password().is_some();
        if !is_secure(&parsed) || has_user || parsed.query().is_some() || parsed.fragment().is_some() {
            return Err(UnusableIssuer(without_credentials(url)));
        }
        let url = url.to_owned();
        Ok(Self { people: url.clone(), url, http, document: Reading::new(clock) })
    }

    /// Stores the people of this issuer under the same name at every URL. For the embedded issuer, whose URL is the
    /// service's own and may change.
    #[must_use]
    pub fn embedded(self) -> Self {
        Self { people: EMBEDDED.to_owned(), ..self }
    }

    /// The issuer's name in the records of people.
    #[must_use]
    pub fn people(&self) -> &str {
        &self.people
    }

    /// The issuer identifier, byte for byte as configured.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the discovery document (`OpenID` Connect Discovery 1.0), cached for an hour. An expired document stays in use
    /// while it is fetched again, because it is better than none while the issuer is down.
    pub async fn metadata(&self) -> Result<Arc<Metadata>, IssuerUnavailable> {
        let issuer = self.clone();
        let begin = |limit| self.document.begin(limit, async move { issuer.discover().await });
        match self.document.kept() {
            Some((age, document)) => {
                if age >= FRESH_FOR {
                    begin(LONG_WAIT);
                }
                Ok(document)
            }
            None => match begin(SHORT_WAIT) {
                Attempt::Begun(outcome) | Attempt::UnderWay(outcome) => outcome.await,
                Attempt::Failed(error) => Err(error),
            },
        }
    }

    /// Returns whether the issuer's document is right now, regardless of the cache, or `None` if the issuer does not answer at all.
    pub async fn is_well(&self) -> Option<bool> {
        let address = self.document_address();
        let response = self.send(&address).await.ok()?;
        let document = document(&address, response).await;
        Some(document.and_then(|document| self.own(document)).is_ok())
    }

    async fn discover(&self) -> Result<Metadata, IssuerUnavailable> {
        self.own(self.get(&self.document_address()).await?)
    }

    fn document_address(&self) -> String {
        format!("{}/.well-known/openid-configuration", self.url.trim_end_matches('/'))
    }

    /// Fails if a document is that of another issuer.
    fn own(&self, document: Metadata) -> Result<Metadata, IssuerUnavailable> {
        if document.issuer.as_str() != self.url {
            let named = document.issuer.as_str();
            return Err(IssuerUnavailable(format!(
                "its document names another issuer, {named}. If that is the one that is meant, set the issuer to it, to the letter"
            )));
        }
        Ok(document)
    }

    /// Fetches a JSON document of the issuer.
    pub(super) async fn get<T: DeserializeOwned>(&self, address: &str) -> Result<T, IssuerUnavailable> {
        document(address, self.send(address).await?).await
    }

    async fn send(&self, address: &str) -> Result<reqwest::Response, IssuerUnavailable> {
        if !Url::parse(address).is_ok_and(|parsed| is_secure(&parsed)) {
            return Err(unavailable(address, "not a secure address"));
        }
        let request = self.http.get(address).timeout(TIME_LIMIT);
        request.send().await.map_err(|error| unavailable(address, &error.to_string()))
    }

    pub(super) fn http(&self) -> &reqwest::Client {
        &self.http
    }
}

fn unavailable(address: &str, reason: &str) -> IssuerUnavailable {
    IssuerUnavailable(format!("GET {address}: {reason}"))
}

/// Reads the JSON document that an issuer sent.
async fn document<T: DeserializeOwned>(address: &str, response: reqwest::Response) -> Result<T, IssuerUnavailable> {
    if response.status() != reqwest::StatusCode::OK {
        return Err(unavailable(address, &format!("status {}", response.status())));
    }
    bounded::object(response, bounded::DOCUMENT).await.map_err(|error| unavailable(address, &error.to_string()))
}
