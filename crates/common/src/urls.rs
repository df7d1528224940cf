//! Checks on URLs: loopback addresses and transports that may carry secrets.

use std::net::IpAddr;

use url::{Host, Url};

/// Returns whether secrets may be sent to `url`: over https, or over http to a loopback address.
#[must_use]
pub fn is_secure(url: &Url) -> bool {
    url.scheme() == "https" || (url.scheme() == "http" && is_loopback(url))
}

/// Returns whether `url` points to this machine: a loopback address or `localhost`.
#[must_use]
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        // Under schemes other than http an address counts as a name.
        Some(Host::Domain(name)) => name == "localhost" || name.parse().is_ok_and(|ip: IpAddr| ip.is_loopback()),
        None => false,
    }
}

/// `url` in a printable form: without user, password and query, because each may contain secrets.
#[must_use]
pub fn without_credentials(url: &str) -> String {
    let Ok(mut url) = Url::parse(url) else { return "(an address that cannot be read)".to_owned() };
    if has_stray_password(&url) {
        return "(an address whose password is not percent-encoded)".to_owned();
    }
    if !url.username().is_empty() || url.password().is_some() {
        // Cannot fail, because the URL has a password or user.
        let _ = url.set_password(None);
        let _ = url.set_username("");
    }
    url.set_query(None);
    url.into()
}

/// Returns whether no part of a password stands where host, path or query of `url` should.
#[must_use]
pub fn is_printable(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| !has_stray_password(&url))
}

/// A password that is not percent-encoded ends at the first `/`, `?` or `#`, and the rest of it, up to `@`, stands where path, query or
/// fragment should. One that begins with digits even leaves its user as the host and the digits as the port.
fn has_stray_password(url: &Url) -> bool {
    let holds = |text: &str| text.contains('@') || text.contains("%40");
    let holds_more = holds(url.path()) || url.query().is_some_and(holds);
    let has_user = !url.username().is_empty() || url.password().is_some();
    if has_user {
        return holds_more || url.fragment().is_some();
    }
    // A path on the web, or of a file, may well hold the sign.
    let takes_users = !["http", "https", "sqlite"].contains(&url.scheme());
    takes_users && (holds_more || url.fragment().is_some_and(|fragment| fragment.contains('@')))
}

/// Returns whether an `Origin` is that of an application or a browser extension with a scheme of its own, such as `tauri://localhost` or
/// `chrome-extension://ID`. It is no web page: no name on the network leads to it.
#[must_use]
pub fn is_of_application(origin: &str) -> bool {
    let Some((scheme, rest)) = origin.split_once("://") else { return false };
    let is_own = !["http", "https", "ws", "wss", "ftp", "file", "data", "blob"].contains(&scheme);
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_lowercase())
        && scheme.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"+-.".contains(&byte));
    let (host, port) = rest.split_once(':').unwrap_or((rest, "1"));
    let is_host = !host.is_empty()
        && host.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-._".contains(&byte));
    is_own && is_scheme && is_host && port.parse::<u16>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_this_machine_is_known_under_every_scheme() {
        for (url, is_here) in [
            ("http://127.0.0.1:8080", true),
            ("http://[::1]:8080", true),
            ("https://localhost", true),
            ("redis://127.0.0.1:6379", true),
            ("redis://:hunter2@[::1]", true),
            ("rediss://localhost", true),
            ("redis://10.0.0.7", false),
            ("redis://cache.example", false),
            ("http://127.0.0.1.example", false),
        ] {
            assert_eq!(is_loopback(&Url::parse(url).unwrap()), is_here, "{url}");
        }
    }

    #[test]
    fn an_address_is_printed_without_what_opens_it() {
        for (url, printed) in [
            ("postgres://user:hunter2@db.example:5432/name", "postgres://db.example:5432/name"),
            ("postgres://db.example/name?password=hunter2", "postgres://db.example/name"),
            ("redis://:hunter2@cache.example", "redis://cache.example"),
            ("sqlite://data/sightline.db?mode=rwc", "sqlite://data/sightline.db"),
            ("sqlite::memory:", "sqlite::memory:"),
            ("postgres://user:hun@ter2/z@db.example/name", "(an address whose password is not percent-encoded)"),
            ("postgres://user:hun@ter?2@db.example/name", "(an address whose password is not percent-encoded)"),
            ("postgres://user:hun@ter#2@db.example/name", "(an address whose password is not percent-encoded)"),
            ("postgres://user:5/hunter2@db.example/name", "(an address whose password is not percent-encoded)"),
            ("redis://user:5?hunter2@cache.example", "(an address whose password is not percent-encoded)"),
            ("smtp://user:5#hunter2@mail.example", "(an address whose password is not percent-encoded)"),
            ("sqlite://data/a@b.db", "sqlite://data/a@b.db"),
            ("https://id.example/@corp", "https://id.example/@corp"),
            ("postgres://user:hunter2@127.0.0.1:notaport/db", "(an address that cannot be read)"),
        ] {
            assert_eq!(without_credentials(url), printed);
        }
    }

    #[test]
    fn applications_have_schemes_of_their_own() {
        for (origin, expected) in [
            ("tauri://localhost", true),
            ("chrome-extension://abcdefghijklmnop", true),
            ("moz-extension://2c127fa4-62c7-4ff5-b2d6-8b3f4b0b8d7e", true),
            ("vscode-file://vscode-app", true),
            ("app://obsidian.md", true),
            ("capacitor://localhost:8080", true),
            ("https://tauri.localhost", false),
            ("http://localhost", false),
            ("file:///etc/passwd", false),
            ("file://", false),
            ("null", false),
            ("app://", false),
            ("App://obsidian.md", false),
            ("app://user@obsidian.md", false),
            ("app://obsidian.md/", false),
            ("app://obsidian.md:x", false),
            ("://a", false),
        ] {
            assert_eq!(is_of_application(origin), expected, "{origin}");
        }
    }
}
