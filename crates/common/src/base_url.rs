//! The public root of the service.

use std::{
    fmt::{self, Display},
    net::SocketAddr,
    str::FromStr,
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use url::Url;

use crate::urls::{is_loopback, is_secure};

/// Name of the session cookie.
pub const SESSION_COOKIE: &str = "sightline_session";

/// A public root of the service, without a slash at the end: an https URL, or an http one. It is cheap to clone.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BaseUrl(Arc<Inner>);

#[derive(PartialEq, Eq)]
struct Inner {
    /// The root in its normal form: the origin as browsers send it. Issuers and audiences are compared with it byte for byte.
    text: String,
    url: Url,
}

/// The error for a text that is not a [`BaseUrl`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an http or https URL without a user name, a password, a path, a query, a fragment and a slash at the end")]
pub struct InvalidBaseUrl;

impl BaseUrl {
    /// The root of a service that is reached at the address to which it is bound.
    ///
    /// # Panics
    /// Never: an address and its port are a part of every URL.
    #[must_use]
    pub fn of_address(address: SocketAddr) -> Self {
        #[expect(clippy::expect_used, reason = "an address and its port are a part of every URL")]
        format!("http://{address}").parse().expect("a URL")
    }

    /// The root, with its host in lower case and in ASCII, and without the port that its scheme means.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0.text
    }

    /// The root as a URL.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.0.url
    }

    /// The origin as browsers send it.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.0.text
    }

    /// Returns whether the service is reached over https.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.0.url.scheme() == "https"
    }

    /// Returns whether secrets may be sent to it: over https, or over http to this machine.
    #[must_use]
    pub fn is_secure(&self) -> bool {
        is_secure(&self.0.url)
    }

    /// Returns whether it points to this machine.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        is_loopback(&self.0.url)
    }

    /// The URL of `path`, which begins with a slash.
    #[must_use]
    pub fn join(&self, path: &str) -> String {
        format!("{self}{path}")
    }

    /// The name of a cookie for the whole service. On https it has the `__Host-` prefix, which browsers accept only from this very host,
    /// so no sibling subdomain can set one. It ends with the port, unless that is the scheme's own: cookies are shared by all ports of a
    /// host (RFC 6265 section 8.5), and two services on one host would sign each other's people out.
    #[must_use]
    pub fn host_cookie(&self, name: &str) -> String {
        let prefix = if self.is_https() { "__Host-" } else { "" };
        let port = self.0.url.port().map(|port| format!("-{port}")).unwrap_or_default();
        format!("{prefix}{name}{port}")
    }
}

impl FromStr for BaseUrl {
    type Err = InvalidBaseUrl;

    fn from_str(text: &str) -> Result<Self, InvalidBaseUrl> {
        let url = Url::parse(text).map_err(|_| InvalidBaseUrl)?;
        let is_root = matches!(url.scheme(), "http" | "https") && url.query().is_none() && url.fragment().is_none();
        let names_somebody = !url.username().is_empty() || url.password().is_some();
        if !is_root || !url.has_host() || names_somebody || text.ends_with('/') || url.path() != "/" {
            return Err(InvalidBaseUrl);
        }
        Ok(Self(Arc::new(Inner { text: url.origin().ascii_serialization(), url })))
    }
}

impl TryFrom<String> for BaseUrl {
    type Error = InvalidBaseUrl;

    fn try_from(text: String) -> Result<Self, InvalidBaseUrl> {
        text.parse()
    }
}

impl From<BaseUrl> for String {
    fn from(url: BaseUrl) -> Self {
        url.as_str().to_owned()
    }
}

impl Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_has_one_form() {
        for (text, root, https, secure, loopback) in [
            ("https://Search.Example.org:443", "https://search.example.org", true, true, false),
            ("https://bücher.example", "https://xn--bcher-kva.example", true, true, false),
            ("https://B\u{fc}cher.example:8443", "https://xn--bcher-kva.example:8443", true, true, false),
            ("HTTPS://xn--bcher-kva.example", "https://xn--bcher-kva.example", true, true, false),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080", false, true, true),
            ("http://[::1]:8080", "http://[::1]:8080", false, true, true),
            ("http://0.0.0.0:8080", "http://0.0.0.0:8080", false, false, false),
        ] {
            let base: BaseUrl = text.parse().unwrap();
            assert_eq!((base.as_str(), base.origin()), (root, root));
            assert_eq!((base.is_https(), base.is_secure(), base.is_loopback()), (https, secure, loopback), "{text}");
            assert_eq!(base.join("/docs"), format!("{root}/docs"));
        }
    }

    #[test]
    fn cookies_are_named_by_scheme_and_port() {
        for (base, cookie) in [
            ("https://a.example", "__Host-a"),
            ("https://a.example:443", "__Host-a"),
            ("https://a.example:8443", "__Host-a-8443"),
            ("http://a.example", "a"),
            ("http://a.example:80", "a"),
            ("http://127.0.0.1:8080", "a-8080"),
            ("http://[::1]:8081", "a-8081"),
        ] {
            assert_eq!(base.parse::<BaseUrl>().unwrap().host_cookie("a"), cookie, "{base}");
        }
    }

    #[test]
    fn other_texts_are_no_roots() {
        for text in [
            "",
            "nowhere",
            "//a.example",
            "ftp://a.example",
            "https://a.example/",
            "https://a.example/app",
            "https://a.example//",
            "https://a.example?b",
            "https://a.example#c",
            "https://user@a.example",
            "https://user:password@a.example",
            "https://:password@a.example",
        ] {
            assert_eq!(text.parse::<BaseUrl>(), Err(InvalidBaseUrl), "{text}");
        }
    }
}
