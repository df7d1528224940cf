//! Tests of the lines of the log.

use std::time::Duration;

use poem::http::Method;
use serde_json::json;
use sightline::app::http_client;
use tempfile::TempDir;
use tokio::time::timeout;

use crate::{
    commands::{Running, sightline},
    support::{actor::Actor, browser::Browser},
};

#[tokio::test]
async fn documents_and_refusals_are_one_line_together() {
    let folder = TempDir::new().unwrap();
    let settings =
        [("LISTEN", "127.0.0.1:0"), ("DATA_DIR", "data"), ("RATE_LIMIT__PER_MINUTE", "1"), ("RATE_LIMIT__BURST", "2")];
    let server = Running::start(sightline(folder.path(), &["serve"], &settings));
    let anonymous = Actor::anonymous(&server.url);
    let tag = anonymous.get("/docs/start.js").await.expect(200).header("etag").to_owned();
    for path in ["/changelog", "/openapi.json", "/.well-known/openid-configuration"] {
        anonymous.get(path).await.expect(200);
    }
    anonymous.send(Method::GET, "/docs/start.js", None, &[("if-none-match", &tag)]).await.expect(304);
    for status in [200, 200, 429, 429, 429] {
        anonymous.get("/api/billing/plans").await.expect(status);
    }
    anonymous.get("/nothing").await.expect(404);
    let (_, _, log) = server.terminate();
    let lines = |text: &str| log.lines().filter(|line| line.contains(text)).count();
    assert_eq!(lines("GET /api/billing/plans 200"), 2, "{log}");
    assert_eq!((lines(" 429 "), lines("GET (no such page) 404")), (0, 1), "{log}");
    assert_eq!(lines("5 requests for fixed content, 3 refused with 429, and 0 of networks"), 1, "{log}");
}

#[tokio::test]
async fn each_page_of_a_site_has_a_line_of_its_own_without_the_site() {
    let folder = TempDir::new().unwrap();
    let settings = [("LISTEN", "127.0.0.1:0"), ("DATA_DIR", "data")];
    let server = Running::start(sightline(folder.path(), &["serve"], &settings));
    let site = Actor::signed_in(&server.url, "owner").await.property("northmoor").await;
    let browser = Browser::signed_in(&server.url, "owner").await;
    let pages =
        ["", "/queries", "/pages", "/countries", "/growth", "/cannibalization", "/insights", "/notes", "/settings"];
    for page in pages {
        browser.get(&format!("/p/{site}{page}")).await.expect(200, &[]);
    }
    browser.get(&format!("/p/{site}/queries/more")).await.expect(404, &[]);
    browser.get(&format!("/p/{site}/nothing")).await.expect(404, &[]);
    let (_, _, log) = server.terminate();
    for page in pages {
        assert_eq!(log.matches(&format!("GET /p/{{id}}{page} 200 ")).count(), 1, "{page}: {log}");
    }
    assert_eq!(log.matches("GET /p/{id}/{part} 404 ").count(), 1, "{log}");
    assert!(!log.contains(&site), "{log}");
}

#[tokio::test]
async fn a_client_that_leaves_is_no_error() {
    let folder = TempDir::new().unwrap();
    let settings = [("LISTEN", "127.0.0.1:0"), ("DATA_DIR", "data")];
    let server = Running::start(sightline(folder.path(), &["serve"], &settings));
    let owner = Actor::signed_in(&server.url, "owner").await;
    let forms = ["application/json", "text/event-stream", "application/json, text/event-stream"];
    for (number, accept) in (0..40).zip(forms.into_iter().cycle()) {
        let arguments = json!({ "property": "northmoor.example", "period": format!("last_{}_days", 20 + number) });
        let params = json!({ "name": "get_performance", "arguments": arguments, "_meta": { "progressToken": 1 } });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
        let request = http_client().unwrap().post(format!("{}/mcp", server.url)).header("accept", accept);
        let request = request.header("content-type", "application/json").bearer_auth(owner.token()).body(call);
        let _ = timeout(Duration::from_millis(7 * number), request.send()).await;
    }
    let (_, _, log) = server.terminate();
    let errors: Vec<&str> = log.lines().filter(|line| line.contains("ERROR") || line.contains("WARN")).collect();
    assert_eq!(errors, Vec::<&str>::new());
}

/// A balancer asks for health every two seconds.
#[tokio::test]
async fn health_that_is_well_has_no_line() {
    let folder = TempDir::new().unwrap();
    let server = Running::start(sightline(folder.path(), &["serve"], &[("LISTEN", "127.0.0.1:0")]));
    let anonymous = Actor::anonymous(&server.url);
    for probe in ["", "?probe=live"] {
        anonymous.get(&format!("/api/health{probe}")).await.expect(200);
    }
    anonymous.get("/api/health?probe=other").await.expect(400);
    let (_, _, log) = server.terminate();
    assert_eq!(log.matches("GET /api/health ").count(), 1, "{log}");
    assert!(log.contains("GET /api/health 400 "), "{log}");
}

/// `journalctl -p warning` finds warnings by the priority that a line begins with.
#[cfg(unix)]
#[test]
fn lines_for_the_journal_have_a_priority_and_no_time() {
    use std::{
        io::{BufRead as _, BufReader},
        os::unix::fs::MetadataExt as _,
        process::Command,
    };
    let folder = TempDir::new().unwrap();
    for (is_journal, begins) in [(true, "<6> INFO "), (false, "2")] {
        let journal = folder.path().join("journal");
        let file = std::fs::File::create(&journal).unwrap();
        let own = file.metadata().unwrap();
        let stream = format!("{}:{}", own.dev(), own.ino() + u64::from(!is_journal));
        let mut serve = sightline(folder.path(), &["serve"], &[("LISTEN", "127.0.0.1:0")]);
        serve.env("JOURNAL_STREAM", stream).stderr(file);
        let mut child = serve.spawn().unwrap();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
        assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
        assert!(child.wait().unwrap().success());
        let log = std::fs::read_to_string(&journal).unwrap();
        assert!(!log.is_empty() && log.lines().all(|line| line.starts_with(begins)), "{log}");
    }
}
