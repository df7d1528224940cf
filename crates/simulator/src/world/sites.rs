//! The sites that every world has. All hosts are in domains reserved for examples and tests.

use super::blueprint::{Blueprint, Standing};
use super::profile::{LOCAL, PUBLISHER, Profile, RETAIL, SOFTWARE};
use super::vocabulary::{BOOKKEEPING, GARDEN, OUTDOOR, TOWN, Vocabulary};

/// A site that every world has. The fields are those of [`Blueprint`].
struct Fixed {
    url: &'static str,
    origin: &'static str,
    profile: &'static Profile,
    vocabulary: &'static Vocabulary,
    brand_terms: &'static [&'static str],
    home: &'static str,
    young: bool,
}

impl From<&Fixed> for Blueprint {
    fn from(fixed: &Fixed) -> Self {
        Self {
            url: fixed.url.to_owned(),
            origin: fixed.origin.to_owned(),
            profile: *fixed.profile,
            vocabulary: fixed.vocabulary,
            brand_terms: fixed.brand_terms.iter().map(|term| (*term).to_owned()).collect(),
            home: fixed.home,
            young: fixed.young,
            division: None,
            covered_by: None,
            standing: Standing::Open,
        }
    }
}

/// The blueprints of the sites that every world has.
pub(super) fn all() -> impl Iterator<Item = Blueprint> {
    ALL.iter().map(Blueprint::from)
}

static ALL: [Fixed; 8] = [
    Fixed {
        url: "sc-domain:northmoor.example",
        origin: "https://www.northmoor.example",
        profile: &RETAIL,
        vocabulary: &OUTDOOR,
        brand_terms: &["northmoor", "north moor", "northmoor outdoor"],
        home: "usa",
        young: false,
    },
    Fixed {
        url: "https://www.ledgerline.example/",
        origin: "https://www.ledgerline.example",
        profile: &SOFTWARE,
        vocabulary: &BOOKKEEPING,
        brand_terms: &["ledgerline", "ledger line"],
        home: "deu",
        young: false,
    },
    Fixed {
        url: "sc-domain:harbourpost.example",
        origin: "https://harbourpost.example",
        profile: &PUBLISHER,
        vocabulary: &TOWN,
        brand_terms: &["harbour post", "harbourpost"],
        home: "gbr",
        young: false,
    },
    Fixed {
        url: "https://tinyfern.test/",
        origin: "https://tinyfern.test",
        profile: &LOCAL,
        vocabulary: &GARDEN,
        brand_terms: &["tinyfern", "tiny fern"],
        home: "usa",
        young: true,
    },
    Fixed {
        url: "https://legacy.northmoor.example/",
        origin: "https://legacy.northmoor.example",
        profile: &LOCAL,
        vocabulary: &OUTDOOR,
        brand_terms: &["northmoor"],
        home: "usa",
        young: false,
    },
    Fixed {
        url: "sc-domain:brightkettle.test",
        origin: "https://brightkettle.test",
        profile: &LOCAL,
        vocabulary: &GARDEN,
        brand_terms: &["bright kettle", "brightkettle"],
        home: "gbr",
        young: false,
    },
    Fixed {
        url: "https://www.oakandanvil.example/",
        origin: "https://www.oakandanvil.example",
        profile: &LOCAL,
        vocabulary: &OUTDOOR,
        brand_terms: &["oak and anvil", "oak & anvil"],
        home: "can",
        young: false,
    },
    Fixed {
        url: "sc-domain:quietmeadow.test",
        origin: "https://quietmeadow.test",
        profile: &LOCAL,
        vocabulary: &GARDEN,
        brand_terms: &["quiet meadow"],
        home: "aus",
        young: false,
    },
];
