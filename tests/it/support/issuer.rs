//! An issuer of another project: it signs tokens, and says of each whether it is active.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use chrono::{DateTime, Utc};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use poem::{
    EndpointExt as _, Request, Response, Route, Server, get, handler,
    http::StatusCode,
    listener::{Acceptor as _, Listener as _, TcpListener},
    post,
    web::{Data, Form},
};
use serde_json::{Value, json};
use sightline::config::{Config, Secret};
use tokio::sync::watch;

use super::{app::start_of_test, endless::Endless};

/// The private key of RFC 8410 section 10.3, and its public half.
const KEY: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n";
const PUBLIC_KEY: &str = "Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE";

/// The service's client. Both hold characters that HTTP Basic and forms treat in their own ways.
pub const CLIENT_ID: &str = "search:service";
pub const CLIENT_SECRET: &str = "hunter2: 100% ü+/";
/// The two, form-encoded, joined with a colon and encoded in base64.
pub const AUTHORIZATION: &str = "Basic c2VhcmNoJTNBc2VydmljZTpodW50ZXIyJTNBKzEwMCUyNSslQzMlQkMlMkIlMkY=";

/// The audience of the tokens.
pub const AUDIENCE: &str = "https://search.example";

/// The answer of the introspection endpoint.
#[derive(Clone)]
pub enum Says {
    /// A status and a body.
    Body(u16, Value),
    /// A status and a body that is no JSON.
    Text(u16, String),
    /// No answer until the issuer is told to go on.
    Nothing,
}

/// The issuer.
#[derive(Clone)]
pub struct OtherIssuer {
    pub url: String,
    state: Arc<Mutex<State>>,
    held: watch::Sender<bool>,
    /// Stands in front.
    pub endless: Endless,
}

struct State {
    says: Says,
    /// The tokens that were asked about, with the number of questions.
    asked: BTreeMap<String, u64>,
    names_endpoint: bool,
    is_away: bool,
}

#[handler]
fn document(Data(issuer): Data<&OtherIssuer>) -> Response {
    if issuer.state().is_away {
        return StatusCode::SERVICE_UNAVAILABLE.into();
    }
    let base = &issuer.url;
    let mut document = json!({
        "issuer": base, "authorization_endpoint": format!("{base}/authorize"), "jwks_uri": format!("{base}/jwks"),
        "response_types_supported": ["code"], "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["EdDSA"],
    });
    if issuer.state().names_endpoint {
        document["introspection_endpoint"] = format!("{base}/introspect").into();
    }
    Response::builder().content_type("application/json").body(document.to_string())
}

#[handler]
fn key_set() -> String {
    json!({ "keys": [{ "kty": "OKP", "crv": "Ed25519", "kid": "one", "use": "sig", "x": PUBLIC_KEY }] }).to_string()
}

#[handler]
async fn introspect(
    Data(issuer): Data<&OtherIssuer>,
    request: &Request,
    Form(form): Form<BTreeMap<String, String>>,
) -> Response {
    let answer = |status: u16, body: String| {
        let status = StatusCode::from_u16(status).unwrap();
        Response::builder().status(status).content_type("application/json").body(body)
    };
    if request.header("authorization") != Some(AUTHORIZATION)
        || form.get("token_type_hint").map(String::as_str) != Some("access_token")
        || request.header("accept") != Some("application/json")
    {
        return answer(401, json!({ "error": "invalid_client" }).to_string());
    }
    let says = {
        let mut state = issuer.state();
        *state.asked.entry(form["token"].clone()).or_default() += 1;
        state.says.clone()
    };
    match says {
        Says::Body(status, body) => answer(status, body.to_string()),
        Says::Text(status, body) => answer(status, body),
        Says::Nothing => {
            issuer.held.subscribe().wait_for(|held| !held).await.unwrap();
            answer(200, json!({ "active": true }).to_string())
        }
    }
}

impl OtherIssuer {
    /// Starts an issuer that calls every token active.
    pub async fn start() -> Self {
        let acceptor = TcpListener::bind("127.0.0.1:0").into_acceptor().await.unwrap();
        let url = format!("http://{}", acceptor.local_addr()[0].as_socket_addr().unwrap());
        let says = Says::Body(200, json!({ "active": true }));
        let state = State { says, asked: BTreeMap::new(), names_endpoint: true, is_away: false };
        let issuer =
            Self { url, state: Arc::new(Mutex::new(state)), held: watch::channel(true).0, endless: Endless::default() };
        let routes = Route::new()
            .at("/.well-known/openid-configuration", get(document))
            .at("/jwks", get(key_set))
            .at("/introspect", post(introspect));
        tokio::spawn(Server::new_with_acceptor(acceptor).run(routes.data(issuer.clone()).with(issuer.endless.clone())));
        issuer
    }

    /// Starts an issuer whose metadata names no introspection endpoint.
    pub async fn without_endpoint() -> Self {
        let issuer = Self::start().await;
        issuer.state().names_endpoint = false;
        issuer
    }

    /// From now on its metadata is not there, or is there again.
    pub fn is_away(&self, is_away: bool) {
        self.state().is_away = is_away;
    }

    /// Makes a service accept the tokens of this issuer, and ask it about them.
    pub fn trusted_by(&self, config: &mut Config) {
        config.identity.issuer = self.url.parse().ok();
        config.identity.audience = Some(AUDIENCE.to_owned());
        config.identity.introspection.client_id = Some(CLIENT_ID.to_owned());
        config.identity.introspection.client_secret = Some(Secret(CLIENT_SECRET.to_owned()));
    }

    /// Sets the answer to questions about tokens.
    pub fn says(&self, says: Says) {
        self.state().says = says;
    }

    /// Says of every token that it is active, and these claims.
    pub fn says_active(&self, claims: &Value) {
        let mut body = json!({ "active": true });
        body.as_object_mut().unwrap().extend(claims.as_object().unwrap().clone());
        self.says(Says::Body(200, body));
    }

    /// Answers the questions that were held, and says that the tokens are active.
    pub fn go_on(&self) {
        self.says_active(&json!({}));
        self.held.send_replace(false);
    }

    /// The number of questions about all tokens.
    pub fn questions(&self) -> u64 {
        self.state().asked.values().sum()
    }

    /// The number of questions about a token.
    pub fn questions_about(&self, token: &str) -> u64 {
        self.state().asked.get(token).copied().unwrap_or_default()
    }

    /// Waits until so many questions have arrived.
    pub async fn has_been_asked(&self, questions: u64) {
        while self.questions() < questions {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// An access token of a person, valid for an hour from the start of the test.
    pub fn token(&self, subject: &str) -> String {
        self.token_of(subject, "one")
    }

    /// An access token of a person with an id of its own.
    pub fn token_of(&self, subject: &str, id: &str) -> String {
        self.token_from(subject, id, start_of_test())
    }

    /// An access token of a person with an id of its own, valid for an hour from `now`.
    pub fn token_from(&self, subject: &str, id: &str, now: DateTime<Utc>) -> String {
        self.token_saying(subject, id, now, &json!({}))
    }

    /// An access token of a person with more claims.
    pub fn token_saying(&self, subject: &str, id: &str, now: DateTime<Utc>, more: &Value) -> String {
        let now = now.timestamp();
        let mut claims = json!({
            "iss": self.url, "sub": subject, "aud": [AUDIENCE, "https://other.example"], "client_id": "probe",
            "jti": format!("{subject}/{id}"), "iat": now, "exp": now + 3_600,
        });
        claims.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let header = Header { typ: Some("at+jwt".into()), kid: Some("one".into()), ..Header::new(Algorithm::EdDSA) };
        jsonwebtoken::encode(&header, &claims, &EncodingKey::from_ed_pem(KEY.as_bytes()).unwrap()).unwrap()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}
