//! Tests of the page behind a share link.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use chrono::TimeDelta;
use futures_util::future::join_all;
use poem::http::Method;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use super::column;
use crate::{
    faults,
    support::{
        actor::{Actor, Answer},
        app::{TestApp, start_of_test},
    },
};

/// Timeout for events that must happen.
const GUARD: Duration = Duration::from_secs(30);

/// A link, its owner, and the path of its page.
struct Shown {
    app: TestApp,
    owner: Actor,
    property: String,
    link: Value,
    path: String,
}

impl Shown {
    async fn new(configure: impl FnOnce(&mut sightline::config::Config)) -> Self {
        let app = TestApp::start(configure).await;
        let owner = app.actor("owner").await;
        let property = owner.property("northmoor").await;
        let expires_at = (start_of_test() + TimeDelta::hours(1)).to_rfc3339();
        let body = json!({ "name": "<b>Board</b>", "expiresAt": expires_at });
        let link = owner.post(&format!("/api/properties/{property}/share-links"), &body).await.expect(201);
        let link = link.json["data"].clone();
        let path = link["url"].as_str().unwrap().strip_prefix(&app.service.base_url).unwrap().to_owned();
        Self { app, owner, property, link, path }
    }

    async fn open(&self) -> Answer {
        self.app.anonymous().get(&self.path).await
    }

    /// The answer of the operation that the page is made from.
    async fn operation(&self) -> Answer {
        let url = self.link["apiUrl"].as_str().unwrap();
        self.app.anonymous().get(url.strip_prefix(&self.app.service.base_url).unwrap()).await
    }
}

fn text(answer: &Answer) -> String {
    String::from_utf8(answer.bytes.clone()).unwrap()
}

/// A whole number as the page shows it.
fn grouped(number: &Value) -> String {
    let digits = format!("{:.0}", number.as_f64().unwrap());
    let mut groups: Vec<&str> = digits.as_bytes().rchunks(3).map(|group| str::from_utf8(group).unwrap()).collect();
    groups.reverse();
    groups.join(",")
}

#[tokio::test]
async fn the_page_shows_the_totals_and_every_day_of_the_operation() {
    let shown = Shown::new(|_| {}).await;
    let data = shown.operation().await.expect(200).json["data"].clone();
    let page = shown.open().await.expect(200);
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    let page = text(&page);
    for total in ["clicks", "impressions"] {
        let total = grouped(&data["totals"][total]);
        assert!(page.contains(&format!("<strong>{total}</strong>")), "{total}: {page}");
    }
    let days = data["series"].as_array().unwrap();
    let table = page.split("class=\"days\"").nth(1).unwrap().split("</table>").next().unwrap();
    assert!(days.len() == 28 && table.matches("<th scope=\"row\">").count() == 28);
    for day in days {
        assert!(table.contains(&format!("<td>{}</td>", grouped(&day["clicks"]))), "{day}");
    }
    let line = page.split("<polyline class=\"current\" points=\"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(line.split(' ').count(), 28);
    assert!(
        page.contains("<h1><bdi dir=\"ltr\">northmoor.example</bdi></h1>") && page.contains("&lt;b&gt;Board&lt;/b&gt;"),
        "{page}"
    );
}

#[tokio::test]
async fn the_page_names_nobody_runs_one_script_and_is_kept_nowhere() {
    let shown = Shown::new(|_| {}).await;
    let page = shown.open().await.expect(200);
    for (name, value) in [
        ("cache-control", "no-store"),
        ("referrer-policy", "no-referrer"),
        ("x-robots-tag", "noindex, nofollow"),
        ("x-frame-options", "DENY"),
    ] {
        assert_eq!(page.header(name), value, "{name}");
    }
    assert!(page.header("content-security-policy").starts_with("default-src 'none'"));
    let others = column(&shown.owner.listed("/api/properties").await, "name");
    let page = text(&page);
    assert_eq!(page.matches("<script").count(), 1, "{page}");
    assert!(page.contains("<script src=\"/assets/dashboard.js\" defer></script>"), "{page}");
    // The token leads to the file of the table, and is nowhere else.
    let token = shown.link["token"].as_str().unwrap();
    assert_eq!(page.matches(token).count(), page.matches(&format!("href=\"/share/{token}/queries.csv")).count());
    let secrets = ["style=", "Demo", "@", shown.property.as_str()];
    for secret in
        secrets.into_iter().chain(others.iter().map(String::as_str).filter(|name| !name.contains("northmoor")))
    {
        assert!(!page.contains(secret), "{secret}");
    }
}

#[tokio::test]
async fn every_invalid_link_has_the_same_page() {
    let shown = Shown::new(|_| {}).await;
    let unknown = shown.app.anonymous().get(&format!("/share/{}", "A".repeat(43))).await.expect(404);
    assert!(text(&unknown).contains("This link opens nothing"));
    for header in ["x-robots-tag", "referrer-policy", "content-security-policy"] {
        assert!(!unknown.header(header).is_empty(), "{header}");
    }
    let token = shown.link["token"].as_str().unwrap();
    for other in ["x".to_owned(), format!("{token}A"), format!("%{:X}{}", token.as_bytes()[0], &token[1..])] {
        let answer = shown.app.anonymous().get(&format!("/share/{other}")).await.expect(404);
        assert_eq!(answer.bytes, unknown.bytes, "{other}");
    }
    shown.open().await.expect(200);
    shown.app.hand.advance(TimeDelta::hours(1));
    assert_eq!(shown.open().await.expect(404).bytes, unknown.bytes, "expired");
    let list = format!("/api/properties/{}/share-links", shown.property);
    let link = shown.owner.post(&list, &json!({})).await.expect(201).json["data"].clone();
    let path = format!("/share/{}", link["token"].as_str().unwrap());
    shown.app.anonymous().get(&path).await.expect(200);
    shown.owner.delete(&format!("{list}/{}", link["id"].as_str().unwrap())).await.expect(204);
    assert_eq!(shown.app.anonymous().get(&path).await.expect(404).bytes, unknown.bytes, "revoked");
}

#[tokio::test]
async fn a_link_that_shows_notes_shows_those_of_the_property() {
    let Shown { app, owner, property, .. } = Shown::new(|_| {}).await;
    let of_property = |list: &str| format!("/api/properties/{property}/{list}");
    owner.made(&of_property("annotations"), &json!({ "date": "2026-11-10", "text": "<b>Relaunch</b>" })).await;
    for (body, is_shown) in [(json!({}), true), (json!({ "show": ["queries"] }), false)] {
        let link = owner.post(&of_property("share-links"), &body).await.expect(201).json["data"].clone();
        let path = link["url"].as_str().unwrap().strip_prefix(&app.service.base_url).unwrap().to_owned();
        let page = text(&app.anonymous().get(&path).await.expect(200));
        assert_eq!(page.contains("&lt;b&gt;Relaunch&lt;/b&gt;"), is_shown, "{body}: {page}");
        assert!(!page.contains("Demo Owner") && !page.contains("owner@demo.test"), "{body}: {page}");
    }
}

#[tokio::test]
async fn while_the_search_engine_is_away_the_page_says_so() {
    let shown = Shown::new(faults::impatient).await;
    faults::trouble(&shown.app, &["error500:1"]);
    // An error is the status of the page, unless its head is sent before.
    let page = shown.open().await;
    assert!([200, 503].contains(&page.status.as_u16()), "{}", page.status);
    assert!(text(&page).contains("The data cannot be read at the moment"));
    faults::trouble(&shown.app, &[]);
}

#[tokio::test]
async fn the_page_answers_head_and_refuses_what_it_does_not_know() {
    let shown = Shown::new(|_| {}).await;
    assert_eq!(shown.app.anonymous().head(&shown.path).await.status().as_u16(), 200);
    shown.app.anonymous().get(&format!("{}?", shown.path)).await.expect(200);
    for name in ["scope", "explain", "<b>"] {
        let page = shown.app.anonymous().get(&format!("{}?{name}=x", shown.path)).await.expect(400);
        let name = name.replace('<', "&lt;").replace('>', "&gt;");
        assert!(text(&page).contains(&format!("{name}: not a parameter here")), "{}", text(&page));
    }
    let refused = shown.app.anonymous().send(Method::POST, &shown.path, None, &[]).await.expect(405);
    assert_eq!(refused.header("allow"), "GET, HEAD");
}

/// Reads an answer on a connection of its own until `text` has come, or to its end.
async fn read_until(stream: &mut TcpStream, text: &str) -> String {
    let (mut came, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        let length = timeout(GUARD, stream.read(&mut piece)).await.unwrap().unwrap();
        came.extend(&piece[..length]);
        let said = String::from_utf8_lossy(&came).into_owned();
        if length == 0 || (!text.is_empty() && said.contains(text)) {
            return said;
        }
    }
}

/// The head of a page comes before the search engine answers, and the link may end in between.
#[tokio::test]
async fn a_link_that_is_revoked_while_its_page_is_sent_shows_no_number() {
    for is_revoked in [false, true] {
        let shown = Shown::new(|_| {}).await;
        let controls = shown.app.simulator().controls();
        controls.hold("");
        let mut stream = TcpStream::connect(shown.app.service.address).await.unwrap();
        let host = shown.app.service.base_url.strip_prefix("http://").unwrap();
        let request = format!("GET {} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n", shown.path);
        stream.write_all(request.as_bytes()).await.unwrap();
        let head = read_until(&mut stream, "Reading from the search engine").await;
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        if is_revoked {
            let id = shown.link["id"].as_str().unwrap();
            let path = format!("/api/properties/{}/share-links/{id}", shown.property);
            shown.owner.delete(&path).await.expect(204);
        }
        controls.release();
        let rest = read_until(&mut stream, "").await;
        let performance = format!("/api/properties/{}/performance", shown.property);
        let data =
            shown.owner.ask(&performance, &[("compare", "previous_period")]).await.expect(200).json["data"].clone();
        let mut days = data["series"].as_array().unwrap().iter().map(|day| grouped(&day["clicks"]));
        let total = rest.contains(&format!("<strong>{}</strong>", grouped(&data["totals"]["clicks"])));
        let day = days.any(|clicks| rest.contains(&format!("<td>{clicks}</td>")));
        assert_eq!((total, day), (!is_revoked, !is_revoked), "{rest}");
    }
}

/// The longest page of a link, read as fast as it comes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_of_the_longest_page_refuse_nobody_else() {
    let shown = Shown::new(|_| {}).await;
    let conditions: Vec<_> = (0..50).map(|number| format!("query.not_contains=word%20number%20{number:04}")).collect();
    let path = format!("{}/where/{}/overview", shown.path, conditions.join("/"));
    let (reader, is_over) = (shown.app.anonymous(), AtomicBool::new(false));
    let read = async || {
        let mut read = 0;
        while !is_over.load(Ordering::SeqCst) {
            let status = reader.get(&path).await.status.as_u16();
            assert!([200, 429, 503].contains(&status), "{status}");
            read += usize::from(status == 200);
        }
        read
    };
    let owner = async {
        for _ in 0..20 {
            shown.owner.get("/api/properties").await.expect(200);
            shown.owner.get(&format!("/api/properties/{}/performance", shown.property)).await.expect(200);
        }
        is_over.store(true, Ordering::SeqCst);
    };
    let (read, ()) = tokio::join!(join_all((0..16).map(|_| read())), owner);
    assert!(read.iter().sum::<usize>() > 0, "nobody read the page");
}
