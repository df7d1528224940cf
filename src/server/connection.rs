//! One connection: HTTP/1.1 or HTTP/2, closed when it misses a deadline.

use std::{convert::Infallible, net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use http::uri::Scheme;
use hyper::{body::Incoming, rt::Executor, service::service_fn};
use hyper_util::{rt::TokioIo, server::conn::auto::Builder};
use poem::{
    Addr, Endpoint,
    endpoint::BoxEndpoint,
    web::{LocalAddr, RemoteAddr},
};
use telemetry::polls::PollMeter;
use tokio::{net::TcpStream, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{
    body::WatchedBody,
    io::WatchedSocket,
    kept::KeptUntilSent,
    open::ConnectionPlace,
    watch::{Deadlines, Overdue, Watch},
};

/// Maximum number of open streams on one HTTP/2 connection.
const MAX_STREAMS: u32 = 16;
/// Maximum size of an HTTP/2 request head in bytes. A query string of 60 kB fits.
const MAX_HTTP2_HEAD: u32 = 80 * 1024;
/// Buffer size of HTTP/1.1 in bytes, for a request head and for a response that is not read.
const MAX_BUFFER: usize = 128 * 1024;
/// Flow-control window of an HTTP/2 stream in bytes. A connection's window is four times as large.
const WINDOW: u32 = 64 * 1024;
/// Bytes of an answer that wait on an HTTP/2 stream to be sent.
const MAX_STREAM_BUFFER: usize = 64 * 1024;
/// Time for a closing connection to end by itself.
const CLOSING: Duration = Duration::from_secs(1);

/// Shared by all connections.
#[derive(Clone)]
pub(super) struct Server {
    pub(super) endpoint: Arc<BoxEndpoint<'static>>,
    pub(super) deadlines: Deadlines,
    pub(super) polls: PollMeter,
    pub(super) local: SocketAddr,
    /// Cancelled when the service stops. Connections end after their open requests.
    pub(super) stopping: CancellationToken,
}

impl Server {
    /// Serves one connection until it ends.
    pub(super) async fn serve(self, stream: TcpStream, peer: SocketAddr, watch: Watch, place: ConnectionPlace) {
        let socket = TokioIo::new(WatchedSocket { stream, watch: watch.clone() });
        let requests = watch.clone();
        let (endpoint, local) = (self.endpoint.clone(), self.local);
        let service = service_fn(move |request: http::Request<Incoming>| {
            let (endpoint, mut under_way) = (endpoint.clone(), requests.begin(request.version()));
            async move {
                let (local, remote) = (LocalAddr(Addr::SocketAddr(local)), RemoteAddr(Addr::SocketAddr(peer)));
                let response = endpoint.get_response((request, local, remote, Scheme::HTTP).into()).await;
                let mut response = http::Response::from(response);
                under_way.kept = KeptUntilSent::take(response.extensions_mut());
                Ok::<_, Infallible>(response.map(|body| WatchedBody::new(body, under_way)))
            }
        });
        let builder = builder(Streams(self.polls));
        let mut connection = pin!(builder.serve_connection(socket, service));
        let mut ticks = tokio::time::interval(tick(&self.deadlines));
        let mut closing: Option<Instant> = None;
        loop {
            tokio::select! {
                _ = connection.as_mut() => return,
                () = self.stopping.cancelled(), if closing.is_none() => {
                    connection.as_mut().graceful_shutdown();
                    // The caller that stops the service ends requests that are still open.
                    closing = Some(Instant::now() + Duration::from_hours(1));
                }
                () = place.close.cancelled(), if closing.is_none() => {
                    tracing::debug!(%peer, "an idle connection gives way to a new one");
                    if watch.is_idle() {
                        return;
                    }
                    connection.as_mut().graceful_shutdown();
                    closing = Some(Instant::now());
                }
                now = ticks.tick() => match watch.overdue(now, &self.deadlines) {
                    Some(Overdue::Stream) => {
                        tracing::info!(%peer, "a stream is cut: its answer is not read");
                        watch.abandon_unread(now, &self.deadlines);
                    }
                    Some(Overdue::Slow) => {
                        tracing::info!(%peer, "a connection is cut: its answer is not read");
                        return watch.cut();
                    }
                    Some(overdue) if closing.is_none() => {
                        tracing::debug!(%peer, ?overdue, "a connection is closed");
                        connection.as_mut().graceful_shutdown();
                        closing = Some(now + CLOSING);
                    }
                    _ if closing.is_some_and(|end| now >= end) && watch.is_idle() => return,
                    _ => {}
                }
            }
        }
    }
}

/// Runs each HTTP/2 stream as a task, and times its polls.
#[derive(Clone)]
pub(super) struct Streams(pub(super) PollMeter);

impl<F> Executor<F> for Streams
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn execute(&self, stream: F) {
        tokio::spawn(self.0.timed(stream));
    }
}

pub(super) fn builder(streams: Streams) -> Builder<Streams> {
    let mut builder = Builder::new(streams);
    builder.http1().max_buf_size(MAX_BUFFER);
    builder
        .http2()
        .max_concurrent_streams(MAX_STREAMS)
        .max_header_list_size(MAX_HTTP2_HEAD)
        .max_send_buf_size(MAX_STREAM_BUFFER)
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(4 * WINDOW);
    builder
}

/// The interval between checks of a connection's deadlines.
fn tick(deadlines: &Deadlines) -> Duration {
    let shortest = deadlines.head.min(deadlines.idle).min(deadlines.slow);
    (shortest / 10).max(Duration::from_millis(10))
}
