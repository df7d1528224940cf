//! The `login` command: the real authorization-code flow with PKCE, from discovery to the access token.

use common::{digest::pkce_challenge, random::Random};
use serde::{Deserialize, de::DeserializeOwned};
use url::Url;

const CLIENT_ID: &str = "sightline-cli";
// Nothing listens there. The response is read from the redirect itself.
const REDIRECT_URI: &str = "http://127.0.0.1/callback";

/// The reason why nobody was signed in.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    /// The server or its issuer did not respond, or the response is invalid.
    #[error("{0}")]
    Failed(String),
    /// The issuer requires a person to use a page first.
    #[error(
        "the server asks for sign-in in a browser: `--as` must name one of its demo people, owner, editor, viewer, stranger or lapsed, or network \
         with simulator.sites, and a server with settings of its own may have none"
    )]
    NeedsBrowser,
    /// The issuer refused.
    #[error("the server refused the sign-in: {0}")]
    Refused(String),
}

#[derive(Deserialize)]
struct Resource {
    authorization_servers: Vec<String>,
}

#[derive(Deserialize)]
struct Server {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
}

#[derive(Deserialize)]
struct Tokens {
    access_token: String,
}

/// The scope of a token that may do everything that its person may.
pub const EVERYTHING: &str = "openid profile email";

/// Signs the demo person `name` in at the server at `base_url` and returns an access token for `scope`.
///
/// `http` must not follow redirects. Nothing is printed and nothing is stored.
pub async fn login(
    base_url: &str,
    name: &str,
    scope: &str,
    http: reqwest::Client,
    random: &Random,
) -> Result<String, LoginError> {
    let base = base_url.trim_end_matches('/');
    let resource: Resource = get(&http, &format!("{base}/.well-known/oauth-protected-resource")).await?;
    let issuer = resource.authorization_servers.first();
    let issuer = issuer.ok_or_else(|| LoginError::Failed("the server names no issuer".to_owned()))?;
    let server: Server = get(&http, &metadata_address(issuer)?).await?;
    if server.issuer != *issuer {
        return Err(LoginError::Failed(format!("{issuer} calls itself {}", server.issuer)));
    }
    let (state, verifier) = (random.token(), random.token());
    let question = [
        ("response_type", "code"),
        ("client_id", CLIENT_ID),
        ("redirect_uri", REDIRECT_URI),
        ("scope", scope),
        ("state", &state),
        ("code_challenge", &pkce_challenge(&verifier)),
        ("code_challenge_method", "S256"),
        ("login_hint", name),
    ];
    let answer =
        http.get(&server.authorization_endpoint).query(&question).send().await.map_err(|error| failed(&error))?;
    let code = code(&answer, &state, &server.issuer)?;
    let form = [
        ("grant_type", "authorization_code"),
        ("code", &code),
        ("redirect_uri", REDIRECT_URI),
        ("client_id", CLIENT_ID),
        ("code_verifier", &verifier),
    ];
    let tokens: Tokens = read(http.post(&server.token_endpoint).form(&form)).await?;
    Ok(tokens.access_token)
}

/// The URL of the metadata by RFC 8414: the well-known path goes between the host and the path of the issuer.
fn metadata_address(issuer: &str) -> Result<String, LoginError> {
    let mut url = Url::parse(issuer).map_err(|_| LoginError::Failed(format!("{issuer} is not a URL")))?;
    let path = format!("/.well-known/oauth-authorization-server{}", url.path().trim_end_matches('/'));
    url.set_path(&path);
    Ok(url.into())
}

/// Returns the code in the redirect, if it answers our request and comes from that issuer.
fn code(answer: &reqwest::Response, state: &str, issuer: &str) -> Result<String, LoginError> {
    let location = answer.headers().get("location").and_then(|value| value.to_str().ok());
    let location = location.filter(|location| location.starts_with(REDIRECT_URI)).ok_or(LoginError::NeedsBrowser)?;
    let url = Url::parse(location).map_err(|_| LoginError::Failed("the redirect is not a URL".to_owned()))?;
    let find = |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    if find("state").as_deref() != Some(state) || find("iss").is_some_and(|iss| iss != issuer) {
        return Err(LoginError::Failed("the redirect does not answer this request".to_owned()));
    }
    match (find("code"), find("error")) {
        (Some(code), None) => Ok(code),
        (_, error) => Err(LoginError::Refused(error.unwrap_or_else(|| "no code".to_owned()))),
    }
}

async fn get<T: DeserializeOwned>(http: &reqwest::Client, address: &str) -> Result<T, LoginError> {
    read(http.get(address)).await
}

async fn read<T: DeserializeOwned>(request: reqwest::RequestBuilder) -> Result<T, LoginError> {
    let response = request.send().await.map_err(|error| failed(&error))?;
    let (status, address) = (response.status(), response.url().clone());
    if !status.is_success() {
        return Err(LoginError::Failed(format!("{address} answered {status}")));
    }
    response.json().await.map_err(|error| failed(&error))
}

fn failed(error: &reqwest::Error) -> LoginError {
    LoginError::Failed(match error.url() {
        Some(url) if error.is_connect() => format!(
            "no server answers at {}: start it, or set base_url (SIGHTLINE_BASE_URL) to its address",
            url.origin().ascii_serialization()
        ),
        _ => error.to_string(),
    })
}
