//! The domain of a property, as the providers are asked about it.

use serde::Serialize;
use url::Url;

/// A domain or host.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Target {
    /// The name, in lower case and ASCII.
    pub host: String,
    /// True if its subdomains are meant, too.
    pub subdomains: bool,
}

impl Target {
    /// The domain of `sc-domain:…`, or the host of a URL prefix. `None` if the site is none of the web.
    #[must_use]
    pub fn of_site(site_url: &str) -> Option<Self> {
        let (url, subdomains) = match site_url.strip_prefix("sc-domain:") {
            Some(domain) => (Url::parse(&format!("https://{domain}/")).ok()?, true),
            None => (Url::parse(site_url).ok()?, false),
        };
        let known = matches!(url.scheme(), "http" | "https");
        let host = url.domain().filter(|host| known && host.contains('.') && host.len() <= 253)?;
        Some(Self { host: host.trim_end_matches('.').to_owned(), subdomains })
    }

    /// The name without `www.`, as provider A wants it. Keeps domains, and hosts that would shrink to a public suffix such as
    /// `com` or `co.uk`.
    #[must_use]
    pub fn without_www(&self) -> &str {
        let rest = self.host.strip_prefix("www.").filter(|rest| !self.subdomains && may_be_registered(rest));
        rest.unwrap_or(&self.host)
    }
}

/// Returns whether somebody may have registered `name`. Two labels of at most three letters each may be a suffix under which others
/// register.
fn may_be_registered(name: &str) -> bool {
    let mut labels = name.split('.').map(str::len);
    match (labels.next(), labels.next(), labels.next()) {
        (Some(first), Some(last), None) => first > 3 || last > 3,
        (_, second, _) => second.is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_names_a_domain_or_a_host() {
        let cases = [
            ("sc-domain:northmoor.example", Some(("northmoor.example", true))),
            ("sc-domain:Bücher.example", Some(("xn--bcher-kva.example", true))),
            ("https://www.ledgerline.example/blog/", Some(("www.ledgerline.example", false))),
            ("http://tinyfern.test:8080/", Some(("tinyfern.test", false))),
            ("android-app://com.example.app/", None),
            ("https://127.0.0.1/", None),
            ("https://localhost/", None),
            ("nothing", None),
        ];
        for (site, target) in cases {
            let target = target.map(|(host, subdomains)| Target { host: host.to_owned(), subdomains });
            assert_eq!(Target::of_site(site), target, "{site}");
        }
    }

    #[test]
    fn www_is_left_out_of_a_host_and_never_of_a_domain() {
        for (site, asked) in [
            ("https://www.a.example/", "a.example"),
            ("https://www.shop.co.uk/x/", "shop.co.uk"),
            ("https://www.name.com/", "name.com"),
            ("https://www.bit.ly/", "www.bit.ly"),
            ("https://a.example/", "a.example"),
            ("sc-domain:www.foo.example", "www.foo.example"),
            ("https://www.com/", "www.com"),
            ("https://www.co.uk/x/", "www.co.uk"),
            ("https://wwwa.example/", "wwwa.example"),
        ] {
            assert_eq!(Target::of_site(site).unwrap().without_www(), asked, "{site}");
        }
    }
}
