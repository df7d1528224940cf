//! An `OpenID` provider that says what a test tells it to say, and an issuer in front of it.

use std::{
    collections::HashMap,
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use common::digest::pkce_challenge;
use entity::{account, team_grant};
use futures_util::stream;
use identity::{issuer::Issuer, jwks::Jwks, relying_party::RelyingParty};
use issuer::{
    IdentityProvider,
    upstream::{self, Upstream, rules::Rules},
};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use pages::paths::Paths;
use poem::{
    Body, Endpoint as _, EndpointExt, IntoResponse, Request, Response, Route, Server, get, handler,
    http::StatusCode,
    listener::{Acceptor, Listener, TcpListener},
    post,
    web::{Data, Form},
};
use sea_orm::EntityTrait;
use serde_json::{Value, json};
use tokio::sync::Notify;
use url::Url;

use super::super::{
    Answer, TestIssuer,
    browser::{Browser, authorize_path},
    start_time,
};

use crate::support::endless::Endless;

/// The private key of RFC 8410 section 10.3, and its public half.
const KEY: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n";
pub const PUBLIC_KEY: &str = "Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE";
pub const CLIENT: &str = "sightline-at-elsewhere";
pub const SECRET: &str = "hunter2";

/// The provider.
#[derive(Clone)]
pub(super) struct Elsewhere {
    pub base: String,
    codes: Arc<Mutex<HashMap<String, Prepared>>>,
    pub is_away: Arc<AtomicBool>,
    /// Bodies at paths, with status 200 in place of the provider's own answers.
    pub instead: Arc<Mutex<Option<(&'static str, String)>>>,
    /// The path whose next answer dribbles.
    pub dribbles: Arc<Mutex<Option<&'static str>>>,
    /// Notified when an answer begins to dribble.
    pub has_begun: Arc<Notify>,
    /// Stands in front.
    pub endless: Endless,
}

/// The sign-in that a code stands for.
#[derive(Clone)]
struct Prepared {
    id_token: String,
    challenge: String,
    redirect_uri: String,
    userinfo: Value,
}

#[handler]
fn document(Data(elsewhere): Data<&Elsewhere>) -> Response {
    let base = &elsewhere.base;
    if elsewhere.is_away.load(Ordering::SeqCst) {
        return StatusCode::BAD_GATEWAY.into();
    }
    let document = json!({
        "issuer": base, "authorization_endpoint": format!("{base}/authorize"), "token_endpoint": format!("{base}/token"),
        "userinfo_endpoint": format!("{base}/userinfo"), "jwks_uri": format!("{base}/jwks"),
        "response_types_supported": ["code"], "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["EdDSA"],
    });
    Response::builder().body(document.to_string())
}

#[handler]
fn key_set() -> String {
    json!({ "keys": [{ "kty": "OKP", "crv": "Ed25519", "kid": "one", "use": "sig", "x": PUBLIC_KEY }] }).to_string()
}

#[handler]
fn token(Data(elsewhere): Data<&Elsewhere>, request: &Request, Form(form): Form<HashMap<String, String>>) -> Response {
    let basic = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, format!("{CLIENT}:{SECRET}"));
    assert_eq!(request.header("authorization"), Some(format!("Basic {basic}").as_str()));
    let Some(prepared) = elsewhere.codes.lock().unwrap().get(&form["code"]).cloned() else {
        let refusal = Response::builder().status(StatusCode::BAD_REQUEST).content_type("application/json");
        return refusal.body(json!({ "error": "invalid_grant" }).to_string());
    };
    assert_eq!(pkce_challenge(&form["code_verifier"]), prepared.challenge);
    assert_eq!(form["redirect_uri"], prepared.redirect_uri);
    let body = json!({ "access_token": form["code"], "token_type": "Bearer", "id_token": prepared.id_token });
    Response::builder().content_type("application/json").body(body.to_string())
}

#[handler]
fn userinfo(Data(elsewhere): Data<&Elsewhere>, request: &Request) -> Response {
    let code = request.header("authorization").and_then(|line| line.strip_prefix("Bearer ")).unwrap().to_owned();
    let prepared = elsewhere.codes.lock().unwrap()[&code].clone();
    if let Some(status) = prepared.userinfo.as_u64() {
        return StatusCode::from_u16(status.try_into().unwrap()).unwrap().into();
    }
    if let Some(jwt) = prepared.userinfo.as_str() {
        return Response::builder().content_type("application/jwt").body(jwt.to_owned());
    }
    Response::builder().content_type("application/json").body(prepared.userinfo.to_string())
}

impl Elsewhere {
    pub async fn start() -> Self {
        let acceptor = TcpListener::bind("127.0.0.1:0").into_acceptor().await.unwrap();
        let base = format!("http://{}", acceptor.local_addr()[0].as_socket_addr().unwrap());
        let elsewhere = Self {
            base,
            codes: Arc::default(),
            is_away: Arc::default(),
            instead: Arc::default(),
            dribbles: Arc::default(),
            has_begun: Arc::default(),
            endless: Endless::default(),
        };
        let routes = Route::new()
            .at("/.well-known/openid-configuration", get(document))
            .at("/jwks", get(key_set))
            .at("/token", post(token))
            .at("/userinfo", get(userinfo));
        let (instead, slow) = (elsewhere.instead.clone(), elsewhere.clone());
        let routes = routes.data(elsewhere.clone()).around(move |server, request| {
            let said = instead.lock().unwrap().clone().filter(|(path, _)| request.uri().path() == *path);
            let dribble = slow.dribble(request.uri().path());
            async move {
                if let Some(answer) = dribble {
                    return Ok(answer);
                }
                match said {
                    Some((_, body)) => Ok(Response::builder().content_type("application/json").body(body)),
                    None => server.call(request).await.map(IntoResponse::into_response),
                }
            }
        });
        tokio::spawn(Server::new_with_acceptor(acceptor).run(routes.with(elsewhere.endless.clone())));
        elsewhere
    }

    /// An answer without an end that comes a few bytes at a time, if the one at `path` dribbles. Those after it do not.
    fn dribble(&self, path: &str) -> Option<Response> {
        self.dribbles.lock().unwrap().take_if(|dribbling| *dribbling == path)?;
        self.has_begun.notify_one();
        let ticks = tokio::time::interval(Duration::from_millis(200));
        let drops = stream::unfold(ticks, |mut ticks| async move {
            ticks.tick().await;
            Some((Ok::<_, io::Error>("{ "), ticks))
        });
        Some(Response::builder().content_type("application/json").body(Body::from_bytes_stream(drops)))
    }

    /// The provider as an issuer knows it.
    pub fn upstream(&self, provider: &IdentityProvider, rules: Rules) -> Upstream {
        let issuer = Issuer::new(&self.base, super::super::client(), provider.clock.clone()).unwrap();
        let keys = Jwks::new(issuer, provider.clock.clone());
        let back = format!("{}{}", provider.settings.base_url, upstream::CALLBACK);
        let party = RelyingParty::new(keys, CLIENT, Some(SECRET.to_owned()), back, provider.clock.clone()).unwrap();
        Upstream::new(party, rules)
    }

    /// An issuer that sends people here.
    pub async fn issuer(&self, rules: Rules) -> TestIssuer {
        TestIssuer::with(|provider| {
            let upstream = self.upstream(&provider, rules);
            provider.with_upstream(Some(upstream))
        })
        .await
    }

    /// Answers the request in `location`: the address that the browser is sent back to. `said` replaces claims (`null`: omitted);
    /// its member `userinfo` stands at the userinfo endpoint.
    pub fn answer(&self, location: &str, said: Value) -> String {
        self.answer_signed(location, said, signed)
    }

    /// The same, with an ID token that `sign` makes of the claims.
    pub fn answer_signed(&self, location: &str, mut said: Value, sign: impl Fn(&Value) -> String) -> String {
        let asked = parameters(location);
        assert!(location.starts_with(&format!("{}/authorize?", self.base)), "{location}");
        assert_eq!((asked["response_type"].as_str(), asked["code_challenge_method"].as_str()), ("code", "S256"));
        assert_eq!(asked["client_id"], CLIENT);
        let now = start_time().timestamp();
        let mut claims = json!({
            "iss": self.base, "sub": "7", "aud": CLIENT, "iat": now, "exp": now + 36_000, "nonce": asked["nonce"],
        });
        let at_userinfo = said.as_object_mut().unwrap().remove("userinfo");
        claims.as_object_mut().unwrap().extend(said.as_object().unwrap().clone());
        claims.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        let userinfo_said = at_userinfo.unwrap_or_else(|| json!({ "sub": claims["sub"] }));
        let id_token = sign(&claims);
        let mut codes = self.codes.lock().unwrap();
        let code = format!("code-{}", codes.len());
        let (challenge, redirect_uri) = (asked["code_challenge"].clone(), asked["redirect_uri"].clone());
        codes.insert(code.clone(), Prepared { id_token, challenge, redirect_uri, userinfo: userinfo_said });
        back(&asked["state"], &[("code", &code)])
    }

    /// Signs a browser in at this provider on its way to `client`.
    pub async fn sign_in(&self, browser: &Browser<'_>, client: &str, said: Value) -> Answer {
        let path = authorize_path(client, &[]);
        let mut leaving = browser.get(&path).await;
        if leaving.status == 200 && leaving.body.contains("value=\"elsewhere\"") {
            leaving = browser.post(&path, &[("decision", "elsewhere")]).await;
        }
        assert_eq!(leaving.status, 303, "{}", leaving.body);
        browser.get(&self.answer(leaving.header("location"), said)).await
    }
}

/// An ID token as the provider signs it.
pub fn signed(claims: &Value) -> String {
    signed_with(claims, "one", KEY)
}

/// An ID token with another key, which it may call that of the provider.
pub fn signed_with(claims: &Value, kid: &str, key: &str) -> String {
    let header = Header { kid: Some(kid.to_owned()), ..Header::new(Algorithm::EdDSA) };
    jsonwebtoken::encode(&header, claims, &EncodingKey::from_ed_pem(key.as_bytes()).unwrap()).unwrap()
}

/// The callback with these parameters.
pub fn back(state: &str, parameters: &[(&str, &str)]) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("state", state).extend_pairs(parameters);
    format!("{}?{}", upstream::CALLBACK, query.finish())
}

pub fn parameters(location: &str) -> HashMap<String, String> {
    Url::parse(location).unwrap().query_pairs().into_owned().collect()
}

/// A person as the provider states them, with a verified address.
pub fn verified(subject: &str, email: &str) -> Value {
    json!({ "sub": subject, "email": email, "email_verified": true })
}

pub fn listing(domains: &[&str], emails: &[&str]) -> Rules {
    let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    Rules::new(&texts(domains), &texts(emails), false)
}

impl TestIssuer {
    pub(super) async fn accounts(&self) -> Vec<account::Model> {
        self.operator().list().await.unwrap()
    }

    pub(super) async fn withdraw_invitations(&self) {
        team_grant::Entity::delete_many().exec(&self.db).await.unwrap();
    }

    /// The same issuer after a restart with other settings. Returns its root.
    pub(super) async fn restarted(&self, elsewhere: &Elsewhere, rules: Rules) -> (String, IdentityProvider) {
        let provider = self.provider.clone();
        let upstream = elsewhere.upstream(&provider, rules);
        let provider = provider.with_upstream(Some(upstream));
        let acceptor = TcpListener::bind("127.0.0.1:0").into_acceptor().await.unwrap();
        let base = format!("http://{}", acceptor.local_addr()[0].as_socket_addr().unwrap());
        let (routes, _) = provider.mount(Paths::default()).into_parts();
        tokio::spawn(Server::new_with_acceptor(acceptor).run(routes));
        (base, provider)
    }
}
