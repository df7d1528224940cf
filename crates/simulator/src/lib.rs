//! The simulated search engine: an HTTP server, wire-compatible with the Google Search Console API and its OAuth endpoints.
//! Beside it are two simulated SEO providers. Its data is a pure function of a seed.
//!
//! The service can be run, tested and demonstrated with it, without a real account. `world` generates the data, `search`
//! answers queries about it, `oauth` signs people in, `http` serves them, and `state` holds what they share.

mod accounts;
mod controls;
mod error;
mod fault;
mod http;
mod oauth;
mod providers;
mod search;
mod settings;
mod state;
#[cfg(test)]
mod tests;
mod world;

use std::sync::Arc;
use std::time::Duration;

use common::clock::Clock;
use poem::listener::{Acceptor as _, TcpAcceptor};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub use controls::{Controls, Endpoint};
pub use fault::{Fault, FaultKind, InvalidFault};
pub use providers::{ProviderA, ProviderB};
pub use settings::{Conflict, Conflicts, ErrorBodies, Settings};
pub use world::{Cell, PagePart, SearchType, Site, Standing, World};

/// A running simulated search engine. Dropping it stops it at once. [`Simulator::shutdown`] lets open requests finish.
#[derive(Debug)]
pub struct Simulator {
    url: String,
    shared: Arc<state::Shared>,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<std::io::Result<()>>,
}

/// Starts a simulated search engine. It accepts connections when this returns.
///
/// # Errors
/// The address cannot be bound.
pub async fn start(settings: Settings, clock: Clock) -> std::io::Result<Simulator> {
    let acceptor = TcpAcceptor::from_tokio(TcpListener::bind(settings.listen).await?)?;
    let address = acceptor.local_addr().first().and_then(|local| local.as_socket_addr().copied());
    let address = address.ok_or_else(|| std::io::Error::other("the listener has no address"))?;
    let shared = Arc::new(state::Shared::new(&settings, clock));
    let (stop, stopped) = oneshot::channel::<()>();
    let server = poem::Server::new_with_acceptor(acceptor).name("simulated search engine");
    let endpoint = http::Service(Arc::clone(&shared));
    let task = tokio::spawn(async move {
        let signal = async { drop(stopped.await) };
        server.run_with_graceful_shutdown(endpoint, signal, Some(Duration::from_secs(2))).await
    });
    Ok(Simulator { url: format!("http://{address}"), shared, stop: Some(stop), task })
}

impl Simulator {
    /// `http://ADDRESS`, the root of `/webmasters/v3`, `/o/oauth2/v2/auth`, `/token`, `/revoke`, `/userinfo`, `/provider-a/v3` and
    /// `/provider-b/v3`.
    #[must_use]
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// The controls and counters.
    #[must_use]
    pub fn controls(&self) -> &Controls {
        &self.shared.controls
    }

    /// The data that the responses are computed from.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.shared.drawn.world
    }

    /// Stops accepting connections, and returns after open requests finish or two seconds pass.
    pub async fn shutdown(mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Ok(Err(error)) = (&mut self.task).await {
            tracing::warn!(%error, "the simulated search engine ended with an error");
        }
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        self.task.abort();
    }
}
