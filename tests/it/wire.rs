//! Tests of requests that no HTTP library sends: ambiguous ones, and frames that only cost.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use crate::support::app::shared;

/// Timeout for events that must happen: the end of a connection.
const GUARD: Duration = Duration::from_secs(30);

/// A request that is answered wherever it is found.
const HIDDEN: &str = "GET /api/health HTTP/1.1\r\nHost: a\r\n\r\n";

/// Sends bytes and reads until the service ends the connection.
async fn answered(bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(shared().service.address).await.unwrap();
    let _ = stream.write_all(bytes).await;
    let mut came = Vec::new();
    // A connection that is reset has ended, too.
    let _ = timeout(GUARD, stream.read_to_end(&mut came)).await.unwrap();
    String::from_utf8_lossy(&came).into_owned()
}

/// A proxy in front could take what follows for a part of the first request, and the service for a request of its own, or the other way
/// round. So nothing that follows is answered.
#[tokio::test]
async fn an_ambiguous_request_is_the_last_of_its_connection() {
    let forms = [
        ("Content-Length: 6\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
        ("Transfer-Encoding: chunked\r\nContent-Length: 500", "0\r\n\r\n"),
        ("Content-Length: 2\r\nContent-Length: 40", "{}"),
        ("Content-Length: 2, 40", "{}"),
        ("Content-Length: +2", "{}"),
        ("Content-Length: -1", "{}"),
        ("Content-Length: 0x2", "{}"),
        ("Content-Length: 18446744073709551618", "{}"),
        ("Transfer-Encoding: xchunked", "0\r\n\r\n"),
        ("Transfer-Encoding: chunked, identity", "0\r\n\r\n"),
        ("Transfer-Encoding: identity\r\nContent-Length: 2", "{}"),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: cow", "0\r\n\r\n"),
        ("Transfer-Encoding : chunked", "0\r\n\r\n"),
        ("Transfer-Encoding: \u{b}chunked", "0\r\n\r\n"),
        ("X: a\r\n Transfer-Encoding: chunked", "0\r\n\r\n"),
        ("X Y: a\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
        ("X: a\0b\r\nContent-Length: 2", "{}"),
        ("Transfer-Encoding: chunked", "0x0\r\n\r\n"),
        ("Transfer-Encoding: chunked", "-1\r\n\r\n"),
        ("Transfer-Encoding: chunked", "fffffffffffffffff\r\n\r\n"),
        ("Transfer-Encoding: chunked", "2\n{}\r\n0\r\n\r\n"),
        ("Transfer-Encoding: chunked", "2;\nx\r\n{}\r\n0\r\n\r\n"),
        ("Transfer-Encoding: chunked", "2\r\n{}x\r\n0\r\n\r\n"),
        ("Transfer-Encoding: chunked", "+2\r\n{}\r\n0\r\n\r\n"),
        ("Transfer-Encoding: chunked", "2_0\r\n{}\r\n0\r\n\r\n"),
        ("Transfer-Encoding: \"chunked\"", "0\r\n\r\n"),
        ("Transfer-Encoding: chunked;q=1", "0\r\n\r\n"),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", "0\r\n\r\n"),
        ("Content-Length : 2", "{}"),
        ("Content-Length: 2 2", "{}"),
        ("Content-Length: 2;", "{}"),
        ("Content-Length: 2.0", "{}"),
        ("Content-Length: ", "{}"),
        ("Content-Length: 2\r\nContent_Length\0: 40", "{}"),
        ("X\r\nContent-Length: 2", "{}"),
        (": a\r\nContent-Length: 2", "{}"),
    ];
    for (headers, body) in forms {
        let head = "POST /api/tags HTTP/1.1\r\nHost: a\r\nContent-Type: application/json";
        let came = answered(format!("{head}\r\n{headers}\r\n\r\n{body}{HIDDEN}").as_bytes()).await;
        assert_eq!(came.matches("HTTP/1.1 ").count(), 1, "{headers:?} {body:?}: {came}");
        assert!(came.starts_with("HTTP/1.1 400") || came.starts_with("HTTP/1.1 401"), "{headers:?}: {came}");
    }
    let old = format!("POST /api/tags HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{HIDDEN}");
    assert_eq!(answered(old.as_bytes()).await.matches("HTTP/1.").count(), 1, "HTTP/1.0 knows no chunks");
    let two = format!("{HIDDEN}{}", HIDDEN.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"));
    assert_eq!(answered(two.as_bytes()).await.matches("HTTP/1.1 200").count(), 2, "two requests are two");
}

#[tokio::test]
async fn an_ambiguous_first_line_is_the_last_of_its_connection() {
    for line in [
        "GET /api/health HTTP/1.1 HTTP/1.1",
        "GET /api/health HTTP/2.0",
        "GET /api/health HTTP/1.10",
        "GET /api/health http/1.1",
        "GET /api/health",
        "GET\t/api/health HTTP/1.1",
        "GE\0T /api/health HTTP/1.1",
        " GET /api/health HTTP/1.1",
    ] {
        let came = answered(format!("{line}\r\nHost: a\r\n\r\n{HIDDEN}").as_bytes()).await;
        assert!(!came.contains(" 200 "), "{line:?}: {came}");
    }
    // The body of a request is not read as the next request, whatever the method.
    let last = HIDDEN.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    for length in [format!("Content-Length: {}", HIDDEN.len()), "Transfer-Encoding: chunked".to_owned()] {
        let body = if length.ends_with("chunked") {
            format!("{:x}\r\n{HIDDEN}\r\n0\r\n\r\n", HIDDEN.len())
        } else {
            HIDDEN.to_owned()
        };
        let came =
            answered(format!("GET /api/health HTTP/1.1\r\nHost: a\r\n{length}\r\n\r\n{body}{last}").as_bytes()).await;
        let answers = came.matches("HTTP/1.1 200").count();
        assert!((1..=2).contains(&answers) && came.matches("HTTP/1.1 ").count() == answers, "{length}: {came}");
    }
}

/// The address of a proxy's request names the host twice, and a stranger may name several.
#[tokio::test]
async fn no_host_of_a_request_is_in_a_document() {
    let base = &shared().service.base_url;
    for path in [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration",
        "/openapi.json",
        "/oauth/jwks",
        "/api",
        "/api/health",
        "/docs",
        "/changelog",
        "/robots.txt",
        "/",
        "/auth/login",
        "/account",
        "/share/x",
    ] {
        for (target, hosts) in [
            (path.to_owned(), "Host: evil.example"),
            (format!("http://evil.example{path}"), "Host: evil.example"),
            (format!("http://evil.example{path}"), "Host: a"),
            (path.to_owned(), "Host: a\r\nHost: evil.example"),
            (path.to_owned(), "Host: evil.example\r\nHost: a"),
            (path.to_owned(), "Host: a, evil.example"),
            (path.to_owned(), "Host: evil.example@a"),
        ] {
            let request = format!("GET {target} HTTP/1.1\r\n{hosts}\r\nConnection: close\r\n\r\n");
            let came = answered(request.as_bytes()).await;
            assert!(came.starts_with("HTTP/1.1 ") && !came.starts_with("HTTP/1.1 5"), "{target} {hosts}: {came}");
            assert!(!came.contains("evil"), "{target} {hosts}: {came}");
        }
        let own = base.strip_prefix("http://").unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\n\r\n");
        assert!(answered(request.as_bytes()).await.len() > 100, "{path}");
    }
}

/// An HTTP/2 frame.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const PRIORITY: u8 = 2;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
/// The error `ENHANCE_YOUR_CALM` of RFC 9113.
const CALM: u32 = 11;
const FRAME_HEAD: usize = 9;

/// The compressed headers of `GET` (0x82) or `POST` (0x83) of a path over http at the authority `a`.
fn head(method: u8, path: &str) -> Vec<u8> {
    let path = [&[0x04, u8::try_from(path.len()).unwrap()], path.as_bytes()].concat();
    [&[method, 0x86, 0x41, 1, b'a'][..], &path].concat()
}

/// The error of the GOAWAY frame among frames.
fn parting(mut frames: &[u8]) -> Option<u32> {
    while let Some((head, rest)) = frames.split_first_chunk::<FRAME_HEAD>() {
        let length = usize::try_from(u32::from_be_bytes([0, head[0], head[1], head[2]])).unwrap();
        let payload = rest.get(..length)?;
        if head[3] == GOAWAY {
            return Some(u32::from_be_bytes(payload[4..8].try_into().unwrap()));
        }
        frames = &rest[length..];
    }
    None
}

/// Sends frames until the service ends the connection, and returns its parting error. Fails if it takes all of them.
async fn ended_by(frames: impl Iterator<Item = Vec<u8>>) -> Option<u32> {
    let stream = TcpStream::connect(shared().service.address).await.unwrap();
    let (mut read, mut write) = stream.into_split();
    let reading = tokio::spawn(async move {
        let mut came = Vec::new();
        let _ = read.read_to_end(&mut came).await;
        came
    });
    let opening = [&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], &frame(SETTINGS, 0, 0, &[])].concat();
    write.write_all(&opening).await.unwrap();
    let all = async {
        for frame in frames {
            if write.write_all(&frame).await.is_err() {
                break;
            }
        }
        reading.await.unwrap()
    };
    parting(&timeout(GUARD, all).await.unwrap())
}

/// Each of these costs the service memory or time, and its sender next to nothing.
#[tokio::test]
async fn http2_frames_that_only_cost_end_their_connection() {
    const MANY: u32 = 100_000;
    let get = || head(0x82, "/api/health");
    let reset = |number: u32| {
        let stream = 2 * number + 1;
        [frame(HEADERS, END_STREAM | END_HEADERS, stream, &get()), frame(RST_STREAM, 0, stream, &8_u32.to_be_bytes())]
            .concat()
    };
    assert_eq!(ended_by((0..MANY).map(reset)).await, Some(CALM), "streams that are opened and reset");

    let begun = || std::iter::once(frame(HEADERS, END_STREAM, 1, &get()));
    for (name, payload) in [("empty", &b""[..]), ("more headers", &b"\x00\x01a\x01b".repeat(100))] {
        let endless = begun().chain((0..MANY).map(|_| frame(CONTINUATION, 0, 1, payload)));
        assert_eq!(ended_by(endless).await, Some(CALM), "headers without an end: {name}");
    }

    // A header of 3,900 bytes enters the table of compression, and each further byte repeats it.
    let large = [&[0x40, 1, b'x', 0x7f, 0xbd, 0x1d][..], &b"v".repeat(3_900)].concat();
    let bomb =
        [frame(HEADERS, END_STREAM, 1, &[get(), large].concat()), frame(CONTINUATION, END_HEADERS, 1, &[0xbe; 16_000])];
    assert_eq!(ended_by(bomb.into_iter()).await, Some(CALM), "20 kB that unpack to 62 MB");

    let post = std::iter::once(frame(HEADERS, END_HEADERS, 1, &head(0x83, "/api/tags")));
    let empty = post.chain((0..MANY).map(|_| frame(DATA, 0, 1, &[])));
    assert_eq!(ended_by(empty).await, Some(CALM), "a body of empty frames");
}

/// Sends frames until the service ends the connection or has taken all of them. Others must be served meanwhile and afterwards.
async fn endured(name: &str, frames: impl Iterator<Item = Vec<u8>>) {
    let stream = TcpStream::connect(shared().service.address).await.unwrap();
    let (mut read, mut write) = stream.into_split();
    let reading = tokio::spawn(async move { tokio::io::copy(&mut read, &mut tokio::io::sink()).await });
    let opening = [&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], &frame(SETTINGS, 0, 0, &[])].concat();
    write.write_all(&opening).await.unwrap();
    let (others, mut sent) = (shared().anonymous(), 0);
    for frame in frames {
        if timeout(GUARD, write.write_all(&frame)).await.unwrap().is_err() {
            break;
        }
        sent += 1;
        if sent % 500 == 0 {
            others.get("/api/health?probe=live").await.expect(200);
        }
    }
    others.get("/api/health?probe=live").await.expect(200);
    assert!(sent > 0, "{name}");
    reading.abort();
}

/// Streams that the service resets do not count towards the limit on streams that clients reset.
#[tokio::test]
async fn streams_that_the_service_has_to_reset_keep_nobody_waiting() {
    const MANY: u32 = 5_000;
    let max = 0x7fff_ffff_u32.to_be_bytes();
    let forms: [(&str, u8, u8, &[u8]); 6] = [
        ("a window that grows by nothing", WINDOW_UPDATE, 0, &[0; 4]),
        ("a window that grows too large", WINDOW_UPDATE, 0, &max),
        ("a body after the end", DATA, END_STREAM, b"x"),
        ("headers after the end", HEADERS, END_STREAM | END_HEADERS, &head(0x82, "/api/health")),
        ("a priority of the wrong length", PRIORITY, 0, &[0; 3]),
        ("a window update of the wrong length", WINDOW_UPDATE, 0, &[0; 3]),
    ];
    for (name, kind, flags, payload) in forms {
        let opened = |number: u32| {
            let stream = 2 * number + 1;
            let get = frame(HEADERS, END_STREAM | END_HEADERS, stream, &head(0x82, "/api/health"));
            [get, frame(kind, flags, stream, payload)].concat()
        };
        endured(name, (0..MANY).map(opened)).await;
    }
}

#[tokio::test]
async fn http2_frames_that_want_an_answer_or_none_keep_nobody_waiting() {
    const MANY: usize = 5_000;
    let forms: [(&str, Vec<u8>); 5] = [
        ("pings", frame(PING, 0, 0, &[7; 8])),
        ("settings", frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 0xff, 0xff])),
        ("windows", frame(WINDOW_UPDATE, 0, 0, &1_u32.to_be_bytes())),
        ("priorities of streams that are not there", frame(PRIORITY, 0, 9, &[0, 0, 0, 3, 16])),
        ("frames of no kind", frame(0xfa, 0xff, 9, &[0; 64])),
    ];
    for (name, one) in forms {
        endured(name, std::iter::repeat_n(one, MANY)).await;
    }
}
