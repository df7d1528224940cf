//! The authorization endpoint.
//!
//! A `login_hint` that names a simulated account returns a code at once to a script. A browser always shows the page of accounts,
//! with the hinted one only, if there is one. Scripts may send the page's choices as ordinary parameters: `deny=1` refuses, and
//! `granted_scope` (repeatable) limits the grant, as unticking boxes does.
//!
//! The exchange issues a refresh token only on the first consent of the account to the client, or if `prompt` asks for consent.

use poem::http::{StatusCode, header};
use poem::{IntoResponse as _, Request, Response};
use url::Url;

use super::token::{CODE_SECONDS, Claims, CodeDetails, Kind};
use super::{pairs, parameter};
use crate::accounts::Account;
use crate::state::Shared;

/// Responds to an authorization request.
pub(crate) fn authorize(shared: &Shared, request: &Request) -> Response {
    let asked = pairs(request.uri().query().unwrap_or_default().as_bytes());
    let get = |name: &str| parameter(&asked, name);
    let Some(client) = get("client_id") else { return refuse_page("client_id is missing") };
    let Some(redirect) = get("redirect_uri").and_then(|uri| redirect_target(&uri)) else {
        return refuse_page("redirect_uri must be an absolute http or https address without a fragment");
    };
    let back = |parameters: &[(&str, &str)]| redirect_back(&redirect, get("state").as_deref(), parameters);
    if get("response_type").as_deref() != Some("code") {
        return back(&[("error", "unsupported_response_type")]);
    }
    let challenge = get("code_challenge");
    if challenge.is_some() && get("code_challenge_method").as_deref() != Some("S256") {
        return back(&[("error", "invalid_request"), ("error_description", "code_challenge_method must be S256")]);
    }
    let Some(scope) = get("scope") else {
        return back(&[("error", "invalid_request"), ("error_description", "scope is missing")]);
    };
    if get("deny").is_some() {
        return back(&[("error", "access_denied")]);
    }
    let hinted = get("login_hint").and_then(|hint| shared.accounts.find(&hint));
    // Only the page's own form is sent from this very site.
    let shows_page = request.header("sec-fetch-site").is_some_and(|site| site != "same-origin");
    let Some(account) = hinted.filter(|_| !shows_page) else {
        return super::consent::page(shared, &asked, &scope, hinted.map(|account| account.name));
    };
    let is_first = shared.oauth.consent(&client, account.name);
    let offline =
        get("access_type").as_deref() == Some("offline") && (is_first || prompts_consent(get("prompt").as_deref()));
    let redirect_uri = get("redirect_uri").unwrap_or_default();
    let details = CodeDetails { redirect_uri, challenge, nonce: get("nonce"), offline };
    let scope = granted(shared, &asked, &scope);
    back(&[("code", &code(shared, account, client, scope.clone(), details)), ("scope", &scope), ("prompt", "consent")])
}

fn prompts_consent(prompt: Option<&str>) -> bool {
    prompt.is_some_and(|prompt| prompt.split(' ').any(|one| one == "consent"))
}

fn code(shared: &Shared, account: &Account, client: String, scope: String, details: CodeDetails) -> String {
    let oauth = &shared.oauth;
    oauth.sign(&Claims {
        kind: Kind::Code,
        account: account.name.to_owned(),
        grant: oauth.new_grant(),
        issued: oauth.next_order(),
        client,
        scope,
        expires: Some(oauth.seconds() + CODE_SECONDS),
        details: Some(details),
    })
}

/// The requested scopes, without the ones unticked on the page or withheld by the controls.
fn granted(shared: &Shared, asked: &[(String, String)], scope: &str) -> String {
    let ticked: Vec<&str> =
        asked.iter().filter(|(name, _)| name == "granted_scope").map(|(_, value)| value.as_str()).collect();
    let keep = |scope: &&str| (ticked.is_empty() || ticked.contains(scope)) && !shared.controls.withholds(scope);
    scope.split_whitespace().filter(keep).collect::<Vec<_>>().join(" ")
}

fn redirect_target(uri: &str) -> Option<Url> {
    Url::parse(uri).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.fragment().is_none())
}

fn redirect_back(target: &Url, state: Option<&str>, parameters: &[(&str, &str)]) -> Response {
    let mut url = target.clone();
    url.query_pairs_mut().extend_pairs(state.map(|state| ("state", state))).extend_pairs(parameters);
    Response::builder()
        .status(StatusCode::FOUND)
        .header(header::LOCATION, url.as_str())
        .header(header::CACHE_CONTROL, "no-store")
        .finish()
}

/// Errors about the client or its redirect URI are shown on a page and never sent to that URI.
fn refuse_page(reason: &str) -> Response {
    let page = format!("<!doctype html><title>Error 400</title><h1>Error 400: invalid_request</h1><p>{reason}</p>");
    poem::web::Html(page).with_status(StatusCode::BAD_REQUEST).into_response()
}
