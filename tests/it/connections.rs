//! Tests of slow connections and of too many connections, over raw sockets. No test measures time: each waits until the
//! service ends the connection, with short deadlines.

use std::{net::SocketAddr, time::Duration};

use futures_util::{StreamExt as _, stream::FuturesUnordered};
use poem::http::{Request, Version};
use sightline::{config::Config, server::Deadlines};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpSocket, TcpStream},
    time::timeout,
};

use crate::{
    analytics::performance::{Asker, SMALL},
    support::app::TestApp,
};

/// Timeout for events that must happen.
const GUARD: Duration = Duration::from_secs(30);

fn hasty(config: &mut Config) {
    let short = Duration::from_millis(300);
    config.connections.deadlines = Deadlines { head: short, idle: short, slow: short, ..config.connections.deadlines };
}

fn address(app: &TestApp) -> SocketAddr {
    app.service.address
}

/// Reads until the service ends the connection.
async fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let mut came = Vec::new();
    let ended = timeout(GUARD, stream.read_to_end(&mut came)).await;
    // A connection that is reset has ended, too.
    let _ = ended.unwrap();
    came
}

#[tokio::test]
async fn a_connection_without_a_whole_request_is_closed() {
    let app = TestApp::start(hasty).await;
    for start in ["", "G", "GET /api/health HTTP/1.1\r\nHost: a\r\n", "PRI * HTTP/2.0\r\n"] {
        let mut stream = TcpStream::connect(address(&app)).await.unwrap();
        stream.write_all(start.as_bytes()).await.unwrap();
        assert!(!rest(&mut stream).await.starts_with(b"HTTP/1.1 2"), "{start:?}");
    }
    let mut stream = TcpStream::connect(address(&app)).await.unwrap();
    stream.write_all(b"GET /api/health HTTP/1.1\r\n").await.unwrap();
    let dripped = async {
        while stream.write_all(b"X-Drip: 1\r\n").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(GUARD, dripped).await.unwrap();
}

#[tokio::test]
async fn a_connection_is_closed_some_time_after_its_last_answer() {
    let app = TestApp::start(hasty).await;
    let mut stream = TcpStream::connect(address(&app)).await.unwrap();
    stream.write_all(b"GET /api/health HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    assert!(rest(&mut stream).await.starts_with(b"HTTP/1.1 200"));
}

#[tokio::test]
async fn an_answer_may_take_longer_than_any_deadline_to_be_made() {
    let app = TestApp::start(|config| {
        hasty(config);
        config.simulator.latency_ms = 400;
    })
    .await;
    let owner = app.actor("owner").await;
    owner.get("/api/properties").await.expect(200);
}

#[tokio::test]
async fn an_answer_that_is_not_read_is_cut_and_does_not_look_whole() {
    let app = TestApp::start(hasty).await;
    let asker = Asker::of(&app, "stranger", SMALL).await;
    let path = format!("/api/properties/{}/query-count-raw?startDate=2025-08-01&endDate=2026-10-31", asker.property);
    let request = format!("GET {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\n\r\n", asker.actor.token());
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket.connect(address(&app)).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    // Writing detects a reset. Data sent before it may be lost to a client that did not read it.
    let cut = async {
        while stream.write_all(b"\r\n").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(GUARD, cut).await.unwrap();
    assert!(!rest(&mut stream).await.ends_with(b"0\r\n\r\n"));
}

#[tokio::test]
async fn an_http2_stream_that_is_not_read_is_cut_and_the_others_go_on() {
    let app = TestApp::start(hasty).await;
    let stream = TcpStream::connect(address(&app)).await.unwrap();
    let mut client = h2::client::Builder::new();
    client.initial_window_size(1_000);
    let (requests, connection) = client.handshake::<_, &[u8]>(stream).await.unwrap();
    let connection = tokio::spawn(connection);
    let get = async |path: &str| {
        let mut requests = requests.clone().ready().await.unwrap();
        let request = Request::builder().uri(format!("{}{path}", app.service.base_url)).version(Version::HTTP_2);
        let answer = requests.send_request(request.body(()).unwrap(), true).unwrap().0.await.unwrap();
        assert_eq!(answer.status(), 200);
        answer.into_body()
    };
    let mut unread = get("/openapi.json").await;
    for _ in 0..20 {
        drop(get("/api/health").await);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let mut outcome = Ok(());
    while let Some(piece) = timeout(GUARD, unread.data()).await.unwrap() {
        match piece {
            Ok(bytes) => unread.flow_control().release_capacity(bytes.len()).unwrap(),
            Err(error) => outcome = Err(error),
        }
        if outcome.is_err() {
            break;
        }
    }
    assert!(outcome.unwrap_err().is_reset(), "the answer looks whole");
    drop(get("/api/health").await);
    connection.abort();
}

/// A short answer goes to the connection's buffer whole, and its connection is idle then.
#[tokio::test]
async fn an_unread_long_answer_takes_a_place_on_every_path_and_coding() {
    let app = TestApp::start(|config| config.rate_limit.max_in_flight = 2).await;
    for (path, coding) in
        [("/docs/swagger-ui.js", "gzip"), ("/openapi.json", "br"), ("/docs/swagger-ui.css", "identity")]
    {
        let stream = TcpStream::connect(address(&app)).await.unwrap();
        let mut client = h2::client::Builder::new();
        let (requests, connection) = client.initial_window_size(1).handshake::<_, &[u8]>(stream).await.unwrap();
        let connection = tokio::spawn(connection);
        let mut unread = Vec::new();
        for _ in 0..2 {
            let mut requests = requests.clone().ready().await.unwrap();
            let request = Request::builder().uri(format!("{}{path}", app.service.base_url)).version(Version::HTTP_2);
            let request = request.header("accept-encoding", coding).body(()).unwrap();
            unread.push(requests.send_request(request, true).unwrap().0.await.unwrap());
        }
        app.anonymous().get("/robots.txt").await.expect(429);
        drop((unread, requests));
        connection.abort();
        app.anonymous().until("/robots.txt", 200).await;
    }
}

#[tokio::test]
async fn http2_streams_are_bounded() {
    const FRAME_HEAD: usize = 9;
    const MAX_CONCURRENT_STREAMS: u16 = 3;
    let app = TestApp::start(|_| {}).await;
    let mut stream = TcpStream::connect(address(&app)).await.unwrap();
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.unwrap();
    let mut head = [0; FRAME_HEAD];
    stream.read_exact(&mut head).await.unwrap();
    let mut settings = vec![0; usize::from(u16::from_be_bytes([head[1], head[2]]))];
    stream.read_exact(&mut settings).await.unwrap();
    let announced = settings.chunks(6).find(|setting| setting[..2] == MAX_CONCURRENT_STREAMS.to_be_bytes());
    assert_eq!(announced.map(|setting| &setting[2..]), Some(16_u32.to_be_bytes().as_slice()));
}

async fn connect_from(app: &TestApp, from: [u8; 4]) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((from, 0).into()).unwrap();
    socket.connect(address(app)).await.unwrap()
}

async fn is_served(stream: &mut TcpStream) -> bool {
    let sent = stream.write_all(b"GET /robots.txt HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let mut answer = Vec::new();
    while sent.is_ok() && !answer.ends_with(b"Disallow: /oauth/\n") {
        let mut part = [0; 1024];
        match timeout(GUARD, stream.read(&mut part)).await.unwrap() {
            Ok(length @ 1..) => answer.extend_from_slice(&part[..length]),
            _ => return false,
        }
    }
    answer.starts_with(b"HTTP/1.1 200")
}

#[tokio::test]
async fn one_address_has_so_many_connections_and_others_are_served() {
    let app = TestApp::start(|config| config.connections.max_per_address = 4).await;
    let mut held = Vec::new();
    for _ in 0..4 {
        held.push(connect_from(&app, [127, 0, 0, 5]).await);
        assert!(is_served(held.last_mut().unwrap()).await);
    }
    assert!(!is_served(&mut connect_from(&app, [127, 0, 0, 5]).await).await);
    assert!(is_served(&mut connect_from(&app, [127, 0, 0, 6]).await).await);
    held.clear();
    let again = async {
        while !is_served(&mut connect_from(&app, [127, 0, 0, 5]).await).await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(GUARD, again).await.unwrap();
}

/// Sends a request over HTTP/2. Returns the status, the seconds of `Retry-After` and the body of its answer.
async fn over_http2(stream: TcpStream, path: &str) -> (u16, String, String) {
    let (requests, connection) = h2::client::handshake(stream).await.unwrap();
    let connection = tokio::spawn(connection);
    let request = Request::builder().uri(format!("http://a{path}")).version(Version::HTTP_2).body(()).unwrap();
    let mut requests = requests.ready().await.unwrap();
    let answer = requests.send_request(request, true).unwrap().0.await.unwrap();
    let (status, retry_after) =
        (answer.status().as_u16(), answer.headers()["retry-after"].to_str().unwrap().to_owned());
    let mut body = answer.into_body();
    let mut came = Vec::new();
    while let Some(piece) = timeout(GUARD, body.data()).await.unwrap() {
        came.extend_from_slice(&piece.unwrap());
    }
    // The sender stays, so only the service ends the connection.
    timeout(GUARD, connection).await.unwrap().unwrap().unwrap();
    drop(requests);
    (status, retry_after, String::from_utf8(came).unwrap())
}

#[tokio::test]
async fn a_connection_over_the_limit_of_its_address_is_refused_in_words_and_closed() {
    let app = TestApp::start(|config| config.connections.max_per_address = 2).await;
    let mut held = Vec::new();
    for _ in 0..2 {
        held.push(connect_from(&app, [127, 0, 0, 5]).await);
        assert!(is_served(held.last_mut().unwrap()).await);
    }
    let hint = "2 connections of this address are open";
    for request in [
        "GET /api/properties HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n\r\n",
        "GET /api/health HTTP/1.0\r\n\r\n",
        "POST /oauth/token HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody",
    ] {
        let mut refused = connect_from(&app, [127, 0, 0, 5]).await;
        refused.write_all(request.as_bytes()).await.unwrap();
        let answer = String::from_utf8(rest(&mut refused).await).unwrap();
        let (headers, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{request}: {answer}"));
        assert!(
            headers.split(' ').nth(1) == Some("429") && headers.to_lowercase().contains("\r\nretry-after: 1"),
            "{request}: {headers}"
        );
        for header in ["connection: close", "x-correlation-id: ", "cache-control: no-store", "x-api-version: "] {
            assert!(headers.to_lowercase().contains(&format!("\r\n{header}")), "{request}: {headers}");
        }
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        assert!(
            body["code"] == "rate_limited" && body["hint"].as_str().unwrap().starts_with(hint),
            "{request}: {body}"
        );
    }
    // A body that is still on its way is read first. A closed connection would come instead of the answer.
    let mut sending = connect_from(&app, [127, 0, 0, 5]).await;
    let body = "b".repeat(300_000);
    let length = body.len();
    let start = format!("POST /oauth/token HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n");
    sending.write_all(start.as_bytes()).await.unwrap();
    sending.write_all(body.as_bytes()).await.unwrap();
    assert!(rest(&mut sending).await.starts_with(b"HTTP/1.1 429"));
    let (status, retry_after, body) = over_http2(connect_from(&app, [127, 0, 0, 5]).await, "/api/properties").await;
    assert!((status, &*retry_after) == (429, "1") && body.contains(hint), "{status} {retry_after} {body}");
    assert!(is_served(&mut held[0]).await, "those that are open go on");
}

#[tokio::test]
async fn connections_over_the_limit_that_send_nothing_cost_so_much_and_no_more() {
    const ANSWERED: usize = 32;
    let app = TestApp::start(|config| {
        config.connections.max_per_address = 1;
        config.connections.deadlines.refuse = Duration::from_hours(1);
    })
    .await;
    let mut held = connect_from(&app, [127, 0, 0, 5]).await;
    assert!(is_served(&mut held).await);
    let mut silent = Vec::new();
    for _ in 0..ANSWERED {
        silent.push(connect_from(&app, [127, 0, 0, 5]).await);
    }
    for _ in 0..3 {
        assert!(rest(&mut connect_from(&app, [127, 0, 0, 5]).await).await.is_empty(), "closed without a word");
    }
    assert!(is_served(&mut connect_from(&app, [127, 0, 0, 6]).await).await);
    drop(silent);
    let in_words = async {
        loop {
            let mut refused = connect_from(&app, [127, 0, 0, 5]).await;
            let _ = refused.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
            if rest(&mut refused).await.starts_with(b"HTTP/1.1 429") {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(GUARD, in_words).await.unwrap();
}

#[tokio::test]
async fn the_idle_connection_of_the_greediest_address_gives_way() {
    let app = TestApp::start(|config| config.connections.max = 5).await;
    let (mut greedy, mut modest) = (Vec::new(), connect_from(&app, [127, 0, 0, 6]).await);
    assert!(is_served(&mut modest).await);
    for _ in 0..4 {
        greedy.push(connect_from(&app, [127, 0, 0, 5]).await);
        assert!(is_served(greedy.last_mut().unwrap()).await);
    }
    assert!(is_served(&mut connect_from(&app, [127, 0, 0, 7]).await).await);
    let mut served = 0;
    for stream in &mut greedy {
        served += usize::from(is_served(stream).await);
    }
    assert_eq!(served, 3, "one of the greedy address's gave way");
    assert!(is_served(&mut modest).await);
}

#[tokio::test]
async fn a_trusted_proxy_may_have_more_connections() {
    let app = TestApp::start(|config| {
        config.connections.max_per_address = 1;
        config.rate_limit.trusted_proxies = common::addresses::TrustedProxies::parse(["127.0.0.0/8"]).unwrap();
    })
    .await;
    let mut held = Vec::new();
    for _ in 0..5 {
        let mut stream = TcpStream::connect(address(&app)).await.unwrap();
        stream.write_all(b"GET /api/health HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
        let mut start = [0; 12];
        stream.read_exact(&mut start).await.unwrap();
        assert_eq!(&start, b"HTTP/1.1 200");
        held.push(stream);
    }
}

#[tokio::test]
async fn missing_bodies_leave_a_proxys_connections_to_other_clients() {
    const WAITING: usize = 64;
    let app = TestApp::start(|config| {
        config.connections.max = WAITING + 6;
        config.rate_limit.trusted_proxies = common::addresses::TrustedProxies::parse(["127.0.0.1"]).unwrap();
    })
    .await;
    let post = async |client: &str, body: &str| {
        let mut stream = TcpStream::connect(address(&app)).await.unwrap();
        let head =
            format!("POST /oauth/token HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: {client}\r\nConnection: close\r\n");
        stream.write_all(format!("{head}Content-Length: 4\r\n\r\n{body}").as_bytes()).await.unwrap();
        stream
    };
    let mut answers = FuturesUnordered::new();
    for _ in 0..WAITING + 6 {
        let mut stream = post("198.51.100.1", "").await;
        answers.push(async move { rest(&mut stream).await });
    }
    for _ in 0..6 {
        let answer = answers.next().await.unwrap();
        assert!(answer.starts_with(b"HTTP/1.1 429"), "{}", String::from_utf8_lossy(&answer));
    }
    let answer = rest(&mut post("198.51.100.2", "body").await).await;
    assert!(
        answer.starts_with(b"HTTP/1.1 4") && !answer.starts_with(b"HTTP/1.1 429"),
        "{}",
        String::from_utf8_lossy(&answer)
    );
}

#[tokio::test]
async fn a_request_whose_host_cannot_be_read_is_refused() {
    let app = TestApp::start(|_| {}).await;
    for (head, status) in [
        ("GET /api/health HTTP/1.1\r\n", "400"),
        ("GET /docs HTTP/1.1\r\nHost: a\r\nHost: a\r\n", "400"),
        ("GET /api/health HTTP/1.1\r\nHost: a b\r\n", "400"),
        ("GET /mcp HTTP/1.1\r\nHost: user@a\r\n", "400"),
        ("GET /api/health HTTP/1.1\r\nHost: a/b\r\n", "400"),
        ("GET /api/health HTTP/1.1\r\nHost: [::1]:80\r\n", "200"),
        ("GET /api/health HTTP/1.1\r\nHost: search.example.org:8443\r\n", "200"),
        ("GET /api/health HTTP/1.1\r\nHost: a_b.internal\r\n", "200"),
        ("GET /api/health HTTP/1.0\r\n", "200"),
    ] {
        let mut stream = TcpStream::connect(address(&app)).await.unwrap();
        stream.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes()).await.unwrap();
        let answer = String::from_utf8(rest(&mut stream).await).unwrap();
        assert_eq!(answer.split(' ').nth(1), Some(status), "{head}: {answer}");
        assert!(status == "200" || answer.contains("Host: send it once"), "{head}: {answer}");
    }
}
