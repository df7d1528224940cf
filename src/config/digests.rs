//! Digests of the settings that all replicas of a service must share, so that replicas can compare them without showing them.

use std::collections::BTreeMap;

use common::{base_url::BaseUrl, digest::sha256_hex};

use super::{Config, table};

/// The settings, and the tables of settings, that decide how people sign in, what tokens are good for, what plans give, and whom the service
/// asks. Addresses, folders and limits of a process may differ.
const SHARED: [&str; 9] =
    ["base_url", "billing", "identity", "mcp", "plans", "releases", "search_engine", "seo", "subscribe_url"];

/// Hex digits of a digest.
const LENGTH: usize = 16;

impl Config {
    /// Returns a digest of each setting that all replicas must share, by the name of the setting. `base_url` is the one that holds. Secrets have
    /// none: a short one could be found by trial.
    #[must_use]
    pub fn digests(&self, base_url: &BaseUrl) -> BTreeMap<String, String> {
        let values = table::values(&Self { base_url: Some(base_url.clone()), ..self.clone() });
        let is_shared = |name: &str| SHARED.contains(&name.split('.').next().unwrap_or_default());
        let shared = table::SETTINGS.iter().filter(|setting| is_shared(&setting.name) && !setting.is_secret);
        let digest = |name: &str| {
            let value = values.pointer(&format!("/{}", name.replace('.', "/"))).map(ToString::to_string);
            let mut digest = sha256_hex(&format!("{name} {}", value.unwrap_or_default()));
            digest.truncate(LENGTH);
            digest
        };
        shared.map(|setting| (setting.name.clone(), digest(&setting.name))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Secret;

    #[test]
    fn only_settings_that_replicas_share_count_and_secrets_have_no_digest() {
        let base_url: BaseUrl = "https://search.example.org".parse().unwrap();
        let same = Config::default().digests(&base_url);
        assert!(same.contains_key("base_url") && same.contains_key("plans.pro.team"), "{same:?}");
        assert!(!same.keys().any(|name| name.contains("secret") || name.starts_with("data_dir")), "{same:?}");
        let mut config = Config { listen: ([127, 0, 0, 1], 1).into(), ..Config::default() };
        config.identity.client_secret = Some(Secret("hunter2".to_owned()));
        assert_eq!(config.digests(&base_url), same);
        config.billing.grace_days += 1;
        let other = config.digests(&base_url);
        let differing: Vec<&String> = same.keys().filter(|name| same[*name] != other[*name]).collect();
        assert_eq!(differing, ["billing.grace_days"]);
    }
}
