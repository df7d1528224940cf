//! The attacks, each from its own address.

use std::{process::Command, time::Duration};

use futures_util::future::join_all;
use poem::http::{Method, Request, Version};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpSocket, TcpStream},
    time::timeout,
};

use super::{
    MAX_GROWTH, Scale, connections,
    target::{Target, from, heavy_cluster},
    unread,
};
use crate::support::whole::Whole as _;

/// Fourteen bytes of brotli that decode to 16 MiB of zeros.
const BROTLI: [u8; 14] = [0xcf, 0xcd, 0xff, 0x7f, 0x00, 0x24, 0x00, 0xe2, 0xb1, 0x40, 0xaa, 0xee, 0xff, 0x0d];

/// Concurrent requests of attacks that repeat requests.
const AT_ONCE: usize = 16;

/// The requests of honest people while the service is attacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Honest {
    /// They read, on connections that they have.
    Reads,
    /// They write.
    Writes,
    /// They connect.
    NewConnections,
}

/// An attack.
#[derive(Debug, Clone, Copy)]
pub enum Attack {
    /// Request heads that never end.
    HalfHeads,
    /// Large responses that nobody reads.
    SlowReaders,
    /// Compressed bodies on all streams of each connection.
    CodedBodies,
    /// Tokens with unknown key ids, while the issuer hangs.
    JunkTokens,
    /// The longest lists of one tenant, repeatedly.
    HeavyLists,
    /// Readers of a share link with questions that are not cached.
    ShareReaders,
    /// Malformed tokens.
    BadTokens,
    /// Two hundred assistants of one tenant, with calls of every kind.
    Assistants,
    /// Compressed answers that nobody reads.
    UnreadStreams,
    /// Compressed documents, as often as they are answered.
    PackedDocuments,
    /// Bodies that never come.
    BodiesOfNoBytes,
    /// Bodies that never come, of one client of a proxy.
    SlowBodiesBehindAProxy,
    /// Connections without requests.
    IdleConnections,
    /// Pages that nobody reads.
    UnreadPages,
    /// Rows by any dimensions that nobody reads.
    UnreadRows,
}

impl Attack {
    /// The name in the table of results.
    pub fn name(self) -> &'static str {
        match self {
            Self::HalfHeads => "half-sent heads",
            Self::SlowReaders => "slow readers",
            Self::CodedBodies => "compressed bodies on many streams",
            Self::JunkTokens => "junk tokens while the issuer hangs",
            Self::HeavyLists => "one tenant's heaviest lists",
            Self::ShareReaders => "20 anonymous share readers",
            Self::BadTokens => "300 bad tokens",
            Self::Assistants => "200 assistants",
            Self::UnreadStreams => "unread streams",
            Self::PackedDocuments => "compressed documents",
            Self::BodiesOfNoBytes => "bodies of no bytes",
            Self::SlowBodiesBehindAProxy => "bodies of no bytes behind a proxy",
            Self::IdleConnections => "idle connections",
            Self::UnreadPages => "120 unread pages",
            Self::UnreadRows => "120 unread typed answers",
        }
    }

    /// The requests of honest people meanwhile.
    pub fn honest(self) -> Honest {
        match self {
            Self::BodiesOfNoBytes | Self::SlowBodiesBehindAProxy => Honest::Writes,
            Self::IdleConnections => Honest::NewConnections,
            _ => Honest::Reads,
        }
    }

    /// The maximum memory growth in the long form, in megabytes.
    pub fn max_growth(self) -> u64 {
        match self {
            Self::UnreadStreams => 64,
            Self::UnreadPages | Self::UnreadRows => 160,
            _ => MAX_GROWTH,
        }
    }

    /// Returns whether honest people must hardly notice the attack in the long form.
    pub fn is_hardly_noticed(self) -> bool {
        matches!(
            self,
            Self::PackedDocuments
                | Self::BodiesOfNoBytes
                | Self::SlowBodiesBehindAProxy
                | Self::IdleConnections
                | Self::UnreadPages
                | Self::UnreadRows
        )
    }

    /// Creates the data that the attack needs.
    pub async fn prepare(self, target: &Target) {
        match self {
            Self::HeavyLists => {
                let path = format!("/api/properties/{}/topic-clusters", target.property);
                // As many as are accepted, up to a limit.
                for number in 0..80 {
                    let made = target.tenant.post(&path, &heavy_cluster(number, 50, 250)).await;
                    if made.status == 400 {
                        return;
                    }
                    made.expect(201);
                }
            }
            Self::JunkTokens => stop_or_continue(target, "-STOP"),
            _ => {}
        }
    }

    /// Runs the attack for a while, and returns how often it was refused.
    pub async fn run(self, target: &Target, scale: Scale) -> usize {
        match self {
            Self::HalfHeads => half_heads(target, scale).await,
            Self::SlowReaders => slow_readers(target, scale).await,
            Self::CodedBodies => coded_bodies(target, scale).await,
            Self::JunkTokens => {
                let refused = ask(target, scale, [127, 0, 1, 4], junk_token).await;
                stop_or_continue(target, "-CONT");
                refused
            }
            Self::HeavyLists => heavy_lists(target, scale).await,
            Self::ShareReaders => share_readers(target, scale).await,
            Self::BadTokens => bad_tokens(target).await,
            Self::Assistants => assistants(target, scale).await,
            Self::UnreadStreams => connections::unread_streams_take_the_memory(target, scale).await,
            Self::PackedDocuments => connections::packing_documents_takes_the_cpu(target, scale).await,
            Self::BodiesOfNoBytes => connections::bodies_of_no_bytes_refuse_everybodys_writes(target, scale).await,
            Self::SlowBodiesBehindAProxy => {
                connections::slow_bodies_behind_a_proxy_take_every_connection(target, scale).await
            }
            Self::IdleConnections => connections::idle_connections_shut_everybody_out(target, scale).await,
            Self::UnreadPages => unread::pages(target, scale).await,
            Self::UnreadRows => unread::typed_answers(target, scale).await,
        }
    }
}

pub async fn connect(target: &Target, from: [u8; 4]) -> Option<TcpStream> {
    let socket = socket(from);
    socket.set_recv_buffer_size(4096).unwrap();
    socket.connect(target.address).await.ok()
}

pub fn socket(from: [u8; 4]) -> TcpSocket {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((from, 0).into()).unwrap();
    socket
}

/// Returns whether the service has ended the connection. Waits only briefly.
async fn is_closed(stream: &mut TcpStream) -> bool {
    let mut byte = [0];
    !matches!(timeout(Duration::from_millis(1), stream.read(&mut byte)).await, Err(_) | Ok(Ok(1)))
}

async fn half_heads(target: &Target, scale: Scale) -> usize {
    let filler = "x".repeat(8_000);
    let mut streams = Vec::new();
    for _ in 0..scale.connections {
        if let Some(mut stream) = connect(target, [127, 0, 1, 1]).await {
            let _ = stream.write_all(format!("GET /api/health HTTP/1.1\r\nX-Filler: {filler}").as_bytes()).await;
            streams.push(stream);
        }
    }
    tokio::time::sleep(scale.until_deadline).await;
    let mut closed = scale.connections - streams.len();
    for mut stream in streams {
        closed += usize::from(is_closed(&mut stream).await);
    }
    closed
}

async fn slow_readers(target: &Target, scale: Scale) -> usize {
    let path = format!("/api/properties/{}/query-count-raw?startDate=2026-01-01&endDate=2026-10-31", target.property);
    let export = format!("GET {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\n\r\n", target.tenant.token());
    let pipelined = "GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n".repeat(12);
    let mut streams = Vec::new();
    for number in 0..scale.connections.min(100) {
        let Some(mut stream) = connect(target, [127, 0, 1, 2]).await else { continue };
        let request = if number % 5 == 0 { &export } else { &pipelined };
        let _ = stream.write_all(request.as_bytes()).await;
        streams.push(stream);
    }
    tokio::time::sleep(scale.until_deadline).await;
    let mut cut = 0;
    for stream in &mut streams {
        let reset = async { while stream.write_all(b"\r\n").await.is_ok() {} };
        cut += usize::from(timeout(Duration::from_millis(20), reset).await.is_ok());
    }
    cut
}

async fn coded_bodies(target: &Target, scale: Scale) -> usize {
    let mut held = Vec::new();
    for _ in 0..scale.connections / 50 {
        let Some(stream) = connect(target, [127, 0, 1, 3]).await else { continue };
        let Ok((mut requests, connection)) = h2::client::handshake(stream).await else { continue };
        let connection = tokio::spawn(connection);
        let mut streams = Vec::new();
        for _ in 0..16 {
            let request = Request::builder().method(Method::POST).version(Version::HTTP_2);
            let request = request.uri(format!("{}/auth/logout", target.url));
            let request = request.header("content-encoding", "br").header("content-length", "500000").body(()).unwrap();
            let Ok(ready) = requests.ready().await else { break };
            requests = ready;
            let Ok((answer, mut body)) = requests.send_request(request, false) else { break };
            let _ = body.send_data(BROTLI.to_vec().into(), false);
            streams.push((answer, body));
        }
        held.push((streams, connection));
    }
    tokio::time::sleep(scale.length).await;
    let streams = held.iter().map(|(streams, _)| streams.len()).sum();
    for (_, connection) in held {
        connection.abort();
    }
    streams
}

/// A well-formed token whose key is not one of the issuer's.
fn junk_token(number: usize) -> String {
    use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
    let encode = |text: String| URL_SAFE_NO_PAD.encode(text);
    let header = encode(format!("{{\"typ\":\"at+jwt\",\"alg\":\"RS256\",\"kid\":\"junk {number}\"}}"));
    format!("{header}.{}.{}", encode("{}".to_owned()), encode("signature".to_owned()))
}

/// Sends requests with one token after the other, and returns how many were refused.
async fn ask(target: &Target, scale: Scale, address: [u8; 4], token: fn(usize) -> String) -> usize {
    let (http, url) = (from(address), format!("{}/api/properties", target.url));
    let end = tokio::time::Instant::now() + scale.length;
    let one = async |lane: usize| {
        let mut refused = 0;
        while tokio::time::Instant::now() < end {
            let answer = http.get(&url).bearer_auth(token(lane * 1_000_000 + refused)).send().await;
            refused += usize::from(answer.is_ok_and(|answer| matches!(answer.status().as_u16(), 401 | 429 | 503)));
        }
        refused
    };
    join_all((0..AT_ONCE).map(one)).await.into_iter().sum()
}

async fn heavy_lists(target: &Target, scale: Scale) -> usize {
    let (http, url) =
        (from([127, 0, 1, 5]), format!("{}/api/properties/{}/topic-clusters", target.url, target.property));
    let end = tokio::time::Instant::now() + scale.length;
    let one = async || {
        let mut refused = 0;
        while tokio::time::Instant::now() < end {
            let answer = http.get(&url).bearer_auth(target.tenant.token()).send().await.unwrap();
            refused += usize::from(answer.status() == 429);
            let _ = answer.whole_bytes().await;
        }
        refused
    };
    join_all((0..AT_ONCE).map(|_| one())).await.into_iter().sum()
}

async fn share_readers(target: &Target, scale: Scale) -> usize {
    let http = from([127, 0, 1, 6]);
    let one = async |reader: usize| {
        let filters = format!(
            "[{{\"dimension\":\"query\",\"operator\":\"contains\",\"value\":\"a{reader}\"}},\
             {{\"dimension\":\"page\",\"operator\":\"contains\",\"value\":\"b\",\"logic\":\"or\"}},\
             {{\"dimension\":\"country\",\"operator\":\"equals\",\"value\":\"usa\",\"logic\":\"or\"}}]"
        );
        let url = format!("{}/api/share/{}/performance", target.url, target.share_token);
        let query = [("scope", "all"), ("filters", filters.as_str())];
        let answer = timeout(scale.until_deadline, http.get(url).query(&query).send()).await;
        usize::from(!matches!(answer, Ok(Ok(answer)) if answer.status() == 200))
    };
    join_all((0..20).map(one)).await.into_iter().sum()
}

async fn assistants(target: &Target, scale: Scale) -> usize {
    // One address has a hundred connections.
    let http = [8, 9, 10, 11].map(|last| from([127, 0, 1, last]));
    let url = format!("{}/mcp", target.url);
    let end = tokio::time::Instant::now() + scale.length;
    let one = async |lane: usize| {
        let tools = ["get_performance", "explain_click_change", "get_countries", "find_cannibalization"];
        let (mut refused, mut days) = (0, 1 + lane % 90);
        while tokio::time::Instant::now() < end {
            let arguments = json!({ "property": target.property, "period": format!("last_{days}_days") });
            let params = json!({ "name": tools[lane % tools.len()], "arguments": arguments });
            let call = json!({ "jsonrpc": "2.0", "id": lane, "method": "tools/call", "params": params });
            let request = http[lane % 4].post(&url).bearer_auth(target.tenant.token());
            let request = request.header("content-type", "application/json");
            let answer = request.body(call.to_string()).send().await.unwrap();
            refused += usize::from(answer.status() == 429);
            let _ = answer.whole_bytes().await;
            days = 1 + (days + 7) % 90;
        }
        refused
    };
    join_all((0..200).map(one)).await.into_iter().sum()
}

async fn bad_tokens(target: &Target) -> usize {
    let (http, url) = (from([127, 0, 1, 7]), format!("{}/api/properties", target.url));
    let one = async |number: usize| {
        let answer = http.get(&url).bearer_auth(format!("bad-{number}")).send().await.unwrap();
        assert!(matches!(answer.status().as_u16(), 401 | 429), "{}", answer.status());
        1
    };
    let mut refused = 0;
    for batch in 0..20 {
        refused += join_all((0..15).map(|number| one(batch * 15 + number))).await.into_iter().sum::<usize>();
    }
    refused
}

/// Suspends or resumes the issuer. A suspended process keeps its connections and sends nothing.
fn stop_or_continue(target: &Target, signal: &str) {
    let issuer = target.issuer.as_ref().unwrap();
    assert!(Command::new("kill").args([signal, &issuer.id().to_string()]).status().unwrap().success());
}
