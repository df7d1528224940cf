//! Tests of the embedded issuer: sign-in, tokens, clients and keys, with a resource server beside it, both over real HTTP.

mod accounts;
mod answers;
mod authorization;
mod browser;
mod claims;
mod clock_jumps;
mod consent;
mod device;
mod device_limits;
mod documents;
mod flow;
mod forged;
mod forms;
mod keys;
mod links;
mod mail;
mod operators;
mod outage;
mod refresh;
mod refusals;
mod registration;
mod rotation;
mod sign_in;
mod upstream;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use crate::support::whole::Whole as _;
use chrono::{DateTime, Utc};
use common::{
    base_url::BaseUrl,
    clock::{Clock, Hand},
    digest::pkce_challenge,
    random::Random,
    secrets::Secrets,
};
use entity::signing_key;
use http::HeaderMap;
use identity::{
    Users, credentials::challenge, departures::Departures, issuer::Issuer, jwks::Jwks, relying_party::RelyingParty,
    session::Sessions, token::Verifier,
};
use issuer::{
    IdentityProvider, Settings,
    client_documents::{ClientDocuments, reach::SystemNames},
    keys::rotation::{Former, rotate},
};
use pages::paths::Paths;
use poem::{
    EndpointExt, Request, Response, Server, get, handler,
    http::StatusCode,
    listener::{Acceptor, Listener, TcpListener},
    web::Data,
};
use sea_orm::{ActiveModelTrait as _, DatabaseConnection, EntityTrait as _, IntoActiveModel as _};
use serde_json::Value;
use sightline::{
    admission::{AdmissionError, Admissions, Surface},
    app::{http_client, http_settings},
    config::Config,
    services::{applications::uses::SurfaceKind, users::StoredUsers},
    web::{sign_in::BrowserSignIn, well_known::ResourceMetadata},
};
use tokio::sync::OnceCell;
use url::Url;

pub(crate) const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
/// The key of the secrets of every issuer.
pub(crate) const SECRETS_KEY: [u8; 32] = [7; 32];
pub(crate) const REDIRECT_URI: &str = "http://127.0.0.1:7777/cb";

#[derive(Clone)]
struct Api {
    admissions: Admissions,
    surface: Surface,
}

#[handler]
async fn api(Data(api): Data<&Api>, request: &Request) -> Response {
    let metadata = format!("{}/.well-known/oauth-protected-resource", api.surface.audience);
    let refuse = |status: StatusCode, error| {
        Response::builder().status(status).header("WWW-Authenticate", challenge(&metadata, error, None)).finish()
    };
    match api.admissions.admit(request.method(), request.headers(), &api.surface, None).await {
        Ok(Some(admitted)) => {
            let user = &admitted.member.user;
            let email = user.email.as_ref().filter(|_| user.email_verified);
            Response::builder().body(format!("{} {email:?}", user.subject))
        }
        Ok(None) => refuse(StatusCode::UNAUTHORIZED, None),
        Err(
            AdmissionError::InvalidToken(_)
            | AdmissionError::AnotherAudience
            | AdmissionError::NotBearer
            | AdmissionError::ClientRefused,
        ) => refuse(StatusCode::UNAUTHORIZED, Some("invalid_token")),
        Err(AdmissionError::Repeated(_)) => refuse(StatusCode::BAD_REQUEST, Some("invalid_request")),
        Err(AdmissionError::ForeignOrigin | AdmissionError::ForeignLink) => StatusCode::FORBIDDEN.into(),
        Err(AdmissionError::IssuerUnavailable(_)) => StatusCode::SERVICE_UNAVAILABLE.into(),
        Err(AdmissionError::Database(_)) => StatusCode::INTERNAL_SERVER_ERROR.into(),
    }
}

pub(crate) struct TestIssuer {
    pub base: String,
    pub db: DatabaseConnection,
    pub http: reqwest::Client,
    pub hand: Hand,
    pub clock: Clock,
    pub random: Random,
    pub provider: IdentityProvider,
    pub verifier: Verifier,
    served: Served,
}

/// Requests that reached the issuer, by path.
#[derive(Clone, Default)]
struct Served(Arc<Mutex<HashMap<String, usize>>>);

pub(crate) fn start_time() -> DateTime<Utc> {
    "2026-09-14T12:00:00Z".parse().unwrap()
}

pub(crate) fn client() -> reqwest::Client {
    http_client().unwrap()
}

pub(crate) fn client_builder() -> reqwest::ClientBuilder {
    http_settings().unwrap()
}

/// A key that signs from [`start_time`] on. It takes long to make one, so all issuers have the same.
async fn signing_key() -> &'static signing_key::Model {
    static KEY: OnceCell<signing_key::Model> = OnceCell::const_new();
    let make = async || {
        let db = test_data::database().await;
        rotate(&db, &Secrets::new(SECRETS_KEY, Random::seeded(2)), Former::Published, start_time()).await.unwrap();
        signing_key::Entity::find().one(&db).await.unwrap().unwrap()
    };
    KEY.get_or_init(make).await
}

impl TestIssuer {
    pub(crate) async fn start() -> Self {
        let (clock, hand) = Clock::manual(start_time());
        Self::start_at("127.0.0.1:0", clock, hand).await
    }

    /// An issuer with local accounts only.
    pub(crate) async fn without_demo_people() -> Self {
        Self::with(|provider| provider).await
    }

    /// An issuer with local accounts only, changed by `change`.
    pub(crate) async fn with(change: impl FnOnce(IdentityProvider) -> IdentityProvider) -> Self {
        let (clock, hand) = Clock::manual(start_time());
        Self::run("127.0.0.1:0", clock, hand, |provider| change(provider.without_demo_people())).await
    }

    pub(crate) async fn start_at(address: &str, clock: Clock, hand: Hand) -> Self {
        Self::run(address, clock, hand, |provider| provider).await
    }

    async fn run(
        address: &str,
        clock: Clock,
        hand: Hand,
        change: impl FnOnce(IdentityProvider) -> IdentityProvider,
    ) -> Self {
        let acceptor = TcpListener::bind(address.to_owned()).into_acceptor().await.unwrap();
        let base = format!("http://{}", acceptor.local_addr()[0].as_socket_addr().unwrap());
        let base_url: BaseUrl = base.parse().unwrap();
        let (store, http, random) = (test_data::store().await, client(), Random::seeded(1));
        let db = store.writer.clone();
        let secrets = Secrets::new(SECRETS_KEY, random.clone());
        let key = signing_key().await.clone().into_active_model().reset_all();
        signing_key::Entity::insert(key).exec_without_returning(&db).await.unwrap();
        let audiences = vec![base.clone(), format!("{base}/mcp")];
        let settings = Settings {
            base_url: base_url.clone(),
            audiences,
            demo_people: issuer::demo::people(false),
            demo_sign_in: true,
        };
        let names = Arc::new(SystemNames);
        let documents = ClientDocuments::new(client_builder(), names, &base_url, clock.clone()).unwrap();
        let provider = IdentityProvider::new(settings, db.clone(), secrets.clone(), clock.clone(), random.clone());
        let provider = change(provider.with_documents(documents));
        let issuer = Issuer::new(&base, http.clone(), clock.clone()).unwrap();
        let keys = Jwks::new(issuer, clock.clone());
        let verifier = Verifier::new(keys.clone(), clock.clone());
        let sessions = Sessions::new(db.clone(), clock.clone(), random.clone());
        let departures = Departures::new([7; 32]);
        let users: Arc<dyn Users> = Arc::new(StoredUsers {
            db: db.clone(),
            random: random.clone(),
            clock: clock.clone(),
            trial_days: 14,
            departures: departures.clone(),
        });
        let config = Arc::new(Config::default());
        let admissions =
            Admissions::new(verifier.clone(), users.clone(), departures, &store, config, clock.clone(), &base_url);
        let party = RelyingParty::new(keys, issuer::clients::WEB, None, format!("{base}/auth/callback"), clock.clone())
            .unwrap();
        let sign_in = BrowserSignIn::new(party, sessions, users, &secrets, clock.clone(), random.clone(), &base_url);
        let metadata = ResourceMetadata { api: base.clone(), mcp: format!("{base}/mcp"), issuer: base.clone() };
        let on = |audience: &str| Api {
            admissions: admissions.clone(),
            surface: Surface { kind: SurfaceKind::Api, audience: audience.to_owned() },
        };
        let paths = Paths::default().at("/api", "GET, POST", get(api).post(api).data(on(&base)));
        let paths = paths.at("/mcp", "GET", get(api).data(on(&format!("{base}/mcp"))));
        let (routes, _) = sign_in.mount(metadata.mount(provider.mount(paths))).into_parts();
        let served = Served::default();
        let counting = served.clone();
        let routes = routes.before(move |request: Request| {
            *counting.0.lock().unwrap().entry(request.uri().path().to_owned()).or_default() += 1;
            async move { Ok(request) }
        });
        tokio::spawn(Server::new_with_acceptor(acceptor).run(routes));
        Self { base, db, http, hand, clock, random, provider, verifier, served }
    }

    /// The number of requests for `path`.
    pub(crate) fn served(&self, path: &str) -> usize {
        self.served.0.lock().unwrap().get(path).copied().unwrap_or_default()
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        Answer::of(self.http.get(format!("{}{path}", self.base))).await
    }

    pub(crate) async fn post(&self, path: &str, form: &[(&str, &str)]) -> Answer {
        Answer::of(self.http.post(format!("{}{path}", self.base)).form(form)).await
    }

    pub(crate) async fn api(&self, token: &str) -> Answer {
        Answer::of(self.http.get(format!("{}/api", self.base)).bearer_auth(token)).await
    }

    /// The name by which browsers see the cookie that the code calls `name`.
    pub(crate) fn host_cookie(&self, name: &str) -> String {
        self.base.parse::<BaseUrl>().unwrap().host_cookie(name)
    }

    /// Registers a client with refresh tokens.
    pub(crate) async fn client(&self) -> String {
        self.client_at(&[REDIRECT_URI]).await
    }

    /// Registers a client with these addresses.
    pub(crate) async fn client_at(&self, redirect_uris: &[&str]) -> String {
        let metadata = serde_json::json!({
            "redirect_uris": redirect_uris, "client_name": "<b>Probe</b>", "grant_types": ["authorization_code", "refresh_token"],
        });
        let answer = Answer::of(self.http.post(format!("{}/oauth/register", self.base)).json(&metadata)).await;
        assert_eq!(answer.status, 201);
        answer.json()["client_id"].as_str().unwrap().to_owned()
    }

    /// Sends an authorization request with a demo person's name, which is answered at once. `changes` replace parameters (an
    /// empty value: omitted).
    pub(crate) async fn authorize(&self, client: &str, changes: &[(&str, &str)]) -> Answer {
        let challenge = pkce_challenge(VERIFIER);
        let mut parameters = HashMap::from([
            ("response_type", "code"),
            ("client_id", client),
            ("redirect_uri", REDIRECT_URI),
            ("scope", "openid profile email offline_access"),
            ("code_challenge", challenge.as_str()),
            ("code_challenge_method", "S256"),
            ("state", "s t&te"),
            ("login_hint", "owner"),
        ]);
        parameters.extend(changes.iter().copied());
        parameters.retain(|_, value| !value.is_empty());
        Answer::of(self.http.get(format!("{}/oauth/authorize", self.base)).query(&parameters)).await
    }

    pub(crate) async fn code(&self, client: &str, changes: &[(&str, &str)]) -> String {
        self.authorize(client, changes).await.redirect()["code"].clone()
    }

    pub(crate) async fn redeem(&self, client: &str, code: &str, changes: &[(&str, &str)]) -> Answer {
        let mut form = HashMap::from([
            ("grant_type", "authorization_code"),
            ("code", code),
            ("client_id", client),
            ("redirect_uri", REDIRECT_URI),
            ("code_verifier", VERIFIER),
        ]);
        form.extend(changes.iter().copied());
        form.retain(|_, value| !value.is_empty());
        self.post("/oauth/token", &form.into_iter().collect::<Vec<_>>()).await
    }

    pub(crate) async fn refresh(&self, client: &str, token: &str) -> Answer {
        self.post("/oauth/token", &[("grant_type", "refresh_token"), ("client_id", client), ("refresh_token", token)])
            .await
    }

    /// Requests of a client that names itself by HTTP Basic.
    pub(crate) fn basic(&self, client: &str, secret: &str) -> impl Fn(&str) -> reqwest::RequestBuilder {
        move |path| self.http.post(format!("{}{path}", self.base)).basic_auth(client, Some(secret))
    }

    /// A client, and the tokens of a complete flow.
    pub(crate) async fn tokens(&self) -> (String, Value) {
        let client = self.client().await;
        let code = self.code(&client, &[]).await;
        let answer = self.redeem(&client, &code, &[]).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        (client, answer.json())
    }
}

pub(crate) struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: String,
}

impl Answer {
    pub(crate) async fn of(request: reqwest::RequestBuilder) -> Self {
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Self { status, headers, body: response.whole_text().await.unwrap() }
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// Asserts an error in the format of RFC 6749 that must not be cached.
    pub(crate) fn refused(&self, code: &str) {
        assert_eq!(self.json()["error"], code, "{}", self.body);
        assert_eq!(self.status, if code == "invalid_client" { 401 } else { 400 });
        assert_eq!(self.header("cache-control"), "no-store");
    }

    /// The parameters of a redirect to the client, each once.
    pub(crate) fn redirect(&self) -> HashMap<String, String> {
        assert_eq!(self.status, 303, "{}", self.body);
        let location = self.header("location");
        assert!(location.starts_with(REDIRECT_URI), "{location}");
        let mut found = HashMap::new();
        for (name, value) in Url::parse(location).unwrap().query_pairs() {
            assert!(found.insert(name.into_owned(), value.into_owned()).is_none(), "{location}");
        }
        found
    }
}

pub(crate) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("no {name} in {value}"))
}
