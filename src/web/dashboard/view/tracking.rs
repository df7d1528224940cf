//! Parameters that mail programs, advertisements and social networks append to the links of others.

/// The beginnings of their names.
const STARTS: [&str; 10] = ["utm_", "mc_", "mtm_", "pk_", "piwik_", "hsa_", "_hs", "vero_", "oly_", "ga_"];

const NAMES: [&str; 26] = [
    "_ga",
    "_gl",
    "_kx",
    "_openstat",
    "dclid",
    "epik",
    "fbclid",
    "gad_source",
    "gbraid",
    "gclid",
    "gclsrc",
    "igsh",
    "igshid",
    "li_fat_id",
    "mkt_tok",
    "msclkid",
    "ref",
    "ref_src",
    "ref_url",
    "s_cid",
    "srsltid",
    "ttclid",
    "twclid",
    "wbraid",
    "yclid",
    "ysclid",
];

/// Returns whether a parameter is one of these. It means nothing to a page.
pub fn is_tracking(name: &str) -> bool {
    NAMES.contains(&name) || STARTS.iter().any(|start| name.starts_with(start))
}
