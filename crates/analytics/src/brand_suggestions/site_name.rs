//! The name of a site, from its address.
//!
//! The name is the label before the public suffix of the host: `northmoor` of `www.northmoor.co.uk`. The suffix is the last label, or
//! the last two where the first of them stands for a kind of registrant below a country. Below the domains of hosting services,
//! the customer's label is the name.

/// Labels below a country's domain that stand for a kind of registrant.
const SECOND_LEVEL: [&str; 12] = ["ac", "co", "com", "edu", "go", "gob", "gov", "ne", "net", "or", "org", "sch"];

/// Domains below which hosting services give their customers a name.
const HOSTS: [&str; 11] = [
    "blogspot.com",
    "github.io",
    "gitlab.io",
    "herokuapp.com",
    "myshopify.com",
    "netlify.app",
    "pages.dev",
    "vercel.app",
    "web.app",
    "wixsite.com",
    "wordpress.com",
];

/// The shortest name that identifies a site, in characters.
const SHORTEST: usize = 3;

/// Returns the host of a site as the search engine names it: `sc-domain:HOST`, or the URL of its root. A leading `www.` is left out.
#[must_use]
pub fn host(site_url: &str) -> &str {
    let host = site_url.strip_prefix("sc-domain:").or_else(|| site_url.split_once("://").map(|(_, rest)| rest));
    let host = host.unwrap_or(site_url).split(['/', ':']).next().unwrap_or_default();
    host.strip_prefix("www.").unwrap_or(host)
}

/// Returns the label that names the site. An address of numbers, a label that is encoded and one that is too short name nothing.
#[must_use]
pub fn site_name(site_url: &str) -> Option<&str> {
    let host = host(site_url);
    let is_below = |domain: &&str| host.strip_suffix(*domain).is_some_and(|rest| rest.ends_with('.'));
    let suffix =
        HOSTS.iter().find(|domain| is_below(domain)).map_or_else(|| public_suffix(host), |domain| domain.len());
    let label = host.get(..host.len().checked_sub(suffix + 1)?)?.rsplit('.').next()?;
    let names =
        label.chars().count() >= SHORTEST && label.chars().any(char::is_alphabetic) && !label.starts_with("xn--");
    names.then_some(label)
}

/// The length of the public suffix of a host.
fn public_suffix(host: &str) -> usize {
    let mut labels = host.rsplit('.');
    let last = labels.next().unwrap_or_default();
    let kind = labels.next().filter(|label| last.len() == 2 && SECOND_LEVEL.contains(label));
    // A country's domain may itself be named like a kind of registrant, so something must stand before it.
    let kind = kind.filter(|_| labels.next().is_some());
    last.len() + kind.map_or(0, |label| label.len() + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_label_before_the_suffix_is_the_name() {
        for (site, name) in [
            ("sc-domain:northmoor.example", Some("northmoor")),
            ("https://www.ledgerline.example/", Some("ledgerline")),
            ("https://legacy.northmoor.example/", Some("northmoor")),
            ("https://shop.oak-and-anvil.co.uk/de/", Some("oak-and-anvil")),
            ("sc-domain:co.uk", None),
            ("sc-domain:com.de", Some("com")),
            ("https://acme.github.io/", Some("acme")),
            ("https://github.io/", Some("github")),
            ("http://localhost:8080/", None),
            ("http://192.168.0.1/", None),
            ("sc-domain:x.com", None),
            ("sc-domain:xn--bcher-kva.example", None),
            ("", None),
        ] {
            assert_eq!(site_name(site), name, "{site}");
        }
    }

    proptest! {
        #[test]
        fn no_address_panics(site in "\\PC*") {
            let _ = site_name(&site);
        }
    }
}
