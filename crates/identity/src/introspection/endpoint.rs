//! The request to the introspection endpoint (RFC 7662 section 2.1).

use common::{bounded, urls::is_secure};
use reqwest::{StatusCode, header};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use url::{Url, form_urlencoded::byte_serialize};

use super::{
    super::{AccessToken, IssuerUnavailable, issuer::Issuer, reading::SHORT_WAIT},
    statement::Verdict,
};

/// The largest answer. It repeats the claims of one token.
const MAX_ANSWER_BYTES: usize = 64 * 1024;

/// The service's client at the introspection endpoint of one issuer.
pub(super) struct Endpoint {
    issuer: Issuer,
    client_id: String,
    client_secret: SecretString,
}

/// The reason why there is no verdict. The text never holds the token, the secret or the answer.
#[derive(Clone)]
pub(super) enum Failure {
    /// The endpoint is away or asks to be left alone.
    Away(IssuerUnavailable),
    /// The endpoint answers something else about this token. Other tokens may fare better.
    Unreadable(IssuerUnavailable),
}

impl Failure {
    pub fn into_error(self) -> IssuerUnavailable {
        match self {
            Self::Away(error) | Self::Unreadable(error) => error,
        }
    }
}

impl Endpoint {
    /// The id and the secret are form-encoded before HTTP Basic joins them (RFC 6749 section 2.3.1), so that both may hold colons.
    pub fn new(issuer: Issuer, client_id: &str, client_secret: &str) -> Self {
        let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
        Self { issuer, client_id: encoded(client_id), client_secret: encoded(client_secret).into() }
    }

    /// Asks whether `text`, which was verified as `token`, is active.
    pub async fn ask(&self, text: &str, token: &AccessToken) -> Result<Verdict, Failure> {
        let url = self.url().await.map_err(Failure::Away)?;
        let away = |reason: String| Failure::Away(unavailable(&reason));
        let request = self
            .issuer
            .http()
            .post(url)
            .timeout(SHORT_WAIT)
            .basic_auth(&self.client_id, Some(self.client_secret.expose_secret()))
            .header(header::ACCEPT, "application/json")
            .form(&[("token", text), ("token_type_hint", "access_token")]);
        let answer = request.send().await.map_err(|error| away(error.without_url().to_string()))?;
        match answer.status() {
            StatusCode::OK => {}
            status @ (StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) => {
                return Err(away(format!("status {status}")));
            }
            StatusCode::UNAUTHORIZED => {
                let reason = "status 401: it does not accept identity.introspection.client_id and client_secret";
                return Err(Failure::Unreadable(unavailable(reason)));
            }
            status => return Err(Failure::Unreadable(unavailable(&format!("status {status}")))),
        }
        let unreadable = |reason: &str| Failure::Unreadable(unavailable(reason));
        let body = bounded::bytes(answer, MAX_ANSWER_BYTES).await.map_err(|error| unreadable(&error.to_string()))?;
        // The parser's message tells a position and quotes nothing.
        let answer: Value = serde_json::from_slice(&body).map_err(|error| unreadable(&error.to_string()))?;
        Verdict::read(answer, self.issuer.url(), token).map_err(unreadable)
    }

    async fn url(&self) -> Result<Url, IssuerUnavailable> {
        let metadata = self.issuer.metadata().await?;
        let named = metadata.introspection_endpoint.as_deref();
        let named = named.ok_or_else(|| {
            unavailable("its metadata names no introspection_endpoint; remove identity.introspection if it has none")
        })?;
        Url::parse(named).ok().filter(is_secure).ok_or_else(|| unavailable("it is not at a secure address"))
    }
}

fn unavailable(reason: &str) -> IssuerUnavailable {
    IssuerUnavailable(format!("introspection endpoint: {reason}"))
}
