//! The issuer as seen from outside: its discovery document, fetched when first needed, so that `serve` starts without it.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use openidconnect::core::CoreProviderMetadata;
use serde::de::DeserializeOwned;
use tokio::sync::Mutex;
use url::{Host, Url};

use crate::clock::Clock;

const TIME_LIMIT: Duration = Duration::from_secs(10);
const MAX_DOCUMENT_BYTES: usize = 512 * 1024;
const FRESH_FOR: TimeDelta = TimeDelta::hours(1);

/// The issuer cannot be asked: unreachable, or its answers are unusable. The text is for the log only.
#[derive(Clone, Debug, thiserror::Error)]
#[error("issuer unavailable: {0}")]
pub struct IssuerUnavailable(pub String);

/// An issuer address that may not be used.
#[derive(Debug, thiserror::Error)]
#[error("{0} is no usable issuer: https is required (http only on loopback), without query and fragment")]
pub struct UnusableIssuer(String);

/// A client of one `OpenID` Connect issuer.
#[derive(Clone)]
pub struct Issuer {
    url: String,
    http: reqwest::Client,
    clock: Clock,
    document: Arc<Mutex<Option<(DateTime<Utc>, Arc<CoreProviderMetadata>)>>>,
}

impl Issuer {
    /// The issuer whose identifier is exactly `url`. Nothing is fetched yet.
    pub fn new(url: &str, http: reqwest::Client, clock: Clock) -> Result<Self, UnusableIssuer> {
        let parsed = Url::parse(url).map_err(|_| UnusableIssuer(url.to_owned()))?;
        if !is_secure(&parsed) || parsed.query().is_some() || parsed.fragment().is_some() {
            return Err(UnusableIssuer(url.to_owned()));
        }
        Ok(Self { url: url.to_owned(), http, clock, document: Arc::default() })
    }

    /// The issuer identifier, byte for byte as configured.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The discovery document (`OpenID` Connect Discovery 1.0), kept for an hour.
    pub async fn metadata(&self) -> Result<Arc<CoreProviderMetadata>, IssuerUnavailable> {
        let mut kept = self.document.lock().await;
        let now = self.clock.now();
        if let Some((read_at, document)) = kept.as_ref()
            && now - *read_at < FRESH_FOR
        {
            return Ok(document.clone());
        }
        match self.discover().await {
            Ok(document) => {
                let document = Arc::new(document);
                *kept = Some((now, document.clone()));
                Ok(document)
            }
            // A document that was good an hour ago serves better than none while the issuer is away.
            Err(error) => kept.as_ref().map(|(_, document)| document.clone()).ok_or(error),
        }
    }

    async fn discover(&self) -> Result<CoreProviderMetadata, IssuerUnavailable> {
        let address = format!("{}/.well-known/openid-configuration", self.url.trim_end_matches('/'));
        let document: CoreProviderMetadata = self.get(&address).await?;
        if document.issuer().as_str() != self.url {
            return Err(IssuerUnavailable(format!(
                "its document names another issuer, {}",
                document.issuer().as_str()
            )));
        }
        Ok(document)
    }

    /// Reads a JSON document of the issuer.
    pub(super) async fn get<T: DeserializeOwned>(&self, address: &str) -> Result<T, IssuerUnavailable> {
        let unavailable = |reason: String| IssuerUnavailable(format!("GET {address}: {reason}"));
        if !Url::parse(address).is_ok_and(|parsed| is_secure(&parsed)) {
            return Err(unavailable("not a secure address".to_owned()));
        }
        let request = self.http.get(address).timeout(TIME_LIMIT);
        let mut response = request.send().await.map_err(|error| unavailable(error.to_string()))?;
        if response.status() != reqwest::StatusCode::OK {
            return Err(unavailable(format!("status {}", response.status())));
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| unavailable(error.to_string()))? {
            if body.len() + chunk.len() > MAX_DOCUMENT_BYTES {
                return Err(unavailable("the document is too large".to_owned()));
            }
            body.extend_from_slice(&chunk);
        }
        serde_json::from_slice(&body).map_err(|error| unavailable(error.to_string()))
    }

    pub(super) fn http(&self) -> &reqwest::Client {
        &self.http
    }
}

/// Whether tokens and keys may travel to `url`: https, or http within this machine.
#[must_use]
pub fn is_secure(url: &Url) -> bool {
    url.scheme() == "https" || (url.scheme() == "http" && is_loopback(url))
}

/// Whether `url` names this machine: a loopback address or `localhost`.
#[must_use]
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}
