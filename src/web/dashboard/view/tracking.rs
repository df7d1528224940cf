//! Parameters that mail programs, advertisements and social networks append to the links of others.

/// The beginnings of their names.
const STARTS: [&str; 18] = [
    "utm_", "mc_", "mtm_", "matomo_", "pk_", "piwik_", "hsa_", "hsCta", "_hs", "__hs", "vero_", "oly_", "ga_", "gad_",
    "at_", "_bta_", "ns_", "sc_",
];

const NAMES: [&str; 32] = [
    "_",
    "_ga",
    "_gl",
    "_kx",
    "_openstat",
    "dclid",
    "dm_i",
    "ef_id",
    "epik",
    "fbclid",
    "gbraid",
    "gclid",
    "gclsrc",
    "igsh",
    "igshid",
    "li_fat_id",
    "mkt_tok",
    "mibextid",
    "msclkid",
    "ref",
    "ref_src",
    "ref_url",
    "s_cid",
    "s_kwcid",
    "sfnsn",
    "srsltid",
    "ttclid",
    "twclid",
    "wbraid",
    "wickedid",
    "yclid",
    "ysclid",
];

/// Returns whether a parameter is one of these. It means nothing to a page.
pub fn is_tracking(name: &str) -> bool {
    NAMES.contains(&name) || STARTS.iter().any(|start| name.starts_with(start))
}
