//! Tests of `sightline check`: what is wrong with the way to the service, its client at the search engine, and its clock.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener},
    thread,
};

use chrono::TimeDelta;
use common::clock::Clock;
use tempfile::TempDir;

use super::{ANY_PORT, Running, run, sightline, text};
use crate::support::redis;

/// The line that `check` prints of a part.
fn line(folder: &TempDir, settings: &[(&str, &str)], part: &str) -> String {
    let output = run(folder.path(), &["check"], settings);
    let said = text(&output.stdout);
    let found = said.lines().find(|line| line.starts_with(part));
    found.unwrap_or_else(|| panic!("nothing of {part}: {said} {}", text(&output.stderr))).to_owned()
}

/// Starts a server that answers every request with a status and a JSON object.
fn answering(status: &'static str, body: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let _ = client.read(&mut [0; 8192]);
            let head = "content-type: application/json\r\nconnection: close\r\n";
            let _ = write!(client, "HTTP/1.1 {status}\r\n{head}content-length: {}\r\n\r\n{body}", body.len());
        }
    });
    address
}

#[test]
fn base_url_is_asked_as_others_ask_it() {
    let (folder, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let own = Running::start(sightline(folder.path(), &["serve"], &[ANY_PORT]));
    let another = Running::start(sightline(other.path(), &["serve"], &[ANY_PORT]));
    let stranger = format!("http://{}", answering("200 OK", "{}"));
    let address = own.url.strip_prefix("http://").unwrap().to_owned();
    let listen = ("LISTEN", address.as_str());
    // Nothing listens at the port of the discard service.
    for (base_url, outcome, said) in [
        (own.url.as_str(), "ok", "leads to this service"),
        (&another.url, "FAILED", "another service answers there, with other keys. Correct base_url"),
        (&stranger, "FAILED", "not as this service does. Let the proxy lead all paths to"),
        ("http://127.0.0.1:9", "FAILED", "nothing listens there: start it"),
        ("https://no-such-host.invalid", "FAILED", "correct the name, or its DNS record"),
    ] {
        let line = line(&folder, &[listen, ("BASE_URL", base_url)], "base_url");
        assert!(line.contains(outcome) && line.contains(said), "{base_url}: {line}");
    }
    assert_eq!(own.terminate().0, Some(0));
    let line = line(&folder, &[listen, ("BASE_URL", &another.url)], "base_url");
    assert!(line.contains("ok") && line.contains("no service runs at"), "{line}");
}

#[test]
fn a_client_that_the_search_engine_does_not_know_is_found() {
    let folder = TempDir::new().unwrap();
    let simulator = Running::start(sightline(folder.path(), &["simulator", "--listen", "127.0.0.1:0"], &[]));
    let unknown = format!("http://{}", answering("401 Unauthorized", r#"{"error":"invalid_client"}"#));
    let broken = format!("http://{}", answering("200 OK", "{}"));
    let (client, secret) = (("SEARCH_ENGINE__CLIENT_ID", "id"), ("SEARCH_ENGINE__CLIENT_SECRET", "hunter2"));
    for (root, outcome, said) in [
        (&simulator.url, "ok", "answer, and know the client"),
        (&unknown, "FAILED", "refuses the client: \"invalid_client\". Set client_id and client_secret"),
        (&broken, "FAILED", "not as a token endpoint does"),
    ] {
        let names = ["API_URL", "AUTHORIZE_URL", "TOKEN_URL", "REVOKE_URL", "USERINFO_URL"];
        let names = names.map(|name| format!("SEARCH_ENGINE__{name}"));
        let urls = ["", "/o/oauth2/v2/auth", "/token", "/revoke", "/userinfo"].map(|path| format!("{root}{path}"));
        let mut settings = vec![client, secret];
        settings.extend(names.iter().zip(&urls).map(|(name, url)| (name.as_str(), url.as_str())));
        let line = line(&folder, &settings, "search engine");
        assert!(line.contains(outcome) && line.contains(said) && !line.contains("hunter2"), "{root}: {line}");
    }
}

#[test]
fn a_clock_that_differs_from_that_of_redis_is_found() {
    let folder = TempDir::new().unwrap();
    for (lead, outcome, said) in [
        (TimeDelta::zero(), "ok", "that of Redis"),
        (TimeDelta::seconds(90), "FAILED", "s behind that of Redis: tokens are refused. Let NTP set the clocks"),
        (TimeDelta::seconds(-90), "FAILED", "s ahead of that of Redis: tokens are refused"),
    ] {
        let url = format!("redis://{}", redis::with_time(Clock::system().now() + lead));
        let line = line(&folder, &[("REDIS__URL", &url)], "clock");
        // The clock of that server stands, so a slow start of the command counts as an offset.
        assert!(line.contains(said) && (lead.is_zero() || line.contains(outcome)), "{lead}: {line}");
    }
    let line = line(&folder, &[], "disk");
    assert!(line.contains("ok") && line.contains("MiB free for"), "{line}");
}
