//! The authorization endpoint. GET shows the sign-in page (or signs a demo person in at once), POST receives the form of
//! that page.

use poem::{
    Body, Request, Response, handler,
    http::{HeaderMap, StatusCode},
    web::Data,
};

use super::page;
use crate::{
    digest::same,
    embedded_issuer::{
        IdentityProvider, demo,
        parameters::{Parameters, TOO_MANY},
        request::{self, AuthorizationRequest, Refusal, ReturnAddress},
        response::OAuthError,
    },
    identity::credentials::cookies,
    urls::is_https,
};

/// The cookie that binds the form to the browser it was shown in. On https it has the `__Secure-` prefix, so that plain http
/// cannot set it. The stricter prefix of the other cookies would send it to every path.
fn form_cookie(issuer: &str) -> &'static str {
    if is_https(issuer) { "__Secure-sightline_sign_in" } else { "sightline_sign_in" }
}

/// Checks an authorization request and shows the page.
#[handler]
pub(super) async fn show(Data(provider): Data<&IdentityProvider>, request: &Request) -> Result<Response, OAuthError> {
    let Ok(parameters) = Parameters::of_query(request) else { return Ok(page::error(TOO_MANY)) };
    let address = match provider.return_address(&parameters).await? {
        Ok(address) => address,
        Err(reason) => return Ok(page::error(reason)),
    };
    let asked = match request::judge(&parameters, &address.client, &provider.settings) {
        Ok(asked) => asked,
        Err(refusal) => return Ok(redirect(&address.refusing(&refusal))),
    };
    if let Some(person) = person_without_page(provider, &asked, &address, request.headers()) {
        return provider.authorize(&address, &asked, person).await;
    }
    if asked.prompts.iter().any(|prompt| prompt == "none") {
        let refusal = Refusal("login_required", "Nobody is signed in here.");
        return Ok(redirect(&address.refusing(&refusal)));
    }
    let query = request.uri().query().unwrap_or_default();
    let name = form_cookie(provider.issuer());
    let token = form_token(request.headers(), name).map_or_else(|| provider.random.token(), str::to_owned);
    let mut response = page::sign_in(&address.client, &address.redirect_uri, &asked.scope, query, &token);
    let secure = if is_https(provider.issuer()) { "; Secure" } else { "" };
    let cookie = format!("{name}={token}; Path=/oauth/authorize; HttpOnly; SameSite=Strict; Max-Age=3600{secure}");
    if let Ok(cookie) = cookie.parse() {
        response.headers_mut().insert("Set-Cookie", cookie);
    }
    Ok(response)
}

/// Receives the form: the chosen person, or a refusal.
#[handler]
pub(super) async fn decide(
    Data(provider): Data<&IdentityProvider>,
    request: &Request,
    body: Body,
) -> Result<Response, OAuthError> {
    let Ok(form) = Parameters::form(request, body).await else { return Ok(page::error("The form cannot be read.")) };
    let expected = form_token(request.headers(), form_cookie(provider.issuer())).unwrap_or_default();
    let foreign = request.header("sec-fetch-site").is_some_and(|site| site != "same-origin");
    if foreign || expected.is_empty() || !same(expected, form.get("csrf").unwrap_or_default()) {
        return Ok(page::error("The form has expired. Go back to the application and sign in again."));
    }
    let Ok(parameters) = Parameters::of_query(request) else { return Ok(page::error(TOO_MANY)) };
    let address = match provider.return_address(&parameters).await? {
        Ok(address) => address,
        Err(reason) => return Ok(page::error(reason)),
    };
    match request::judge(&parameters, &address.client, &provider.settings) {
        Err(refusal) => Ok(redirect(&address.refusing(&refusal))),
        Ok(asked) => match form.get("person").and_then(demo::by_name) {
            Some(person) => provider.authorize(&address, &asked, person).await,
            None => Ok(redirect(&address.refusing(&Refusal("access_denied", "The person did not agree.")))),
        },
    }
}

impl IdentityProvider {
    /// Records the consent and sends the browser back with a code.
    async fn authorize(
        &self,
        address: &ReturnAddress,
        asked: &AuthorizationRequest,
        person: &demo::Person,
    ) -> Result<Response, OAuthError> {
        let code = self.grant(address, asked, person).await?;
        Ok(redirect(&address.with(&[("code", &code)])))
    }
}

fn person_without_page(
    provider: &IdentityProvider,
    asked: &AuthorizationRequest,
    address: &ReturnAddress,
    headers: &HeaderMap,
) -> Option<&'static demo::Person> {
    let person = demo::by_name(asked.login_hint.as_deref()?)?;
    let wants_page = asked.prompts.iter().any(|prompt| prompt == "login");
    (!wants_page && demo::may_skip_page(&provider.settings, &address.redirect_uri, headers)).then_some(person)
}

fn form_token<'a>(headers: &'a HeaderMap, name: &'a str) -> Option<&'a str> {
    cookies(headers, name).next().filter(|token| token.len() == 43 && token.bytes().all(|b| b.is_ascii_graphic()))
}

/// 303, so that a browser never repeats the form with its content to the client.
fn redirect(to: &str) -> Response {
    Response::builder()
        .status(StatusCode::SEE_OTHER)
        .header("Location", to)
        .header("Cache-Control", "no-store")
        .header("Referrer-Policy", "no-referrer")
        .finish()
}
