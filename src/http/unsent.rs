//! Gives forms of people back that were not taken, because the session has ended, too many requests came, or the service was busy. The
//! refusal is a page with the fields as they were sent, and a button that sends them again.
//!
//! Only a form of the service's own origin is given back. Another site could otherwise send one, and a person would send it on.

use std::sync::Arc;

use identity::credentials::is_same_origin;
use pages::{form, page::unsent::Unsent, paths::is_below};
use poem::{
    Endpoint, Error, IntoResponse, Request, Response, Result,
    http::{Method, StatusCode},
};
use url::form_urlencoded;

use super::{audience, authenticate::Authenticate};
use crate::web::{account, dashboard::Audience, strangers::SignInFirst};

/// The largest form that is given back, in bytes.
const LARGEST: usize = 256 * 1024;

/// The layer that gives forms back.
///
/// # Errors
/// 401 to a form whose sender has no session, and the errors of the inner layers.
pub async fn give_back<E: Endpoint>(
    settings: Arc<Authenticate>,
    next: Arc<E>,
    mut request: Request,
) -> Result<Response> {
    let is_own = is_same_origin(request.headers(), settings.base_url.origin());
    let unsent = if is_own { unsent(&mut request).await? } else { None };
    let answer = next.call(request).await.map(IntoResponse::into_response);
    let Some(unsent) = unsent else { return answer };
    match answer {
        Ok(answer) => match answer.data::<SignInFirst>() {
            Some(SignInFirst(at)) if !unsent.is_empty() => {
                Err(with(settings.without_session(), unsent.after_sign_in(at.clone())))
            }
            _ => Ok(answer),
        },
        Err(error) if is_temporary(error.status()) => Err(with(error, unsent)),
        Err(error) => Err(error),
    }
}

fn with(mut error: Error, unsent: Unsent) -> Error {
    error.set_data(unsent);
    error
}

/// Returns whether the same form may be taken later.
fn is_temporary(status: StatusCode) -> bool {
    status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error()
}

/// Returns the form that a request brings to a page of people, if it may be given back. The request keeps it.
async fn unsent(request: &mut Request) -> Result<Option<Unsent>> {
    let path = request.uri().path();
    let is_of_people = audience::of(request).is_some_and(|visitors| visitors.audience == Audience::People)
        || is_below(account::PATH, path);
    if *request.method() != Method::POST || !is_of_people || !form::is_sent(request.headers()) {
        return Ok(None);
    }
    let address = request.uri().path_and_query().map_or(path, |target| target.as_str()).to_owned();
    let bytes = request.take_body().into_bytes().await?;
    let sent = form_urlencoded::parse(if bytes.len() > LARGEST { &[] } else { &bytes });
    let unsent = Unsent::of(address, sent.map(|(name, value)| (name.into_owned(), value.into_owned())).collect());
    request.set_body(bytes);
    Ok(unsent)
}
