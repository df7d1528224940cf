//! Answers without an end, in front of a server's own.

use std::{
    io,
    sync::{
        Arc, LazyLock, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use poem::{
    Body, Endpoint, EndpointExt as _, IntoResponse, Middleware, Request, Response, Route, listener::TcpAcceptor,
};
use tokio::net::TcpListener;

/// The ways in which the bytes come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// As they are.
    Plain,
    /// Compressed, a hundred and fifty in one.
    Gzip,
}

pub const CODINGS: [Coding; 2] = [Coding::Plain, Coding::Gzip];

/// More bytes than two sockets and a decoder hold.
const IN_SOCKETS: usize = 32 << 20;

/// Repetitions in a block of [`zeros`]. With so many it ends at a byte.
const REPETITIONS: usize = 8 * 600 + 6;

/// A middleware that answers at one path without an end, and counts.
#[derive(Clone, Default)]
pub struct Endless(Arc<State>);

#[derive(Default)]
struct State {
    at: Mutex<Option<(&'static str, Coding)>>,
    asked: AtomicUsize,
    sent: AtomicUsize,
}

impl Endless {
    /// Starts a server without answers of its own. Returns its address.
    pub async fn server(&self) -> String {
        let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let root = format!("http://{}", socket.local_addr().unwrap());
        let acceptor = TcpAcceptor::from_tokio(socket).unwrap();
        tokio::spawn(poem::Server::new_with_acceptor(acceptor).run(Route::new().with(self.clone())));
        root
    }

    /// From now on the server answers without an end where the path ends like this.
    pub fn at(&self, path: &'static str, coding: Coding) {
        *self.0.at.lock().unwrap() = Some((path, coding));
        self.0.asked.store(0, Ordering::SeqCst);
        self.0.sent.store(0, Ordering::SeqCst);
    }

    /// From now on the server answers by itself.
    pub fn nowhere(&self) {
        *self.0.at.lock().unwrap() = None;
    }

    /// Asserts that somebody asked, and that of each answer no more was read than `most` bytes and what sockets hold.
    #[track_caller]
    pub fn assert_read_to(&self, most: usize) {
        let [asked, sent] = [&self.0.asked, &self.0.sent].map(|count| count.load(Ordering::SeqCst));
        let at = self.0.at.lock().unwrap();
        assert!(asked > 0, "nobody asked at {at:?}");
        assert!(sent <= asked * (most + IN_SOCKETS), "{sent} bytes were sent to {asked} requests at {at:?}");
    }

    fn answer(&self, coding: Coding) -> Response {
        self.0.asked.fetch_add(1, Ordering::SeqCst);
        let state = self.0.clone();
        let count = move |piece: Bytes| {
            state.sent.fetch_add(piece.len(), Ordering::SeqCst);
            Ok::<_, io::Error>(piece)
        };
        let response = Response::builder().content_type("application/json");
        match coding {
            Coding::Plain => {
                let quote = stream::iter([Bytes::from_static(b"\"")]);
                let text = Bytes::from(vec![b'x'; 1 << 14]);
                response.body(Body::from_bytes_stream(quote.chain(stream::repeat(text)).map(count)))
            }
            Coding::Gzip => {
                let head = stream::iter([Bytes::from_static(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3])]);
                let body = Body::from_bytes_stream(head.chain(stream::repeat(ZEROS.clone())).map(count));
                response.header("content-encoding", "gzip").body(body)
            }
        }
    }
}

static ZEROS: LazyLock<Bytes> = LazyLock::new(|| Bytes::from(zeros()));

/// A block with fixed codes (RFC 1951, section 3.2.6) that is not the last: a zero, and repetitions of 258 zeros.
fn zeros() -> Vec<u8> {
    let (zero, length, distance, end) = ("00110000", "11000101", "00000", "0000000");
    let bits = ["010", zero].into_iter().chain([length, distance].repeat(REPETITIONS)).chain([end]);
    let bits: Vec<u8> = bits.flat_map(str::bytes).map(|bit| bit - b'0').collect();
    let (bytes, []) = bits.as_chunks::<8>() else { panic!("{} bits", bits.len()) };
    // The first bit is the lowest.
    bytes.iter().map(|bits| bits.iter().rev().fold(0, |byte, bit| 2 * byte + bit)).collect()
}

impl<E: Endpoint> Middleware<E> for Endless {
    type Output = Before<E>;

    fn transform(&self, server: E) -> Self::Output {
        Before { endless: self.clone(), server }
    }
}

/// A server with [`Endless`] in front.
pub struct Before<E> {
    endless: Endless,
    server: E,
}

impl<E: Endpoint> Endpoint for Before<E> {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let at = *self.endless.0.at.lock().unwrap();
        match at {
            Some((path, coding)) if request.uri().path().ends_with(path) => Ok(self.endless.answer(coding)),
            _ => self.server.call(request).await.map(IntoResponse::into_response),
        }
    }
}
