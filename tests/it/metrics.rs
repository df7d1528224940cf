//! Tests of the metrics.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use poem::http::Method;
use serde_json::json;
use sightline::{app, config::Config};

use crate::support::{actor::Actor, app::TestApp, relay::Relay, whole::Whole as _};

/// The values of a scrape, by name and labels.
pub type Scrape = BTreeMap<String, f64>;

/// The media type and the body of a scrape by a reader that sends `accept`.
async fn scraped(app: &TestApp, accept: &str) -> (String, String) {
    let address = app.service.metrics_address.unwrap();
    let request = app::http_client().unwrap().get(format!("http://{address}/metrics")).header("accept", accept);
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status().as_u16(), 200);
    let media_type = answer.headers()["content-type"].to_str().unwrap().to_owned();
    (media_type, answer.whole_text().await.unwrap())
}

async fn text(app: &TestApp) -> String {
    let (media_type, text) = scraped(app, "application/openmetrics-text").await;
    assert!(media_type.starts_with("application/openmetrics-text"), "{media_type}");
    text
}

pub async fn scrape(app: &TestApp) -> Scrape {
    let text = text(app).await;
    let values = text.lines().filter(|line| !line.starts_with('#')).map(|line| line.rsplit_once(' ').unwrap());
    values.map(|(series, value)| (series.to_owned(), value.parse().unwrap())).collect()
}

fn value(scrape: &Scrape, series: &str) -> f64 {
    scrape.get(series).copied().unwrap_or_default()
}

/// The number of requests that are not answered yet.
pub async fn in_flight(app: &TestApp) -> f64 {
    value(&scrape(app).await, "sightline_http_requests_in_flight")
}

/// The number of requests of people that wait for the pace.
pub async fn waiting(app: &TestApp) -> f64 {
    value(&scrape(app).await, r#"sightline_pace_waiting{lane="own"}"#)
}

/// Settings under which everything is counted.
pub fn counted(config: &mut Config) {
    config.metrics.listen = Some(([127, 0, 0, 1], 0).into());
    config.rate_limit.enabled = true;
    config.seo.patience.backoff = Duration::ZERO;
}

/// Stores credentials that work and some that do not, and asks a question that is paid for.
async fn use_providers(app: &TestApp, owner: &Actor) {
    let login = async |name: &str| {
        let credentials = json!({ "login": name, "password": "demo" });
        owner.put("/api/integrations/provider-a", &credentials).await.status.as_u16()
    };
    assert_eq!(login("good@demo.test").await, 200);
    assert_eq!(login("unverified@demo.test").await, 409);
    assert_eq!(login("limited@demo.test").await, 503);
    app.simulator().controls().set_faults(vec!["error500:1".parse().unwrap()]);
    assert_eq!(login("good@demo.test").await, 503);
    app.simulator().controls().set_faults(Vec::new());
    owner.put("/api/integrations/provider-b", &json!({ "apiKey": "good-key" })).await.expect(200);
    let property = owner.property("northmoor").await;
    owner.get(&format!("/api/properties/{property}/keyword-research?keywords=tent&provider=a")).await.expect(200);
}

/// The series that [`use_providers`] moves.
const OF_PROVIDERS: [(&str, f64); 7] = [
    (r#"sightline_seo_provider_requests_total{provider="a",outcome="ok"}"#, 2.0),
    (r#"sightline_seo_provider_requests_total{provider="a",outcome="refused"}"#, 1.0),
    (r#"sightline_seo_provider_requests_total{provider="a",outcome="quota"}"#, 1.0),
    // A free question is sent three times.
    (r#"sightline_seo_provider_requests_total{provider="a",outcome="failed"}"#, 3.0),
    (r#"sightline_seo_provider_requests_total{provider="b",outcome="ok"}"#, 1.0),
    (r#"sightline_seo_provider_request_duration_seconds_count{provider="a"}"#, 7.0),
    (r#"sightline_seo_provider_request_duration_seconds_count{provider="b"}"#, 1.0),
];

/// The series that [`use_everything`] moves by so much besides.
const COUNTED: [(&str, f64); 13] = [
    (r#"sightline_http_requests_total{operation="getPropertyPerformance",status="200"}"#, 2.0),
    (r#"sightline_http_request_duration_seconds_count{operation="getPropertyPerformance"}"#, 2.0),
    (r#"sightline_http_requests_total{operation="createTag",status="201"}"#, 2.0),
    (r#"sightline_http_requests_total{operation="listTags",status="401"}"#, 1.0),
    (r#"sightline_idempotent_writes_total{outcome="first"}"#, 1.0),
    (r#"sightline_idempotent_writes_total{outcome="replayed"}"#, 1.0),
    ("sightline_rate_limit_refusals_total", 1.0),
    (r#"sightline_page_requests_total{page="/changelog",status="200"}"#, 1.0),
    (r#"sightline_page_request_duration_seconds_count{page="/changelog"}"#, 1.0),
    (r#"sightline_page_requests_total{page="(no such page)",status="404"}"#, 1.0),
    (r#"sightline_sign_ins_total{outcome="expired"}"#, 1.0),
    (r#"sightline_sweeps_total{outcome="done"}"#, 1.0),
    ("sightline_sweep_duration_seconds_count", 1.0),
];

/// The series that [`use_everything`] moves.
const MOVED: [&str; 15] = [
    r#"sightline_search_engine_requests_total{outcome="ok"}"#,
    r#"sightline_search_engine_token_requests_total{outcome="ok"}"#,
    r#"sightline_pace_wait_seconds_count{lane="own"}"#,
    "sightline_search_engine_request_duration_seconds_count",
    r#"sightline_cache_entries{cache="readings"}"#,
    r#"sightline_cache_bytes{cache="readings"}"#,
    r#"sightline_cache_bytes{cache="answers"}"#,
    r#"sightline_cache_hits_total{cache="readings"}"#,
    r#"sightline_cache_hits_total{cache="answers"}"#,
    r#"sightline_cache_insertions_total{cache="readings"}"#,
    "sightline_database_statements_total",
    "sightline_database_statement_duration_seconds_count",
    "sightline_database_wait_seconds_count",
    "process_cpu_seconds_total",
    "sightline_rate_limit_callers",
];

async fn use_everything(app: &TestApp, owner: &Actor, anonymous: &Actor) {
    use_providers(app, owner).await;
    let property = owner.property("northmoor").await;
    for _ in 0..2 {
        owner.get(&format!("/api/properties/{property}/performance")).await.expect(200);
        let headers = [("content-type", "application/json"), ("idempotency-key", "metrics")];
        let tag = json!({ "name": "Shops" }).to_string();
        owner.send(Method::POST, "/api/tags", Some(tag), &headers).await.expect(201);
    }
    anonymous.get("/api/tags").await.expect(401);
    anonymous.get("/changelog").await.expect(200);
    anonymous.get("/no/such/page").await.expect(404);
    anonymous.get("/auth/callback").await.expect(400);
    app.service.sweep().await;
    while anonymous.get("/api").await.status.as_u16() != 429 {}
}

/// The names in the tables of docs/METRICS.md.
pub fn documented() -> BTreeSet<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/METRICS.md");
    let page = std::fs::read_to_string(path).unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    rows.map(str::to_owned).collect()
}

#[tokio::test]
async fn every_documented_metric_is_there_and_moves_when_it_should() {
    let app = TestApp::start(|config| {
        counted(config);
        config.redis.url = Some(Relay::to_nobody("redis://127.0.0.1"));
    });
    let app = app.await;
    let (owner, anonymous) = (app.actor("owner").await, app.anonymous());
    let before = scrape(&app).await;
    use_everything(&app, &owner, &anonymous).await;
    let after = scrape(&app).await;

    let series_of = |scrape: &Scrape, name: &str| -> Vec<String> {
        let is_of = |series: &&String| {
            let found = series.split('{').next().unwrap();
            found == name || found.strip_prefix(name).is_some_and(|end| ["_bucket", "_sum", "_count"].contains(&end))
        };
        scrape.keys().filter(is_of).cloned().collect()
    };
    let named = documented();
    assert!(named.len() > 15, "{named:?}");
    for name in &named {
        assert!(!series_of(&after, name).is_empty(), "{name} is not scraped");
    }
    for series in after.keys() {
        assert!(named.iter().any(|name| series_of(&after, name).contains(series)), "{series} is not documented");
    }

    let moved = |series: &str| value(&after, series) - value(&before, series);
    for (series, by) in OF_PROVIDERS.into_iter().chain(COUNTED) {
        assert!((moved(series) - by).abs() < 0.1, "{series} moved by {}", moved(series));
    }
    for series in MOVED {
        assert!(moved(series) > 0.0, "{series} did not move");
    }
    assert!(value(&after, r#"sightline_cache_max_bytes{cache="readings"}"#) > 0.0);
    assert!(value(&after, &format!(r#"sightline_build_info{{version="{}"}}"#, env!("CARGO_PKG_VERSION"))) > 0.9);
    assert!(value(&after, "process_open_fds") < value(&after, "process_max_fds"));
    let open: f64 = after.iter().filter(|(name, _)| name.starts_with("sightline_database_c")).map(|(_, n)| n).sum();
    assert!(open > 0.0);
    assert!(value(&after, "sightline_http_requests_in_flight").abs() < 0.1, "{after:?}");
}

#[tokio::test]
async fn a_request_that_is_not_answered_yet_is_in_flight() {
    let app = TestApp::start(counted).await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    app.simulator().controls().set_faults(vec!["slow:1".parse().unwrap()]);
    let path = format!("/api/properties/{property}/query-count");
    let asked = tokio::spawn(async move { owner.get(&path).await });
    while in_flight(&app).await < 1.0 {}
    asked.abort();
    while in_flight(&app).await > 0.0 {}
}

#[tokio::test]
async fn what_waits_for_the_pace_and_what_has_used_it_up_is_seen() {
    let app = TestApp::start(|config| {
        counted(config);
        config.search_engine.bucket = 2;
        config.search_engine.refill_per_second = 1;
    });
    let app = app.await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    let path = format!("/api/properties/{property}/performance?scope=all");
    let asked = tokio::spawn(async move { owner.get(&path).await });
    while waiting(&app).await < 1.0 {}
    let used = async |of: &str| {
        let scrape = scrape(&app).await;
        scrape[&format!(r#"sightline_search_engine_quota_used_ratio{{of="{of}"}}"#)]
    };
    assert!(used("account").await > 0.0 && used("site").await > 0.0);
    assert!(used("minute").await < 0.1 && used("day").await < 0.1);
    asked.abort();
    while waiting(&app).await > 0.0 {}
}

#[tokio::test]
async fn a_used_up_quota_of_the_service_is_said_at_once_in_words_and_counted() {
    let app = TestApp::start(|config| {
        counted(config);
        config.search_engine.quota.per_day = 60;
    });
    let app = app.await;
    let owner = app.actor("owner").await;
    let path = format!("/api/properties/{}/performance", owner.property("northmoor").await);
    // Each day of October is another question.
    let ask = async |day: u32| {
        let day = format!("2026-10-{day:02}");
        owner.ask(&path, &[("startDate", &day), ("endDate", &day), ("scope", "all")]).await
    };
    let mut day = 1;
    let refused = loop {
        let answer = ask(day).await;
        if answer.status != 200 {
            break answer.expect(503);
        }
        day += 1;
    };
    assert_eq!(refused.code(), "search_engine_unavailable");
    let hint = refused.json["hint"].as_str().unwrap();
    assert!(hint.starts_with("This service has used up its quota at the search engine."), "{hint}");
    let seconds: u64 = refused.header("retry-after").parse().unwrap();
    assert!(seconds > 60, "{seconds}");
    assert!(value(&scrape(&app).await, r#"sightline_pace_refusals_total{reason="quota"}"#) > 0.0);
}

#[tokio::test]
async fn ended_grants_are_counted_with_the_state_of_their_accounts() {
    let app = TestApp::start(counted).await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    let accounts =
        |scrape: &Scrape, state: &str| value(scrape, &format!(r#"sightline_search_accounts{{state="{state}"}}"#));
    let before = scrape(&app).await;
    assert!(accounts(&before, "connected") > 0.0, "{before:?}");
    app.simulator().controls().set_faults(vec!["invalid_grant:1".parse().unwrap()]);
    app.hand.advance(chrono::TimeDelta::hours(2));
    let owner = app.actor("owner").await;
    owner.get(&format!("/api/properties/{property}/performance?scope=all")).await.expect(409);
    let after = scrape(&app).await;
    assert!(value(&after, r#"sightline_search_engine_token_requests_total{outcome="grant_ended"}"#) > 0.0, "{after:?}");
    assert!((accounts(&after, "reconnect_required") - accounts(&before, "reconnect_required") - 1.0).abs() < 0.1);
    assert!((accounts(&before, "connected") - accounts(&after, "connected") - 1.0).abs() < 0.1);
}

#[tokio::test]
async fn metrics_name_nobody_and_are_served_at_their_own_address_alone() {
    let app = TestApp::start(counted).await;
    let (owner, anonymous) = (app.actor("owner").await, app.anonymous());
    use_everything(&app, &owner, &anonymous).await;
    let text = text(&app).await;
    for private in ["northmoor", "demo.test", "127.0.0.1", &owner.property("northmoor").await] {
        assert!(!text.contains(private), "{private}");
    }
    assert!(text.ends_with("# EOF\n"));
    assert_eq!(anonymous.get("/metrics").await.status.as_u16(), 404);
    let address = app.service.metrics_address.unwrap();
    let send = async |method: Method, path: &str| {
        let request = app::http_client().unwrap().request(method, format!("http://{address}{path}"));
        request.bearer_auth(owner.token()).body("x".repeat(100)).send().await.unwrap()
    };
    for path in
        ["/", "/api", "/api/health", "/api/properties", "/docs", "/account", "/oauth/token", "/mcp", "/metrics/x"]
    {
        for method in [Method::GET, Method::POST] {
            assert_eq!(send(method.clone(), path).await.status().as_u16(), 404, "{method} {path}");
        }
    }
    for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS] {
        assert_eq!(send(method.clone(), "/metrics").await.status().as_u16(), 405, "{method}");
    }
    let silent = TestApp::start(|_| {}).await;
    assert!(silent.service.metrics_address.is_none(), "off by default");
}

#[tokio::test]
async fn a_reader_gets_the_format_that_it_accepts_with_the_same_series() {
    let app = TestApp::start(counted).await;
    app.actor("owner").await.get("/api/properties").await.expect(200);
    let (media_type, open) = scraped(&app, "application/openmetrics-text;version=1.0.0,text/plain;q=0.5").await;
    assert!(media_type.starts_with("application/openmetrics-text; version=1.0.0") && open.ends_with("\n# EOF\n"));
    let (media_type, plain) = scraped(&app, "*/*").await;
    assert!(media_type.starts_with("text/plain; version=0.0.4") && !plain.contains("# EOF"), "{media_type}");
    let names = |text: &str| -> BTreeSet<String> {
        let series = text.lines().filter(|line| !line.starts_with('#'));
        series.map(|line| line.split(['{', ' ']).next().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&plain), names(&open));
    for line in plain.lines().filter(|line| line.starts_with("# TYPE ")) {
        let (name, kind) = line["# TYPE ".len()..].split_once(' ').unwrap();
        assert_eq!(name.ends_with("_total"), kind == "counter", "{line}");
    }
}
