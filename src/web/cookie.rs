//! Cookies for the whole service, which scripts cannot read.

use chrono::TimeDelta;
use common::urls::is_https;
use poem::{Response, http::HeaderValue};

use crate::identity::{
    credentials::{SESSION_COOKIE, host_cookie},
    issuer_session,
};

/// Sets a cookie of the service at `base_url`. A lifetime of zero removes it.
pub(super) fn set(response: &mut Response, base_url: &str, name: &str, value: &str, lifetime: TimeDelta) {
    let secure = if is_https(base_url) { "; Secure" } else { "" };
    let seconds = lifetime.num_seconds();
    let cookie = format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().append("Set-Cookie", cookie);
    }
}

/// Takes the cookies of a signed-in person from a browser: that of the service, and that of its issuer.
pub(super) fn remove_sessions(response: &mut Response, base_url: &str) {
    for name in [SESSION_COOKIE, issuer_session::COOKIE] {
        set(response, base_url, &host_cookie(name, base_url), "", TimeDelta::zero());
    }
}
