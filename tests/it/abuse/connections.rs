//! Attacks by connections, streams and bodies, without credentials.

use std::time::Duration;

use futures_util::future::join_all;
use poem::http::{Method, Request, Version};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};

use super::{
    Scale,
    attacks::{connect, socket},
    target::{PROXY, Target},
};

/// The streams of a connection that the service allows.
const STREAMS: usize = 16;

/// Answers that take much when each reader has an encoder, or that nobody limits.
const ANSWERS: [&str; 7] =
    ["/docs/swagger-ui.js", "/openapi.json", "/changelog", "/docs/errors", "/", "/api", "/share/nothing"];

type Streams = (Vec<h2::client::ResponseFuture>, Vec<h2::SendStream<bytes::Bytes>>, JoinHandle<()>);

/// Opens a connection with an HTTP/2 stream for each request, whose answers are read `window` bytes far.
async fn streams(target: &Target, from: [u8; 4], window: u32, requests: Vec<Request<()>>) -> Option<Streams> {
    let stream = connect(target, from).await?;
    let mut client = h2::client::Builder::new();
    let (mut sender, connection) = client.initial_window_size(window).handshake(stream).await.ok()?;
    let connection = tokio::spawn(async move { drop(connection.await) });
    let (mut answers, mut bodies) = (Vec::new(), Vec::new());
    for request in requests {
        sender = sender.ready().await.ok()?;
        let is_whole = *request.method() == Method::GET;
        let (answer, body) = sender.send_request(request, is_whole).ok()?;
        answers.push(answer);
        bodies.push(body);
    }
    Some((answers, bodies, connection))
}

fn request(target: &Target, method: Method, path: &str) -> poem::http::request::Builder {
    Request::builder().method(method).version(Version::HTTP_2).uri(format!("{}{path}", target.url))
}

/// Returns how many of the streams were answered with 429 or reset.
async fn refused(held: Vec<Streams>) -> usize {
    let mut refused = 0;
    for (answers, _bodies, connection) in held {
        let outcomes = join_all(answers.into_iter().map(|answer| timeout(Duration::from_millis(1), answer))).await;
        refused += outcomes.iter().filter(|one| !matches!(one, Ok(Ok(answer)) if answer.status() != 429)).count();
        connection.abort();
    }
    refused
}

/// Answers in a coding, of which one byte is read.
pub async fn unread_streams_take_the_memory(target: &Target, scale: Scale) -> usize {
    let mut held = Vec::new();
    for number in 0..scale.connections.min(60) {
        let path = ANSWERS[number % ANSWERS.len()];
        let ask = |_| request(target, Method::GET, path).header("accept-encoding", "gzip").body(()).unwrap();
        held.extend(streams(target, [127, 0, 5, 1], 1, (0..STREAMS).map(ask).collect()).await);
    }
    sleep(scale.length).await;
    refused(held).await
}

/// Documents in a coding, read as fast as they come.
pub async fn packing_documents_takes_the_cpu(target: &Target, scale: Scale) -> usize {
    let end = Instant::now() + scale.length;
    let one = async |lane: usize| {
        let (path, coding) = (ANSWERS[lane % 4], ["gzip", "br"][lane % 2]);
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: a\r\nAccept-Encoding: {coding}\r\nConnection: close\r\n\r\n");
        let mut refused = 0;
        while Instant::now() < end {
            let Ok(mut stream) = socket([127, 0, 5, 2]).connect(target.address).await else { continue };
            let mut answer = Vec::new();
            let _ = stream.write_all(request.as_bytes()).await;
            let _ = stream.read_to_end(&mut answer).await;
            if answer.starts_with(b"HTTP/1.1 429") {
                refused += 1;
                // Each attempt takes a port of this machine.
                sleep(Duration::from_millis(20)).await;
            }
        }
        refused
    };
    join_all((0..scale.connections.min(60)).map(one)).await.into_iter().sum()
}

/// Heads that promise a body, on two connections from each of eight addresses, again and again.
pub async fn bodies_of_no_bytes_refuse_everybodys_writes(target: &Target, scale: Scale) -> usize {
    let (end, mut all) = (Instant::now() + scale.length, 0);
    while Instant::now() < end {
        let connection = async |number: u8| {
            let path = ["/api/tags", "/mcp", "/oauth/token", "/account/sign-out"][usize::from(number) % 4];
            let promise = |_| request(target, Method::POST, path).header("content-length", "100000").body(()).unwrap();
            streams(target, [127, 0, 6, 1 + number / 2], 65_535, (0..STREAMS).map(promise).collect()).await
        };
        let held: Vec<Streams> = join_all((0..16).map(connection)).await.into_iter().flatten().collect();
        sleep(scale.length / 2).await;
        all += refused(held).await;
    }
    all
}

/// Heads that promise a body, of one client of a proxy.
pub async fn slow_bodies_behind_a_proxy_take_every_connection(target: &Target, scale: Scale) -> usize {
    let promise =
        "POST /oauth/token HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 198.51.100.7\r\nContent-Length: 1000\r\n\r\n";
    let mut held = Vec::new();
    for _ in 0..scale.connections.saturating_mul(3) {
        let Some(mut stream) = connect(target, PROXY).await else { continue };
        let _ = stream.write_all(promise.as_bytes()).await;
        held.push(stream);
    }
    sleep(scale.length).await;
    closed(held).await
}

/// Connections of nine addresses that are idle after one request.
pub async fn idle_connections_shut_everybody_out(target: &Target, scale: Scale) -> usize {
    let mut held = Vec::new();
    for address in 1..10 {
        for _ in 0..scale.connections / 3 {
            let Some(mut stream) = connect(target, [127, 0, 3, address]).await else { continue };
            let _ = stream.write_all(b"GET /api/health HTTP/1.1\r\nHost: a\r\n\r\n").await;
            held.push(stream);
        }
    }
    sleep(scale.length).await;
    closed(held).await
}

/// Returns how many of the connections have ended.
async fn closed(held: Vec<TcpStream>) -> usize {
    let mut closed = 0;
    for mut stream in held {
        let mut answer = Vec::new();
        closed += usize::from(timeout(Duration::from_millis(1), stream.read_to_end(&mut answer)).await.is_ok());
    }
    closed
}
