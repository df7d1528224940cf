//! Planted credentials appear nowhere: no log line at any level, no answer, no byte of the database.

use std::{
    fmt::Write as _,
    fs::{self, File},
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use poem::{Endpoint, Request, Response, http::StatusCode, listener::Acceptor as _};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{A, B};
use crate::{commands::sightline, support::actor::Actor};

const LOGIN: &str = "ann@a.test";
const PASSWORD: &str = "planted-password-71c0";
const WRONG_PASSWORD: &str = "planted-wrong-password-a93e";
const KEY: &str = "planted-key-5d2b-0f8e";
const WRONG_KEY: &str = "planted-wrong-key-c414";

/// A provider that repeats the credentials in every refusal, as a careless one might.
#[derive(Clone)]
struct Careless;

impl Endpoint for Careless {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let header = request.header("authorization").unwrap_or_default().to_owned();
        let encoded = header.trim_start_matches("Basic ");
        let decoded = BASE64_STANDARD.decode(encoded).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let said = format!("{header} {}", decoded.clone().unwrap_or_default());
        let knows = said.contains(&format!(":{PASSWORD}")) || said.contains(KEY);
        let path = request.uri().path().to_owned();
        let task = |result: Value| json!({ "status_code": 20000, "cost": 0.01, "tasks": [{ "status_code": 20000, "result": [result] }] });
        let refusal = json!({ "status_code": 40501, "status_message": said, "cost": 0, "error": said, "tasks": null });
        let (status, body) = match path.as_str() {
            _ if !knows => (401, json!({ "status_code": 40100, "status_message": said, "error": said })),
            "/a/v3/appendix/user_data" => (200, task(json!({ "login": said, "money": { "balance": 7.5 } }))),
            "/b/v3/subscription-info/limits-and-usage" => {
                (200, json!({ "limits_and_usage": { "subscription": said } }))
            }
            "/a/v3/backlinks/summary/live" => {
                (200, task(json!({ "backlinks": 3, "referring_domains": 2, "target": said })))
            }
            "/b/v3/site-explorer/backlinks-stats" => {
                (200, json!({ "metrics": { "live": 3, "live_refdomains": 2, "note": said } }))
            }
            path if path.starts_with("/a/") => (200, refusal),
            _ => (400, refusal),
        };
        let status = StatusCode::from_u16(status).unwrap();
        Ok(Response::builder()
            .status(status)
            .header("x-note", said)
            .content_type("application/json")
            .body(body.to_string()))
    }
}

async fn careless() -> String {
    let socket = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let root = format!("http://{}", socket.local_addr().unwrap());
    let acceptor = poem::listener::TcpAcceptor::from_tokio(socket).unwrap();
    assert_eq!(acceptor.local_addr().len(), 1);
    tokio::spawn(poem::Server::new_with_acceptor(acceptor).run(Careless));
    root
}

/// A service that logs everything into files of its working folder.
struct Talkative {
    child: Child,
    url: String,
}

impl Talkative {
    fn start(folder: &Path, providers: &str) -> Self {
        let (a, b) = (format!("{providers}/a"), format!("{providers}/b"));
        let settings = [("LISTEN", "127.0.0.1:0"), ("SEO__PROVIDER_A__URL", &a), ("SEO__PROVIDER_B__URL", &b)];
        let mut command = sightline(folder, &["serve"], &settings);
        command.env("RUST_LOG", "trace").stderr(Stdio::from(File::create(folder.join("log")).unwrap()));
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, url: line.trim().trim_start_matches("listening on ").to_owned() }
    }

    /// Ends the service, which writes its last lines.
    fn end(mut self) {
        assert!(Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap().success());
        self.child.wait().unwrap();
    }
}

impl Drop for Talkative {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Every secret in the ways in which it may be written.
fn spellings() -> Vec<String> {
    let mut found = Vec::new();
    for secret in [PASSWORD, WRONG_PASSWORD, KEY, WRONG_KEY] {
        let hex = secret.bytes().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
        let basic = BASE64_STANDARD.encode(format!("{LOGIN}:{secret}"));
        found.extend([secret.to_owned(), hex, basic, BASE64_STANDARD.encode(secret)]);
    }
    found
}

/// The files below a folder in which one of the texts occurs, with the text.
fn holding(folder: &Path, texts: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            found.extend(holding(&entry, texts));
            continue;
        }
        let bytes = fs::read(&entry).unwrap();
        let has = |text: &&String| bytes.windows(text.len()).any(|part| part == text.as_bytes());
        found.extend(texts.iter().filter(has).map(|text| format!("{}: {text}", entry.display())));
    }
    found
}

#[tokio::test]
async fn planted_credentials_appear_in_no_log_no_answer_and_no_file() {
    let folder = TempDir::new().unwrap();
    let server = Talkative::start(folder.path(), &careless().await);
    let owner = Actor::signed_in(&server.url, "owner").await;
    let property = owner.property("northmoor").await;
    let mut said = String::new();
    let mut keep = |answer: crate::support::actor::Answer, status: u16| {
        let answer = answer.expect(status);
        said.push_str(&String::from_utf8_lossy(&answer.bytes));
        write!(said, "{:?}", answer.headers).unwrap();
    };
    let bodies = [
        (A, json!({ "login": LOGIN, "password": PASSWORD }), json!({ "login": LOGIN, "password": WRONG_PASSWORD })),
        (B, json!({ "apiKey": KEY }), json!({ "apiKey": WRONG_KEY })),
    ];
    for (path, good, wrong) in &bodies {
        keep(owner.put(path, wrong).await, 409);
        let mut malformed = wrong.clone();
        malformed["more"] = wrong.clone();
        keep(owner.put(path, &malformed).await, 400);
        let json = [("content-type", "application/json"), ("idempotency-key", "k")];
        keep(owner.send(poem::http::Method::PUT, path, Some(good.to_string()), &json).await, 200);
        keep(owner.get(path).await, 200);
        keep(owner.post(&format!("{path}/test"), &json!({})).await, 200);
    }
    keep(owner.get("/api/integrations/status").await, 200);
    for provider in ["a", "b"] {
        let of = |part: &str| format!("/api/properties/{property}/{part}&provider={provider}");
        keep(owner.get(&of("keyword-research?keywords=tent")).await, 503);
        keep(owner.get(&of("backlinks?scope=links")).await, 503);
        keep(owner.get(&of("backlinks?scope=summary")).await, 200);
    }
    let texts = spellings();
    assert_eq!(holding(folder.path(), &texts), Vec::<String>::new(), "while connected");
    for (path, ..) in &bodies {
        keep(owner.delete(path).await, 204);
    }
    server.end();
    assert_eq!(holding(folder.path(), &texts), Vec::<String>::new());
    assert!(texts.iter().all(|text| !said.contains(text.as_str())), "{said}");
    let log = fs::read_to_string(folder.path().join("log")).unwrap();
    assert!(log.contains("TRACE") && log.contains("a question was not answered"), "the log is talkative");
    let named = log.lines().find(|line| line.contains(LOGIN));
    assert_eq!(named, None, "a login is a person's address");
    assert!(folder.path().join("data/sightline.db").exists());
}
