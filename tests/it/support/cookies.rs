//! Cookies by their names in the code. The names that browsers see end with a port and, for an attempt, with its digest.

use common::base_url::BaseUrl;
use poem::http::HeaderMap;

/// Returns whether `cookie`, a line or a name, is the one that the code calls `name`.
pub fn is_called(cookie: &str, name: &str) -> bool {
    let called = cookie.split('=').next().unwrap_or_default();
    called.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_']))
}

/// The line that sets the cookie `name`.
pub fn set_cookie<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    let mut lines = headers.get_all("set-cookie").iter().map(|line| line.to_str().unwrap());
    lines.find(|line| is_called(line, name)).unwrap_or_else(|| panic!("no {name}"))
}

/// The cookie `name` that an answer sets, as a browser sends it back.
pub fn cookie(headers: &HeaderMap, name: &str) -> String {
    set_cookie(headers, name).split(';').next().unwrap().to_owned()
}

/// A session's cookie with a value, as a browser sends it to the service at `base_url`.
pub fn session_cookie(base_url: &str, value: &str) -> String {
    format!("{}={value}", base_url.parse::<BaseUrl>().unwrap().host_cookie("sightline_session"))
}
