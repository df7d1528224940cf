//! The account page, for people in a browser: rendered by the server, without script. It writes by forms, which must come from the
//! service's own origin.

mod applications;
mod notice;
mod overview;
mod person;
mod plan;
mod privacy;
mod providers;
pub mod search;
mod sessions;
mod sites;
mod user_agent;

use std::sync::Arc;

use common::{base_url::BaseUrl, clock::Clock, digest::sha256_hex, random::Random};
use identity::{
    Credential,
    credentials::cookies,
    issuer_session,
    local::local_subject,
    session::{Holder, Sessions},
};
use maud::html;
use pages::{
    form::{self, Controlled, Holds},
    own_host::on_own_host,
    page::{Navigation, Page},
    paths::Paths,
};
use poem::{Body, EndpointExt as _, Request, Response, RouteMethod, get, handler, http::StatusCode, post};
use sea_orm::DatabaseConnection;
use store::unavailable::RETRY_AFTER;
use telemetry::logs;

pub(super) use super::strangers::redirect;
use super::{refusal_page, strangers};
use crate::{
    admission::{AdmissionError, Admissions},
    config::Config,
    error::Error,
    services::{applications::TokenIssuer, privacy::Privacy, users::Member},
};

/// The path of the account page.
pub const PATH: &str = "/account";

/// The maximum size of a form.
const MAX_FORM_BYTES: usize = 64 * 1024;

/// Everything that the pages need.
#[derive(Clone)]
pub struct Account {
    /// Admits the session cookie.
    pub admissions: Admissions,
    /// The settings.
    pub config: Arc<Config>,
    /// The service's public root.
    pub base_url: BaseUrl,
    /// The URL of the tool endpoint.
    pub tools: String,
    /// The audience of the REST API.
    pub audience: String,
    /// The clock.
    pub clock: Clock,
    /// The sessions of browsers.
    pub sessions: Sessions,
    /// The database, for reading.
    pub reader: DatabaseConnection,
    /// The database, for writing.
    pub writer: DatabaseConnection,
    /// The URL of the issuer that signs people in.
    pub issuer: String,
    /// The source of ids.
    pub random: Random,
    /// Deletions of people's data.
    pub privacy: Privacy,
    /// The pages of search accounts.
    pub search: search::SearchPages,
    /// The navigation.
    pub navigation: Navigation,
}

/// The person who is signed in in this browser.
struct Visitor {
    member: Arc<Member>,
    /// The hash of the session's cookie value.
    session: String,
    /// The hash of the cookie value of its session at the embedded issuer.
    issuer_session: Option<String>,
}

impl Account {
    /// Adds the pages.
    #[must_use]
    pub fn mount(&self, paths: Paths) -> Paths {
        let own = |endpoint: RouteMethod| on_own_host(endpoint.data(self.clone()), &self.base_url);
        let paths = search::mount(self, paths.at(PATH, "GET, HEAD", own(get(overview::show))));
        paths
            .at("/account/sign-out", "POST", own(post(sessions::sign_out)))
            .at("/account/signed-out", "GET, HEAD", own(get(sessions::signed_out)))
            .at("/account/sessions/end-others", "POST", own(post(sessions::end_others)))
            .at("/account/sessions/:id/end", "POST", own(post(sessions::end)))
            .at("/account/applications/revoke", "POST", own(post(applications::revoke)))
            .at("/account/applications/limit", "POST", own(post(applications::limit)))
            .at("/account/applications/allow", "POST", own(post(applications::allow)))
            .at(privacy::ACTIVITY, "GET, HEAD", own(get(privacy::activity)))
            .at(privacy::DELETE, "GET, HEAD, POST", own(get(privacy::ask).post(privacy::delete)))
            .at(privacy::DELETED, "GET, HEAD", own(get(privacy::deleted)))
            .at("/account/*rest", "GET, HEAD, POST", own(get(unknown).post(unknown)))
    }

    /// Returns the person whose session the request carries, or the answer that leads to sign-in. A write must come from a page
    /// of this service.
    async fn visitor(&self, request: &Request) -> Result<Visitor, Response> {
        match self.admissions.visitor(request.method(), request.headers(), None).await {
            Ok(Some(admitted)) => match admitted.credential {
                Credential::Session { id } => {
                    logs::note_user(admitted.member.pseudonym());
                    let at_issuer = self.base_url.host_cookie(issuer_session::COOKIE);
                    let issuer_session = cookies(request.headers(), &at_issuer).next().map(sha256_hex);
                    Ok(Visitor { member: admitted.member, session: id, issuer_session })
                }
                Credential::AccessToken { .. } => Err(to_sign_in(request)),
            },
            Err(AdmissionError::ForeignOrigin) => Err(foreign_origin()),
            Err(AdmissionError::Database(error)) => Err(failed(&error.into())),
            _ => Err(to_sign_in(request)),
        }
    }

    /// A page for the person who is signed in.
    fn page(&self, title: impl Into<String>) -> Page {
        Page::new(title).signed_in(&self.navigation)
    }

    /// The issuer of the tokens that clients present.
    fn token_issuer(&self) -> TokenIssuer {
        if self.config.embeds_issuer() { TokenIssuer::Embedded } else { TokenIssuer::External }
    }

    /// The person as the holder of sessions. The embedded issuer's are theirs only if it is the one that signed them in.
    fn holder<'a>(&self, visitor: &'a Visitor) -> Holder<'a> {
        let user = &visitor.member.user;
        Holder { user_id: user.id, subject: local_subject(self.config.embeds_issuer(), user) }
    }
}

/// Answers a stranger: a browser that asks for a page is led to sign-in and back, and a form comes back. Before everything is deleted, the
/// person is asked again.
fn to_sign_in(request: &Request) -> Response {
    let path = request.uri().path();
    match (request.method().is_safe(), path) {
        (true, _) => strangers::to_sign_in(path),
        (false, privacy::DELETE) => strangers::to_sign_in(PATH),
        (false, _) => strangers::give_back(PATH),
    }
}

/// Returns the first field of each of the `names` of a form, or nothing if one is missing.
///
/// # Errors
/// The page for a form that cannot be read.
async fn fields<const N: usize>(body: Body, names: [&str; N]) -> Result<Option<[String; N]>, Response> {
    let Ok(form) = body.into_bytes_limit(MAX_FORM_BYTES).await else { return Ok(None) };
    let form = read(&form).map_err(|controlled| refusal_page::page(&controlled.into()))?;
    let values: Vec<String> = names.iter().filter_map(|name| form::first(&form, name).map(str::to_owned)).collect();
    Ok(values.try_into().ok())
}

/// Reads the fields of a form, each of one line.
fn read(encoded: &[u8]) -> Result<Vec<(String, String)>, Controlled> {
    form::fields(encoded, |_| Holds::Line).collect()
}

fn refused(status: StatusCode, title: &str, advice: &str) -> Response {
    Page::new(title).status(status).render(&html! {
        p role="alert" { (advice) }
        p { a href=(PATH) { "Your account" } }
    })
}

fn foreign_origin() -> Response {
    refused(
        StatusCode::FORBIDDEN,
        "This form was sent from another site",
        "Nothing was changed. Open your account page and try again from there.",
    )
}

fn not_found() -> Response {
    refused(StatusCode::NOT_FOUND, "Not found", "This page does not exist, or its content is gone.")
}

/// The page for a service that failed. Records of others are not found.
fn failed(error: &Error) -> Response {
    if matches!(error, Error::NotFound) {
        return not_found();
    }
    tracing::error!(%error, "an account page cannot be shown");
    unavailable()
}

/// The page for a database that does not answer.
pub(super) fn unavailable() -> Response {
    let mut response =
        refused(StatusCode::SERVICE_UNAVAILABLE, "Not available at the moment", "Please try again in a few seconds.");
    response.headers_mut().insert("Retry-After", RETRY_AFTER.into());
    response
}

#[handler]
fn unknown() -> Response {
    not_found()
}
