//! Rules for registering redirect URIs, and for matching a requested one.

use common::urls::is_loopback;
use url::Url;

const MAX_LENGTH: usize = 1_000;
/// Schemes without a dot that are allowed nevertheless: assistants return to them. All others must be made of a domain name in
/// reverse (RFC 8252 section 7.1), as no scheme is that a browser or an operating system acts on.
const KNOWN_SCHEMES: [&str; 19] = [
    "antigravity",
    "boltai",
    "cherrystudio",
    "claude",
    "code-oss",
    "cursor",
    "goose",
    "jan",
    "kiro",
    "lmstudio",
    "positron",
    "raycast",
    "trae",
    "vscode",
    "vscode-insiders",
    "vscodium",
    "warp",
    "windsurf",
    "zed",
];
/// Parameters of the authorization response. A registered copy would make them ambiguous.
const ANSWER_PARAMETERS: [&str; 4] = ["code", "state", "iss", "error"];
/// The loopback hosts.
const LOOPBACK: [&str; 3] = ["http://127.0.0.1", "http://[::1]", "http://localhost"];

/// Returns whether a client may register `uri`: https, http on loopback, or an application's own scheme with a dot, without
/// fragment and wildcard.
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
        other => {
            let is_own = other.contains('.') || KNOWN_SCHEMES.contains(&other);
            is_own && uri.len() > other.len() + 1 && !parsed.cannot_be_a_base()
        }
    };
    plain && unambiguous && scheme
}

/// Returns whether `requested` equals `registered`, character for character. The port of a loopback address may differ (RFC
/// 8252 section 7.3), and that of `localhost`, because assistants publish it without a port and listen on any.
pub fn matches(registered: &str, requested: &str) -> bool {
    registered == requested
        || matches!((split_port(registered), split_port(requested)), (Some(left), Some(right)) if left == right)
}

/// Returns whether `uri` leads to a program on the person's own computer.
pub fn is_on_loopback(uri: &str) -> bool {
    Url::parse(uri).is_ok_and(|parsed| parsed.scheme() == "http" && is_loopback(&parsed))
}

/// The address that a consent counts for: `uri`, without the port of a loopback address.
pub fn without_port(uri: &str) -> String {
    split_port(uri).map_or_else(|| uri.to_owned(), |(host, after)| format!("{host}{after}"))
}

/// Splits the URI of a loopback host around its port.
fn split_port(uri: &str) -> Option<(&'static str, &str)> {
    let (host, rest) = LOOPBACK.iter().find_map(|host| uri.strip_prefix(host).map(|rest| (*host, rest)))?;
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
            "cursor://anysphere.cursor-mcp/oauth/callback",
            "vscode://vendor.extension/callback",
            "vscode-insiders://vendor.extension/callback",
            "warp://mcp/oauth2callback",
            "raycast://oauth?package_name=Extension",
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
            "myapp://cb",
            "myapp:/cb",
            "ms-settings://cb",
            "search-ms://x",
            "intent://x",
            "view-source://x",
            "Cursorx://cb",
            "com.example.app:",
        ] {
            assert!(!may_be_registered(bad), "{bad}");
        }
    }

    #[test]
    fn only_the_port_of_a_loopback_address_may_differ() {
        assert!(matches("http://127.0.0.1/cb", "http://127.0.0.1:5000/cb"));
        assert!(matches("http://127.0.0.1:1/cb", "http://127.0.0.1:2/cb"));
        assert!(matches("http://[::1]/cb", "http://[::1]:2/cb"));
        assert!(matches("http://localhost/cb", "http://localhost:54545/cb"));
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
            ("http://localhost/cb", "http://localhost.evil.example:2/cb"),
            ("http://localhost/cb", "http://127.0.0.1:2/cb"),
        ] {
            assert!(!matches(registered, requested), "{requested}");
        }
    }

    #[test]
    fn a_consent_covers_every_port_of_its_loopback_address_only() {
        for (uri, address) in [
            ("http://127.0.0.1:7777/cb", "http://127.0.0.1/cb"),
            ("http://127.0.0.1/cb", "http://127.0.0.1/cb"),
            ("http://[::1]:1/cb?x=1", "http://[::1]/cb?x=1"),
            ("http://localhost:1", "http://localhost"),
            ("http://localhost.evil.example:1/cb", "http://localhost.evil.example:1/cb"),
            ("https://a.example:444/cb?tenant=1", "https://a.example:444/cb?tenant=1"),
            ("cursor://anysphere.cursor/oauth", "cursor://anysphere.cursor/oauth"),
        ] {
            assert_eq!(without_port(uri), address);
        }
    }
}
