//! One link, and one domain that links.

use chrono::{Days, NaiveDate};

use super::host_of;
use crate::world::Site;
use crate::world::rng::{child, count, index, named, normal, unit};

/// The way a page links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::providers) enum Kind {
    Anchor,
    Image,
    Redirect,
    Canonical,
    Alternate,
}

impl Kind {
    /// The name that provider A has for it. Provider B calls an anchor a text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anchor => "anchor",
            Self::Image => "image",
            Self::Redirect => "redirect",
            Self::Canonical => "canonical",
            Self::Alternate => "alternate",
        }
    }
}

/// A domain that links.
#[derive(Debug)]
pub(in crate::providers) struct Referrer {
    pub name: String,
    pub key: u64,
    /// 0 to 100.
    pub strength: f64,
    /// 0 to 100.
    pub spam: u32,
    /// An index of `COUNTRIES`.
    pub country: usize,
    pub platform: &'static str,
    /// Visitors from search in a month.
    pub traffic: u32,
    pub ip: String,
}

impl Referrer {
    pub(super) fn new(seed: u64, name: String) -> Self {
        const PLATFORMS: [&str; 6] = ["blogs", "news", "cms", "message-boards", "organization", "unknown"];
        // Addresses reserved for documentation.
        const BLOCKS: [&str; 3] = ["192.0.2", "198.51.100", "203.0.113"];
        let key = named(child(seed, 0xD0A1), &name);
        let strength = (28.0 + 17.0 * normal(child(key, 1))).clamp(0.0, 94.0);
        let byte = |axis| count(unit(child(key, axis)) * 253.0) + 1;
        Self {
            strength,
            spam: count(70.0 * unit(child(key, 2)).powi(3)),
            country: index(unit(child(key, 3)), crate::world::axes::COUNTRIES.len() - 1),
            platform: PLATFORMS[index(unit(child(key, 4)), PLATFORMS.len())],
            traffic: count((strength * 0.13).exp() * (0.4 + unit(child(key, 5))) - 1.0),
            ip: format!("{}.{}", BLOCKS[index(unit(child(key, 7)), BLOCKS.len())], byte(6)),
            name,
            key,
        }
    }
}

/// One link.
#[derive(Debug, Clone)]
pub(in crate::providers) struct Link {
    /// An index of the profile's referrers.
    pub referrer: usize,
    pub key: u64,
    pub url_from: String,
    pub url_to: String,
    pub host_to: String,
    pub title: String,
    /// Empty for a link without text.
    pub anchor: String,
    pub kind: Kind,
    pub dofollow: bool,
    /// Values of the `rel` attribute.
    pub rel: Vec<&'static str>,
    /// The strength of the page that links, 0 to 100.
    pub strength: f64,
    pub found: NaiveDate,
    pub lost: Option<NaiveDate>,
    /// The last day on which it was seen.
    pub seen: NaiveDate,
    /// Links from the page to other domains.
    pub external: u32,
}

impl Link {
    /// Returns whether it is there on `day`.
    pub fn lives_on(&self, day: NaiveDate) -> bool {
        self.found <= day && self.lost.is_none_or(|lost| lost > day)
    }

    /// Returns whether it was found in the 30 days up to `day`.
    pub fn is_new_on(&self, day: NaiveDate) -> bool {
        (0..30).contains(&(day - self.found).num_days())
    }
}

/// The first day on which a link can be found, and the number of days after it.
const FIRST: (i32, u32) = (2016, 20 * 365);

/// The links of one referring domain, as found up to `today`.
pub(super) fn drawn(key: u64, referrer: &Referrer, domain: &str, sites: &[&Site], today: NaiveDate) -> Vec<Link> {
    let several = unit(child(key, 1));
    let number = if several < 0.55 { 1 } else { 1 + count(9.0 * (several - 0.55).powi(2) / 0.2) };
    (0..u64::from(number)).filter_map(|n| draw(child(key, 50 + n), referrer, domain, sites, today)).collect()
}

fn draw(key: u64, referrer: &Referrer, domain: &str, sites: &[&Site], today: NaiveDate) -> Option<Link> {
    let start = NaiveDate::from_ymd_opt(FIRST.0, 1, 1)?;
    let after = |day: NaiveDate, days: u32| day.checked_add_days(Days::new(days.into()));
    let found = after(start, count(unit(child(key, 1)) * f64::from(FIRST.1)))?;
    if found > today {
        return None;
    }
    let life = count(-15.0 * 365.0 * unit(child(key, 2)).max(1e-6).ln()).max(1);
    let lost = after(found, life).filter(|lost| *lost <= today);
    let visited = today.checked_sub_days(Days::new(u64::from(count(unit(child(key, 3)) * 20.0))))?;
    let kind = match unit(child(key, 4)) {
        u if u < 0.80 => Kind::Anchor,
        u if u < 0.93 => Kind::Image,
        u if u < 0.97 => Kind::Redirect,
        u if u < 0.99 => Kind::Canonical,
        _ => Kind::Alternate,
    };
    let rel = rel(key, kind);
    let (url_to, host_to, subject) = destination(key, domain, sites);
    let number = count(unit(child(key, 5)) * 9_000.0);
    Some(Link {
        referrer: 0,
        key,
        url_from: format!("https://{}/{}/{}-{number}", referrer.name, section(key), subject.replace(' ', "-")),
        title: format!("{subject}: {} no. {number}", section(key)),
        anchor: if kind == Kind::Anchor { anchor(key, domain, sites, &subject, &url_to) } else { String::new() },
        url_to,
        host_to,
        kind,
        dofollow: rel.is_empty(),
        rel,
        strength: (referrer.strength * 0.6 * unit(child(key, 6))).min(100.0),
        found,
        lost,
        seen: lost.unwrap_or_else(|| visited.max(found)),
        external: 1 + count(60.0 * unit(child(key, 7)).powi(2)),
    })
}

fn rel(key: u64, kind: Kind) -> Vec<&'static str> {
    match unit(child(key, 8)) {
        _ if !matches!(kind, Kind::Anchor | Kind::Image) => Vec::new(),
        u if u < 0.74 => Vec::new(),
        u if u < 0.92 => vec!["nofollow"],
        u if u < 0.98 => vec!["ugc", "nofollow"],
        _ => vec!["sponsored", "nofollow"],
    }
}

fn section(key: u64) -> &'static str {
    const SECTIONS: [&str; 5] = ["articles", "links", "reviews", "news", "forum"];
    SECTIONS[index(unit(child(key, 9)), SECTIONS.len())]
}

/// The URL that a link points to, its host, and what the page is about.
fn destination(key: u64, domain: &str, sites: &[&Site]) -> (String, String, String) {
    // The first site of a domain is its main one.
    let place = if unit(child(key, 10)) < 0.97 { 0 } else { sites.len().saturating_sub(1) };
    let Some(site) = sites.get(place) else {
        return (format!("https://{domain}/"), domain.to_owned(), "company".to_owned());
    };
    let subjects = site.blueprint.vocabulary.subjects;
    let page = if unit(child(key, 11)) < 0.35 { 0 } else { index(unit(child(key, 12)).powf(2.2), site.pages().len()) };
    let subject = subjects[page % subjects.len()].to_owned();
    (site.pages()[page].url.clone(), host_of(site).to_owned(), subject)
}

fn anchor(key: u64, domain: &str, sites: &[&Site], subject: &str, url: &str) -> String {
    let brand = sites.first().and_then(|site| site.brand_terms().first()).map_or(domain, String::as_str);
    match unit(child(key, 13)) {
        u if u < 0.40 => brand.to_owned(),
        u if u < 0.60 => domain.to_owned(),
        u if u < 0.80 => subject.to_owned(),
        u if u < 0.90 => "website".to_owned(),
        _ => url.to_owned(),
    }
}
