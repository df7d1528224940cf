//! Tests of the lines of the log.

use poem::http::Method;
use tempfile::TempDir;

use crate::{
    commands::{Running, sightline},
    support::actor::Actor,
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
    assert_eq!(lines("GET /api/billing/plans answered 200"), 2, "{log}");
    assert_eq!((lines("answered 429"), lines("(not an operation) answered")), (0, 1), "{log}");
    assert_eq!(lines("5 requests for fixed content, 3 refused with 429, and 0 of networks"), 1, "{log}");
}
