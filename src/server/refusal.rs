//! Says to a client that has too many connections why a further one is closed.

use std::{convert::Infallible, future::ready, io, net::SocketAddr, sync::Arc, time::Duration};

use api::{
    VERSION,
    error::{ApiError, Code},
};
use bytes::Bytes;
use http::{HeaderValue, Request, Response, Version, header};
use http_body_util::combinators::BoxBody;
use hyper::{body::Incoming, service::service_fn};
use hyper_util::rt::TokioIo;
use poem::error::ResponseError as _;
use telemetry::polls::PollMeter;
use tokio::{net::TcpStream, sync::Semaphore, time::timeout};

use super::connection::{Streams, builder};

/// Maximum number of connections that wait for the request to refuse. Further ones are closed without an answer, so that a flood of
/// connections costs no more than this.
const MOST: usize = 32;
/// The value of `Retry-After`, in seconds.
const SOON: u64 = 1;

/// Refuses connections in words.
pub(super) struct Refusals {
    places: Arc<Semaphore>,
    /// Time for the request to come, and for its refusal to be read.
    time: Duration,
    polls: PollMeter,
    error: ApiError,
}

impl Refusals {
    /// Refuses connections beyond `per_address`.
    pub(super) fn new(per_address: usize, time: Duration, polls: PollMeter) -> Self {
        let hint = format!(
            "{per_address} connections of this address are open, and it may have no more. Close some, or send requests over those that are open."
        );
        let error = ApiError::new(Code::RateLimited).hint(hint).retry_after(SOON);
        Self { places: Arc::new(Semaphore::new(MOST)), time, polls, error }
    }

    /// Closes a connection after the answer to its first request. Some clients take words that come before their request for a fault.
    pub(super) fn refuse(&self, stream: TcpStream, peer: SocketAddr) {
        tracing::debug!(%peer, "an address has too many connections");
        let Ok(place) = self.places.clone().try_acquire_owned() else { return };
        let error = self.error.clone();
        let service = service_fn(move |request| ready(Ok::<_, Infallible>(refusal(&error, &request))));
        let (builder, time) = (builder(Streams(self.polls.clone())), self.time);
        let connection = async move {
            // The client that is gone, or too slow, gets no words.
            drop(timeout(time, builder.serve_connection(TokioIo::new(stream), service)).await);
            drop(place);
        };
        tokio::spawn(self.polls.timed(connection));
    }
}

fn refusal(error: &ApiError, request: &Request<Incoming>) -> Response<BoxBody<Bytes, io::Error>> {
    let mut response = error.as_response();
    response.headers_mut().insert("x-api-version", HeaderValue::from_static(VERSION));
    if request.version() <= Version::HTTP_11 {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response.into()
}
