//! Readings that replicas share, and the claims by which one of them reads for all.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use chrono::{DateTime, Utc};
use common::{clock::Clock, compute::beside_unless, secrets::Secrets};
use tokio::{
    sync::Semaphore,
    time::{Instant, sleep},
};

use super::{
    claim::{Claim, Event, Seen, Step, Urgency, Wanting},
    heartbeat::Replicas,
    link::Link,
    names::Names,
    scripts::{CLAIM, SWAP, millis},
    sealed::{self, VALUE},
};

/// The time for which a claim lasts beyond the patience with its owner. A question of the search engine takes less.
const CLAIMED: Duration = Duration::from_secs(30);

/// The pause before a claim is released again, while Redis is away.
const RELEASE_AGAIN: Duration = Duration::from_millis(250);

/// The time for which a failure is remembered, so that those who wait do not ask in turn.
const FAILED: Duration = Duration::from_secs(1);

/// The start of a mark of a failure. The time at which it ends follows, in milliseconds since 1970.
const FAILURE: u8 = b'F';

/// The shortest and the longest pause between two looks.
const PAUSE: (u64, u64) = (20, 80);

/// The memory of values on their way to Redis, in bytes. Beyond it they are not shared.
const ON_THE_WAY: u32 = 32 * 1024 * 1024;

/// Values of at most this many bytes are sealed and opened at once.
const SMALL: usize = 64 * 1024;

/// A reading that somebody wants.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'w> {
    /// The account and the time of its connection. After another connection, readings of the one before are out of reach.
    pub scope: &'w str,
    /// The request.
    pub request: &'w str,
    /// The hurry of the caller.
    pub urgency: Urgency,
    /// The time for which the owner of its claim may be missing before another takes over.
    pub patience: Duration,
}

impl Wanted<'_> {
    fn lasts(&self) -> Duration {
        self.patience + CLAIMED
    }
}

/// The outcome of wanting a reading.
pub enum Found {
    /// The reading, as somebody has put it.
    Reading(Vec<u8>),
    /// Nobody has it or reads it. Whoever wants it reads it for all.
    Mine(Claimed),
    /// Redis is away.
    Alone,
    /// Another replica failed to read it a moment ago.
    Failed,
}

/// The readings of all replicas.
#[derive(Clone)]
pub struct Readings(Arc<Inner>);

struct Inner {
    link: Arc<Link>,
    names: Names,
    replicas: Arc<Replicas>,
    secrets: Secrets,
    clock: Clock,
    claims: AtomicU64,
    on_the_way: Arc<Semaphore>,
    uses: Uses,
}

/// Counts of wanted readings, by their outcome.
#[derive(Debug, Default)]
pub struct Uses {
    /// Readings that another replica had read.
    pub taken: AtomicU64,
    /// Claims that this replica won.
    pub won: AtomicU64,
    /// Readings that this replica waited for.
    pub waited: AtomicU64,
    /// Claims that it took over.
    pub taken_over: AtomicU64,
    /// Readings that came too late to be stored.
    pub fenced: AtomicU64,
}

/// The claim of a reading. Dropping it lets another claim it.
pub struct Claimed {
    readings: Readings,
    name: String,
    claim: Option<Claim>,
}

impl Readings {
    pub(super) fn new(link: Arc<Link>, names: Names, replicas: Arc<Replicas>, secrets: Secrets, clock: Clock) -> Self {
        let on_the_way = Arc::new(Semaphore::new(ON_THE_WAY as usize));
        let (claims, uses) = (AtomicU64::default(), Uses::default());
        Self(Arc::new(Inner { link, names, replicas, secrets, clock, claims, on_the_way, uses }))
    }

    /// Counts of wanted readings, by their outcome.
    #[must_use]
    pub fn uses(&self) -> &Uses {
        &self.0.uses
    }

    /// Returns a reading, waits for it while another replica reads it, or claims it.
    pub async fn find(&self, wanted: &Wanted<'_>) -> Found {
        let Inner { names, replicas, claims, uses, .. } = &*self.0;
        let name = names.reading(wanted.scope, wanted.request);
        let me = Claim::new(&replicas.me, wanted.urgency, claims.fetch_add(1, Ordering::Relaxed));
        let mut wanting = Wanting::new(me.clone(), wanted.patience);
        let (mut step, mut has_waited) = (Step::Claim, false);
        loop {
            let event = match step {
                Step::Claim => self.or_release(self.claim(&name, &me, wanted).await, &name, &me),
                Step::Look => {
                    if !std::mem::replace(&mut has_waited, true) {
                        uses.waited.fetch_add(1, Ordering::Relaxed);
                    }
                    sleep(self.pause()).await;
                    self.look(&name).await
                }
                Step::AskForOwner(claim) => {
                    let lives = replicas.lives(claim.owner(), &self.0.link).await;
                    lives.map_or(Event::Away, |lives| Event::Owner { lives })
                }
                Step::TakeOver(claim) => {
                    uses.taken_over.fetch_add(1, Ordering::Relaxed);
                    self.or_release(self.take_over(&name, claim.text.as_bytes(), &me, wanted).await, &name, &me)
                }
                Step::Replace(bytes) => self.or_release(self.take_over(&name, &bytes, &me, wanted).await, &name, &me),
                Step::Own => {
                    uses.won.fetch_add(1, Ordering::Relaxed);
                    return Found::Mine(Claimed { readings: self.clone(), name, claim: Some(me) });
                }
                Step::Alone => return Found::Alone,
                Step::Take(reading) => {
                    uses.taken.fetch_add(1, Ordering::Relaxed);
                    return Found::Reading(reading);
                }
                Step::Fail => return Found::Failed,
            };
            step = wanting.after(event, Instant::now());
        }
    }

    /// Returns a reading, if it is there now. Claims nothing.
    pub async fn get(&self, scope: &str, request: &str) -> Option<Vec<u8>> {
        let name = self.0.names.reading(scope, request);
        match self.look(&name).await {
            Event::Looked(Seen::Reading(reading)) => Some(reading),
            _ => None,
        }
    }

    /// Gives a reading to all, in the background, without a claim.
    pub fn put(&self, scope: &str, request: &str, reading: Vec<u8>, expires_at: DateTime<Utc>) {
        let (readings, name) = (self.clone(), self.0.names.reading(scope, request));
        tokio::spawn(async move {
            let Some((value, lasts)) = readings.sealed(&name, reading, expires_at).await else { return };
            let mut set = redis::cmd("SET");
            readings.0.link.command::<()>(set.arg(name).arg(value).arg("PX").arg(millis(lasts).max(1))).await;
        });
    }

    /// Seals a reading, and says how long it lasts. `None` if it is too large, if it has expired, or if too much is on its way.
    async fn sealed(&self, name: &str, reading: Vec<u8>, expires_at: DateTime<Utc>) -> Option<(Vec<u8>, Duration)> {
        let Inner { secrets, clock, on_the_way, .. } = &*self.0;
        let bytes = u32::try_from(reading.len()).unwrap_or(u32::MAX).clamp(1, ON_THE_WAY);
        let _memory = on_the_way.try_acquire_many(bytes).ok()?;
        let lasts = (expires_at - clock.now()).to_std().ok().filter(|lasts| !lasts.is_zero())?;
        let (name, secrets) = (name.to_owned(), secrets.clone());
        let sealed =
            beside_unless(reading.len() <= SMALL, move || sealed::sealed(&reading, expires_at, &name, &secrets));
        Some((sealed.await.ok()??, lasts))
    }

    /// Deletes all readings of an account, as far as they are found. Others are out of reach after its next connection.
    pub async fn forget(&self, account: &str) {
        let pattern = format!("{}*", self.0.names.readings_of(account));
        let mut cursor = 0_u64;
        loop {
            let mut scan = redis::cmd("SCAN");
            scan.arg(cursor).arg("MATCH").arg(&pattern).arg("COUNT").arg(1_000);
            let Some((next, names)) = self.0.link.command::<(u64, Vec<String>)>(&scan).await else { return };
            for name in names {
                let mut unlink = redis::cmd("UNLINK");
                self.0.link.command::<()>(unlink.arg(name)).await;
            }
            if next == 0 {
                return;
            }
            cursor = next;
        }
    }

    /// Releases a claim in the background if Redis did not answer the call for it: the call may have been made, and others would wait for
    /// this replica.
    fn or_release(&self, event: Event<Vec<u8>>, name: &str, me: &Claim) -> Event<Vec<u8>> {
        if matches!(event, Event::Away) {
            let (readings, name, me) = (self.clone(), name.to_owned(), me.clone());
            tokio::spawn(async move { readings.release(&name, &me).await });
        }
        event
    }

    async fn claim(&self, name: &str, me: &Claim, wanted: &Wanted<'_>) -> Event<Vec<u8>> {
        let mut script = CLAIM.key(name);
        script.arg(&me.text).arg(millis(wanted.lasts())).arg(u8::from(wanted.urgency == Urgency::Soon));
        match self.0.link.script::<Vec<u8>>(&script).await {
            Some(held) => Event::Claimed(self.seen(name, held).await),
            None => Event::Away,
        }
    }

    async fn look(&self, name: &str) -> Event<Vec<u8>> {
        let mut get = redis::cmd("GET");
        match self.0.link.command::<Option<Vec<u8>>>(get.arg(name)).await {
            Some(Some(held)) => Event::Looked(self.seen(name, held).await),
            Some(None) => Event::Looked(Seen::Nothing),
            None => Event::Away,
        }
    }

    async fn take_over(&self, name: &str, from: &[u8], me: &Claim, wanted: &Wanted<'_>) -> Event<Vec<u8>> {
        let took = self.swap(name, from, false, me.text.as_bytes(), wanted.lasts()).await;
        took.map_or(Event::Away, Event::TookOver)
    }

    async fn seen(&self, name: &str, held: Vec<u8>) -> Seen<Vec<u8>> {
        match held.first() {
            Some(&VALUE) => {
                let (now, own, secrets) = (self.0.clock.now(), name.to_owned(), self.0.secrets.clone());
                let opened = beside_unless(held.len() <= SMALL, move || {
                    let reading = sealed::opened(&held, now, &own, &secrets);
                    reading.map_or(Seen::Useless(held), Seen::Reading)
                });
                opened.await.unwrap_or(Seen::Nothing)
            }
            Some(b'C') => match String::from_utf8(held) {
                Ok(text) => Seen::Claimed(Claim { text }),
                Err(other) => Seen::Useless(other.into_bytes()),
            },
            Some(&FAILURE) if self.is_recent_failure(&held) => Seen::Failed,
            _ => Seen::Useless(held),
        }
    }

    /// A mark of a failure now.
    fn failure(&self) -> Vec<u8> {
        let ends_at = (self.0.clock.now() + FAILED).timestamp_millis();
        format!("{}{ends_at}", char::from(FAILURE)).into_bytes()
    }

    /// Returns whether a mark of a failure has not ended. Redis may keep one longer, and others may write there.
    fn is_recent_failure(&self, mark: &[u8]) -> bool {
        let ends_at = std::str::from_utf8(mark.get(1..).unwrap_or_default()).ok().and_then(|text| text.parse().ok());
        let left = ends_at.map_or(0, |ends_at: i64| ends_at.saturating_sub(self.0.clock.now().timestamp_millis()));
        (1..=i64::try_from(millis(FAILED)).unwrap_or(i64::MAX)).contains(&left)
    }

    /// Replaces a value that is still the expected one. `None` if Redis is away.
    async fn swap(&self, name: &str, expected: &[u8], or_missing: bool, new: &[u8], lasts: Duration) -> Option<bool> {
        let mut script = SWAP.key(name);
        script.arg(expected).arg(u8::from(or_missing)).arg(new).arg(millis(lasts).max(1));
        self.0.link.script(&script).await
    }

    /// A pause between two looks. Those who wait for the same reading do not all look at the same time.
    fn pause(&self) -> Duration {
        let spread = self.0.claims.load(Ordering::Relaxed).wrapping_mul(7) % (PAUSE.1 - PAUSE.0);
        Duration::from_millis(PAUSE.0 + spread)
    }
}

impl Claimed {
    /// Gives the reading to all, in the background, until it expires. Nothing is stored if another has taken over, or if too much is on
    /// its way already.
    pub fn put(mut self, reading: Vec<u8>, expires_at: DateTime<Utc>) {
        let Some(claim) = self.claim.take() else { return };
        let (readings, name) = (self.readings.clone(), self.name.clone());
        tokio::spawn(async move {
            let put = match readings.sealed(&name, reading, expires_at).await {
                Some((value, lasts)) => readings.swap(&name, claim.text.as_bytes(), true, &value, lasts).await,
                None => None,
            };
            match put {
                Some(true) => {}
                Some(false) => drop(readings.0.uses.fenced.fetch_add(1, Ordering::Relaxed)),
                None => readings.release(&name, &claim).await,
            }
        });
    }

    /// Tells those who wait that the reading failed.
    pub fn fail(mut self) {
        let Some(claim) = self.claim.take() else { return };
        let (readings, name) = (self.readings.clone(), self.name.clone());
        tokio::spawn(async move {
            if readings.swap(&name, claim.text.as_bytes(), false, &readings.failure(), FAILED).await.is_none() {
                readings.release(&name, &claim).await;
            }
        });
    }
}

impl Drop for Claimed {
    fn drop(&mut self) {
        let Some(claim) = self.claim.take() else { return };
        let (readings, name) = (self.readings.clone(), std::mem::take(&mut self.name));
        // Without a runtime the process ends, and its signs of life with it.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { readings.release(&name, &claim).await });
        }
    }
}

impl Readings {
    /// Deletes a claim, if it is still there. Tries again while Redis is away, until the claim has ended by itself.
    async fn release(&self, name: &str, claim: &Claim) {
        let ends_at = Instant::now() + CLAIMED;
        while self.swap(name, claim.text.as_bytes(), false, b"", CLAIMED).await.is_none() && Instant::now() < ends_at {
            sleep(RELEASE_AGAIN).await;
        }
    }
}
