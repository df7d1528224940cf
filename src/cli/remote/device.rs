//! Signing in on a machine without a browser (RFC 8628): a person types a code in a browser elsewhere.

use std::time::Duration;

use common::{plain_text::quoted, urls::is_secure};
use reqwest::StatusCode;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use tokio::time::{Instant, sleep_until};
use url::Url;

use super::{
    error::RemoteError,
    http::send,
    login::{Issuer, Tokens},
};
use crate::cli::terminal::{Text, note, short};

const GRANT_TYPE: &str = "urn:ietf:params:oauth:grant-type:device_code";
/// The seconds between two polls where the issuer does not say, and the seconds that each `slow_down` adds.
const INTERVAL: u64 = 5;
/// The most seconds between two polls that the issuer may ask for.
const LONGEST_INTERVAL: u64 = 60;
/// The longest time to wait for a person, whatever the issuer says.
const TIMEOUT: u64 = 30 * 60;

/// The answer of the device authorization endpoint.
#[derive(Deserialize)]
struct Codes {
    device_code: SecretString,
    user_code: String,
    verification_uri: String,
    expires_in: u64,
    interval: Option<u64>,
}

/// A refusal of the token endpoint.
#[derive(Deserialize)]
struct Refusal {
    error: String,
    error_description: Option<String>,
}

/// Signs a person in at `issuer`, and returns the tokens for `scope`. Says on stderr where to type which code.
///
/// # Errors
/// The person refuses, or does not decide while the code is good; the issuer has no device codes, or does not answer.
pub async fn sign_in(
    issuer: &Issuer,
    client: &str,
    scope: &str,
    http: &reqwest::Client,
) -> Result<Tokens, RemoteError> {
    let resource = issuer.resource().map(|resource| ("resource", resource));
    let form: Vec<_> = [("client_id", client), ("scope", scope)].into_iter().chain(resource).collect();
    let answer = send(http.post(issuer.device_endpoint()?).form(&form)).await?;
    if answer.status == StatusCode::BAD_REQUEST {
        let Refusal { error, error_description } = answer.json()?;
        return Err(RemoteError::refused(error, error_description));
    }
    let codes: Codes = answer.success()?;
    if !Url::parse(&codes.verification_uri).is_ok_and(|url| is_secure(&url)) {
        return Err(RemoteError::Failed(format!(
            "the server names {} as the page for the code, which is neither https nor of this machine",
            quoted(&codes.verification_uri)
        )));
    }
    let lasts = Duration::from_secs(codes.expires_in.min(TIMEOUT));
    let (minutes, code) = (lasts.as_secs().div_ceil(60), short(&codes.user_code));
    let invitation =
        format!("Open this address in a browser of any machine within {minutes} minutes, and enter the code {code}:");
    note(&Text::line(invitation).and("").and(format!("  {}", codes.verification_uri)).and(""));
    let end = Instant::now() + lasts;
    let mut wait = codes.interval.unwrap_or(INTERVAL).clamp(1, LONGEST_INTERVAL);
    let form = [("grant_type", GRANT_TYPE), ("device_code", codes.device_code.expose_secret()), ("client_id", client)];
    while Instant::now() < end {
        sleep_until((Instant::now() + Duration::from_secs(wait)).min(end)).await;
        // A failure of the network may be over at the next poll.
        let Ok(answer) = send(http.post(issuer.token_endpoint()).form(&form)).await else {
            wait += INTERVAL;
            continue;
        };
        if answer.status.is_success() {
            return answer.json();
        }
        if answer.status.is_server_error() {
            wait += INTERVAL;
            continue;
        }
        let Refusal { error, error_description } = answer.json()?;
        match error.as_str() {
            "authorization_pending" => {}
            "slow_down" | "temporarily_unavailable" => wait += INTERVAL,
            "expired_token" => break,
            _ => return Err(RemoteError::refused(error, error_description)),
        }
    }
    Err(RemoteError::TimedOut)
}
