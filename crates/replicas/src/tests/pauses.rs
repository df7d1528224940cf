//! Replicas while Redis pauses: no request stays in flight that has ended, and no claim stays that nobody holds.

use std::{sync::Arc, time::Duration};

use chrono::TimeDelta;
use common::clock::Clock;
use futures_util::future::join_all;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::watch,
    time::{Instant, sleep},
};
use url::Url;

use super::{replica, secrets, url};
use crate::{Entry, Found, Gate, Gates, Most, Passed, Urgency, Wanted};

/// The most requests of the site in flight.
const PLACES: u32 = 4;

/// A relay to Redis that can hold back what it gets. What it holds is passed on later, also if its sender has gone.
struct Relay {
    holds: Arc<watch::Sender<bool>>,
    url: String,
}

impl Relay {
    async fn before(url: &str) -> Self {
        let mut near: Url = url.parse().unwrap();
        let far = (near.host_str().unwrap().to_owned(), near.port().unwrap_or(6379));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        near.set_port(Some(listener.local_addr().unwrap().port())).unwrap();
        let holds = Arc::new(watch::Sender::new(false));
        let held = holds.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(far.clone()).await.unwrap();
                let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
                tokio::spawn(pass(from_client, to_server, held.subscribe()));
                tokio::spawn(pass(from_server, to_client, watch::Sender::new(false).subscribe()));
            }
        });
        Self { holds, url: near.into() }
    }

    fn hold(&self, holds: bool) {
        self.holds.send_replace(holds);
    }
}

async fn pass(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut holds: watch::Receiver<bool>) {
    let mut bytes = vec![0; 64 * 1024];
    while let Ok(length @ 1..) = from.read(&mut bytes).await {
        let _ = holds.wait_for(|holds| !holds).await;
        if to.write_all(&bytes[..length]).await.is_err() {
            return;
        }
    }
}

fn gates() -> Vec<Gate> {
    let buckets = vec![("all", Most { burst: 1e6, per_second: 1e6 })];
    let in_flight = vec![("flight", PLACES)];
    vec![Gate { of: "site".to_owned(), buckets, begins_with: 1.0, in_flight, person: None }]
}

async fn enter(gates_of: &Gates) -> Option<Entry> {
    gates_of.line_up(gates()).enter(0).await
}

/// Takes all places at once. Returns fewer if some are taken.
async fn fill(gates_of: &Gates) -> Vec<Passed> {
    let entries = join_all((0..PLACES).map(|_| enter(gates_of))).await;
    entries
        .into_iter()
        .filter_map(|entry| if let Some(Entry::Passed(passed, _)) = entry { Some(passed) } else { None })
        .collect()
}

#[tokio::test]
async fn a_pause_leaves_no_request_in_flight() {
    let Some(url) = url() else { return };
    let relay = Relay::before(&url).await;
    let secrets = secrets();
    let (first, second) = (replica(&relay.url, &secrets).await, replica(&url, &secrets).await);
    let ([link, _], paused, other) = (first.uses(), first.gates(), second.gates());
    for round in 0..3 {
        // Requests come while Redis pauses, until it is not asked any more. One that had passed before ends then.
        let before = enter(&paused).await;
        relay.hold(true);
        while link.is_up() {
            assert!(fill(&paused).await.is_empty(), "round {round}: Redis answers");
        }
        drop(before);
        sleep(Duration::from_millis(10)).await;
        relay.hold(false);
        // A place that nobody gives back is free again after thirty seconds only.
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let taken = fill(&other).await.len();
            if taken == usize::try_from(PLACES).unwrap() {
                break;
            }
            assert!(Instant::now() < deadline, "round {round}: {taken} places are free");
            sleep(Duration::from_millis(50)).await;
        }
        // The breaker lets calls through again.
        while enter(&paused).await.is_none() {
            sleep(Duration::from_millis(50)).await;
        }
    }
}

#[tokio::test]
async fn a_pause_leaves_no_claim() {
    let Some(url) = url() else { return };
    let relay = Relay::before(&url).await;
    let secrets = secrets();
    let (first, second) = (replica(&relay.url, &secrets).await, replica(&url, &secrets).await);
    let ([_, link], paused, other) = (first.uses(), first.readings(), second.readings());
    let wanted = |request| Wanted { scope: "account:1", request, urgency: Urgency::Soon, patience: Duration::ZERO };
    let Found::Mine(put) = paused.find(&wanted("put")).await else { panic!("nobody has it") };
    let Found::Mine(failed) = paused.find(&wanted("failed")).await else { panic!("nobody has it") };
    let Found::Mine(dropped) = paused.find(&wanted("dropped")).await else { panic!("nobody has it") };
    relay.hold(true);
    let Found::Alone = paused.find(&wanted("in doubt")).await else { panic!("Redis answers") };
    put.put(b"a reading".to_vec(), Clock::system().now() + TimeDelta::hours(1));
    failed.fail();
    drop(dropped);
    while link.is_up() {
        paused.get("account:1", "anything").await;
    }
    relay.hold(false);
    // A claim that stays ends after thirty seconds.
    let begun = Instant::now();
    for request in ["in doubt", "put", "failed", "dropped"] {
        match other.find(&wanted(request)).await {
            Found::Mine(_) | Found::Reading(_) | Found::Failed => {}
            Found::Alone => panic!("{request}: Redis is away"),
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{request}: {:?}", begun.elapsed());
    }
}
