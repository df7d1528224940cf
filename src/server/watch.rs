//! Tracks the progress of one connection and its missed deadlines.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use http::Version;
use tokio::time::Instant;

use super::kept::Kept;

/// Bytes that a client must read within [`Deadlines::slow`]: 1 kB/s over 30 seconds.
pub(super) const SLOW_BYTES: usize = 30_000;

/// Time limits for each step of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// Until the first request arrives, and from the first byte of a head to its last.
    pub head: Duration,
    /// Between two requests.
    pub idle: Duration,
    /// For a client to read 30,000 bytes of a pending response.
    pub slow: Duration,
    /// From the end of a head to the first byte of the body.
    pub first_byte: Duration,
    /// From the end of a head to the last byte of the body.
    pub body: Duration,
    /// For the rest of a refused body, which is discarded.
    pub drain: Duration,
    /// For the request of a connection that is refused, and for its refusal to be read.
    pub refuse: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            head: seconds(30),
            idle: seconds(75),
            slow: seconds(30),
            first_byte: seconds(5),
            body: seconds(20),
            drain: seconds(1),
            refuse: seconds(2),
        }
    }
}

/// The reason why a connection is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Overdue {
    /// The head of a request did not arrive in time.
    Head,
    /// No request arrived in time.
    Idle,
    /// The client does not read from the connection.
    Slow,
    /// The client does not read the response on one HTTP/2 stream.
    Stream,
}

/// Abandons a response that is not read. Frees its memory, and fails the response if it is read later.
pub(super) type Abandon = Arc<dyn Fn() + Send + Sync>;

/// The progress of one connection. The connection, its socket and its response bodies report to it.
#[derive(Clone)]
pub(super) struct Watch(Arc<Mutex<Progress>>);

/// An open request: from its head to the end of its response body. Dropping it ends it.
pub(super) struct Request {
    watch: Watch,
    id: u64,
    /// True if the request is one of several streams on its connection. The socket's progress then does not show the stream's
    /// progress.
    pub(super) is_stream: bool,
    /// What its response keeps until it has been sent.
    pub(super) kept: Vec<Kept>,
}

struct Progress {
    requests: u64,
    under_way: usize,
    /// True if the connection uses HTTP/2, where frames that start no request can arrive at any time, and responses are streams.
    http2: bool,
    /// The time since which no request is open.
    idle_since: Instant,
    /// The time at which the first byte of a head arrived.
    head_since: Option<Instant>,
    /// HTTP/2 responses whose next chunk has not been requested, and since when, by request.
    unread: HashMap<u64, (Instant, Abandon)>,
    writing: Writing,
    /// What responses keep whose bodies have ended, and whose last bytes wait to be written.
    unsent: Vec<Kept>,
    cut: bool,
}

/// Bytes that the socket has accepted since it last blocked.
#[derive(Debug, Default)]
struct Writing {
    since: Option<Instant>,
    bytes: usize,
    blocked: bool,
}

impl Watch {
    /// The progress of a connection accepted at `now`.
    pub(super) fn new(now: Instant) -> Self {
        Self(Arc::new(Mutex::new(Progress {
            requests: 0,
            under_way: 0,
            http2: false,
            idle_since: now,
            head_since: Some(now),
            unread: HashMap::new(),
            writing: Writing::default(),
            unsent: Vec::new(),
            cut: false,
        })))
    }

    /// Records that the head of a request has arrived.
    pub(super) fn begin(&self, version: Version) -> Request {
        let mut progress = self.progress();
        progress.http2 = version == Version::HTTP_2;
        progress.head_since = None;
        progress.under_way += 1;
        progress.requests += 1;
        Request { watch: self.clone(), id: progress.requests, is_stream: progress.http2, kept: Vec::new() }
    }

    /// Records that the socket received bytes.
    pub(super) fn received(&self, now: Instant) {
        let mut progress = self.progress();
        if progress.under_way == 0 && !progress.http2 {
            progress.head_since.get_or_insert(now);
        }
    }

    /// Records that the socket accepted `bytes`.
    pub(super) fn sent(&self, bytes: usize) {
        let writing = &mut self.progress().writing;
        writing.blocked = false;
        if writing.since.is_some() {
            writing.bytes += bytes;
        }
    }

    /// Records that the socket accepts no more bytes for now.
    pub(super) fn blocked(&self, now: Instant) {
        let writing = &mut self.progress().writing;
        writing.blocked = true;
        writing.since.get_or_insert(now);
    }

    /// Records that the socket accepted all bytes that waited to be written.
    pub(super) fn flushed(&self) {
        // Dropping a value may call back into this watch, so the lock is released first.
        let sent = std::mem::take(&mut self.progress().unsent);
        drop(sent);
    }

    /// Records that a response failed while it was sent. The connection must not end as if the response were complete.
    pub(super) fn cut(&self) {
        self.progress().cut = true;
    }

    /// Returns whether the connection must end with a reset, because a response failed or is incomplete.
    pub(super) fn must_reset(&self) -> bool {
        let progress = self.progress();
        progress.cut || progress.under_way > 0
    }

    /// Returns whether no request is open.
    pub(super) fn is_idle(&self) -> bool {
        self.progress().under_way == 0
    }

    /// Returns the time since which no request is open, or `None` if one is.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        let progress = self.progress();
        (progress.under_way == 0).then_some(progress.idle_since)
    }

    /// Abandons the responses that were not read in time. Other streams of the connection continue.
    pub(super) fn abandon_unread(&self, now: Instant, deadlines: &Deadlines) {
        let mut progress = self.progress();
        let late = |since: Instant| now - since >= deadlines.slow;
        let late: Vec<Abandon> =
            progress.unread.extract_if(|_, (since, _)| late(*since)).map(|(_, (_, end))| end).collect();
        // Dropping a response may call back into this watch, so the lock is released first.
        drop(progress);
        for abandon in late {
            abandon();
        }
    }

    /// Returns the deadline that the connection has missed at `now`.
    pub(super) fn overdue(&self, now: Instant, deadlines: &Deadlines) -> Option<Overdue> {
        self.progress().overdue(now, deadlines)
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress {
    fn overdue(&mut self, now: Instant, deadlines: &Deadlines) -> Option<Overdue> {
        if self.writing.is_slow(now, deadlines.slow) {
            Some(Overdue::Slow)
        } else if self.unread.values().any(|(since, _)| now - *since >= deadlines.slow) {
            Some(Overdue::Stream)
        } else if self.under_way > 0 {
            None
        } else if self.head_since.is_some_and(|since| now - since >= deadlines.head) {
            Some(Overdue::Head)
        } else {
            (now - self.idle_since >= deadlines.idle).then_some(Overdue::Idle)
        }
    }
}

impl Writing {
    /// Returns whether the socket is blocked and accepted too few bytes in the last window. An expired window is restarted.
    fn is_slow(&mut self, now: Instant, window: Duration) -> bool {
        if self.since.is_none_or(|since| now - since < window) {
            return false;
        }
        let slow = self.blocked && self.bytes < SLOW_BYTES;
        if !slow {
            self.since = self.blocked.then_some(now);
            self.bytes = 0;
        }
        slow
    }
}

impl Request {
    /// Records that the response failed while it was sent. Over HTTP/2 its stream is reset. Over HTTP/1.1 the whole
    /// connection is.
    pub(super) fn fail(&self) {
        let mut progress = self.watch.progress();
        progress.cut |= !progress.http2;
    }

    /// Records that a chunk of the response was handed over. The next one is requested when this one has been sent.
    pub(super) fn handed_over(&self, now: Instant, abandon: Abandon) {
        self.watch.progress().unread.insert(self.id, (now, abandon));
    }

    /// Records that the next chunk was requested.
    pub(super) fn asked_for_more(&self) {
        self.watch.progress().unread.remove(&self.id);
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        let mut progress = self.watch.progress();
        progress.unread.remove(&self.id);
        progress.unsent.append(&mut self.kept);
        progress.under_way -= 1;
        if progress.under_way == 0 {
            progress.idle_since = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn nothing() -> Abandon {
        Arc::new(|| ())
    }

    fn after(start: Instant, seconds: u64) -> Instant {
        start + Duration::from_secs(seconds)
    }

    #[test]
    fn a_connection_without_a_request_is_overdue() {
        let start = Instant::now();
        let silent = Watch::new(start);
        assert_eq!(silent.overdue(after(start, 29), &Deadlines::default()), None);
        assert_eq!(silent.overdue(after(start, 30), &Deadlines::default()), Some(Overdue::Head));

        let kept_alive = Watch::new(start);
        let request = kept_alive.begin(Version::HTTP_11);
        assert_eq!(kept_alive.overdue(after(start, 500), &Deadlines::default()), None, "an answer may take its time");
        drop(request);
        assert_eq!(kept_alive.overdue(after(start, 74), &Deadlines::default()), None);
        assert_eq!(kept_alive.overdue(after(start, 76), &Deadlines::default()), Some(Overdue::Idle));

        kept_alive.received(after(start, 40));
        kept_alive.received(after(start, 60));
        assert_eq!(kept_alive.overdue(after(start, 69), &Deadlines::default()), None);
        assert_eq!(
            kept_alive.overdue(after(start, 70), &Deadlines::default()),
            Some(Overdue::Head),
            "a head that is dripped"
        );
        let _request = kept_alive.begin(Version::HTTP_11);
        assert_eq!(kept_alive.overdue(after(start, 70), &Deadlines::default()), None);
    }

    #[test]
    fn a_reader_below_a_kilobyte_a_second_is_slow() {
        let start = Instant::now();
        for (bytes, expected) in [(0, Some(Overdue::Slow)), (29_999, Some(Overdue::Slow)), (30_000, None)] {
            let watch = Watch::new(start);
            let _request = watch.begin(Version::HTTP_11);
            watch.sent(1_000_000);
            watch.blocked(start);
            watch.sent(bytes);
            watch.blocked(after(start, 10));
            assert_eq!(watch.overdue(after(start, 29), &Deadlines::default()), None, "{bytes}");
            assert_eq!(watch.overdue(after(start, 30), &Deadlines::default()), expected, "{bytes}");
        }
        let drained = Watch::new(start);
        drained.blocked(start);
        drained.sent(10);
        let _request = drained.begin(Version::HTTP_11);
        assert_eq!(drained.overdue(after(start, 40), &Deadlines::default()), None, "nothing waits to be read");
        drained.blocked(after(start, 50));
        assert_eq!(drained.overdue(after(start, 79), &Deadlines::default()), None, "a new window");
        assert_eq!(drained.overdue(after(start, 80), &Deadlines::default()), Some(Overdue::Slow));
    }

    #[test]
    fn a_stream_that_nobody_takes_is_slow() {
        let start = Instant::now();
        let watch = Watch::new(start);
        let request = watch.begin(Version::HTTP_2);
        request.handed_over(start, nothing());
        request.asked_for_more();
        assert_eq!(watch.overdue(after(start, 60), &Deadlines::default()), None, "the answer is still being made");
        request.handed_over(after(start, 60), nothing());
        assert_eq!(watch.overdue(after(start, 89), &Deadlines::default()), None);
        assert_eq!(watch.overdue(after(start, 90), &Deadlines::default()), Some(Overdue::Stream));
        drop(request);
        assert_eq!(watch.overdue(after(start, 10), &Deadlines::default()), None);
    }

    #[test]
    fn a_response_keeps_its_place_until_its_last_bytes_are_written() {
        let watch = Watch::new(Instant::now());
        let place: Arc<()> = Arc::default();
        for version in [Version::HTTP_11, Version::HTTP_2] {
            let mut request = watch.begin(version);
            request.kept = vec![place.clone()];
            watch.flushed();
            drop(request);
            assert_eq!(Arc::strong_count(&place), 2, "its last piece is buffered");
            watch.flushed();
            assert_eq!(Arc::strong_count(&place), 1);
        }
        watch.begin(Version::HTTP_11).kept = vec![place.clone()];
        drop(watch);
        assert_eq!(Arc::strong_count(&place), 1, "the connection has ended");
    }

    #[test]
    fn of_an_http2_connection_the_one_stream_is_given_up() {
        let start = Instant::now();
        let watch = Watch::new(start);
        let (unread, read) = (watch.begin(Version::HTTP_2), watch.begin(Version::HTTP_2));
        let given_up = Arc::new(AtomicUsize::new(0));
        let counter = given_up.clone();
        let count = move || {
            counter.fetch_add(1, Ordering::Relaxed);
        };
        unread.handed_over(start, Arc::new(count));
        read.handed_over(after(start, 20), nothing());
        assert_eq!(watch.overdue(after(start, 30), &Deadlines::default()), Some(Overdue::Stream));
        watch.abandon_unread(after(start, 30), &Deadlines::default());
        assert_eq!(
            (given_up.load(Ordering::Relaxed), watch.overdue(after(start, 30), &Deadlines::default())),
            (1, None)
        );
        drop((unread, read));
        watch.received(after(start, 40));
        assert_eq!(watch.overdue(after(start, 74), &Deadlines::default()), None, "a ping is not a head");
    }
}
