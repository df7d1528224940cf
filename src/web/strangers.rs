//! The way of strangers to sign-in: a browser that asks for a page is led there, and a form comes back to its sender.

use poem::{
    Response,
    http::{StatusCode, header},
};
use url::form_urlencoded;

/// The address of sign-in, as data of an answer to a stranger who sent a form. With it the layer `unsent` gives the
/// form back.
#[derive(Debug, Clone)]
pub struct SignInFirst(pub String);

/// Leads a stranger to sign-in, and from there `back` to a page.
pub(super) fn to_sign_in(back: &str) -> Response {
    redirect(&sign_in(back))
}

/// Answers a stranger who sent a form: as [`to_sign_in`], unless the form has fields to give back.
pub(super) fn give_back(back: &str) -> Response {
    let mut response = to_sign_in(back);
    response.set_data(SignInFirst(sign_in(back)));
    response
}

/// The address of sign-in, which leads `back` to a page.
fn sign_in(back: &str) -> String {
    let back: String = form_urlencoded::byte_serialize(back.as_bytes()).collect();
    // A slash needs no escape in a query.
    format!("/auth/login?return_to={}", back.replace("%2F", "/"))
}

/// 303, so that a browser asks for the next page with GET.
pub(super) fn redirect(to: &str) -> Response {
    Response::builder()
        .status(StatusCode::SEE_OTHER)
        .header(header::LOCATION, to)
        .header(header::CACHE_CONTROL, "no-store")
        .finish()
}
