//! Names of sites: of the properties of a search engine, which names them `sc-domain:HOST` or by a URL prefix.

use std::{
    collections::{HashMap, HashSet},
    fmt,
};

use unicode_normalization::{UnicodeNormalization as _, is_nfc};

use super::{
    Address,
    escapes::{escaped, readable, visible},
    hosts,
};

/// The prefix of the search engine's identifier of a whole domain.
const DOMAIN: &str = "sc-domain:";

/// The name of a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteName {
    /// The name, or the address if another site of the list has the same name and kind.
    pub name: String,
    /// The kind. `None` if the name is enough, or if it is the address.
    pub kind: Option<Kind>,
}

/// The kind of a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Every host of a domain, under both schemes.
    WholeDomain,
    /// A URL prefix without encryption.
    Http,
    /// A URL prefix with encryption.
    Https,
}

impl Kind {
    const ALL: [Self; 3] = [Self::WholeDomain, Self::Http, Self::Https];

    /// The kind of a site. `None` if it is neither a domain nor a part of the web.
    #[must_use]
    pub fn of(site_url: &str) -> Option<Self> {
        if site_url.starts_with(DOMAIN) {
            return Some(Self::WholeDomain);
        }
        let scheme = Address::of(site_url).scheme;
        [Self::Http, Self::Https].into_iter().find(|kind| scheme.eq_ignore_ascii_case(kind.words()))
    }

    /// The kind in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::WholeDomain => "whole domain",
            Self::Http => "http",
            Self::Https => "https",
        }
    }
}

impl SiteName {
    /// The name of a site with its kind.
    fn with_kind(site_url: &str) -> Self {
        Self { name: name(site_url), kind: Kind::of(site_url) }
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
    let Address { scheme, host, port, rest, .. } = parts(site_url);
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
    by_address(sites, &marked(sites, &own, SiteName::with_kind))
}

/// Returns the names of the sites of a list, in its order, each with its kind.
#[must_use]
pub fn with_kinds(sites: &[&str]) -> Vec<SiteName> {
    let own: Vec<SiteName> = sites.iter().map(|site| SiteName::with_kind(site)).collect();
    by_address(sites, &own)
}

/// The names. Instead of each that several sites have, there is the address, or else the address as it was found, or else that with a number.
fn by_address(sites: &[&str], names: &[SiteName]) -> Vec<SiteName> {
    let whole = |name: String| SiteName { name, kind: None };
    let by_address = marked(sites, names, |site| whole(address(site)));
    numbered(sites, marked(sites, &by_address, |site| whole(as_found(site))))
}

/// The names, with a number after each that several sites have, which differ in a password only. One site that is listed twice has one name.
fn numbered(sites: &[&str], mut names: Vec<SiteName>) -> Vec<SiteName> {
    let mut same: HashMap<String, Vec<&str>> = HashMap::new();
    for (site, name) in sites.iter().zip(&names) {
        let same = same.entry(name.to_string()).or_default();
        if !same.contains(site) {
            same.push(site);
        }
    }
    for (site, name) in sites.iter().zip(&mut names) {
        let same = same.get(&name.to_string()).map(Vec::as_slice).unwrap_or_default();
        if let (Some(place), true) = (same.iter().position(|one| one == site), same.len() > 1) {
            name.name = format!("{} ({})", name.name, place + 1);
        }
    }
    names
}

/// Returns the addresses of the sites of a list, in its order. What differs is shown where sites have one address.
#[must_use]
pub fn addresses(sites: &[&str]) -> Vec<String> {
    let own: Vec<SiteName> = sites.iter().map(|site| SiteName { name: address(site), kind: None }).collect();
    by_address(sites, &own).iter().map(ToString::to_string).collect()
}

/// The name of a site among others, of which it may be one.
#[must_use]
pub fn name_among(site_url: &str, others: &[&str]) -> SiteName {
    let all: Vec<&str> = [site_url].iter().chain(others).copied().collect();
    among(&all).swap_remove(0)
}

/// The names, with those replaced that several sites have. Names that differ in the form of their letters only look the same.
fn marked(sites: &[&str], names: &[SiteName], other: impl Fn(&str) -> SiteName) -> Vec<SiteName> {
    let looks: Vec<String> = names.iter().map(|name| name.to_string().nfc().collect()).collect();
    let mut once = HashSet::new();
    let mut several = HashSet::new();
    let differing: HashSet<(&str, &str)> = sites.iter().copied().zip(looks.iter().map(String::as_str)).collect();
    for (_, look) in differing {
        if !once.insert(look) {
            several.insert(look);
        }
    }
    let marked = |(index, site): (usize, &&str)| {
        if several.contains(looks[index].as_str()) { other(site) } else { names[index].clone() }
    };
    sites.iter().enumerate().map(marked).collect()
}

/// Returns the search engine's identifier of a site without credentials, and with nothing decoded.
#[must_use]
pub fn address(site_url: &str) -> String {
    let Address { scheme, host, port, rest, .. } = parts(site_url);
    let start = match scheme {
        _ if site_url.starts_with(DOMAIN) => DOMAIN.to_owned(),
        "" => String::new(),
        scheme => format!("{scheme}://"),
    };
    format!("{start}{}{port}{}", hosts::ascii(host), escaped(rest).collect::<String>())
}

/// The search engine's identifier of a site as it was found: with its user, its capitals and its marks, but without the password.
fn as_found(site_url: &str) -> String {
    let user = parts(site_url).user;
    let shown = match user.split_once(':') {
        Some((name, _)) => site_url.replacen(&format!("{user}@"), &format!("{name}:…@"), 1),
        None => site_url.to_owned(),
    };
    if is_nfc(&shown) { visible(&shown) } else { escaped(&shown).collect() }
}

/// Returns the form of a name, or of a search engine's identifier, by which sites are of one name: a host in Unicode or in ASCII, in
/// capitals or not, is one host.
#[must_use]
pub fn key(text: &str) -> String {
    let Address { host, port, rest, .. } = parts(text.trim());
    (hosts::ascii(host) + port + &readable(rest.trim_end_matches('/'))).to_lowercase()
}

/// Returns whether `text` is exactly what is shown of the site, whose name in its list is `name`, or is its identifier.
#[must_use]
pub fn is_shown_as(site_url: &str, name: &SiteName, text: &str) -> bool {
    text == site_url || text == name.to_string()
}

/// Returns whether `text` names the site, in Unicode or in ASCII, with its kind or without one.
#[must_use]
pub fn is_named(site_url: &str, text: &str) -> bool {
    let (name, kind) = without_kind(text);
    key(name) == key(site_url) && is_of(site_url, kind)
}

/// Returns whether a search for `text` finds the site: it is a part of the site's name, in Unicode or in ASCII. A kind after it must be the
/// site's.
#[must_use]
pub fn is_found_by(site_url: &str, text: &str) -> bool {
    let (text, kind) = without_kind(text);
    if !is_of(site_url, kind) {
        return false;
    }
    let Address { host, port, rest, .. } = parts(site_url);
    let rest = rest.trim_end_matches('/');
    let names = [hosts::unicode(host), hosts::ascii(host)].map(|host| host + port);
    let names = names.map(|place| [readable(rest), rest.to_owned()].map(|rest| (place.clone() + &rest).to_lowercase()));
    let wanted = parts(text);
    let plain = [wanted.host, wanted.port, wanted.rest].concat();
    let plain = plain.trim_end_matches('/');
    let wanted = [plain.to_lowercase(), readable(plain).to_lowercase(), hosts::unicode(plain)];
    names.iter().flatten().any(|name| wanted.iter().any(|wanted| name.contains(wanted.as_str())))
}

/// Splits the kind from the end of a name that has one.
fn without_kind(text: &str) -> (&str, Option<Kind>) {
    let text = text.trim();
    let split = |kind: Kind| Some((text.strip_suffix(&format!(" ({})", kind.words()))?, Some(kind)));
    Kind::ALL.into_iter().find_map(split).unwrap_or((text, None))
}

fn is_of(site_url: &str, kind: Option<Kind>) -> bool {
    kind.is_none() || kind == Kind::of(site_url)
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
mod tests;
