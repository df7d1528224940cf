//! Browser sign-in: authorization code with PKCE at the configured issuer, then a session cookie.

use std::sync::Arc;

use api::error::ApiError;
use chrono::{DateTime, Utc};
use common::{base_url::BaseUrl, clock::Clock, digest::same, random::Random, secrets::Secrets};
use identity::{
    Users,
    attempts::{self, SpentAttempts},
    cookie::{self, AttemptCookies},
    credentials::{SESSION_COOKIE, cookies, is_same_origin},
    relying_party::{Attempt, RelyingParty, SignInError, Wishes},
    session::{LIFETIME, Sessions},
};
use maud::html;
use openidconnect::{CsrfToken, Nonce, PkceCodeVerifier};
use pages::{
    form,
    own_host::{on_own_host, under_base},
    page::Page,
    paths::Paths,
};
use poem::{
    EndpointExt, IntoResponse, Request, Response, RouteMethod, get, handler,
    http::{HeaderMap, StatusCode, header},
    post,
    web::Data,
};
use sea_orm::SqlErr;
use serde::{Deserialize, Serialize};
use store::unavailable::{RETRY_AFTER, is_unavailable};
use telemetry::{
    events::{EventMeter, SignIn},
    quoted,
};

use super::account;

/// The path that the issuer sends browsers back to.
pub const CALLBACK: &str = "/auth/callback";
/// Holds the encrypted state of one attempt while the browser is at the issuer.
const ATTEMPT_COOKIE: &str = "sightline_attempt";

/// The three endpoints under `/auth`.
#[derive(Clone)]
pub struct BrowserSignIn {
    relying_party: RelyingParty,
    sessions: Sessions,
    users: Arc<dyn Users>,
    clock: Clock,
    random: Random,
    base_url: BaseUrl,
    spent: SpentAttempts,
    session_cookie: String,
    attempts: AttemptCookies,
    events: EventMeter,
}

/// The state of an attempt between leaving for the issuer and the callback.
#[derive(Serialize, Deserialize)]
struct Remembered {
    state: String,
    nonce: String,
    verifier: String,
    return_to: String,
    expires_at: DateTime<Utc>,
}

struct Begin {
    return_to: Option<String>,
    login_hint: Option<String>,
    /// Present if the issuer must ask the person again who they are.
    again: Option<String>,
}

struct Answer {
    code: Option<String>,
    state: Option<String>,
    error: Option<String>,
    iss: Option<String>,
}

impl Begin {
    fn of(request: &Request) -> Result<Self, ApiError> {
        let query = form::of_query(request)?;
        let field = |name: &str| form::first(&query, name).map(str::to_owned);
        Ok(Self { return_to: field("return_to"), login_hint: field("login_hint"), again: field("again") })
    }
}

impl Answer {
    fn of(request: &Request) -> Result<Self, ApiError> {
        let query = form::of_query(request)?;
        let field = |name: &str| form::first(&query, name).map(str::to_owned);
        Ok(Self { code: field("code"), state: field("state"), error: field("error"), iss: field("iss") })
    }
}

impl BrowserSignIn {
    /// Signs browsers in to the service at `base_url`.
    #[must_use]
    pub fn new(
        relying_party: RelyingParty,
        sessions: Sessions,
        users: Arc<dyn Users>,
        secrets: &Secrets,
        clock: Clock,
        random: Random,
        base_url: &BaseUrl,
    ) -> Self {
        Self {
            relying_party,
            sessions,
            users,
            clock,
            random,
            base_url: base_url.clone(),
            spent: SpentAttempts::default(),
            session_cookie: base_url.host_cookie(SESSION_COOKIE),
            attempts: AttemptCookies::new(ATTEMPT_COOKIE, secrets, base_url),
            events: EventMeter::default(),
        }
    }

    /// Counts sign-ins by what comes of them.
    #[must_use]
    pub fn with_events(self, events: EventMeter) -> Self {
        Self { events, ..self }
    }

    /// Adds `GET /auth/login` (`return_to`: a path of this service), `GET /auth/callback` and `POST /auth/logout`.
    #[must_use]
    pub fn mount(&self, paths: Paths) -> Paths {
        let own = |endpoint: RouteMethod| on_own_host(endpoint.data(self.clone()), &self.base_url);
        paths.at("/auth/login", "GET, HEAD", own(get(login))).at(CALLBACK, "GET, HEAD", own(get(callback))).at(
            "/auth/logout",
            "POST",
            own(post(logout)),
        )
    }

    async fn leave(&self, headers: &HeaderMap, begin: Begin) -> Result<Response, SignInError> {
        let remembered = Remembered {
            state: self.random.token(),
            nonce: self.random.token(),
            verifier: self.random.token(),
            return_to: begin.return_to.filter(|path| is_own_path(path)).unwrap_or_else(|| "/docs".to_owned()),
            expires_at: self.clock.now() + attempts::LIFETIME,
        };
        // With `max_age` an issuer states when the person proved who they are.
        let again = begin.again.is_some();
        let wishes = Wishes {
            login_hint: begin.login_hint,
            prompts: again.then(|| "login".to_owned()).into_iter().collect(),
            max_age: again.then_some(0),
        };
        let address = self.relying_party.authorize_url(&attempt(&remembered), wishes).await?;
        let sealed = self.attempts.sealed(&remembered).map_err(|error| SignInError::Failed(error.to_string()))?;
        let mut response = redirect(address.as_str());
        self.attempts.set(response.headers_mut(), headers, &remembered.state, &sealed);
        Ok(response)
    }

    /// Responds to the callback. The first callback of an attempt uses it up and removes its cookie, with any result, so
    /// an attempt makes at most one request to the issuer. Attempts of other tabs go on.
    async fn come_back(&self, request: &Request, answer: Answer) -> Response {
        let remembered = answer.state.as_deref().and_then(|state| self.remembered(request, state));
        let Some(remembered) = remembered else { return self.failed(&SignInError::Lost, account::PATH) };
        let attempted = if self.spent.spend(&remembered.state, self.clock.now()) {
            self.finish(request, answer, &remembered).await
        } else {
            Err(SignInError::Lost)
        };
        let mut response = match attempted {
            Ok(response) => {
                self.events.note_sign_in(SignIn::Ok);
                response
            }
            Err(error) => self.failed(&error, &remembered.return_to),
        };
        self.attempts.remove(response.headers_mut(), &remembered.state);
        response
    }

    async fn finish(
        &self,
        request: &Request,
        answer: Answer,
        remembered: &Remembered,
    ) -> Result<Response, SignInError> {
        if answer.iss.is_some_and(|iss| iss != self.relying_party.issuer().url()) {
            return Err(SignInError::Failed("the answer names another issuer".to_owned()));
        }
        let code = answer.code.filter(|_| answer.error.is_none()).ok_or(SignInError::Refused)?;
        let redeemed = self.relying_party.redeem(code, attempt(remembered)).await?;
        let user = self.users.resolve(&redeemed.claims).await?.ok_or(SignInError::Left)?;
        // Sessions of another issuer are not stored here.
        let is_own = self.relying_party.issuer().url() == self.base_url.as_str();
        let issuer_session = redeemed.issuer_session.filter(|_| is_own);
        for former in cookies(request.headers(), &self.session_cookie) {
            self.sessions.replace(former, issuer_session).await?;
        }
        let user_agent = request.header(header::USER_AGENT);
        let started = self.sessions.start(user.id, user_agent, issuer_session).await;
        let value = started.map_err(|error| match error.sql_err() {
            // The person signed out, or their password was reset, while the browser was on its way back.
            Some(SqlErr::ForeignKeyConstraintViolation(_)) => SignInError::Lost,
            _ => error.into(),
        })?;
        let mut response = redirect(&remembered.return_to);
        cookie::set(response.headers_mut(), &self.base_url, &self.session_cookie, &value, LIFETIME);
        Ok(response)
    }

    /// Counts a sign-in that failed, and returns its page.
    fn failed(&self, error: &SignInError, return_to: &str) -> Response {
        self.events.note_sign_in(outcome(error));
        page(error, return_to)
    }

    fn remembered(&self, request: &Request, state: &str) -> Option<Remembered> {
        let remembered: Remembered = self.attempts.open(request.headers(), state)?;
        (same(&remembered.state, state) && self.clock.now() < remembered.expires_at).then_some(remembered)
    }
}

fn attempt(remembered: &Remembered) -> Attempt {
    Attempt {
        state: CsrfToken::new(remembered.state.clone()),
        nonce: Nonce::new(remembered.nonce.clone()),
        verifier: PkceCodeVerifier::new(remembered.verifier.clone()),
    }
}

#[handler]
async fn login(Data(sign_in): Data<&BrowserSignIn>, request: &Request) -> poem::Result<Response> {
    // The browser comes back to `base_url`, and has to have the cookie there.
    if let Some(own) = under_base(&sign_in.base_url, request) {
        return Ok(redirect(&own));
    }
    let begin = Begin::of(request)?;
    let return_to = begin.return_to.clone().unwrap_or_else(|| account::PATH.to_owned());
    Ok(sign_in.leave(request.headers(), begin).await.unwrap_or_else(|error| sign_in.failed(&error, &return_to)))
}

#[handler]
async fn callback(Data(sign_in): Data<&BrowserSignIn>, request: &Request) -> poem::Result<Response> {
    Ok(sign_in.come_back(request, Answer::of(request)?).await)
}

#[handler]
async fn logout(Data(sign_in): Data<&BrowserSignIn>, request: &Request) -> Response {
    if !is_same_origin(request.headers(), sign_in.base_url.origin()) {
        return StatusCode::FORBIDDEN.into_response();
    }
    if let Err(error) = sign_in.sessions.sign_out(request.headers(), &sign_in.base_url).await {
        return page(&error.into(), account::PATH);
    }
    let mut response = StatusCode::NO_CONTENT.into_response();
    cookie::remove_sessions(response.headers_mut(), &sign_in.base_url);
    response
}

/// Returns whether `path` is a path of this service, so that sign-in cannot redirect elsewhere.
fn is_own_path(path: &str) -> bool {
    path.starts_with('/')
        && !path.starts_with("//")
        && !path.contains('\\')
        && path.bytes().all(|b| b.is_ascii_graphic())
}

fn redirect(to: &str) -> Response {
    let response = Response::builder().status(StatusCode::SEE_OTHER).header("Location", to);
    response.header("Cache-Control", "no-store").header("Referrer-Policy", "no-referrer").finish()
}

fn outcome(error: &SignInError) -> SignIn {
    match error {
        SignInError::Lost => SignIn::Expired,
        SignInError::Refused => SignIn::Cancelled,
        SignInError::Left => SignIn::Refused,
        SignInError::IssuerUnavailable(_) => SignIn::Unavailable,
        SignInError::Database(error) if is_unavailable(error) => SignIn::Unavailable,
        SignInError::Database(_) | SignInError::Failed(_) => SignIn::Failed,
    }
}

/// The page for a failed sign-in, with a link to try again. The details go to the log.
fn page(error: &SignInError, return_to: &str) -> Response {
    tracing::warn!(error = %quoted(error), "browser sign-in failed");
    let unavailable = (
        StatusCode::SERVICE_UNAVAILABLE,
        "Sign-in is not available at the moment",
        "Please try again in a few seconds.",
    );
    let (status, title, text) = match error {
        SignInError::Lost => (
            StatusCode::BAD_REQUEST,
            "This sign-in has expired",
            "It took too long, was used before, or began in another browser.",
        ),
        SignInError::Refused => (StatusCode::FORBIDDEN, "The sign-in was cancelled", "Nobody was signed in."),
        SignInError::IssuerUnavailable(_) => unavailable,
        SignInError::Database(error) if is_unavailable(error) => unavailable,
        SignInError::Left => (
            StatusCode::FORBIDDEN,
            "Your data was deleted",
            "You deleted your data here after you last proved to your issuer who you are. To begin afresh, sign in again and prove it \
             once more.",
        ),
        SignInError::Failed(_) => {
            (StatusCode::BAD_GATEWAY, "The sign-in failed", "The issuer gave an unexpected answer.")
        }
        SignInError::Database(_) => {
            (StatusCode::INTERNAL_SERVER_ERROR, "An unexpected error occurred", "Please try again in a few seconds.")
        }
    };
    let again: String = url::form_urlencoded::byte_serialize(return_to.as_bytes()).collect();
    let again = if matches!(error, SignInError::Left) { format!("{again}&again=1") } else { again };
    let mut response = Page::new(title).status(status).render(&html! {
        p role="alert" { (text) }
        p { a.button href={ "/auth/login?return_to=" (again) } { "Sign in again" } }
    });
    if status == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(header::RETRY_AFTER, RETRY_AFTER.into());
    }
    response
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_paths_of_this_service_are_returned_to() {
        assert!(super::is_own_path("/") && super::is_own_path("/properties?x=1"));
        for bad in ["", "https://evil.example/", "//evil.example", "/\\evil.example", "/a b", "javascript:alert(1)"] {
            assert!(!super::is_own_path(bad), "{bad}");
        }
    }
}
