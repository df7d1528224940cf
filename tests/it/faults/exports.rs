//! Tests of exports during which the search engine fails.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use sightline::config::Bytes;

use super::{impatient, trouble};
use crate::{
    analytics::performance::{Asker, SMALL},
    support::app::TestApp,
};

/// Reads until the connection ends. Returns the file, and whether the response was complete.
fn read_to_the_end(mut stream: TcpStream, mut came: Vec<u8>) -> (String, bool) {
    // A connection that is reset has ended, too.
    let _ = stream.read_to_end(&mut came);
    (String::from_utf8_lossy(&came).into_owned(), came.ends_with(b"0\r\n\r\n"))
}

async fn export(fail_after_the_start: bool) -> (String, bool) {
    let app = TestApp::start(|config| {
        impatient(config);
        config.cache.max_bytes = Bytes(1);
    })
    .await;
    let asker = Asker::of(&app, "stranger", SMALL).await;
    let address = app.service.base_url.trim_start_matches("http://").to_owned();
    let mut stream = TcpStream::connect(&address).unwrap();
    let path = format!("/api/properties/{}/query-count-raw?startDate=2025-08-01&endDate=2026-10-31", asker.property);
    let token = asker.actor.token();
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut first = [0; 512];
    let length = tokio::task::block_in_place(|| stream.read(&mut first)).unwrap();
    if fail_after_the_start {
        trouble(&app, &["error500:1"]);
    }
    let start = first[..length].to_vec();
    tokio::task::block_in_place(|| read_to_the_end(stream, start))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_cannot_be_finished_does_not_look_whole() {
    let (whole, ended) = export(false).await;
    assert!(whole.starts_with("HTTP/1.1 200") && whole.contains("2026-10-31,") && ended);
    let (cut, ended) = export(true).await;
    assert!(cut.starts_with("HTTP/1.1 200"), "{}", &cut[..cut.len().min(300)]);
    assert!(!cut.contains("2026-10-31,"), "the fault came too late");
    assert!(!ended, "a file that was cut off ends as if it were whole");
}
