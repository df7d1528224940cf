//! Keeps a value, such as a place or a permit, until a response has been sent or dropped.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use http_body_util::combinators::BoxBody;
use poem::{Body, Response};

use crate::server::KeptUntilSent;

/// Keeps `held` until the end of the response's body has been read, or the body is dropped. A response that the server sends keeps it until
/// the socket has taken the last byte.
pub fn until_sent<T: Send + Sync + 'static>(mut response: Response, held: T) -> Response {
    let held = Arc::new(held);
    KeptUntilSent::add(response.extensions_mut(), held.clone());
    let body = response.take_body().into();
    response.set_body(Body::from(BoxBody::new(Unread { rest: Some((body, held)) })));
    response
}

/// A body that drops its contents and its source when its end has been read.
struct Unread<T> {
    rest: Option<(BoxBody<Bytes, io::Error>, Arc<T>)>,
}

impl<T> http_body::Body for Unread<T> {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let Some((body, _)) = &mut self.rest else { return Poll::Ready(None) };
        let frame = Pin::new(body).poll_frame(context);
        if matches!(frame, Poll::Ready(None)) {
            self.rest = None;
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.rest.as_ref().is_none_or(|(body, _)| body.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        self.rest.as_ref().map_or_else(|| SizeHint::with_exact(0), |(body, _)| body.size_hint())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use common::{addresses::TrustedProxies, places::Places};
    use poem::{EndpointExt as _, Request, endpoint::make_sync};
    use telemetry::polls::PollMeter;
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::{TcpListener, TcpStream},
    };

    use super::*;
    use crate::{
        http::{
            errors::{Errors, errors},
            rate_limit::{RateLimit, limit, unread},
        },
        server::{Deadlines, Limits, serve},
    };

    /// Larger than the buffers of a socket, and than half the budget of one network.
    const LARGE: usize = 20 << 20;

    /// Starts a server with large answers, and with `in_flight` places for each network. Returns its address.
    async fn server(in_flight: usize) -> std::net::SocketAddr {
        let rate = common::rate_limit::Rate::new(60, 60);
        let settings = RateLimit { limits: None, in_flight: Places::new(in_flight), unread: unread(), anonymous: rate };
        let (settings, large) = (Arc::new(settings), Bytes::from(vec![b'x'; LARGE]));
        let endpoint = make_sync(move |request: Request| match request.uri().path() {
            "/small" => Response::builder().body("small"),
            _ => Response::builder().body(large.clone()),
        });
        let endpoint = endpoint.around(move |next, request| limit(settings.clone(), next, request));
        let settings = Arc::new(Errors { other_paths: Arc::default(), subscribe_url: String::new() });
        let endpoint = endpoint.around(move |next, request| errors(settings.clone(), next, request));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let limits = Limits {
            connections: 100,
            per_address: 100,
            trusted: TrustedProxies::default(),
            deadlines: Deadlines::default(),
            polls: PollMeter::default(),
        };
        let stop = std::future::pending();
        tokio::spawn(serve(listener, endpoint.map_to_response().boxed(), limits, stop, Duration::ZERO));
        address
    }

    /// Asks over HTTP/1.1, and reads the first bytes of the answer only.
    async fn ask(address: std::net::SocketAddr, path: &str) -> (u16, TcpStream) {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: test\r\n\r\n").as_bytes()).await.unwrap();
        let mut head = [0; 12];
        stream.read_exact(&mut head).await.unwrap();
        (std::str::from_utf8(&head[9..]).unwrap().parse().unwrap(), stream)
    }

    async fn read_all(mut stream: TcpStream) {
        let mut read = 0;
        while read < LARGE {
            read += stream.read(&mut vec![0; 1 << 20]).await.unwrap();
        }
    }

    /// Waits until a small answer has this status.
    async fn until(address: std::net::SocketAddr, path: &str, status: u16) {
        while ask(address, path).await.0 != status {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_place_is_taken_until_the_last_byte_is_sent() {
        let address = server(1).await;
        let (status, unread) = ask(address, "/large").await;
        assert_eq!(status, 200);
        for _ in 0..20 {
            assert_eq!(ask(address, "/small").await.0, 429);
        }
        read_all(unread).await;
        until(address, "/small", 200).await;
        let (status, dropped) = ask(address, "/large").await;
        assert_eq!((status, ask(address, "/small").await.0), (200, 429));
        drop(dropped);
        until(address, "/small", 200).await;
    }

    #[tokio::test]
    async fn a_place_is_taken_until_a_stream_is_read() {
        let address = server(1).await;
        let stream = TcpStream::connect(address).await.unwrap();
        let (client, connection) = h2::client::handshake(stream).await.unwrap();
        tokio::spawn(connection);
        let request = || http::Request::get("http://test/large").body(()).unwrap();
        let (answer, _) = client.clone().ready().await.unwrap().send_request(request(), true).unwrap();
        let mut answer = answer.await.unwrap();
        assert_eq!(answer.status(), 200);
        for _ in 0..20 {
            assert_eq!(ask(address, "/small").await.0, 429);
        }
        while let Some(bytes) = answer.body_mut().data().await {
            let bytes = bytes.unwrap().len();
            answer.body_mut().flow_control().release_capacity(bytes).unwrap();
        }
        until(address, "/small", 200).await;
    }

    #[tokio::test]
    async fn answers_that_wait_to_be_read_have_a_budget() {
        let address = server(100).await;
        let (status, unread) = ask(address, "/large").await;
        assert_eq!(status, 200);
        let (status, mut refused) = ask(address, "/large").await;
        let mut rest = vec![0; 1_000];
        let length = refused.read(&mut rest).await.unwrap();
        let refusal = String::from_utf8_lossy(&rest[..length]).to_ascii_lowercase();
        assert!(status == 503 && refusal.contains("retry-after: 2"), "{status} {refusal}");
        assert_eq!(ask(address, "/small").await.0, 200, "small answers do not count");
        read_all(unread).await;
        until(address, "/large", 200).await;
    }
}
