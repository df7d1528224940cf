//! The replicas that live: each gives a sign of life twice a second.

use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use common::random::Random;

use super::{
    link::Link,
    names::Names,
    scripts::{BEAT, micros, millis},
};

/// The time between two signs of life.
const BEAT_EVERY: Duration = Duration::from_millis(500);

/// The time for which a sign of life counts.
const LIVES: Duration = Duration::from_secs(2);

/// This replica, and how many there are.
pub struct Replicas {
    names: Names,
    /// The id of this one: 16 hex digits.
    pub me: String,
    count: AtomicU32,
}

impl Replicas {
    /// A replica with an id of its own.
    pub fn new(names: Names, random: &Random) -> Self {
        let me = format!("{:016x}", u64::from_be_bytes(random.bytes()));
        Self { names, me, count: AtomicU32::new(1) }
    }

    /// The number of replicas that were alive when Redis was last there.
    pub fn count(&self) -> u32 {
        self.count.load(Ordering::Relaxed).max(1)
    }

    /// Gives a sign of life at both servers.
    pub async fn beat(&self, counters: &Link, cache: &Link) {
        let alive = self.names.alive(&self.me);
        let mut set = redis::cmd("SET");
        set.arg(&alive).arg(1).arg("PX").arg(millis(LIVES));
        let (_, count) = futures_util::join!(cache.command::<()>(&set), self.note(counters, true));
        if let Some(count) = count {
            self.count.store(count, Ordering::Relaxed);
        }
    }

    /// Tells that this one ends.
    pub async fn end(&self, counters: &Link, cache: &Link) {
        let alive = self.names.alive(&self.me);
        let mut delete = redis::cmd("DEL");
        delete.arg(&alive);
        futures_util::join!(cache.command::<()>(&delete), self.note(counters, false));
    }

    /// Returns whether a replica lives. `None` if Redis is away.
    pub async fn lives(&self, replica: &str, cache: &Link) -> Option<bool> {
        let mut exists = redis::cmd("EXISTS");
        exists.arg(self.names.alive(replica));
        cache.command(&exists).await
    }

    async fn note(&self, counters: &Link, lives: bool) -> Option<u32> {
        let name = self.names.replicas();
        let mut script = BEAT.key(name);
        script.arg(&self.me).arg(u8::from(lives)).arg(micros(LIVES));
        counters.script(&script).await
    }
}

/// Gives signs of life until the replica is dropped.
pub fn keep_beating(replicas: &Arc<Replicas>, counters: &Arc<Link>, cache: &Arc<Link>) {
    let all: (Weak<Replicas>, Weak<Link>, Weak<Link>) =
        (Arc::downgrade(replicas), Arc::downgrade(counters), Arc::downgrade(cache));
    tokio::spawn(async move {
        let mut ticks = tokio::time::interval(BEAT_EVERY);
        loop {
            ticks.tick().await;
            let (Some(replicas), Some(counters), Some(cache)) = (all.0.upgrade(), all.1.upgrade(), all.2.upgrade())
            else {
                return;
            };
            replicas.beat(&counters, &cache).await;
        }
    });
}
