//! Rules for registering redirect URIs, and for matching a requested one.

use url::Url;

use crate::urls::is_loopback;

const MAX_LENGTH: usize = 1_000;
/// Schemes that execute or read something in a browser instead of returning to an application.
const FORBIDDEN_SCHEMES: [&str; 16] = [
    "javascript",
    "data",
    "vbscript",
    "file",
    "blob",
    "about",
    "filesystem",
    "view-source",
    "ftp",
    "ws",
    "wss",
    "mailto",
    "tel",
    "sms",
    "intent",
    "jar",
];
/// Parameters of the authorization response. A registered copy would make them ambiguous.
const ANSWER_PARAMETERS: [&str; 4] = ["code", "state", "iss", "error"];

/// Returns whether a client may register `uri`: https, http on loopback, or an application's own scheme, without fragment
/// and wildcard.
pub fn may_be_registered(uri: &str) -> bool {
    let printable = uri.bytes().all(|byte| byte.is_ascii_graphic());
    if uri.len() > MAX_LENGTH || !printable || uri.contains(['*', '#', '\\', '"', '<', '>']) {
        return false;
    }
    let Ok(parsed) = Url::parse(uri) else { return false };
    let plain = parsed.username().is_empty() && parsed.password().is_none();
    let unambiguous = !parsed.query_pairs().any(|(name, _)| ANSWER_PARAMETERS.contains(&name.as_ref()));
    let scheme = match parsed.scheme() {
        "https" => parsed.has_host(),
        "http" => is_loopback(&parsed),
        other => !FORBIDDEN_SCHEMES.contains(&other) && uri.len() > other.len() + 1 && !parsed.cannot_be_a_base(),
    };
    plain && unambiguous && scheme
}

/// Returns whether `requested` equals `registered`, character for character. The port of a loopback address may differ (RFC
/// 8252 section 7.3).
pub fn matches(registered: &str, requested: &str) -> bool {
    registered == requested
        || matches!((split_port(registered), split_port(requested)), (Some(left), Some(right)) if left == right)
}

/// Splits a loopback URI around its port.
fn split_port(uri: &str) -> Option<(&'static str, &str)> {
    let (host, rest) = ["http://127.0.0.1", "http://[::1]"]
        .into_iter()
        .find_map(|host| uri.strip_prefix(host).map(|rest| (host, rest)))?;
    let after = match rest.strip_prefix(':') {
        Some(port) => {
            let path = port.trim_start_matches(|digit: char| digit.is_ascii_digit());
            let digits = &port[..port.len() - path.len()];
            digits.parse::<u16>().ok()?;
            path
        }
        None => rest,
    };
    let ends_host = after.is_empty() || after.starts_with(['/', '?']);
    (ends_host && !after.contains(['#', '\\'])).then_some((host, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_safe_addresses_only() {
        for good in [
            "https://app.example/cb",
            "https://app.example/cb?tenant=1",
            "http://127.0.0.1:7777/cb",
            "http://localhost/cb",
            "http://[::1]:1/cb",
            "com.example.app:/cb",
            "cursor://anysphere.cursor/oauth",
        ] {
            assert!(may_be_registered(good), "{good}");
        }
        for bad in [
            "",
            "app",
            "/cb",
            "http://app.example/cb",
            "https://app.example/cb#x",
            "https://*.example/cb",
            "https://a@b.example/",
            "javascript:alert(1)",
            "JavaScript:alert(1)",
            "javascript://x/%0aalert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "https://app.example/cb?code=1",
            "https://app.example/c b",
            "http://127.0.0.1.evil.example/",
            "urn:ietf:wg:oauth:2.0:oob",
        ] {
            assert!(!may_be_registered(bad), "{bad}");
        }
    }

    #[test]
    fn only_the_port_of_a_loopback_address_may_differ() {
        assert!(matches("http://127.0.0.1/cb", "http://127.0.0.1:5000/cb"));
        assert!(matches("http://127.0.0.1:1/cb", "http://127.0.0.1:2/cb"));
        assert!(matches("http://[::1]/cb", "http://[::1]:2/cb"));
        for (registered, requested) in [
            ("https://a.example/cb", "https://a.example:444/cb"),
            ("https://a.example/cb", "https://a.example/cb/"),
            ("https://a.example/cb", "https://a.example/CB"),
            ("http://127.0.0.1/cb", "http://127.0.0.1:5000/other"),
            ("http://127.0.0.1/cb", "http://127.0.0.1:5000/cb?x=1"),
            ("http://127.0.0.1/cb", "http://127.0.0.1:5000@evil.example/cb"),
            ("http://127.0.0.1/cb", "http://127.0.0.1.evil.example/cb"),
            ("http://127.0.0.1/cb", "http://127.0.0.1:99999/cb"),
            ("http://127.0.0.1/cb", "http://localhost:5000/cb"),
            ("http://localhost:1/cb", "http://localhost:2/cb"),
        ] {
            assert!(!matches(registered, requested), "{requested}");
        }
    }
}
