//! Answers a connection over the limit of its address before it is closed.

use std::{convert::Infallible, net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use http::{HeaderValue, Request, Version, header, uri::Scheme};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::rt::TokioIo;
use poem::{
    Addr, Endpoint as _,
    web::{LocalAddr, RemoteAddr},
};
use tokio::{net::TcpStream, sync::Semaphore, time::timeout};
use tokio_util::sync::CancellationToken;

use super::connection::{Server, Streams, builder};

/// Maximum number of connections that wait for the request to refuse. Further ones are closed without an answer, so that a flood of
/// connections costs no more than this.
const MOST: usize = 32;

/// As request data: the request came on a connection over the limit, which is this, and has to be refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OverLimit(pub usize);

/// Refuses connections over the limit.
pub(super) struct Refusals {
    server: Server,
    over: OverLimit,
    /// Time for the request to come, and for its refusal to be read.
    time: Duration,
    places: Arc<Semaphore>,
}

impl Refusals {
    /// Refuses connections beyond `per_address` by the endpoint of `server`.
    pub(super) fn new(server: Server, per_address: usize, time: Duration) -> Self {
        Self { server, over: OverLimit(per_address), time, places: Arc::new(Semaphore::new(MOST)) }
    }

    /// Closes a connection after the answer to its first request. Some clients take an answer that comes before their request for a fault.
    pub(super) fn refuse(&self, stream: TcpStream, peer: SocketAddr) {
        tracing::debug!(%peer, "an address has too many connections");
        let Ok(place) = self.places.clone().try_acquire_owned() else { return };
        let (server, over, time) = (self.server.clone(), self.over, self.time);
        let connection = async move {
            // A client that is gone, or too slow, gets no answer.
            drop(timeout(time, server.refuse(stream, peer, over)).await);
            drop(place);
        };
        tokio::spawn(self.server.polls.timed(connection));
    }
}

impl Server {
    async fn refuse(self, stream: TcpStream, peer: SocketAddr, over: OverLimit) {
        let (endpoint, local, answered) = (self.endpoint, self.local, CancellationToken::new());
        let is_answered = answered.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let (endpoint, answered, version) = (endpoint.clone(), is_answered.clone(), request.version());
            async move {
                let (local, remote) = (LocalAddr(Addr::SocketAddr(local)), RemoteAddr(Addr::SocketAddr(peer)));
                let mut request: poem::Request = (request, local, remote, Scheme::HTTP).into();
                request.set_data(over);
                let mut response = endpoint.get_response(request).await;
                if version <= Version::HTTP_11 {
                    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
                }
                answered.cancel();
                Ok::<_, Infallible>(http::Response::from(response))
            }
        });
        let builder = builder(Streams(self.polls));
        let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
        tokio::select! {
            _ = connection.as_mut() => return,
            () = answered.cancelled() => connection.as_mut().graceful_shutdown(),
        }
        let _ = connection.await;
    }
}
