//! A demo person's consent at the simulated search engine.

use search_engine::{Consent, SearchEngineError};
use secrecy::ExposeSecret as _;
use url::Url;

use crate::{handlers::App, services::search_accounts::Connection};

/// Nothing listens there. The code is read from the redirect itself.
const REDIRECT_URI: &str = "http://127.0.0.1/search-account";

/// Runs the code grant. The simulated search engine consents at once for a `login_hint`.
pub(super) async fn grant(app: &App, http: &reqwest::Client, name: &str) -> Result<Connection, SearchEngineError> {
    let oauth = app.search.reader.engine().oauth();
    let (state, verifier) = (app.random.token(), app.random.token());
    let consent = oauth.authorize_url(&Consent {
        redirect_uri: REDIRECT_URI,
        state: &state,
        verifier: &verifier,
        prompt: Some("consent"),
        login_hint: Some(name),
    })?;
    let answer = http.get(consent).send().await;
    let answer = answer.map_err(|e| SearchEngineError::unavailable(e.without_url().to_string()))?;
    let location = answer.headers().get("location").and_then(|value| value.to_str().ok()).unwrap_or_default();
    let code = code(location, &state)
        .ok_or_else(|| SearchEngineError::Disconnected("consent needs a person; connect by hand".to_owned()))?;
    let tokens = oauth.exchange(&code, REDIRECT_URI, &verifier).await?;
    if !tokens.may_read() {
        return Err(SearchEngineError::ScopeMissing("of a demo account".to_owned()));
    }
    let who = oauth.userinfo(&tokens.access_token).await?;
    let refresh_token =
        tokens.refresh_token.ok_or_else(|| SearchEngineError::Disconnected("no refresh token".to_owned()))?;
    let refresh_token = Some(refresh_token.expose_secret().to_owned());
    Ok(Connection { subject: who.sub, email: who.email, refresh_token })
}

fn code(location: &str, state: &str) -> Option<String> {
    let url = Url::parse(location).ok()?;
    let find = |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    (find("state")? == state).then(|| find("code")).flatten()
}
