//! Accepts connections, with a limit on open connections in total and per address.

use std::{
    collections::HashMap,
    future::Future,
    io,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use poem::endpoint::BoxEndpoint;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use super::{Limits, connection::Server};
use crate::addresses;

/// Pause after a failed accept, for example because the process has no file descriptor left.
const PAUSE: Duration = Duration::from_millis(100);

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
        local: listener.local_addr()?,
        stopping: stopping.clone(),
    };
    let mut connections = JoinSet::new();
    tokio::select! {
        () = stop => {}
        () = accept_all(&listener, &limits, |stream, peer, place| {
            let server = server.clone();
            while connections.try_join_next().is_some() {}
            connections.spawn(async move {
                server.serve(stream, peer).await;
                drop(place);
            });
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

/// Passes each connection to `take`, together with its permit.
async fn accept_all(listener: &impl Accept, limits: &Limits, mut take: impl FnMut(TcpStream, SocketAddr, Place)) {
    let all = Arc::new(Semaphore::new(limits.connections));
    let by_address = ByAddress::default();
    loop {
        // Once all permits are in use, further connections wait in the kernel's backlog.
        let Ok(permit) = all.clone().acquire_owned().await else { return };
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let most = if limits.trusted.contains(peer.ip()) { usize::MAX } else { limits.per_address };
        let Some(counted) = by_address.enter(peer.ip(), most) else {
            tracing::debug!(%peer, "an address has too many connections");
            continue;
        };
        // Responses are written at once and in full, so Nagle's algorithm would only delay them.
        let _ = stream.set_nodelay(true);
        take(stream, peer, Place { _permit: permit, _counted: counted });
    }
}

/// The permit of an open connection. Dropping it releases the permit.
struct Place {
    _permit: tokio::sync::OwnedSemaphorePermit,
    _counted: Counted,
}

/// The number of open connections per address.
#[derive(Debug, Clone, Default)]
struct ByAddress(Arc<Mutex<HashMap<IpAddr, usize>>>);

struct Counted {
    key: IpAddr,
    by_address: ByAddress,
}

impl ByAddress {
    /// Counts one more connection of `address`, unless it already has `most`.
    fn enter(&self, address: IpAddr, most: usize) -> Option<Counted> {
        let key = addresses::key(address);
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(key).or_default();
        if *count >= most {
            return None;
        }
        *count += 1;
        Some(Counted { key, by_address: self.clone() })
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut counts = self.by_address.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::{addresses::TrustedProxies, server::Deadlines};

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
        Limits { connections: 10, per_address: 10, trusted, deadlines }
    }

    #[tokio::test]
    async fn a_failed_accept_is_followed_by_a_pause() {
        let (listener, limits) = (Exhausted::default(), limits());
        let accepting = accept_all(&listener, &limits, |_, _, _| {});
        assert!(tokio::time::timeout(PAUSE * 3, accepting).await.is_err());
        // Without a pause there would be thousands.
        assert!((1..=10).contains(&listener.0.load(Ordering::Relaxed)));
    }

    #[test]
    fn an_address_has_so_many_connections_and_no_more() {
        let by_address = ByAddress::default();
        let (one, other) = (IpAddr::from([127, 0, 0, 1]), IpAddr::from([127, 0, 0, 2]));
        let held: Vec<_> = (0..3).map(|_| by_address.enter(one, 3).unwrap()).collect();
        assert!(by_address.enter(one, 3).is_none());
        assert!(by_address.enter(other, 3).is_some());
        drop(held);
        assert!(by_address.enter(one, 3).is_some());
        assert!(by_address.0.lock().unwrap().is_empty(), "nothing is kept of connections that ended");
    }
}
