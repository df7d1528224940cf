//! Tests of traces: what a collector gets.

use std::time::Duration;

use opentelemetry_proto::tonic::trace::v1::{Span, span::SpanKind};
use poem::http::{Method, StatusCode};
use serde_json::json;
use sightline::config::Config;
use tempfile::TempDir;
use tokio::{net::TcpListener, time::timeout};

use crate::{
    commands::{Running, sightline},
    support::{
        actor::Actor,
        app::TestApp,
        assistant::Assistant,
        browser::Browser,
        collector::{Collector, text},
    },
};

const QUESTION: &str = "/api/properties/{id}/query-count";

/// The ids of a caller's trace and span, and the header that names them.
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

fn parent() -> (&'static str, String) {
    ("traceparent", format!("00-{TRACE}-{CALLER}-01"))
}

fn traced(collector: &Collector) -> impl FnOnce(&mut Config) {
    let root = collector.root.parse().unwrap();
    move |config| config.traces.otlp_endpoint = Some(root)
}

fn hex(id: &[u8]) -> String {
    id.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

fn named<'s>(spans: &'s [Span], name: &str) -> &'s Span {
    let names = || spans.iter().map(|span| span.name.as_str()).collect::<Vec<_>>();
    spans.iter().find(|span| span.name == name).unwrap_or_else(|| panic!("no {name} in {:?}", names()))
}

/// The parts of a span.
fn parts<'s>(spans: &'s [Span], of: &Span) -> Vec<&'s Span> {
    spans.iter().filter(|span| span.parent_span_id == of.span_id).collect()
}

#[tokio::test]
async fn a_request_is_one_trace_down_to_upstream_requests_and_statements() {
    let collector = Collector::start(StatusCode::OK).await;
    let app = TestApp::start(traced(&collector)).await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    let (name, value) = parent();
    let path = QUESTION.replace("{id}", &property);
    let headers = [(name, value.as_str()), ("x-correlation-id", "asked-1")];
    owner.send(Method::GET, &path, None, &headers).await.expect(200);
    app.service.shutdown().await;

    let spans = collector.spans();
    let request = named(&spans, &format!("GET {QUESTION}"));
    assert_eq!((hex(&request.trace_id), hex(&request.parent_span_id)), (TRACE.to_owned(), CALLER.to_owned()));
    assert_eq!((request.kind(), request.trace_state.as_str()), (SpanKind::Server, ""));
    for (key, value) in [
        ("http.request.method", "GET"),
        ("http.route", QUESTION),
        ("http.response.status_code", "200"),
        ("sightline.request_id", "asked-1"),
    ] {
        assert_eq!(text(&request.attributes, key), value, "{key}");
    }

    let of_request: Vec<Span> = spans.iter().filter(|span| hex(&span.trace_id) == TRACE).cloned().collect();
    for span in &of_request {
        let has_parent = of_request.iter().any(|parent| parent.span_id == span.parent_span_id);
        assert!(has_parent || span.span_id == request.span_id, "{span:?}");
        assert!(span.start_time_unix_nano <= span.end_time_unix_nano, "{span:?}");
    }
    let queries = parts(&of_request, request).into_iter().filter(|span| span.name == "search engine query");
    let attempts: Vec<&Span> = queries.flat_map(|query| parts(&of_request, query)).collect();
    let attempt =
        attempts.iter().find(|span| span.kind() == SpanKind::Client && span.name == "POST searchAnalytics/query");
    let about = &attempt.unwrap().attributes;
    assert_eq!(
        (text(about, "http.response.status_code"), text(about, "sightline.outcome")),
        ("200".into(), "ok".into())
    );
    assert!(attempts.iter().any(|span| span.name == "wait for the pace"), "{attempts:?}");
    let statement = named(&of_request, "SELECT");
    let system = text(&statement.attributes, "db.system.name");
    assert!(["sqlite", "postgresql"].contains(&system.as_str()), "{system}");

    assert_eq!(collector.service("service.name"), "sightline");
    assert_eq!(collector.service("service.version"), env!("CARGO_PKG_VERSION"));
    assert_eq!(collector.service("service.instance.id").len(), 36);
}

#[tokio::test]
async fn other_traces_begin_with_a_request_or_in_the_background_and_malformed_parents_are_none() {
    let collector = Collector::start(StatusCode::OK).await;
    let app = TestApp::start(traced(&collector)).await;
    let owner = app.actor("owner").await;
    owner.send(Method::GET, "/api/tags", None, &[("traceparent", "00-not-a-parent-01")]).await.expect(200);
    owner.post("/api/tags", &json!({ "name": "mine" })).await.expect(201);
    app.anonymous().get("/api/tags").await.expect(401);
    app.service.sweep().await;
    app.service.shutdown().await;

    let spans = collector.spans();
    let read = named(&spans, "GET /api/tags");
    assert_eq!(read.parent_span_id, [] as [u8; 0]);
    let write = named(&spans, "POST /api/tags");
    assert_ne!(read.trace_id, write.trace_id);
    let names: Vec<&str> = parts(&spans, write).iter().map(|span| span.name.as_str()).collect();
    for name in ["BEGIN", "INSERT", "COMMIT"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    let sweep = named(&spans, "sweep");
    assert_eq!(sweep.parent_span_id, [] as [u8; 0]);
    assert!(parts(&spans, sweep).iter().any(|span| span.name == "DELETE"));
}

#[tokio::test]
async fn a_tool_call_and_a_page_are_parents_of_the_operations_that_they_ask() {
    let collector = Collector::start(StatusCode::OK).await;
    let app = TestApp::start(traced(&collector)).await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    let arguments = json!({ "property": "northmoor.example" });
    let call = json!({ "name": "get_performance", "arguments": arguments });
    Assistant::of(&app, &owner).ask("tools/call", call).await;
    let browser = Browser::signed_in(&app.service.base_url, "owner").await;
    browser.get(&format!("/p/{property}")).await.expect(200, &[]);
    app.service.shutdown().await;

    let spans = collector.spans();
    for (outer, operation) in [("POST /mcp", "getPropertyPerformance"), ("GET /p/{id}", "getPropertyPerformance")] {
        let outers = spans.iter().filter(|span| span.name == outer && span.kind() == SpanKind::Server);
        let asked: Vec<&Span> = outers.flat_map(|outer| parts(&spans, outer)).collect();
        assert!(asked.iter().any(|span| span.name == operation), "{outer}: {asked:?}");
    }
}

#[tokio::test]
async fn no_span_names_people_sites_queries_pages_or_secrets() {
    let collector = Collector::start(StatusCode::OK).await;
    let app = TestApp::start(traced(&collector)).await;
    let owner = Actor::signed_in(&app.service.base_url, "owner").await;
    let property = owner.property("northmoor").await;
    let browser = Browser::signed_in(&app.service.base_url, "owner").await;
    browser.get(&format!("/p/{property}")).await.expect(200, &[]);
    let path = format!("/api/properties/{property}/performance");
    for (dimension, value) in [("query", "canaryquery"), ("page", "/canarypage")] {
        let filter = json!([{ "dimension": dimension, "operator": "contains", "value": value }]);
        owner.ask(&path, &[("filters", &filter.to_string())]).await.expect(200);
    }
    owner.ask(&path, &[("filters", "canaryfilter")]).await.expect(400);
    owner.get("/canarypath?email=ann%40canary.example").await;
    let strange = [("tracestate", "vendor=canarystate"), ("traceparent", "canaryparent")];
    owner.send(Method::GET, "/api/properties", None, &strange).await.expect(200);
    owner.post("/api/tags", &json!({ "name": "canarytag" })).await.expect(201);
    let arguments = json!({ "property": "northmoor.example", "query": "canaryquery" });
    Assistant::of(&app, &owner).ask("tools/call", json!({ "name": "get_performance", "arguments": arguments })).await;
    owner
        .put("/api/integrations/provider-a", &json!({ "login": "good@demo.test", "password": "demo" }))
        .await
        .expect(200);
    let research = format!("/api/properties/{property}/keyword-research?keywords=canarykeyword&provider=a");
    owner.get(&research).await.expect(200);
    app.service.shutdown().await;

    let spans = collector.spans();
    for name in ["seo question", "search engine query", "search engine token", "GET /p/{id}", "POST /oauth/token"] {
        named(&spans, name);
    }
    let secrets = [owner.token().to_owned(), browser.cookie("sightline_session").unwrap(), property];
    let told = ["canary", "northmoor", "@", "%40", "demo.test", "owner", "127.0.0.1", "localhost"];
    let never: Vec<&str> = told.into_iter().chain(secrets.iter().map(String::as_str)).collect();
    let got = collector.as_text().to_lowercase();
    for canary in never {
        assert!(!got.contains(&canary.to_lowercase()), "{canary}");
    }
}

#[tokio::test]
async fn a_collector_that_never_answers_delays_no_request_and_stops_no_end() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let root = format!("http://{}", silent.local_addr().unwrap()).parse().unwrap();
    let app = TestApp::start(|config| config.traces.otlp_endpoint = Some(root)).await;
    let owner = app.actor("owner").await;
    let path = format!("/api/properties/{}/performance", owner.property("northmoor").await);
    for _ in 0..20 {
        owner.get(&path).await.expect(200);
    }
    timeout(Duration::from_secs(30), app.service.shutdown()).await.unwrap();
}

#[tokio::test]
async fn a_collector_that_fails_is_one_line_of_the_log() {
    let (folder, collector) = (TempDir::new().unwrap(), Collector::start(StatusCode::SERVICE_UNAVAILABLE).await);
    let settings = [("LISTEN", "127.0.0.1:0"), ("TRACES__OTLP_ENDPOINT", collector.root.as_str())];
    let mut program = sightline(folder.path(), &["serve"], &settings);
    program.env("OTEL_BSP_SCHEDULE_DELAY", "10").env("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20canary");
    let server = Running::start(program);
    let anonymous = Actor::anonymous(&server.url);
    for batches in 1..=3 {
        anonymous.get("/api/billing/plans").await.expect(200);
        collector.got(batches).await;
    }
    let (_, _, log) = server.terminate();
    let lines: Vec<&str> = log.lines().filter(|line| line.contains("collector")).collect();
    assert!(matches!(lines[..], [line] if line.contains("WARN") && line.contains("it answered 503")), "{log}");
    assert!(!log.contains("canary"), "{log}");
    let (headers, _) = collector.batches().remove(0);
    assert_eq!(
        (&headers["authorization"], &headers["content-type"]),
        (&"Bearer canary".parse().unwrap(), &"application/x-protobuf".parse().unwrap())
    );
}

#[tokio::test]
async fn without_the_setting_no_collector_is_asked() {
    let (folder, collector) = (TempDir::new().unwrap(), Collector::start(StatusCode::OK).await);
    let mut program = sightline(folder.path(), &["serve"], &[("LISTEN", "127.0.0.1:0")]);
    program.env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.root).env("OTEL_BSP_SCHEDULE_DELAY", "1");
    let server = Running::start(program);
    let (name, value) = parent();
    let anonymous = Actor::anonymous(&server.url);
    anonymous.send(Method::GET, "/api/billing/plans", None, &[(name, value.as_str())]).await.expect(200);
    server.terminate();
    assert_eq!(collector.batches().len(), 0);
}
