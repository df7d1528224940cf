//! Tests of commands at servers that are no Sightline, or not the one that they seem.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use serde_json::json;
use tempfile::TempDir;
use url::Url;

use super::{Login, command};
use crate::{
    commands::{Running, sightline},
    support::{
        browser::Browser,
        endless::{CODINGS, Endless},
    },
};

/// A server that answers every request by `answer`, which gets its path and its own address. Returns its address.
pub fn server(answer: impl Fn(TcpStream, &str, &str) + Clone + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let own = address.clone();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, answer, own) = (stream.unwrap(), answer.clone(), own.clone());
            thread::spawn(move || {
                let asked = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
                let head: Vec<String> = asked.take_while(|line| !line.is_empty()).collect();
                let path = head.first().and_then(|line| line.split(' ').nth(1)).unwrap_or_default();
                answer(stream, path, &own);
            });
        }
    });
    address
}

/// The head of an answer in JSON.
pub const JSON: &str = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\n\r\n";

#[test]
fn no_token_for_one_server_goes_to_another() {
    let (folder, settings) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let real = Running::start(sightline(folder.path(), &["serve"], &[("LISTEN", "127.0.0.1:0")]));
    let metadata = json!({ "resource": real.url, "authorization_servers": [real.url] });
    let hostile = server(move |mut stream, _, _| {
        let _ = write!(stream, "{JSON}{metadata}");
    });
    for arguments in [&["sites"][..], &["sites", "--as", "owner"], &["login", "--device"], &["login", "--as", "owner"]]
    {
        let refused = command(&settings, &hostile, arguments).output().unwrap();
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(!refused.status.success() && refused.stdout.is_empty(), "{arguments:?}: {said}");
        assert!(said.contains(&format!("{hostile} calls itself {}", real.url)), "{arguments:?}: {said}");
    }
}

#[tokio::test]
async fn an_issuer_gives_a_server_that_is_not_its_own_no_token() {
    let (folder, settings) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let real = Running::start(sightline(folder.path(), &["serve"], &[("LISTEN", "127.0.0.1:0")]));
    let issuer = real.url.clone();
    // It says truly who it is, and names the issuer of another.
    let hostile = server(move |mut stream, _, own| {
        let metadata = json!({ "resource": own, "authorization_servers": [issuer] });
        let _ = write!(stream, "{JSON}{metadata}");
    });
    for arguments in [&["sites"][..], &["sites", "--as", "owner"], &["login", "--as", "owner"], &["login", "--device"]]
    {
        let refused = command(&settings, &hostile, arguments).output().unwrap();
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(!refused.status.success() && refused.stdout.is_empty(), "{arguments:?}: {said}");
        assert!(said.contains(&format!("sign in at {}", real.url)), "{arguments:?}: {said}");
    }
    let device = command(&settings, &hostile, &["login", "--device", "--client-id", "sightline-cli"]).output().unwrap();
    let said = String::from_utf8(device.stderr).unwrap();
    assert!(!device.status.success() && said.contains("refused the sign-in: invalid_target: "), "{said}");

    let login = Login::of(command(&settings, &hostile, &["sites", "--client-id", "sightline-cli"]));
    let browser = Browser::new(&real.url);
    let answer = browser.get(&format!("{}&login_hint=owner", login.address)).await;
    assert!(answer.location.contains("error=invalid_target"), "{answer:?}");
    browser.get(&answer.location).await;
    let (succeeded, _, said) = login.end();
    assert!(!succeeded && said.contains("invalid_target"), "{said}");
}

#[test]
fn an_issuer_may_have_the_metadata_of_openid_only() {
    let settings = TempDir::new().unwrap();
    let issuer = server(|mut stream, path, own| {
        let _ = if path == "/realms/a/.well-known/openid-configuration" {
            let metadata = json!({
                "issuer": format!("{own}/realms/a"),
                "authorization_endpoint": format!("{own}/authorize"),
                "token_endpoint": format!("{own}/token"),
            });
            write!(stream, "{JSON}{metadata}")
        } else {
            write!(stream, "HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n")
        };
    });
    let authorize = format!("{issuer}/authorize");
    let sightline = server(move |mut stream, _, own| {
        let metadata = json!({ "resource": own, "authorization_servers": [format!("{issuer}/realms/a")] });
        let _ = write!(stream, "{JSON}{metadata}");
    });
    let mut login = Login::of(command(&settings, &sightline, &["login", "--client-id", "mine"]));
    let asked: Vec<_> =
        login.address.query_pairs().filter(|(name, _)| name == "client_id" || name == "resource").collect();
    assert!(login.address.as_str().starts_with(&authorize), "{}", login.address);
    assert_eq!(asked, [("client_id".into(), "mine".into()), ("resource".into(), sightline.as_str().into())]);
    login.child.kill().unwrap();
    login.child.wait().unwrap();
}

#[test]
fn a_server_is_named_by_its_address() {
    let settings = TempDir::new().unwrap();
    for address in ["localhost:8080", "127.0.0.1:8080", "search.example.org", "ftp://search.example.org", "https://"] {
        let refused = command(&settings, address, &["sites"]).output().unwrap();
        let said = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(2), "{address}: {said}");
        assert!(said.contains("such as https://search.example.org"), "{address}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_of_any_length_are_read_to_a_limit() {
    let (settings, endless) = (TempDir::new().unwrap(), Endless::default());
    let server = endless.server().await;
    for coding in CODINGS {
        for arguments in [&["login"][..], &["sites"], &["report", "northmoor"]] {
            endless.at("", coding);
            let refused = command(&settings, &server, arguments).output().unwrap();
            let said = String::from_utf8(refused.stderr).unwrap();
            assert!(!refused.status.success() && refused.stdout.is_empty(), "{arguments:?}: {said}");
            assert!(said.contains(&server) && said.contains("more than 1 MiB"), "{arguments:?}: {said}");
            endless.assert_read_to(1 << 20);
        }
    }
}

#[test]
fn figures_of_any_length_are_read_to_a_limit() {
    let (settings, sent) = (TempDir::new().unwrap(), Arc::new(AtomicUsize::new(0)));
    let count = sent.clone();
    let server = server(move |mut stream, path, own| {
        let asked: Url = format!("{own}{path}").parse().unwrap();
        let asked_for = |name: &str| asked.query_pairs().find(|(key, _)| key == name).unwrap().1.into_owned();
        let answer = match asked.path() {
            "/.well-known/oauth-protected-resource" => json!({ "resource": own, "authorization_servers": [own] }),
            "/.well-known/oauth-authorization-server" => json!({ "issuer": own,
                "authorization_endpoint": format!("{own}/authorize"), "token_endpoint": format!("{own}/token") }),
            "/authorize" => {
                let back = format!("{}?code=c&state={}", asked_for("redirect_uri"), asked_for("state"));
                let _ = write!(stream, "HTTP/1.1 303 See Other\r\nconnection: close\r\nlocation: {back}\r\n\r\n");
                return;
            }
            "/token" => json!({ "access_token": "a" }),
            _ => {
                let _ = write!(stream, "{JSON}\"");
                while stream.write_all(&[b'x'; 1 << 12]).is_ok() {
                    count.fetch_add(1 << 12, Ordering::SeqCst);
                }
                return;
            }
        };
        let _ = write!(stream, "{JSON}{answer}");
    });
    let refused = command(&settings, &server, &["sites", "--as", "owner"]).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && refused.stdout.is_empty(), "{said}");
    assert!(said.contains(&server) && said.contains("more than 32 MiB"), "{said}");
    assert!(sent.load(Ordering::SeqCst) < 64 << 20, "{} bytes were sent", sent.load(Ordering::SeqCst));
}
