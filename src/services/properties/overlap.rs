//! Properties that cover one another: the search engine counts the same pages for each of them.

use std::collections::HashMap;

/// The prefix of the search engine's identifier of a whole domain.
const DOMAIN: &str = "sc-domain:";

/// For each identifier, returns the index of the widest one that covers it, or `None` if no other does. A domain covers its hosts and
/// subdomains under every scheme. A URL prefix covers longer ones. Of equal identifiers the first covers the others.
#[must_use]
pub fn covered_by(sites: &[&str]) -> Vec<Option<usize>> {
    let mut first = HashMap::new();
    for (at, site) in sites.iter().enumerate() {
        first.entry(key(site)).or_insert(at);
    }
    let widest = |site: &str| covering(site).into_iter().find_map(|wide| first.get(&wide).copied());
    sites.iter().enumerate().map(|(at, site)| widest(site).filter(|by| *by != at)).collect()
}

/// The identifier under which equal ones are found. Domains ignore case.
fn key(site: &str) -> String {
    if site.starts_with(DOMAIN) { site.to_ascii_lowercase() } else { site.to_owned() }
}

/// Every identifier that would cover `site`, the widest first and its own last.
fn covering(site: &str) -> Vec<String> {
    let domain = site.strip_prefix(DOMAIN).or_else(|| host(site)).unwrap_or_default().to_ascii_lowercase();
    let below = domain.rmatch_indices('.').map(|(dot, _)| &domain[dot + 1..]);
    let domains = below.chain([domain.as_str()]).map(|domain| format!("{DOMAIN}{domain}"));
    if site.starts_with(DOMAIN) {
        return domains.collect();
    }
    let ends = site.char_indices().map(|(at, _)| at).chain([site.len()]);
    domains.chain(ends.map(|end| site[..end].to_owned())).collect()
}

/// The host of a URL prefix, without its port.
fn host(site: &str) -> Option<&str> {
    let (_, rest) = site.split_once("://")?;
    let authority = rest.split('/').next()?;
    Some(authority.rsplit_once(':').map_or(authority, |(host, _)| host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_covers_its_hosts_and_a_prefix_longer_ones() {
        for (wide, narrow, expected) in [
            ("sc-domain:a.test", "https://www.a.test/", true),
            ("sc-domain:a.test", "http://a.test/shop/", true),
            ("sc-domain:a.test", "https://A.test:8443/", true),
            ("sc-domain:a.test", "sc-domain:shop.a.test", true),
            ("sc-domain:a.test", "sc-domain:A.test", true),
            ("sc-domain:a.test", "https://aa.test/", false),
            ("sc-domain:www.a.test", "sc-domain:a.test", false),
            ("https://a.test/", "https://a.test/shop/", true),
            ("https://a.test/", "https://a.test/", true),
            ("https://a.test/", "http://a.test/shop/", false),
            ("https://a.test/", "https://www.a.test/", false),
            ("https://a.test/", "sc-domain:a.test", false),
        ] {
            assert_eq!(covered_by(&[wide, narrow])[1], expected.then_some(0), "{wide} {narrow}");
        }
    }

    #[test]
    fn the_widest_covers_all_others_and_of_equal_ones_the_first_counts() {
        let sites = [
            "https://www.a.test/shop/",
            "https://www.a.test/",
            "sc-domain:a.test",
            "sc-domain:b.test",
            "sc-domain:a.test",
            "https://c.test/",
        ];
        assert_eq!(covered_by(&sites), [Some(2), Some(2), None, None, Some(2), None]);
        assert_eq!(covered_by(&[]), []);
    }
}
