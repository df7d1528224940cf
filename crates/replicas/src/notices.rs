//! Notices of one replica for the others, such as that a provider limits the rate of a holder. Each replica decides by its own state, and
//! receives the notices of others within about a second.

use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use common::{clock::Clock, secrets::Secrets};

use super::{
    link::Link,
    names::Names,
    scripts::{POLL, PUBLISH, millis},
    sealed,
};

/// The time between two polls for notices.
const POLL_EVERY: Duration = Duration::from_secs(1);

/// The time for which notices are kept, so that a replica that starts receives them too.
const KEPT: Duration = Duration::from_hours(1);

/// The number of notices that a topic keeps, and that one poll takes at most.
const MOST: usize = 10_000;
const AT_ONCE: usize = 1_000;

/// The bytes of the largest notices, and of those that one poll takes at most.
const LARGEST: usize = 16 * 1024;
const BYTES: usize = 1024 * 1024;

/// After so many polls everything is received again, so that a stream that began anew is not missed. A subscriber ignores what is old.
const POLLS: u32 = 60;

/// The id before all others.
const START: &str = "-";

/// The number of notices that may be on their way to Redis. Others are dropped.
const UNDER_WAY: usize = 1_000;

/// Notices about one topic. Clones share it.
#[derive(Clone)]
pub struct Notices(Arc<Topic>);

struct Topic {
    link: Arc<Link>,
    name: String,
    secrets: Secrets,
    clock: Clock,
    under_way: AtomicUsize,
}

impl Notices {
    pub(super) fn new(link: Arc<Link>, names: &Names, topic: &str, secrets: Secrets, clock: Clock) -> Self {
        let name = names.notices(topic);
        Self(Arc::new(Topic { link, name, secrets, clock, under_way: AtomicUsize::new(0) }))
    }

    /// Publishes a notice to all replicas, this one included, in the background.
    pub fn publish(&self, notice: &[u8]) {
        let topic = self.0.clone();
        let expires_at = topic.clock.now() + KEPT;
        let value = sealed::sealed(notice, expires_at, &topic.name, &topic.secrets);
        let Some(value) = value.filter(|value| value.len() <= LARGEST) else { return };
        if topic.under_way.fetch_add(1, Ordering::Relaxed) >= UNDER_WAY {
            topic.under_way.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        tokio::spawn(async move {
            let mut script = PUBLISH.key(&topic.name);
            script.arg(value).arg(MOST).arg(millis(KEPT));
            let _: Option<()> = topic.link.script(&script).await;
            topic.under_way.fetch_sub(1, Ordering::Relaxed);
        });
    }

    /// Calls `receive` with all notices that are kept and then with each that comes, in the order in which Redis received them, until it
    /// returns `false` or the topic is dropped. Notices may come more than once.
    pub fn subscribe(&self, mut receive: impl FnMut(&[u8]) -> bool + Send + 'static) {
        let topic: Weak<Topic> = Arc::downgrade(&self.0);
        tokio::spawn(async move {
            let mut ticks = tokio::time::interval(POLL_EVERY);
            ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            let (mut last, mut polls) = (START.to_owned(), 0);
            loop {
                ticks.tick().await;
                let Some(topic) = topic.upgrade() else { return };
                polls = (polls + 1) % POLLS;
                if polls == 0 {
                    START.clone_into(&mut last);
                }
                loop {
                    let before = last.clone();
                    let Some(notices) = topic.after(&mut last).await else { break };
                    if !notices.iter().all(|notice| receive(notice)) {
                        return;
                    }
                    if last == before {
                        break;
                    }
                }
            }
        });
    }
}

impl Topic {
    /// The notices after the id `last`, which becomes that of the newest. `None` if Redis does not answer; then the next poll begins anew.
    async fn after(&self, last: &mut String) -> Option<Vec<Vec<u8>>> {
        let mut script = POLL.key(&self.name);
        script.arg(&*last).arg(AT_ONCE).arg(LARGEST).arg(BYTES);
        let Some((newest, found)): Option<(String, Vec<Vec<u8>>)> = self.link.script(&script).await else {
            START.clone_into(last);
            return None;
        };
        if !newest.is_empty() {
            *last = format!("({newest}");
        }
        let now = self.clock.now();
        Some(found.iter().filter_map(|value| sealed::opened(value, now, &self.name, &self.secrets)).collect())
    }
}
