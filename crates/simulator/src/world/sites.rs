//! The simulated sites. All hosts are in domains reserved for examples and tests.

use super::blueprint::Blueprint;
use super::profile::{LOCAL, PUBLISHER, RETAIL, SOFTWARE};
use super::vocabulary::{BOOKKEEPING, GARDEN, OUTDOOR, TOWN};

/// All sites.
pub(super) static ALL: [Blueprint; 8] = [
    Blueprint {
        url: "sc-domain:northmoor.example",
        origin: "https://www.northmoor.example",
        profile: &RETAIL,
        vocabulary: &OUTDOOR,
        brand_terms: &["northmoor", "north moor", "northmoor outdoor"],
        home: "usa",
        young: false,
    },
    Blueprint {
        url: "https://www.ledgerline.example/",
        origin: "https://www.ledgerline.example",
        profile: &SOFTWARE,
        vocabulary: &BOOKKEEPING,
        brand_terms: &["ledgerline", "ledger line"],
        home: "deu",
        young: false,
    },
    Blueprint {
        url: "sc-domain:harbourpost.example",
        origin: "https://harbourpost.example",
        profile: &PUBLISHER,
        vocabulary: &TOWN,
        brand_terms: &["harbour post", "harbourpost"],
        home: "gbr",
        young: false,
    },
    Blueprint {
        url: "https://tinyfern.test/",
        origin: "https://tinyfern.test",
        profile: &LOCAL,
        vocabulary: &GARDEN,
        brand_terms: &["tinyfern", "tiny fern"],
        home: "usa",
        young: true,
    },
    Blueprint {
        url: "https://legacy.northmoor.example/",
        origin: "https://legacy.northmoor.example",
        profile: &LOCAL,
        vocabulary: &OUTDOOR,
        brand_terms: &["northmoor"],
        home: "usa",
        young: false,
    },
    Blueprint {
        url: "sc-domain:brightkettle.test",
        origin: "https://brightkettle.test",
        profile: &LOCAL,
        vocabulary: &GARDEN,
        brand_terms: &["bright kettle", "brightkettle"],
        home: "gbr",
        young: false,
    },
    Blueprint {
        url: "https://www.oakandanvil.example/",
        origin: "https://www.oakandanvil.example",
        profile: &LOCAL,
        vocabulary: &OUTDOOR,
        brand_terms: &["oak and anvil", "oak & anvil"],
        home: "can",
        young: false,
    },
    Blueprint {
        url: "sc-domain:quietmeadow.test",
        origin: "https://quietmeadow.test",
        profile: &LOCAL,
        vocabulary: &GARDEN,
        brand_terms: &["quiet meadow"],
        home: "aus",
        young: false,
    },
];
