//! Clients that their own metadata document describes: the client id is the https address of the document (Client ID
//! Metadata Documents, draft-ietf-oauth-client-id-metadata-document).
//!
//! Anyone can make the service fetch an address by naming it. So fetches are bounded in target, time, size and number.
//! Failures and invalid documents are not remembered, so that a client whose document was mended works at once.

mod document;
mod fetch;
mod freshness;
mod identifier;
pub mod reach;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use common::{
    addresses::ClientAddress,
    base_url::BaseUrl,
    clock::{Clock, Moment},
    compute::Died,
    places::Places,
    rate_limit::{Rate, RateLimits},
    single_flight::SingleFlight,
};
use reqwest::dns::Resolve;
use tokio::sync::Semaphore;

use self::{identifier::Identifier, reach::Reach};
use super::clients::Client;

/// Documents that one network may have fetched in a row, and per minute after that. Kept documents are not counted.
const BURST: u32 = 20;
const PER_MINUTE: u32 = 10;
/// Fetches under way at once.
const MAX_FETCHES: usize = 32;
/// Fetches of one network under way at once, so that slow servers of one person do not keep others waiting.
const MAX_FETCHES_PER_NETWORK: usize = 4;
/// Time to wait until a fetch may begin.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum number of kept documents.
const MAX_KEPT: usize = 1_000;
const BUSY: Unreadable = Unreadable("Too many applications are looked up at the moment. Try again in a minute.");

/// The reason why a client id is not one of a document's client: a sentence for the error page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreadable(pub &'static str);

impl From<Died> for Unreadable {
    fn from(_: Died) -> Self {
        BUSY
    }
}

/// The documents of clients, fetched when needed and kept for a time.
#[derive(Clone)]
pub struct ClientDocuments(Arc<Documents>);

struct Documents {
    http: reqwest::Client,
    reach: Reach,
    clock: Clock,
    limits: RateLimits,
    fetches: Semaphore,
    /// Fetches under way, by the network that they are counted against.
    by_network: Places<String>,
    under_way: SingleFlight<String, Client, Unreadable>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    kept: HashMap<String, (Moment, Client)>,
}

impl ClientDocuments {
    /// Documents for a service at `base_url`. `builder` has the service's settings of outgoing requests, `names` resolves
    /// names.
    ///
    /// # Errors
    /// The HTTP client cannot be built.
    pub fn new(
        builder: reqwest::ClientBuilder,
        names: Arc<dyn Resolve>,
        base_url: &BaseUrl,
        clock: Clock,
    ) -> Result<Self, reqwest::Error> {
        let reach = Reach::of(base_url);
        Ok(Self(Arc::new(Documents {
            http: fetch::client(builder, names, reach)?,
            reach,
            limits: RateLimits::new(clock.clone()),
            clock,
            fetches: Semaphore::new(MAX_FETCHES),
            by_network: Places::new(MAX_FETCHES_PER_NETWORK),
            under_way: SingleFlight::lasting(),
            state: Mutex::default(),
        })))
    }

    /// Returns the client that the document at `id` describes. A fetch counts against the network of the address `from`. All who ask
    /// for the same document share one fetch.
    pub async fn client(&self, id: &str, from: Option<&ClientAddress>) -> Result<Client, Unreadable> {
        let identifier = Identifier::parse(id, self.0.reach)?;
        let outcome = {
            let state = self.0.state();
            if let Some((_, client)) = state.kept.get(id).filter(|(end, _)| !end.is_over(self.0.clock.moment())) {
                return Ok(client.clone());
            }
            let mut under_way = self.0.under_way.lock();
            if let Some(outcome) = under_way.get(&id.to_owned()) {
                outcome
            } else {
                let network = from.map_or_else(|| "unknown".to_owned(), ClientAddress::network);
                let place = self.0.by_network.take(network.clone()).ok_or(BUSY)?;
                if self.0.limits.count(&network, Rate::new(PER_MINUTE, BURST)).retry_after.is_some() {
                    return Err(BUSY);
                }
                let documents = self.0.clone();
                under_way.start(id.to_owned(), move |_| async move {
                    let _place = place;
                    let (end, client) = documents.read(&identifier).await?;
                    let mut state = documents.state();
                    state.make_room(documents.clock.moment());
                    state.kept.insert(client.id.clone(), (end, client.clone()));
                    Ok(client)
                })
            }
        };
        outcome.await
    }
}

impl Documents {
    async fn read(&self, id: &Identifier) -> Result<(Moment, Client), Unreadable> {
        let permit = tokio::time::timeout(TIMEOUT, self.fetches.acquire()).await;
        let Ok(Ok(_permit)) = permit else { return Err(BUSY) };
        let (headers, bytes) = fetch::fetch(&self.http, id).await?;
        let client = document::read(id.url().as_str(), &bytes)?;
        let lifetime = freshness::of(&headers, self.clock.now());
        Ok((self.clock.moment() + lifetime, client))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Drops expired documents, and the one that expires next if there are still too many.
    fn make_room(&mut self, now: Moment) {
        if self.kept.len() < MAX_KEPT {
            return;
        }
        self.kept.retain(|_, (end, _)| !end.is_over(now));
        if self.kept.len() >= MAX_KEPT
            && let Some(next) = self.kept.iter().min_by_key(|(_, (end, _))| end.left(now)).map(|(id, _)| id.clone())
        {
            self.kept.remove(&next);
        }
    }
}

impl std::fmt::Debug for ClientDocuments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ClientDocuments")
    }
}
