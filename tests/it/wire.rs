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

/// An HTTP/2 frame.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
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
