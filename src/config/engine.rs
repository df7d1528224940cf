//! Settings of the search engine and of the providers of SEO data.

use schemars::JsonSchema;
use search_engine::{Patience, Quota};
use seo::Patience as SeoPatience;
use serde::{Deserialize, Serialize};

use super::{
    IdentifierUrl, Secret, SecureUrl,
    check::{Refusal, allow, client},
};

/// The search engine. Without URLs, it is the real one if `client_id` is set, otherwise the simulated one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SearchEngine {
    /// Root before `/webmasters/v3`. This and the four other URLs of `search_engine` are set together, or none of them.
    #[schemars(extend("x-default" = "with `search_engine.client_id` the real engine, otherwise the simulator"))]
    pub api_url: Option<SecureUrl>,
    /// Authorization endpoint.
    #[schemars(extend("x-default" = "as `search_engine.api_url`"))]
    pub authorize_url: Option<SecureUrl>,
    /// Token endpoint.
    #[schemars(extend("x-default" = "as `search_engine.api_url`"))]
    pub token_url: Option<SecureUrl>,
    /// Revocation endpoint.
    #[schemars(extend("x-default" = "as `search_engine.api_url`"))]
    pub revoke_url: Option<SecureUrl>,
    /// User-info endpoint.
    #[schemars(extend("x-default" = "as `search_engine.api_url`"))]
    pub userinfo_url: Option<SecureUrl>,
    /// The service's [client at the search engine](SELF-HOSTING.md#a-real-search-engine).
    #[schemars(extend("x-default" = "none; `sightline` at the simulator", "x-allowed" = "a text, with `search_engine.client_secret` only"))]
    pub client_id: Option<String>,
    /// The secret of that client.
    #[schemars(extend("x-default" = "none; `simulated` at the simulator", "x-allowed" = "a text, with `search_engine.client_id` only"))]
    pub client_secret: Option<Secret>,
    /// Maximum number of upstream requests under way at once, per site.
    #[schemars(range(min = 1))]
    pub max_in_flight: u32,
    /// Maximum number of upstream requests in one burst, per site and per account. The pace starts at half, grows with each answer and
    /// halves when the search engine refuses for its quota.
    #[schemars(range(min = 1))]
    pub bucket: u32,
    /// Maximum number of upstream requests a second beyond the burst, per site and per account. The search engine allows 1,200 a minute:
    /// keep `search_engine.bucket` + 60 × this below that. Replicas without Redis share it out.
    #[schemars(range(min = 1))]
    pub refill_per_second: u32,
    /// Limits of all requests together.
    pub quota: EngineQuota,
    /// Reads ahead what people opened in the last seven days, once a day of a property has become final, while nobody waits: at most a third
    /// of `search_engine.quota` and of the pace. See [Reading ahead](OPERATING.md#reading-ahead).
    pub warm: bool,
    /// Timeouts and retry delays. Not a setting. Code that starts a service, such as a test, may shorten them.
    #[serde(skip)]
    pub patience: Patience,
}

/// Limits of all requests together. The search engine counts them for the service's client: 40,000 a minute and 30 million a day.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EngineQuota {
    /// Maximum number of upstream requests in any minute, a sixth of them at once. Replicas without Redis share it out.
    #[schemars(range(min = 1))]
    pub per_minute: u32,
    /// Maximum number of upstream requests in any 24 hours, a sixth of them at once. Replicas without Redis share it out.
    #[schemars(range(min = 1))]
    pub per_day: u32,
}

impl Default for EngineQuota {
    fn default() -> Self {
        let Quota { per_minute, per_day } = Quota::default();
        Self { per_minute, per_day }
    }
}

/// Providers of SEO data. Without a URL, a provider is the simulated one beside the simulated search engine, otherwise the real one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Seo {
    /// Provider A, which speaks `DataForSEO` v3.
    pub provider_a: ProviderA,
    /// Provider B, which speaks Ahrefs v3.
    pub provider_b: ProviderB,
    /// Time limits. Not a setting. Code that starts a service, such as a test, may shorten them.
    #[serde(skip)]
    pub patience: SeoPatience,
}

/// Provider A.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProviderA {
    /// Root before `/v3` of provider A, which speaks `DataForSEO` v3.
    #[schemars(extend("x-default" = "the simulator, or `https://api.dataforseo.com` beside a real search engine"))]
    pub url: Option<IdentifierUrl>,
}

/// Provider B.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProviderB {
    /// Root before `/v3` of provider B, which speaks Ahrefs v3.
    #[schemars(extend("x-default" = "the simulator, or `https://api.ahrefs.com` beside a real search engine"))]
    pub url: Option<IdentifierUrl>,
}

impl Default for SearchEngine {
    fn default() -> Self {
        Self {
            api_url: None,
            authorize_url: None,
            token_url: None,
            revoke_url: None,
            userinfo_url: None,
            client_id: None,
            client_secret: None,
            max_in_flight: 16,
            bucket: 60,
            refill_per_second: 18,
            quota: EngineQuota::default(),
            warm: false,
            patience: Patience::default(),
        }
    }
}

impl SearchEngine {
    pub(super) fn check(&self) -> Result<(), Refusal> {
        let urls = [&self.api_url, &self.authorize_url, &self.token_url, &self.revoke_url, &self.userinfo_url];
        let set = urls.iter().filter(|url| url.is_some()).count();
        allow(
            set == 0 || set == urls.len(),
            "search_engine",
            "api_url, authorize_url, token_url, revoke_url and userinfo_url together, or none of them",
        )?;
        client("search_engine", self.client_id.as_deref(), self.client_secret.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_configured_as_a_whole() {
        let of = |id: Option<&str>, secret: Option<&str>| SearchEngine {
            client_id: id.map(str::to_owned),
            client_secret: secret.map(|secret| Secret(secret.to_owned())),
            ..SearchEngine::default()
        };
        for (settings, missing) in [
            (of(None, None), None),
            (of(Some("sightline"), Some("hunter2")), None),
            (of(Some("sightline"), None), Some("search_engine.client_secret")),
            (of(None, Some("hunter2")), Some("search_engine.client_id")),
            (of(Some(""), Some("hunter2")), Some("search_engine.client_id")),
            (of(Some("sightline"), Some("")), Some("search_engine.client_secret")),
            (of(Some(""), Some("")), Some("search_engine.client_id")),
        ] {
            let refusal = settings.check().err();
            assert_eq!(refusal.as_ref().map(|refusal| refusal.setting.as_str()), missing);
            assert!(refusal.is_none_or(|refusal| !refusal.to_string().contains("hunter2")));
        }
    }
}
