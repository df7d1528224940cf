//! The names of the service's own applications, which nobody else may use: people trust them on the consent page. Names that look the same
//! count as the same, by the table of confusable characters of Unicode (UTS 39).

use identity::clients::{BUILT_IN, own_name};
use unicode_normalization::UnicodeNormalization as _;
use unicode_security::skeleton;

/// The name of the service. Its own applications are called by names that begin with it.
const SERVICE: &str = "Sightline";

/// Returns whether a name looks like one of the service's own applications, or begins with the name of the service. Case, spaces, punctuation
/// and accents make no difference.
pub fn is_reserved(name: &str) -> bool {
    let own: Vec<String> = BUILT_IN.into_iter().filter_map(own_name).map(seen).collect();
    // Some letters are confusable in one case only.
    [seen(name), seen(&name.to_lowercase()), seen(&name.to_uppercase())]
        .iter()
        .any(|name| name.starts_with(&seen(SERVICE)) || own.contains(name))
}

/// Returns what a person sees of a name at a glance. Letters that are alike in many fonts are one letter.
fn seen(name: &str) -> String {
    // Letters in circles, wide letters and the like are plain ones.
    let plain: String = name.nfkc().collect();
    let letters = skeleton(&plain).flat_map(char::to_lowercase).filter(|letter| letter.is_alphanumeric());
    letters.map(|letter| if matches!(letter, 'i' | 'j' | '1' | '|') { 'l' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_like_the_services_own_are_reserved() {
        for name in [
            "Sightline",
            "sightline",
            "SIGHTLINE",
            " Sight line ",
            "Sightline command line",
            "Sightline command-line",
            "Sightline CLI",
            "Sightline (official)",
            "S-i-g-h-t-l-i-n-e",
            "Sîghtlìné",
            "S1ghtl1ne",
            "SlGHTLlNE",
            "Sıghtlıne",
            "Ѕіghtlіnе",
            "ЅΙGΗΤLΙΝΕ",
            "Ｓｉｇｈｔｌｉｎｅ",
            "𝐒𝐢𝐠𝐡𝐭𝐥𝐢𝐧𝐞",
            "Ⓢⓘⓖⓗⓣⓛⓘⓝⓔ",
            "API documentation",
            "api-documentation",
            "ΑΡІ dосumentation",
        ] {
            assert!(is_reserved(name), "{name}");
        }
    }

    #[test]
    fn other_names_are_free() {
        for name in [
            "Claude Code (sightline)",
            "Grafana for Sightline",
            "MCP CLI Proxy",
            "API documentation generator",
            "Insight line",
            "Sight",
            "Сайт",
            "検索",
            "🔍",
            "",
        ] {
            assert!(!is_reserved(name), "{name}");
        }
    }
}
