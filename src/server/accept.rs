//! Accepts connections, with a limit on open connections in total and per network.

use std::{future::Future, io, net::SocketAddr, sync::Arc, time::Duration};

use poem::endpoint::BoxEndpoint;
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::{Instant, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    Limits,
    connection::Server,
    open::{ConnectionPlace, NoPlace, Open},
    refusal::Refusals,
    watch::Watch,
};

/// Pause after a failed accept, for example because the process has no file descriptor left, and between two looks for an idle connection.
const PAUSE: Duration = Duration::from_millis(100);

/// The time between two lines about accepts that fail. The pause lets ten fail in a second.
const TELLING: Duration = Duration::from_mins(1);

/// A source of connections.
trait Accept {
    async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)>;
}

impl Accept for TcpListener {
    async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        Self::accept(self).await
    }
}

/// Serves `endpoint` until `stop` completes, then gives open requests `grace` to finish.
pub async fn serve(
    listener: TcpListener,
    endpoint: BoxEndpoint<'static>,
    limits: Limits,
    stop: impl Future<Output = ()>,
    grace: Duration,
) -> io::Result<()> {
    let stopping = CancellationToken::new();
    let server = Server {
        endpoint: Arc::new(endpoint),
        deadlines: limits.deadlines,
        polls: limits.polls.clone(),
        local: listener.local_addr()?,
        stopping: stopping.clone(),
    };
    let refusals = Refusals::new(server.clone(), limits.per_address, limits.deadlines.refuse);
    let mut connections = JoinSet::new();
    tokio::select! {
        () = stop => {}
        () = accept_all(&listener, &limits, |stream, peer, watch, place| {
            let Some(place) = place else { return refusals.refuse(stream, peer) };
            let server = server.clone();
            while connections.try_join_next().is_some() {}
            let polls = server.polls.clone();
            connections.spawn(polls.timed(server.serve(stream, peer, watch, place)));
        }) => {}
    }
    drop(listener);
    stopping.cancel();
    let ended = tokio::time::timeout(grace, async { while connections.join_next().await.is_some() {} });
    if ended.await.is_err() {
        tracing::warn!(connections = connections.len(), "connections are closed in the middle of answers");
    }
    Ok(())
}

/// Passes each connection to `take`, together with its place, or without one if its network has too many.
async fn accept_all(
    listener: &impl Accept,
    limits: &Limits,
    mut take: impl FnMut(TcpStream, SocketAddr, Watch, Option<ConnectionPlace>),
) {
    let open = Open::new(limits.connections);
    let mut told: Option<Instant> = None;
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                if told.is_none_or(|told| told.elapsed() > TELLING) {
                    told = Some(Instant::now());
                    tracing::warn!(%error, "connections cannot be accepted");
                }
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let watch = Watch::new(Instant::now());
        let place = place(&open, peer, &watch, limits).await;
        // Responses are written at once and in full, so Nagle's algorithm would only delay them.
        let _ = stream.set_nodelay(true);
        take(stream, peer, watch, place);
    }
}

/// Returns the place of a new connection, for which another one may have to give way. While none is idle, this one waits, and further ones
/// wait in the kernel's backlog. Returns `None` if the network has too many.
async fn place(open: &Open, peer: SocketAddr, watch: &Watch, limits: &Limits) -> Option<ConnectionPlace> {
    let most = (!limits.trusted.contains(peer.ip())).then_some(limits.per_address);
    loop {
        match open.enter(peer.ip(), most, watch) {
            Ok(place) => return Some(place),
            Err(NoPlace::Network) => return None,
            Err(NoPlace::All) if open.make_room() => {}
            // A request may end without its connection, so this looks again after a while.
            Err(NoPlace::All) => drop(timeout(PAUSE, open.ended()).await),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use common::addresses::TrustedProxies;
    use telemetry::polls::PollMeter;

    use super::*;
    use crate::server::Deadlines;

    /// A listener that fails as if the process had no file descriptors.
    #[derive(Default)]
    struct Exhausted(AtomicUsize);

    impl Accept for Exhausted {
        async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
            self.0.fetch_add(1, Ordering::Relaxed);
            // Without the pause, nothing else would run between two attempts.
            tokio::task::yield_now().await;
            Err(io::Error::other("too many open files"))
        }
    }

    fn limits() -> Limits {
        let (trusted, deadlines) = (TrustedProxies::default(), Deadlines::default());
        Limits { connections: 10, per_address: 10, trusted, deadlines, polls: PollMeter::default() }
    }

    #[tokio::test]
    async fn a_failed_accept_is_followed_by_a_pause() {
        let (listener, limits) = (Exhausted::default(), limits());
        let accepting = accept_all(&listener, &limits, |_, _, _, _| {});
        assert!(tokio::time::timeout(PAUSE * 3, accepting).await.is_err());
        // Without a pause there would be thousands.
        assert!((1..=10).contains(&listener.0.load(Ordering::Relaxed)));
    }
}
