//! The part of a domain that a question about links names.

use super::{Link, bare};

/// The links that a target covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::providers) enum Scope {
    /// One page.
    Exact,
    /// All pages whose address begins so.
    Prefix,
    /// One domain, with and without `www.`.
    Domain,
    /// A domain with all its subdomains.
    Subdomains,
}

/// A domain or page that is asked about.
#[derive(Debug, Clone)]
pub(in crate::providers) struct Target {
    /// The host, lower case.
    pub host: String,
    /// The host and path, without the scheme and without a slash at the end.
    pub address: String,
    pub scope: Scope,
}

/// Without a scheme, a query or a slash at the end.
fn plain(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/')
}

impl Target {
    /// Parses a domain, a path below one, or a URL.
    pub fn parse(text: &str, scope: Scope) -> Option<Self> {
        let address = plain(text.trim());
        let host = address.split('/').next().unwrap_or_default().to_lowercase();
        let label = |label: &str| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-');
        let named = host.contains('.') && host.split('.').all(label);
        named.then(|| Self {
            address: address.replacen(address.split('/').next().unwrap_or_default(), &host, 1),
            host,
            scope,
        })
    }

    /// The domain whose links are looked up: the last two labels of the host.
    pub fn domain(&self) -> String {
        let labels: Vec<&str> = bare(&self.host).split('.').collect();
        labels[labels.len().saturating_sub(2)..].join(".")
    }

    /// Returns whether a link points into the target.
    pub fn covers(&self, link: &Link) -> bool {
        self.covers_page(&link.url_to)
    }

    /// Returns whether a page lies in the target.
    pub fn covers_page(&self, url: &str) -> bool {
        let page = plain(url);
        let host_to = page.split('/').next().unwrap_or_default();
        match self.scope {
            Scope::Exact => page == self.address,
            Scope::Prefix => bare(page).starts_with(bare(&self.address)),
            Scope::Domain => bare(host_to) == bare(&self.host),
            Scope::Subdomains => {
                let (to, host) = (bare(host_to), bare(&self.host));
                to == host || to.strip_suffix(host).is_some_and(|rest| rest.ends_with('.'))
            }
        }
    }
}
