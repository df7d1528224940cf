//! A client id that is the address of the client's metadata document.

use common::urls::is_loopback;
use url::Url;

use super::{Unreadable, reach::Reach};

/// Tokens carry the id, and their readers take at most this many bytes.
const MAX_BYTES: usize = 255;

/// The address of a document that may be fetched.
#[derive(Debug, Clone)]
pub(super) struct Identifier(Url);

impl Identifier {
    /// Reads a client id. It is https (or http on loopback, within `reach`), has a path, and has no user, fragment or dot
    /// segments. It must be spelled as URL libraries spell it, so that one client has one id, and the host that people are
    /// shown is the host that is asked.
    pub fn parse(id: &str, reach: Reach) -> Result<Self, Unreadable> {
        let url = Url::parse(id).ok().filter(|url| id.len() <= MAX_BYTES && url.as_str() == id);
        let url = url.ok_or(Unreadable(
            "The client_id is not an address in its usual form: lower-case host, no standard port, no dot segments, at most 255 bytes.",
        ))?;
        let is_plain = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
        let has_path = url.path() != "/";
        let scheme = match url.scheme() {
            "https" => true,
            "http" => reach == Reach::InternetAndLoopback && is_loopback(&url),
            _ => false,
        };
        if !(is_plain && has_path && scheme) {
            return Err(Unreadable("The client_id must be an https address with a path, without user and fragment."));
        }
        if !reach.may_include(&url) {
            return Err(Unreadable("The client_id is an address that is not on the public internet."));
        }
        Ok(Self(url))
    }

    /// The address.
    pub fn url(&self) -> &Url {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_public_https_addresses_with_a_path() {
        for good in [
            "https://app.example/client.json",
            "https://app.example:8443/oauth/client",
            "https://app.example/c?v=1",
            "https://xn--bcher-kva.example/c",
            "https://9.9.9.9/c",
        ] {
            assert!(Identifier::parse(good, Reach::Internet).is_ok(), "{good}");
        }
        let long = format!("https://app.example/{}", "x".repeat(240));
        for bad in [
            "https://app.example",
            "https://app.example/",
            "http://app.example/c",
            "https://user@app.example/c",
            "https://user:pass@app.example/c",
            "https://@app.example/c",
            "https://app.example/c#top",
            "https://app.example/c#",
            "https://app.example/a/../c",
            "https://app.example/./c",
            "https://app.example/a/%2e%2e/c",
            "https://App.example/c",
            "HTTPS://app.example/c",
            "https://app.example:443/c",
            "https://app.example\\@evil.example/c",
            "https:/app.example/c",
            "https:app.example/c",
            "https://app.example/c ",
            "https://app.example/c\n",
            "https://bücher.example/c",
            "https://127.0.0.1/c",
            "https://127.1/c",
            "https://2130706433/c",
            "https://0x7f.0.0.1/c",
            "https://169.254.169.254/latest/meta-data",
            "https://[::1]/c",
            "https://[::ffff:7f00:1]/c",
            "https://[fd00::1]/c",
            "http://127.0.0.1/c",
            "file:///etc/passwd",
            "ftp://app.example/c",
            "https:///c",
            &long,
        ] {
            assert!(Identifier::parse(bad, Reach::Internet).is_err(), "{bad}");
        }
    }

    #[test]
    fn plain_http_is_for_this_machine_beside_a_service_on_loopback() {
        for (id, good) in [
            ("http://127.0.0.1:7000/c", true),
            ("http://localhost:7000/c", true),
            ("http://[::1]:7000/c", true),
            ("https://127.0.0.1:7000/c", true),
            ("http://app.example/c", false),
            ("http://10.0.0.1/c", false),
            ("https://10.0.0.1/c", false),
            ("http://127.0.0.1:7000/", false),
        ] {
            assert_eq!(Identifier::parse(id, Reach::InternetAndLoopback).is_ok(), good, "{id}");
        }
    }
}
