//! Reads the settings: defaults, then the file, then `SIGHTLINE_*` variables.

use std::path::Path;

use figment::{
    Figment, Metadata, Profile, Source,
    error::Kind,
    providers::{Format, Serialized, Toml},
    value::{Dict, Map, Value},
};

use super::{
    Config,
    check::Refusal,
    table::{self, Kind as SettingKind},
};

const PREFIX: &str = "SIGHTLINE_";

/// An invalid setting, described for the operator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub String);

/// Reads the settings from `file`, if it exists, and overrides them with `variables`.
///
/// # Errors
/// Names the invalid setting and the allowed values. An unknown key is an error too.
pub fn load(file: &Path, variables: impl IntoIterator<Item = (String, String)>) -> Result<Config, ConfigError> {
    let mut figment = Figment::from(Serialized::defaults(Config::default()));
    if file.exists() {
        figment = figment.merge(Toml::file_exact(file));
    }
    for (name, text) in variables {
        if let Some(key) = setting(&name) {
            figment = figment.merge(Variable { name, value: typed(&key, &text), key });
        }
    }
    let config: Config = figment.extract().map_err(|error| ConfigError(describe(&figment, &error)))?;
    config.check().map_err(|refusal| {
        let source = source(figment.find_metadata(&refusal.setting));
        ConfigError(format!("{source}{refusal}"))
    })?;
    Ok(config)
}

impl Config {
    /// The settings of this process, from `sightline.toml` in the working folder and from the environment.
    ///
    /// # Errors
    /// Same as [`load`].
    pub fn of_process() -> Result<Self, ConfigError> {
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.to_string_lossy().into_owned())));
        load(Path::new("sightline.toml"), variables)
    }
}

/// `SIGHTLINE_RATE_LIMIT__BURST` -> `rate_limit.burst`.
fn setting(variable: &str) -> Option<String> {
    Some(variable.strip_prefix(PREFIX)?.to_lowercase().replace("__", "."))
}

/// Converts a variable, which is text. It becomes a number, boolean or list only if the setting is one, so that a secret
/// made of digits stays text.
fn typed(key: &str, text: &str) -> Value {
    match table::find(key).map_or(SettingKind::Text, |setting| setting.kind) {
        SettingKind::Plain => text.parse().unwrap_or_else(|_| Value::from(text)),
        SettingKind::List => {
            let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
            Value::from(items.map(Value::from).collect::<Vec<_>>())
        }
        SettingKind::Text => Value::from(text),
    }
}

/// One variable as a separate source, so that errors name it.
struct Variable {
    name: String,
    key: String,
    value: Value,
}

impl figment::Provider for Variable {
    fn metadata(&self) -> Metadata {
        Metadata::named(format!("variable {}", self.name))
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        let nested = figment::util::nest(&self.key, self.value.clone());
        Ok(Profile::Default.collect(nested.into_dict().unwrap_or_default()))
    }
}

fn describe(figment: &Figment, error: &figment::Error) -> String {
    let (source, key) = (source(error.metadata.as_ref()), error.path.join("."));
    match (&error.kind, table::find(&key)) {
        (Kind::UnknownField(field, allowed), _) => {
            let key = if error.path.last() == Some(field) { key } else { join(&key, field) };
            let allowed = allowed.join(", ");
            match table::nearest(&key) {
                None => format!("{source}unknown setting `{key}`; allowed here are {allowed}"),
                Some(name) if source.starts_with("variable ") => {
                    format!("{source}unknown setting `{key}`. Did you mean `{name}` ({})?", table::variable(name))
                }
                Some(name) => {
                    format!("{source}unknown setting `{key}`. Did you mean `{name}`? Allowed here are {allowed}")
                }
            }
        }
        (_, Some(setting)) => {
            let refusal = Refusal { setting: setting.name.clone(), allowed: setting.allowed.clone() };
            let element = error.path.last().and_then(|index| element(figment, &setting.name, index));
            element.map_or_else(
                || format!("{source}{refusal}"),
                |element| format!("{source}{refusal}; {element:?} is not"),
            )
        }
        (kind, None) if key.is_empty() => format!("{source}{}", without_excerpt(&kind.to_string())),
        (_, None) => format!("{source}setting `{key}`: allowed is a table of settings"),
    }
}

/// The file or variable that sets a value, as the beginning of a message. Empty for a default.
fn source(metadata: Option<&Metadata>) -> String {
    match metadata {
        Some(Metadata { source: Some(Source::File(file)), .. }) => format!("{}: ", file.display()),
        Some(metadata) if metadata.name.starts_with("variable ") => format!("{}: ", metadata.name),
        _ => String::new(),
    }
}

/// The text in a list. No list contains secrets.
fn element(figment: &Figment, setting: &str, index: &str) -> Option<String> {
    let list = figment.find_value(setting).ok()?.into_array()?;
    list.get(index.parse::<usize>().ok()?)?.as_str().map(str::to_owned)
}

/// A syntax error quotes its line, which may contain a secret. This keeps only the position and the kind of error.
fn without_excerpt(text: &str) -> String {
    let mut lines = text.lines();
    let (place, problem) = (lines.next().unwrap_or_default(), lines.next_back());
    problem.map_or_else(|| place.to_owned(), |problem| format!("{place}: {problem}"))
}

fn join(path: &str, field: &str) -> String {
    if path.is_empty() { field.to_owned() } else { format!("{path}.{field}") }
}

#[cfg(test)]
mod tests {
    use common::addresses::TrustedProxies;

    use super::*;

    fn read(toml: &str, variables: &[(&str, &str)]) -> Result<Config, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("sightline.toml");
        std::fs::write(&file, toml).unwrap();
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        load(&file, variables).map_err(|error| error.0)
    }

    #[test]
    fn nothing_set_is_the_default() {
        let absent = load(Path::new("/nonexistent/sightline.toml"), []).unwrap();
        assert_eq!(absent, Config::default());
        assert_eq!(read("", &[("PATH", "/bin")]), Ok(Config::default()));
    }

    #[test]
    fn variables_stand_over_the_file() {
        let config = read(
            "listen = \"127.0.0.1:0\"\n[rate_limit]\nburst = 5\nper_minute = 6\n[plans.pro]\ntracked_properties = 3\n",
            &[
                ("SIGHTLINE_RATE_LIMIT__BURST", "7"),
                ("SIGHTLINE_RATE_LIMIT__ENABLED", "false"),
                ("SIGHTLINE_CACHE__TTL", "30m"),
                ("SIGHTLINE_CACHE__MAX_BYTES", "1MiB"),
                ("SIGHTLINE_SIMULATOR__FAIL", "rate429:0.1, slow:1"),
                ("SIGHTLINE_SIMULATOR__TODAY", "2026-03-01"),
                ("SIGHTLINE_SEARCH_ENGINE__CLIENT_ID", "sightline"),
                ("SIGHTLINE_SEARCH_ENGINE__CLIENT_SECRET", "0123"),
                ("SIGHTLINE_SEO__PROVIDER_A__URL", "http://127.0.0.1:9/provider-a"),
                ("SIGHTLINE_IDENTITY__DEMO_SIGN_IN", "false"),
                ("SIGHTLINE_IDENTITY__REGISTRATION", "closed"),
                ("SIGHTLINE_IDENTITY__KEY_MAX_AGE", "30d"),
                ("SIGHTLINE_IDENTITY__SIGN_IN__ISSUER", "https://accounts.google.com"),
                ("SIGHTLINE_IDENTITY__SIGN_IN__CLIENT_ID", "7"),
                ("SIGHTLINE_IDENTITY__SIGN_IN__ALLOWED_DOMAINS", "example.org, example.com"),
                ("SIGHTLINE_IDENTITY__SIGN_IN__EMAILS_ARE_VERIFIED", "true"),
                ("SIGHTLINE_IDEMPOTENCY__STORE", "none"),
                ("SIGHTLINE_PLANS__FREE__BURST", "9"),
                ("SIGHTLINE_PLANS__PRO__PRICES", "2900 EUR month, 29000 EUR year"),
                ("SIGHTLINE_PLANS__PRO__NAME", "007"),
                ("SIGHTLINE_BILLING__GRACE_DAYS", "3"),
                ("SIGHTLINE_BILLING__CONTACT_URL", "mailto:sales@example.org"),
                ("SIGHTLINE_RATE_LIMIT__TRUSTED_PROXIES", "127.0.0.1, 10.0.0.0/8"),
            ],
        )
        .unwrap();
        assert_eq!((config.rate_limit.burst, config.rate_limit.per_minute, config.rate_limit.enabled), (7, 6, false));
        assert_eq!((config.cache.ttl.0, config.cache.max_bytes.0), (1800, 1 << 20));
        let faults: Vec<String> = config.simulator.fail.iter().map(ToString::to_string).collect();
        assert_eq!(faults, ["rate429:0.1", "slow:1"]);
        assert_eq!(config.simulator.today.unwrap().to_string(), "2026-03-01");
        assert_eq!(config.search_engine.client_secret, Some(super::super::Secret("0123".to_owned())));
        assert_eq!(config.idempotency.store, super::super::ReplayStore::None);
        assert!(!config.demo_sign_in());
        assert_eq!(config.identity.registration, super::super::Registration::Closed);
        assert_eq!(config.identity.key_max_age.0, 30 * 86_400);
        let sign_in = &config.identity.sign_in;
        assert_eq!((sign_in.client_id.as_deref(), sign_in.emails_are_verified), (Some("7"), true));
        assert_eq!(sign_in.allowed_domains, ["example.org", "example.com"]);
        assert_eq!(config.rate_limit.trusted_proxies, TrustedProxies::parse(["127.0.0.1", "10.0.0.0/8"]).unwrap());
        assert_eq!(config.plans.free.burst, Some(9));
        let prices: Vec<String> = config.plans.pro.prices.iter().map(ToString::to_string).collect();
        assert_eq!((prices.join(","), config.plans.pro.name.as_str()), ("2900 EUR month,29000 EUR year".into(), "007"));
        assert_eq!(config.billing.grace_days, 3);
        assert_eq!((config.plans.pro.tracked_properties, config.plans.pro.team), (3, true));
    }

    /// All URLs of a search engine, with the token endpoint at `root`.
    fn engine(root: &str) -> String {
        let names = ["api_url", "authorize_url", "revoke_url", "userinfo_url"];
        let others = names.map(|name| format!("{name} = \"https://engine.example\""));
        format!("[search_engine]\n{}\ntoken_url = \"{root}/token\"\n", others.join("\n"))
    }

    #[test]
    fn settings_print_without_their_secrets() {
        let key = "ab".repeat(32);
        let config = read(
            "",
            &[
                ("SIGHTLINE_DATABASE__URL", "postgres://user:hunter2@db.example:5432/name"),
                ("SIGHTLINE_REDIS__URL", "redis://:hunter2@cache.example:6379"),
                ("SIGHTLINE_IDENTITY__CLIENT_SECRET", "hunter2"),
                ("SIGHTLINE_IDENTITY__SIGN_IN__CLIENT_SECRET", "hunter2"),
                ("SIGHTLINE_IDENTITY__SIGN_IN__CLIENT_ID", "sightline"),
                ("SIGHTLINE_IDENTITY__SIGN_IN__ISSUER", "https://id.example"),
                ("SIGHTLINE_SEARCH_ENGINE__CLIENT_ID", "sightline"),
                ("SIGHTLINE_SEARCH_ENGINE__CLIENT_SECRET", "hunter2"),
                ("SIGHTLINE_SECRETS__KEY", &key),
            ],
        );
        let printed = format!("{config:?}");
        assert!(!printed.contains("hunter2") && !printed.contains(&key), "{printed}");
        assert!(printed.contains("db.example:5432") && printed.contains("cache.example:6379"), "{printed}");
    }

    /// A file, the variables over it, and what the refusal says.
    type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a [&'a str]);

    fn assert_refused(cases: &[Case]) {
        for (toml, variables, expected) in cases {
            let error = read(toml, variables).unwrap_err();
            for part in *expected {
                assert!(error.contains(part), "{toml:?} {variables:?}: {error} lacks {part}");
            }
        }
    }

    #[test]
    fn a_bad_setting_is_named_with_what_is_allowed() {
        let (long, key) = ("g".repeat(64), "ab".repeat(32));
        let cases: &[Case] = &[
            ("lisen = 1", &[], &["sightline.toml: ", "`lisen`. Did you mean `listen`? Allowed here are listen, "]),
            ("colour = 1", &[], &["unknown setting `colour`; allowed here are listen, "]),
            ("", &[("SIGHTLINE_LISEN", "x")], &["variable SIGHTLINE_LISEN: ", "mean `listen` (SIGHTLINE_LISTEN)?"]),
            (
                "",
                &[("SIGHTLINE_RATE_LIMIT__BURST", "many")],
                &["variable SIGHTLINE_RATE_LIMIT__BURST: ", "`rate_limit.burst`: allowed is a whole number from 1"],
            ),
            ("[rate_limit]\nburst = 0", &[], &["`rate_limit.burst`", "from 1"]),
            (
                "[rate_limit]\ntrusted_proxies = [\"10.0.0.0/33\"]",
                &[],
                &["`rate_limit.trusted_proxies`", "\"10.0.0.0/33\" is not", "192.168.0.0/16"],
            ),
            (
                "",
                &[("SIGHTLINE_RATE_LIMIT__TRUSTED_PROXIES", "10.0.0.1, proxy")],
                &["SIGHTLINE_RATE_LIMIT__TRUSTED_PROXIES", "`rate_limit.trusted_proxies`", "\"proxy\" is not"],
            ),
            (
                "[rate_limit]\nclient_address_header = \"X Real IP\"",
                &[],
                &["`rate_limit.client_address_header`", "the name of a header"],
            ),
            ("listen = \"here\"", &[], &["sightline.toml: ", "`listen`", "an IP address and a port"]),
            ("[cors]\norigins = [\"https://app.example/\"]", &[], &["`cors.origins`", "no slash at the end"]),
            ("", &[("SIGHTLINE_CORS__ORIGINS", "https://a.example, *")], &["`cors.origins`", "\"*\""]),
            ("[cache]\nttl = \"7h\"", &[], &["`cache.ttl`", "1s to 6h"]),
            ("[cache]\nttl = \"soon\"", &[], &["`cache.ttl`", "1s to 6h"]),
            ("[idempotency]\nstore = \"disk\"", &[], &["`idempotency.store`", "database", "none"]),
            ("base_url = \"nowhere\"", &[], &["`base_url`", "http"]),
            ("", &[("SIGHTLINE_SECRETS__KEY", &long)], &["`secrets.key`", "64 hex digits"]),
            ("", &[("SIGHTLINE_SECRETS__PREVIOUS_KEY", &long)], &["`secrets.previous_key`", "64 hex digits"]),
            ("", &[("SIGHTLINE_SECRETS__PREVIOUS_KEY", &key)], &["`secrets.previous_key`", "beside a new secrets.key"]),
            (
                "",
                &[("SIGHTLINE_SECRETS__PREVIOUS_KEY", &key), ("SIGHTLINE_SECRETS__KEY", &key)],
                &["`secrets.previous_key`", "the key before"],
            ),
            ("[identity]\nregistration = \"shut\"", &[], &["`identity.registration`", "open", "closed"]),
            ("[identity]\nkey_max_age = \"1m\"", &[], &["`identity.key_max_age`", "1h to 3650d"]),
            ("[database]\nurl = \"mysql://x\"", &[], &["`database.url`", "sqlite", "postgres"]),
            ("[database]\nurl = \"sqlite:\"", &[], &["`database.url`", "the name of a file"]),
            ("", &[("SIGHTLINE_DATABASE__URL", "sqlite://?mode=rwc")], &["`database.url`", "the name of a file"]),
            ("[search_engine]\napi_url = \"https://x\"", &[], &["`search_engine`", "together"]),
            (&engine("http://engine.example"), &[], &["`search_engine.token_url`", "https"]),
            ("[seo.provider_b]\nurl = \"http://b.example/v3\"", &[], &["`seo.provider_b.url`", "https"]),
            ("[simulator]\nfail = 3", &[], &["`simulator.fail`", "KIND:RATE"]),
            ("", &[("SIGHTLINE_SIMULATOR__SITES", "10001")], &["`simulator.sites`", "0 to 10,000"]),
            ("[identity.sign_in]\nissuer = \"https://id.example\"", &[], &["`identity.sign_in.client_id`"]),
            ("[plans.gold]\nteam = true", &[], &["`plans.gold`", "agency"]),
            ("[plans.pro]\nprices = [\"29 EUR\"]", &[], &["`plans.pro.prices", "\"29 EUR\"", "2900 EUR month"]),
            ("", &[("SIGHTLINE_PLANS__PRO__PRICES", "29 EUR")], &["SIGHTLINE_PLANS__PRO__PRICES", "2900 EUR month"]),
            ("[plans.pro]\nname = \"\"", &[], &["`plans.pro.name`", "1 to 100 characters"]),
            ("[billing]\ngrace_days = 36501", &[], &["`billing.grace_days`", "0 to 36,500"]),
        ];
        assert_refused(cases);
    }

    #[test]
    fn a_refusal_says_where_the_setting_stands_in_plain_words() {
        let cases: &[Case] = &[
            (
                "[rate_limit]\nburst = \"3\"",
                &[],
                &["sightline.toml: ", "`rate_limit.burst`: allowed is a whole number from 1"],
            ),
            ("rate_limit = 3", &[], &["`rate_limit`: allowed is a table of settings"]),
            ("[cache]\nmax_bytes = \"1 box\"", &[], &["`cache.max_bytes`", "256MiB"]),
            (
                "",
                &[("SIGHTLINE_SIMULATOR__FAIL", "slow:2")],
                &["variable SIGHTLINE_SIMULATOR__FAIL: ", "\"slow:2\" is not"],
            ),
            (
                "[simulator]\nfail = [\"slow:1\", \"slow:0.5\"]",
                &[],
                &["toml: ", "`simulator.fail`", "one rate for slow"],
            ),
            (
                "",
                &[("SIGHTLINE_SIMULATOR__CONFLICTS", "all")],
                &["`simulator.conflicts`", "reject_old_start", "\"all\" is not"],
            ),
            (
                "",
                &[("SIGHTLINE_SIMULATOR__TODAY", "1 March")],
                &["`simulator.today`: allowed is a day such as `2026-03-01`"],
            ),
            ("", &[("SIGHTLINE_MAIL__SMTP_URL", "smtps://a.example:port")], &["`mail.smtp_url`", "the port"]),
            ("", &[("SIGHTLINE_IDENTITY__DEMO_SIGN_IN", "perhaps")], &["`identity.demo_sign_in`", "`true` or `false`"]),
            ("", &[("SIGHTLINE_LOG__FORMAT", "xml")], &["`log.format`", "`text` or `json`"]),
            ("[search_engine]\nbucket = 0", &[], &["sightline.toml: ", "`search_engine.bucket`", "from 1"]),
            (
                "",
                &[("SIGHTLINE_PLANS__PRO__BURST", "0")],
                &["SIGHTLINE_PLANS__PRO__BURST: ", "`plans.pro.burst`", "from 1"],
            ),
            ("", &[("SIGHTLINE_BASE_URL", "http://search.example")], &["`base_url`", "https", "loopback"]),
            ("base_url = \"https://search.example/\"", &[], &["`base_url`", "a slash at the end"]),
            ("[identity]\nissuer = \"http://id.example\"", &[], &["`identity.issuer`", "https"]),
        ];
        assert_refused(cases);
    }

    #[test]
    fn a_bad_url_of_a_payment_page_or_a_provider_is_named() {
        let cases: &[Case] = &[
            ("[billing]\ncontact_url = \"call us\"", &[], &["`billing.contact_url`", "mailto:"]),
            ("[billing]\ncheckout_url = \"http://pay.example\"", &[], &["`billing.checkout_url`", "https"]),
            ("[billing]\ncheckout_url = \"https://a:b@pay.example\"", &[], &["`billing.checkout_url`", "password"]),
            ("[billing]\ncheckout_url = \"https://pay.example?plan=x\"", &[], &["`billing.checkout_url`", "query"]),
            ("[billing]\ncheckout_url = \"https://pay.example?reference\"", &[], &["`billing.checkout_url`", "query"]),
            ("[billing]\ncontact_url = \"https://a@example.org\"", &[], &["`billing.contact_url`", "user"]),
            ("[seo.provider_a]\nurl = \"https://a:b@a.example\"", &[], &["`seo.provider_a.url`", "password"]),
            ("[seo.provider_b]\nurl = \"https://b.example?x=1\"", &[], &["`seo.provider_b.url`", "query"]),
        ];
        assert_refused(cases);
    }
}
