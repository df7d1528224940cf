//! Names of sites: of the properties of a search engine, which names them `sc-domain:HOST` or by a URL prefix.

use std::{collections::HashSet, fmt};

use super::{
    Address,
    escapes::{escaped, readable},
    hosts,
};

/// The prefix of the search engine's identifier of a whole domain.
const DOMAIN: &str = "sc-domain:";

/// The name of a site in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteName {
    /// The name, or the address if another site has the same name and `kind`.
    pub name: String,
    /// The kind, if another site has the same name.
    pub kind: Option<Kind>,
}

/// The kind of a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Every host of a domain, under both schemes.
    WholeDomain,
    /// A URL prefix without encryption.
    Http,
}

impl Kind {
    fn of(site_url: &str) -> Option<Self> {
        if site_url.starts_with(DOMAIN) {
            return Some(Self::WholeDomain);
        }
        Address::of(site_url).scheme.eq_ignore_ascii_case("http").then_some(Self::Http)
    }

    /// The kind in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::WholeDomain => "whole domain",
            Self::Http => "http",
        }
    }
}

impl fmt::Display for SiteName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.kind.map_or(Ok(()), |kind| write!(f, " ({})", kind.words()))
    }
}

/// Returns the name of a site alone: its host, its port, and its path if it has one.
#[must_use]
pub fn name(site_url: &str) -> String {
    let Address { scheme, host, port, rest } = parts(site_url);
    let name = hosts::shown(host) + port + &readable(rest.trim_end_matches('/'));
    match scheme.to_ascii_lowercase().as_str() {
        _ if name.is_empty() => escaped(site_url).collect(),
        "" | "http" | "https" => name,
        scheme => format!("{scheme}://{name}"),
    }
}

/// Returns the names of the sites of a list, in its order. What differs is shown where sites have one name.
#[must_use]
pub fn among(sites: &[&str]) -> Vec<SiteName> {
    let own: Vec<SiteName> = sites.iter().map(|site| SiteName { name: name(site), kind: None }).collect();
    let with_kinds = marked(sites, &own, |site, own| SiteName { kind: Kind::of(site), ..own.clone() });
    marked(sites, &with_kinds, |site, _| SiteName { name: address(site), kind: None })
}

/// The name of a site among others, of which it may be one.
#[must_use]
pub fn name_among(site_url: &str, others: &[&str]) -> SiteName {
    let all: Vec<&str> = [site_url].iter().chain(others).copied().collect();
    among(&all).swap_remove(0)
}

/// The names, with those replaced that several sites have.
fn marked(sites: &[&str], names: &[SiteName], other: impl Fn(&str, &SiteName) -> SiteName) -> Vec<SiteName> {
    let mut once = HashSet::new();
    let mut several = HashSet::new();
    let differing: HashSet<(&str, String)> = sites.iter().copied().zip(names.iter().map(ToString::to_string)).collect();
    for (_, name) in differing {
        if !once.insert(name.clone()) {
            several.insert(name);
        }
    }
    let marked = |(site, name): (&&str, &SiteName)| {
        if several.contains(&name.to_string()) { other(site, name) } else { name.clone() }
    };
    sites.iter().zip(names).map(marked).collect()
}

/// Returns the search engine's identifier of a site without credentials, and with nothing decoded.
#[must_use]
pub fn address(site_url: &str) -> String {
    let Address { scheme, host, port, rest } = parts(site_url);
    let start = match scheme {
        _ if site_url.starts_with(DOMAIN) => DOMAIN.to_owned(),
        "" => String::new(),
        scheme => format!("{scheme}://"),
    };
    format!("{start}{}{port}{}", hosts::ascii(host), escaped(rest).collect::<String>())
}

/// Returns the form of a name, or of a search engine's identifier, by which sites are of one name: a host in Unicode or in ASCII, in
/// capitals or not, is one host.
#[must_use]
pub fn key(text: &str) -> String {
    let Address { host, port, rest, .. } = parts(text.trim());
    hosts::ascii(host) + port + &readable(rest.trim_end_matches('/')).to_lowercase()
}

/// Returns whether a person who searches for `text` means the site among others: it is a part of the site's name, in Unicode or in ASCII.
#[must_use]
pub fn is_found_by(site_url: &str, text: &str) -> bool {
    let text = text.trim();
    let Address { host, port, rest, .. } = parts(site_url);
    let rest = rest.trim_end_matches('/');
    let names = [hosts::unicode(host), hosts::ascii(host)].map(|host| host + port);
    let names = names.map(|place| [readable(rest), rest.to_owned()].map(|rest| (place.clone() + &rest).to_lowercase()));
    let without_scheme = text.split_once("://").map_or(text, |(_, rest)| rest);
    let plain = without_scheme.strip_prefix(DOMAIN).unwrap_or(without_scheme).trim_end_matches('/');
    let wanted = [plain.to_lowercase(), readable(plain).to_lowercase(), hosts::unicode(plain)];
    names.iter().flatten().any(|name| wanted.iter().any(|wanted| name.contains(wanted.as_str())))
}

/// Returns the name of a site, or of its address, in ASCII: host, port and path.
#[must_use]
pub fn in_ascii(site: &str) -> String {
    let Address { host, port, rest, .. } = parts(site);
    let place = hosts::ascii(host) + port + rest.trim_end_matches('/');
    escaped(&place).collect()
}

fn parts(site_url: &str) -> Address<'_> {
    Address::of(site_url.strip_prefix(DOMAIN).unwrap_or(site_url))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_called_by_its_host_port_and_path() {
        for (site, shown) in [
            ("sc-domain:shop.example", "shop.example"),
            ("https://www.shop.example/", "www.shop.example"),
            ("http://shop.example/blog/", "shop.example/blog"),
            ("https://shop.example:8443/", "shop.example:8443"),
            ("https://ann:secret@shop.example/", "shop.example"),
            ("https://secret@xn--bcher-kva.example:81/l%C3%A4den/", "bücher.example:81/läden"),
            ("sc-domain:xn--4dbrk0ce.example", "ישראל.example"),
            ("https://xn--mgbh0fb.xn--kgbechtv/%D9%85%D8%AB%D8%A7%D9%84/", "مثال.إختبار/مثال"),
            ("sc-domain:xn--fiqs8s.example", "中国.example"),
            ("https://xn--i-7iq.example/%F0%9F%91%9F/", "xn--i-7iq.example/👟"),
            ("sc-domain:xn--pple-43d.example", "xn--pple-43d.example"),
            ("https://shop.example/%E2%80%AEgnp/", "shop.example/%E2%80%AEgnp"),
            ("https://shop.example/\u{202e}gnp/", "shop.example/%E2%80%AEgnp"),
            ("android-app://ann:secret@com.shop.example/", "android-app://com.shop.example"),
            ("https:///", "https:///"),
            ("a\u{7f} b", "a%7F%20b"),
        ] {
            assert_eq!(name(site), shown, "{site}");
        }
    }

    fn shown<const N: usize>(sites: [&str; N]) -> Vec<String> {
        among(&sites).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn sites_of_one_name_are_told_apart_where_they_meet() {
        assert_eq!(
            shown([
                "http://shop.example/",
                "https://shop.example/",
                "https://shop.example/blog/",
                "sc-domain:shop.example",
                "sc-domain:other.example",
                "http://alone.example/",
            ]),
            [
                "shop.example (http)",
                "shop.example",
                "shop.example/blog",
                "shop.example (whole domain)",
                "other.example",
                "alone.example",
            ]
        );
        assert_eq!(
            shown(["sc-domain:shop.example", "sc-domain:shop.example"]),
            ["shop.example", "shop.example"],
            "one site twice"
        );
        assert_eq!(
            shown(["https://shop.example/%d7%a9/", "https://shop.example/%D7%A9/", "http://shop.example/%D7%A9/"]),
            ["https://shop.example/%d7%a9/", "https://shop.example/%D7%A9/", "shop.example/ש (http)"],
            "names that only the address tells apart"
        );
        let others = ["https://shop.example/", "http://shop.example/"];
        assert_eq!(name_among("http://shop.example/", &others).to_string(), "shop.example (http)");
        assert_eq!(name_among("http://shop.example/", &[]).to_string(), "shop.example");
    }

    #[test]
    fn a_name_is_one_in_unicode_and_in_ascii() {
        let site = "https://xn--bcher-kva.example/";
        for text in [
            "bücher.example",
            "BÜCHER.example/",
            "xn--bcher-kva.example",
            "https://Bücher.example",
            "sc-domain:bücher.example",
        ] {
            assert_eq!(key(text), key(site), "{text}");
        }
        assert_ne!(key("bücher.example/laden"), key(site));
    }

    #[test]
    fn a_search_finds_both_forms_of_a_name() {
        for (site, texts) in [
            (
                "https://xn--bcher-kva.example/%D7%A9/",
                ["büch", "BÜCHER.EX", "xn--bch", "https://bücher.example/ש/", "%D7%A9", "bu\u{308}cher"],
            ),
            (
                "sc-domain:bücher.example",
                ["bücher", "xn--bcher", "sc-domain:bücher.example", " example ", "", "B\u{dc}CHER"],
            ),
            (
                "sc-domain:xn--pple-43d.example",
                ["xn--pple", "\u{430}pple", "example", "pple-43d", "PPLE", "http://xn--pple-43d.example/"],
            ),
        ] {
            for text in texts {
                assert!(is_found_by(site, text), "{site} by {text}");
            }
            assert!(!is_found_by(site, "bacher") && !is_found_by(site, "laden"), "{site}");
        }
    }

    #[test]
    fn a_name_has_a_form_in_ascii() {
        for (site, named) in [
            ("sc-domain:xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("bücher.example:81/läden", "xn--bcher-kva.example:81/l%C3%A4den"),
            ("http://ann:secret@shop.example/", "shop.example"),
            ("https:///", ""),
        ] {
            assert_eq!(in_ascii(site), named);
        }
    }
}
