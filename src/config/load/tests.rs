//! Tests of how settings are read and refused.

use common::addresses::TrustedProxies;

use super::*;
use crate::config::Secret;

pub(super) fn read(toml: &str, variables: &[(&str, &str)]) -> Result<Config, String> {
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
fn a_cache_takes_at_most_a_quarter_of_the_memory() {
    let most = Config::default().cache.max_bytes.0;
    for (limit, bytes) in [(None, most), (Some(1 << 40), most), (Some(256 << 20), 64 << 20)] {
        assert_eq!(Cache::within(limit).max_bytes.0, bytes, "{limit:?}");
    }
}

#[test]
fn empty_variables_are_none() {
    for setting in table::SETTINGS.iter() {
        let name = table::variable(&setting.name);
        for empty in ["", "\n"] {
            assert_eq!(read("", &[(&name, empty)]), Ok(Config::default()), "{name}");
        }
    }
    let kept = read("listen = \"127.0.0.1:7\"", &[("SIGHTLINE_LISTEN", "")]).unwrap();
    assert_eq!(kept.listen.port(), 7);
    let none = read("", &[("SIGHTLINE_MCP__ORIGINS", ",")]).unwrap();
    assert_eq!(none.mcp.origins, Some(vec![]), "a comma is an empty list");
}

#[test]
fn variables_are_read_as_files_and_languages_write_them() {
    let key = "ab".repeat(32);
    let config = read(
        "",
        &[
            ("SIGHTLINE_SECRETS__KEY", &format!("{key}\n")),
            ("SIGHTLINE_IDENTITY__CLIENT_SECRET", "hunter2\r\n"),
            ("SIGHTLINE_LISTEN", " 127.0.0.1:7 "),
            ("SIGHTLINE_BASE_URL", " https://search.example"),
            ("SIGHTLINE_CACHE__TTL", "30m "),
            ("SIGHTLINE_RATE_LIMIT__ENABLED", "False"),
            ("SIGHTLINE_BILLING__ENABLED", "TRUE"),
        ],
    )
    .unwrap();
    assert_eq!(config.secrets.key, Some(Secret(key)));
    assert_eq!(config.identity.client_secret, Some(Secret("hunter2".to_owned())));
    assert_eq!((config.listen.port(), config.cache.ttl.0), (7, 1800));
    assert_eq!(config.base_url(config.listen).as_str(), "https://search.example");
    assert_eq!((config.rate_limit.enabled, config.billing.enabled), (false, true));
    for (text, is_on) in [("1", true), ("0", false), ("yes", true), ("No", false), ("ON", true), ("off ", false)] {
        assert_eq!(read("", &[("SIGHTLINE_BILLING__ENABLED", text)]).unwrap().billing.enabled, is_on, "{text}");
    }
    assert!(read("", &[("SIGHTLINE_BILLING__ENABLED", "2")]).unwrap_err().contains("allowed is `true` or `false`"));
}

#[test]
fn quotation_marks_around_a_variable_are_refused_by_its_name() {
    for value in ["\"false\"", "'false'", "\"s3cr3t\"", "\"\""] {
        for name in ["SIGHTLINE_BILLING__ENABLED", "SIGHTLINE_DATA_DIR", "SIGHTLINE_IDENTITY__CLIENT_SECRET"] {
            let refused = read("", &[(name, value)]).unwrap_err();
            let expected =
                "the value has quotation marks around it, which `docker run --env-file` keeps; leave them out";
            assert_eq!(refused, format!("variable {name}: {expected}"));
        }
    }
    let within = read("", &[("SIGHTLINE_IDENTITY__CLIENT_SECRET", "a\"b\""), ("OTHER", "\"x\"")]).unwrap();
    assert_eq!(within.identity.client_secret, Some(Secret("a\"b\"".to_owned())));
}

#[test]
fn what_only_a_shell_expands_is_refused() {
    for (setting, value) in [
        ("DATA_DIR", "~/sightline"),
        ("DATA_DIR", "$HOME/sightline"),
        ("DATA_DIR", "~"),
        ("DATABASE__URL", "sqlite://~/sightline.db"),
        ("DATABASE__URL", "sqlite:$HOME/sightline.db"),
    ] {
        let name = format!("SIGHTLINE_{setting}");
        let refused = read("", &[(&name, value)]).unwrap_err();
        assert!(refused.starts_with(&format!("variable {name}: ")) && refused.contains("by shells only"), "{refused}");
    }
    assert!(read("", &[("SIGHTLINE_DATA_DIR", "./~a")]).is_ok());
}

#[test]
fn a_data_folder_is_the_one_that_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["plain", "z%20w", "what?mode=ro", "#1", "ä b"] {
        let data_dir = folder.path().join(name);
        let config = Config { data_dir: data_dir.to_str().unwrap().to_owned(), ..Config::default() };
        let file = store::database::missing_file(&config.database_url());
        assert_eq!(file, Some(data_dir.join("sightline.db")), "{name}");
    }
    for name in ["da ta/x", "da ta", "a:b", "[a]", "a|b", "a^b", "a?b", "a%20b", "@", "..", "."] {
        let config = Config { data_dir: name.to_owned(), ..Config::default() };
        let file = store::database::missing_file(&config.database_url());
        let expected = std::path::absolute(std::path::Path::new(name).join("sightline.db")).unwrap();
        assert_eq!(file, Some(expected), "{name}");
    }
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
        ("[simulator]\nfail = [\"slow:1\", \"slow:0.5\"]", &[], &["toml: ", "`simulator.fail`", "one rate for slow"]),
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
        ("[traces]\notlp_endpoint = \"collector:4317\"", &[], &["`traces.otlp_endpoint`", "http or https"]),
        (
            "[traces]\notlp_endpoint = \"https://a:b@otlp.example\"",
            &[],
            &["`traces.otlp_endpoint`", "OTEL_EXPORTER_OTLP_HEADERS"],
        ),
        (
            "[traces]\notlp_endpoint = \"https://otlp.example/v1/traces\"",
            &[],
            &["`traces.otlp_endpoint`", "without `/v1/traces`"],
        ),
        ("[billing]\ncheckout_url = \"https://a:b@pay.example\"", &[], &["`billing.checkout_url`", "password"]),
        ("[billing]\ncheckout_url = \"https://pay.example?plan=x\"", &[], &["`billing.checkout_url`", "query"]),
        ("[billing]\ncheckout_url = \"https://pay.example?reference\"", &[], &["`billing.checkout_url`", "query"]),
        ("[billing]\ncontact_url = \"https://a@example.org\"", &[], &["`billing.contact_url`", "user"]),
        ("[seo.provider_a]\nurl = \"https://a:b@a.example\"", &[], &["`seo.provider_a.url`", "password"]),
        ("[seo.provider_b]\nurl = \"https://b.example?x=1\"", &[], &["`seo.provider_b.url`", "query"]),
    ];
    assert_refused(cases);
}
