//! Countries as the providers name them: provider A by the ISO number plus 2,000, provider B by two letters.

/// ISO 3166-1 alpha-3 and alpha-2 codes in lower case, and numeric codes, in order of the first.
#[rustfmt::skip]
const CODES: &[(&str, &str, u32)] = &[
    ("abw", "aw", 533), ("afg", "af", 4), ("ago", "ao", 24), ("aia", "ai", 660), ("ala", "ax", 248),
    ("alb", "al", 8), ("and", "ad", 20), ("are", "ae", 784), ("arg", "ar", 32), ("arm", "am", 51), ("asm", "as", 16),
    ("ata", "aq", 10), ("atf", "tf", 260), ("atg", "ag", 28), ("aus", "au", 36), ("aut", "at", 40),
    ("aze", "az", 31), ("bdi", "bi", 108), ("bel", "be", 56), ("ben", "bj", 204), ("bes", "bq", 535),
    ("bfa", "bf", 854), ("bgd", "bd", 50), ("bgr", "bg", 100), ("bhr", "bh", 48), ("bhs", "bs", 44),
    ("bih", "ba", 70), ("blm", "bl", 652), ("blr", "by", 112), ("blz", "bz", 84), ("bmu", "bm", 60),
    ("bol", "bo", 68), ("bra", "br", 76), ("brb", "bb", 52), ("brn", "bn", 96), ("btn", "bt", 64), ("bvt", "bv", 74),
    ("bwa", "bw", 72), ("caf", "cf", 140), ("can", "ca", 124), ("cck", "cc", 166), ("che", "ch", 756),
    ("chl", "cl", 152), ("chn", "cn", 156), ("civ", "ci", 384), ("cmr", "cm", 120), ("cod", "cd", 180),
    ("cog", "cg", 178), ("cok", "ck", 184), ("col", "co", 170), ("com", "km", 174), ("cpv", "cv", 132),
    ("cri", "cr", 188), ("cub", "cu", 192), ("cuw", "cw", 531), ("cxr", "cx", 162), ("cym", "ky", 136),
    ("cyp", "cy", 196), ("cze", "cz", 203), ("deu", "de", 276), ("dji", "dj", 262), ("dma", "dm", 212),
    ("dnk", "dk", 208), ("dom", "do", 214), ("dza", "dz", 12), ("ecu", "ec", 218), ("egy", "eg", 818),
    ("eri", "er", 232), ("esh", "eh", 732), ("esp", "es", 724), ("est", "ee", 233), ("eth", "et", 231),
    ("fin", "fi", 246), ("fji", "fj", 242), ("flk", "fk", 238), ("fra", "fr", 250), ("fro", "fo", 234),
    ("fsm", "fm", 583), ("gab", "ga", 266), ("gbr", "gb", 826), ("geo", "ge", 268), ("ggy", "gg", 831),
    ("gha", "gh", 288), ("gib", "gi", 292), ("gin", "gn", 324), ("glp", "gp", 312), ("gmb", "gm", 270),
    ("gnb", "gw", 624), ("gnq", "gq", 226), ("grc", "gr", 300), ("grd", "gd", 308), ("grl", "gl", 304),
    ("gtm", "gt", 320), ("guf", "gf", 254), ("gum", "gu", 316), ("guy", "gy", 328), ("hkg", "hk", 344),
    ("hmd", "hm", 334), ("hnd", "hn", 340), ("hrv", "hr", 191), ("hti", "ht", 332), ("hun", "hu", 348),
    ("idn", "id", 360), ("imn", "im", 833), ("ind", "in", 356), ("iot", "io", 86), ("irl", "ie", 372),
    ("irn", "ir", 364), ("irq", "iq", 368), ("isl", "is", 352), ("isr", "il", 376), ("ita", "it", 380),
    ("jam", "jm", 388), ("jey", "je", 832), ("jor", "jo", 400), ("jpn", "jp", 392), ("kaz", "kz", 398),
    ("ken", "ke", 404), ("kgz", "kg", 417), ("khm", "kh", 116), ("kir", "ki", 296), ("kna", "kn", 659),
    ("kor", "kr", 410), ("kwt", "kw", 414), ("lao", "la", 418), ("lbn", "lb", 422), ("lbr", "lr", 430),
    ("lby", "ly", 434), ("lca", "lc", 662), ("lie", "li", 438), ("lka", "lk", 144), ("lso", "ls", 426),
    ("ltu", "lt", 440), ("lux", "lu", 442), ("lva", "lv", 428), ("mac", "mo", 446), ("maf", "mf", 663),
    ("mar", "ma", 504), ("mco", "mc", 492), ("mda", "md", 498), ("mdg", "mg", 450), ("mdv", "mv", 462),
    ("mex", "mx", 484), ("mhl", "mh", 584), ("mkd", "mk", 807), ("mli", "ml", 466), ("mlt", "mt", 470),
    ("mmr", "mm", 104), ("mne", "me", 499), ("mng", "mn", 496), ("mnp", "mp", 580), ("moz", "mz", 508),
    ("mrt", "mr", 478), ("msr", "ms", 500), ("mtq", "mq", 474), ("mus", "mu", 480), ("mwi", "mw", 454),
    ("mys", "my", 458), ("myt", "yt", 175), ("nam", "na", 516), ("ncl", "nc", 540), ("ner", "ne", 562),
    ("nfk", "nf", 574), ("nga", "ng", 566), ("nic", "ni", 558), ("niu", "nu", 570), ("nld", "nl", 528),
    ("nor", "no", 578), ("npl", "np", 524), ("nru", "nr", 520), ("nzl", "nz", 554), ("omn", "om", 512),
    ("pak", "pk", 586), ("pan", "pa", 591), ("pcn", "pn", 612), ("per", "pe", 604), ("phl", "ph", 608),
    ("plw", "pw", 585), ("png", "pg", 598), ("pol", "pl", 616), ("pri", "pr", 630), ("prk", "kp", 408),
    ("prt", "pt", 620), ("pry", "py", 600), ("pse", "ps", 275), ("pyf", "pf", 258), ("qat", "qa", 634),
    ("reu", "re", 638), ("rou", "ro", 642), ("rus", "ru", 643), ("rwa", "rw", 646), ("sau", "sa", 682),
    ("sdn", "sd", 729), ("sen", "sn", 686), ("sgp", "sg", 702), ("sgs", "gs", 239), ("shn", "sh", 654),
    ("sjm", "sj", 744), ("slb", "sb", 90), ("sle", "sl", 694), ("slv", "sv", 222), ("smr", "sm", 674),
    ("som", "so", 706), ("spm", "pm", 666), ("srb", "rs", 688), ("ssd", "ss", 728), ("stp", "st", 678),
    ("sur", "sr", 740), ("svk", "sk", 703), ("svn", "si", 705), ("swe", "se", 752), ("swz", "sz", 748),
    ("sxm", "sx", 534), ("syc", "sc", 690), ("syr", "sy", 760), ("tca", "tc", 796), ("tcd", "td", 148),
    ("tgo", "tg", 768), ("tha", "th", 764), ("tjk", "tj", 762), ("tkl", "tk", 772), ("tkm", "tm", 795),
    ("tls", "tl", 626), ("ton", "to", 776), ("tto", "tt", 780), ("tun", "tn", 788), ("tur", "tr", 792),
    ("tuv", "tv", 798), ("twn", "tw", 158), ("tza", "tz", 834), ("uga", "ug", 800), ("ukr", "ua", 804),
    ("umi", "um", 581), ("ury", "uy", 858), ("usa", "us", 840), ("uzb", "uz", 860), ("vat", "va", 336),
    ("vct", "vc", 670), ("ven", "ve", 862), ("vgb", "vg", 92), ("vir", "vi", 850), ("vnm", "vn", 704),
    ("vut", "vu", 548), ("wlf", "wf", 876), ("wsm", "ws", 882), ("yem", "ye", 887), ("zaf", "za", 710),
    ("zmb", "zm", 894), ("zwe", "zw", 716),
];

/// A country.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Country {
    /// ISO 3166-1 alpha-3, lower case.
    pub alpha3: &'static str,
    /// ISO 3166-1 alpha-2, lower case: provider B's code.
    pub alpha2: &'static str,
    /// Provider A's location code.
    pub location_code: u32,
}

impl Country {
    /// The country of questions about a property without searches.
    pub const USA: Self = Self { alpha3: "usa", alpha2: "us", location_code: 2840 };

    /// The country with this ISO 3166-1 alpha-3 code in lower case.
    #[must_use]
    pub fn of(alpha3: &str) -> Option<Self> {
        let index = CODES.binary_search_by_key(&alpha3, |(code, ..)| code).ok()?;
        let (alpha3, alpha2, number) = CODES[index];
        Some(Self { alpha3, alpha2, location_code: number + 2000 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_country_has_the_codes_of_both_providers() {
        let cases =
            [("usa", "us", 2840), ("gbr", "gb", 2826), ("deu", "de", 2276), ("abw", "aw", 2533), ("zwe", "zw", 2716)];
        for (alpha3, alpha2, location_code) in cases {
            assert_eq!(
                Country::of(alpha3),
                Some(Country { alpha3: Country::of(alpha3).unwrap().alpha3, alpha2, location_code })
            );
        }
        assert_eq!(Country::of("usa"), Some(Country::USA));
        assert!(CODES.is_sorted_by_key(|(code, ..)| code) && CODES.len() == 249);
        assert!(["zzz", "us", "USA", ""].into_iter().all(|code| Country::of(code).is_none()));
    }
}
