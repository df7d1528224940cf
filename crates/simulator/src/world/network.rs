//! The sites of the account `network`, by rank. The traffic follows a Zipf law: site number k has about 1/k of the first one's.
//!
//! Site number 8, 18, 28 and so on is a part of site number 4, 9, 14 and so on. A part has about half of the traffic, so it keeps
//! the law at twice the rank.

use super::blueprint::{Blueprint, Division, Standing};
use super::names;
use super::profile::{LOCAL, PUBLISHER, Profile, RETAIL, SOFTWARE};
use super::rng::{child, count, index, unit};
use super::vocabulary::{BOOKKEEPING, GARDEN, OUTDOOR, TOWN, Vocabulary};

/// Impressions a day of visible queries of the first site, before growth and season.
const FIRST: f64 = 6_000.0;

const KINDS: [(&Profile, &Vocabulary); 4] =
    [(&RETAIL, &OUTDOOR), (&SOFTWARE, &BOOKKEEPING), (&PUBLISHER, &TOWN), (&LOCAL, &GARDEN)];

/// A local business has few queries, so no site up to this rank is one.
const LARGE: u32 = 20;

const HOMES: [&str; 10] = ["usa", "gbr", "deu", "usa", "can", "aus", "fra", "nld", "gbr", "irl"];

/// The site number `rank`, from 1.
pub(super) fn blueprint(seed: u64, rank: u32) -> Blueprint {
    if rank % 10 == 8 { part(whole(seed, rank / 2)) } else { whole(seed, rank) }
}

fn whole(seed: u64, rank: u32) -> Blueprint {
    let key = child(child(seed, 0x517E5), rank.into());
    let draw = |axis: u64| unit(child(key, axis));
    let kinds = if rank <= LARGE { KINDS.len() - 1 } else { KINDS.len() };
    let (kind, vocabulary) = KINDS[index(draw(1), kinds)];
    let name = names::draw(seed, rank);
    let (domain, bare, www) =
        (&name.domain, format!("https://{}", name.domain), format!("https://www.{}", name.domain));
    let division = match rank % 10 {
        4 => Some(Division::Host(format!("https://{}.{domain}", if draw(2) < 0.5 { "blog" } else { "help" }))),
        9 => Some(Division::Folder("shop")),
        _ => None,
    };
    let origin = match division {
        Some(Division::Folder(_)) => bare,
        None if draw(3) < 0.4 => bare,
        _ => www,
    };
    let is_domain = division.is_some() || draw(4) < 0.7;
    Blueprint {
        url: if is_domain { format!("sc-domain:{domain}") } else { format!("{origin}/") },
        origin,
        profile: profile(key, kind, vocabulary, FIRST / f64::from(rank)),
        vocabulary,
        brand_terms: vec![name.joined, name.apart],
        home: HOMES[index(draw(5), HOMES.len())],
        young: false,
        division,
        covered_by: None,
        standing: standing(rank),
    }
}

/// The part of a divided site, as a site of its own.
fn part(whole: Blueprint) -> Blueprint {
    let url = match whole.division {
        Some(Division::Folder(folder)) => format!("{}/{folder}/", whole.origin),
        _ => format!("{}/", whole.origin),
    };
    Blueprint { url, covered_by: Some(whole.url), ..whole }
}

/// One site in 50 is refused, and one in 70 is not verified. None of them is divided or a part.
fn standing(rank: u32) -> Standing {
    match (rank % 50, rank % 70) {
        (23, _) => Standing::Refused,
        (_, 17) => Standing::Unverified,
        _ => Standing::Open,
    }
}

/// The profile of `kind` with this many impressions a day. A small site has few queries and pages.
fn profile(key: u64, kind: &Profile, vocabulary: &Vocabulary, impressions: f64) -> Profile {
    let draw = |axis: u64| unit(child(key, axis));
    let whole = |number: f64| count(number) as usize;
    Profile {
        impressions,
        queries: whole(20.0 + 1.5 * impressions).min(3_000).min(vocabulary.combinations() / 2),
        anonymised: whole(8.0 + impressions / 10.0).min(60),
        pages: vocabulary.subjects.len() * whole(2.0 + impressions / 150.0),
        growth: 0.75 * draw(6) - 0.3,
        season: (0.02 + 0.3 * draw(7), 365.0 * draw(8)),
        swings: true,
        ..*kind
    }
}
