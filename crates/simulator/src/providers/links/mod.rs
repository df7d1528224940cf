//! The links between sites: what the providers know about a domain. A pure function of the seed, the domain and the day.
//!
//! Every link is found on some day and may be lost on a later one, so the counts of one day follow from the counts of the day
//! before. Domains of the simulated sites have links in proportion to their impressions. Other domains have none or few.

mod link;
mod names;
mod target;

use chrono::NaiveDate;

pub(super) use link::{Kind, Link, Referrer};
pub(super) use target::{Scope, Target};

use crate::world::rng::{child, count, index, named, unit};
use crate::world::{Site, World};

/// Every link that was ever found to a domain, up to one day.
#[derive(Debug)]
pub(super) struct Profile {
    /// The domain without `www.`.
    pub domain: String,
    /// Domains that have linked at least once.
    pub referrers: Vec<Referrer>,
    /// All links, in no particular order.
    pub links: Vec<Link>,
    pub today: NaiveDate,
}

/// The domain of a host: without `www.`.
pub(super) fn bare(host: &str) -> &str {
    host.strip_prefix("www.").unwrap_or(host)
}

/// The host in the root of a site's URLs.
pub(super) fn host_of(site: &Site) -> &str {
    let origin = site.blueprint.origin.as_str();
    origin.strip_prefix("https://").unwrap_or(origin)
}

/// The simulated sites on `domain` and its subdomains.
fn sites<'a>(world: &'a World, domain: &str) -> Vec<&'a Site> {
    let belongs = |site: &&Site| {
        let host = bare(host_of(site));
        host == domain || host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
    };
    world.sites().filter(belongs).collect()
}

impl Profile {
    /// The links to `domain` and its subdomains that were found up to `today`.
    pub fn new(seed: u64, world: &World, domain: &str, today: NaiveDate) -> Self {
        let key = named(child(seed, 0x11A5), domain);
        let sites = sites(world, domain);
        let slots = match sites.first() {
            // Half of the links are found by 2026.
            Some(site) => count(2.0 * site.blueprint.profile.impressions.powf(0.75)),
            None if unit(child(key, 1)) < 0.6 => 0,
            None => 2 + count(8.0 * unit(child(key, 2))),
        };
        let mut profile = Self { domain: domain.to_owned(), referrers: Vec::new(), links: Vec::new(), today };
        let start = index(unit(child(key, 3)), 1 << 20);
        for (number, place) in (0..slots).zip(0..) {
            let referrer = Referrer::new(seed, names::name(start, place));
            let links = link::drawn(child(key, 100 + u64::from(number)), &referrer, domain, &sites, today);
            if !links.is_empty() {
                let index = profile.referrers.len();
                profile.links.extend(links.into_iter().map(|link| Link { referrer: index, ..link }));
                profile.referrers.push(referrer);
            }
        }
        profile
    }

    /// The referring domain of a link.
    pub fn referrer(&self, link: &Link) -> &Referrer {
        &self.referrers[link.referrer]
    }

    /// The number of domains with at least one of these links.
    pub fn domains<'a>(&self, links: impl Iterator<Item = &'a Link>) -> usize {
        let mut seen = vec![false; self.referrers.len()];
        for link in links {
            seen[link.referrer] = true;
        }
        seen.into_iter().filter(|seen| *seen).count()
    }

    /// The strength of a domain with this many live referring domains, 0 to 100.
    pub fn strength(domains: usize) -> f64 {
        ((domains as f64).ln_1p() * 10.4).min(100.0)
    }
}
