//! Refuses compressed bodies and bodies over 1 MiB, including those without a stated length.
//!
//! There are two layers. [`read`] reads the body before anything is answered, because a client that is still sending would get a
//! closed connection instead of the answer. [`refuse`] runs after authorization.
//!
//! A body takes memory for bytes that have arrived, and one of its network's places while it is waited for. So bodies that never come
//! keep nobody else's from being read. A refused body is waited for only briefly, and not at all without a place.

use std::sync::Arc;

use api::error::{ApiError, Code};
use bytes::Bytes;
use common::places::Places;
use http_body::Body as _;
use http_body_util::{BodyExt as _, combinators::BoxBody};
use pages::client_address::client_address;
use poem::{
    Body, Endpoint, IntoResponse, Request, Response, Result,
    http::{HeaderMap, Method, header},
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout_at},
};

use crate::server::Deadlines;

/// The maximum size of a body, in bytes.
pub const LIMIT: usize = 1024 * 1024;
/// The number of bytes of a refused body that are read and discarded. If the client sends more, the connection is closed.
const MAX_DRAIN: usize = 16 * LIMIT;

/// The number of bytes by which the memory of a body grows.
const STEP: usize = 64 * 1024;
/// The size up to which a body takes none of the memory, as it takes no more than the request's head. Sign-in, tokens and most calls of
/// tools need no more.
const SMALL: usize = 4 * 1024;
/// The maximum number of steps of all bodies together: 48 MiB.
const MAX_STEPS: usize = 768;
/// The number of further steps for callers with a known token: 16 MiB.
const MAX_STEPS_OF_KNOWN: usize = 256;
/// The maximum number of steps of one network's bodies together: 8 MiB.
const MAX_STEPS_PER_NETWORK: usize = 128;
/// The maximum number of bodies of one network that are waited for. It leaves most connections of a proxy to other clients.
const MAX_WAITING: usize = 64;

type Incoming = BoxBody<Bytes, std::io::Error>;

/// Returns whether a request has a token whose signature was verified lately. The body is read before the request is authenticated, so
/// this looks only at what is in memory. A token that has been revoked since may use a known caller's memory, and nothing else.
pub type IsKnown = Box<dyn Fn(&HeaderMap) -> bool + Send + Sync>;

/// The memory and the places for request bodies.
pub struct Bodies {
    /// Steps of memory.
    all: Arc<Semaphore>,
    /// Steps for known callers when there are no others left.
    of_known: Arc<Semaphore>,
    by_network: Places<String>,
    waiting: Places<String>,
    deadlines: Deadlines,
    is_known: IsKnown,
}

/// The memory that a body holds until its request has been answered.
#[derive(Clone)]
struct Kept(#[expect(dead_code, reason = "dropping it gives the memory back")] Arc<Vec<[OwnedSemaphorePermit; 2]>>);

/// A refusal of a request's body, as request data.
#[derive(Clone)]
struct Refused(ApiError);

/// The layer that reads bodies.
///
/// # Errors
/// The errors of the inner layers.
pub async fn read<E: Endpoint>(bodies: Arc<Bodies>, next: Arc<E>, mut request: Request) -> Result<Response> {
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        return next.call(request).await.map(IntoResponse::into_response);
    }
    match bodies.read(&mut request).await {
        Ok((bytes, kept)) => {
            request.set_data(kept);
            request.set_body(Body::from(bytes));
        }
        Err(refusal) => request.set_data(Refused(refusal)),
    }
    next.call(request).await.map(IntoResponse::into_response)
}

/// The layer that refuses bodies.
///
/// # Errors
/// 400, 413, 415 or 429 if the body was refused, and the errors of the inner layers.
pub async fn refuse<E: Endpoint>(next: Arc<E>, request: Request) -> Result<Response> {
    match request.data::<Refused>() {
        Some(Refused(refusal)) => Err(refusal.clone().into()),
        None => next.call(request).await.map(IntoResponse::into_response),
    }
}

impl Bodies {
    /// Nothing is taken yet.
    #[must_use]
    pub fn new(deadlines: Deadlines, is_known: IsKnown) -> Self {
        Self {
            all: Arc::new(Semaphore::new(MAX_STEPS)),
            of_known: Arc::new(Semaphore::new(MAX_STEPS_OF_KNOWN)),
            by_network: Places::new(MAX_STEPS_PER_NETWORK),
            waiting: Places::new(MAX_WAITING),
            deadlines,
            is_known,
        }
    }

    /// Reads the whole body. Reads and discards some of a refused one, because a client that is still sending may miss the answer.
    async fn read(&self, request: &mut Request) -> Result<(Vec<u8>, Kept), ApiError> {
        let mut body: Incoming = request.take_body().into();
        if body.is_end_stream() {
            return Ok((Vec::new(), Kept(Arc::default())));
        }
        let network = client_address(request).network();
        let _place = self.waiting.take(network.clone()).ok_or_else(too_many_bodies)?;
        let read = match compressed(request.headers()) {
            Some(refusal) => Err(refusal),
            None => self.whole(&mut body, request.headers(), network).await,
        };
        if read.is_err() {
            drain(&mut body, Instant::now() + self.deadlines.drain).await;
        }
        read
    }

    async fn whole(
        &self,
        body: &mut Incoming,
        headers: &HeaderMap,
        network: String,
    ) -> Result<(Vec<u8>, Kept), ApiError> {
        let own = self.by_network.of(network);
        let (mut bytes, mut kept) = (Vec::new(), Vec::new());
        let start = Instant::now();
        let mut end = start + self.deadlines.first_byte;
        if body.size_hint().lower() > LIMIT as u64 {
            return Err(too_large());
        }
        loop {
            let frame = timeout_at(end, body.frame()).await.map_err(|_| self.too_slow())?;
            let Some(frame) = frame else { break };
            let frame = frame.map_err(|_| ApiError::invalid("body", "could not be read to its end"))?;
            let Ok(data) = frame.into_data() else { continue };
            let size = bytes.len() + data.len();
            if size > LIMIT {
                return Err(too_large());
            }
            while size > SMALL && size > kept.len() * STEP {
                kept.push(self.step(&own, headers)?);
                bytes.reserve_exact(kept.len() * STEP - bytes.len());
            }
            bytes.extend_from_slice(&data);
            if !bytes.is_empty() {
                end = start + self.deadlines.body;
            }
        }
        bytes.shrink_to_fit();
        Ok((bytes, Kept(Arc::new(kept))))
    }

    fn too_slow(&self) -> ApiError {
        let (first, whole) = (self.deadlines.first_byte.as_secs(), self.deadlines.body.as_secs());
        ApiError::invalid("body", &format!("must begin to arrive within {first} seconds, and end within {whole}"))
    }

    /// Takes the permit of one step from the network and from the whole.
    fn step(&self, own: &Arc<Semaphore>, headers: &HeaderMap) -> Result<[OwnedSemaphorePermit; 2], ApiError> {
        let permit = |of: &Arc<Semaphore>| of.clone().try_acquire_owned().map_err(|_| too_many_bodies());
        let own = permit(own)?;
        let shared = permit(&self.all);
        let shared = shared.or_else(|full| if (self.is_known)(headers) { permit(&self.of_known) } else { Err(full) });
        Ok([own, shared?])
    }
}

/// Reads and discards a body until `end`.
async fn drain(body: &mut Incoming, end: Instant) {
    let mut left = MAX_DRAIN;
    // An error here means that the client has disconnected, which sending the answer will reveal.
    while let Ok(Some(Ok(frame))) = timeout_at(end, body.frame()).await {
        let Some(rest) = left.checked_sub(frame.data_ref().map_or(0, Bytes::len)) else { return };
        left = rest;
    }
}

fn compressed(headers: &HeaderMap) -> Option<ApiError> {
    let plain = headers
        .get_all(header::CONTENT_ENCODING)
        .iter()
        .all(|coding| coding.as_bytes().eq_ignore_ascii_case(b"identity"));
    let refusal = || ApiError::new(Code::UnsupportedMediaType);
    (!plain).then(|| refusal().hint("Content-Encoding: compressed bodies are not accepted"))
}

fn too_large() -> ApiError {
    ApiError::new(Code::PayloadTooLarge).hint("body: at most 1 MiB")
}

fn too_many_bodies() -> ApiError {
    ApiError::new(Code::RateLimited).hint("body: too many bodies are being sent at once").retry_after(1)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::{StreamExt as _, future::join_all, stream};
    use poem::{
        EndpointExt,
        endpoint::{make, make_sync},
        test::TestClient,
    };

    use super::*;

    fn bodies(deadlines: Deadlines) -> Arc<Bodies> {
        let is_known: IsKnown = Box::new(|headers| headers.contains_key(header::AUTHORIZATION));
        Arc::new(Bodies::new(deadlines, is_known))
    }

    fn client<E: Endpoint<Output = String> + 'static>(
        app: E,
        bodies: &Arc<Bodies>,
    ) -> TestClient<impl Endpoint + use<E>> {
        let bodies = bodies.clone();
        TestClient::new(app.around(refuse).around(move |next, request| read(bodies.clone(), next, request)))
    }

    fn length() -> impl Endpoint<Output = String> {
        make(async |mut request: Request| {
            let length = request.take_body().into_vec().await?.len();
            tokio::task::yield_now().await;
            Ok::<_, poem::Error>(length.to_string())
        })
    }

    fn network() -> String {
        client_address(&Request::default()).network()
    }

    /// A body of these bytes that never ends.
    fn endless(start: &'static str) -> Body {
        let chunks = (!start.is_empty()).then(|| Ok::<_, std::io::Error>(Bytes::from_static(start.as_bytes())));
        Body::from_bytes_stream(stream::iter(chunks).chain(stream::pending()))
    }

    fn take(permits: &Arc<Semaphore>, number: usize) -> OwnedSemaphorePermit {
        permits.clone().try_acquire_many_owned(u32::try_from(number).unwrap()).unwrap()
    }

    #[tokio::test]
    async fn bodies_are_measured_whether_or_not_they_say_their_length() {
        let client = client(length(), &bodies(Deadlines::default()));
        for (size, status) in [(0, 200), (LIMIT, 200), (LIMIT + 1, 413)] {
            let response = client.post("/").body("x".repeat(size)).send().await;
            assert_eq!(response.0.status().as_u16(), status, "{size}");
            let unsized_body = Body::from_async_read(std::io::Cursor::new("x".repeat(size)));
            let response = client.post("/").body(unsized_body).send().await;
            assert_eq!(response.0.status().as_u16(), status, "{size}, unsized");
        }
        let compressed = client.post("/").header("content-encoding", "gzip").body("x").send().await;
        assert_eq!(compressed.0.status().as_u16(), 415);
    }

    #[tokio::test]
    async fn a_small_body_holds_no_memory_while_its_request_is_answered() {
        let bodies = bodies(Deadlines::default());
        let of_answer = bodies.clone();
        let app = make_sync(move |_| of_answer.all.available_permits().to_string());
        let client = client(app, &bodies);
        for (size, held) in [(0, 0), (SMALL, 0), (SMALL + 1, 1), (STEP, 1), (STEP + 1, 2), (LIMIT, LIMIT / STEP)] {
            let response = client.post("/").body("x".repeat(size)).send().await;
            response.assert_text((MAX_STEPS - held).to_string()).await;
        }
    }

    #[tokio::test]
    async fn the_bodies_of_an_address_take_so_much_memory_and_give_it_back() {
        let bodies = bodies(Deadlines::default());
        let client = client(length(), &bodies);
        for held in [0, MAX_STEPS_PER_NETWORK] {
            let own = bodies.by_network.of(network());
            let taken = take(&own, held);
            let response = client.post("/").body("x".repeat(STEP + 1)).send().await;
            assert_eq!(response.0.status().as_u16(), if held == 0 { 200 } else { 429 });
            drop(taken);
            assert_eq!(own.available_permits(), MAX_STEPS_PER_NETWORK, "memory is given back");
            assert_eq!(bodies.all.available_permits(), MAX_STEPS);
        }
    }

    #[tokio::test]
    async fn strangers_cannot_take_the_memory_of_known_tokens() {
        let bodies = bodies(Deadlines::default());
        let client = client(length(), &bodies);
        let _of_strangers = take(&bodies.all, MAX_STEPS);
        let post = async |is_known: bool, size: usize| {
            let request = client.post("/").body("x".repeat(size));
            let request = if is_known { request.header("authorization", "Bearer x") } else { request };
            request.send().await.0.status().as_u16()
        };
        assert_eq!((post(false, SMALL).await, post(false, SMALL + 1).await), (200, 429));
        assert_eq!((post(true, SMALL).await, post(true, LIMIT).await), (200, 200));
        assert_eq!(bodies.of_known.available_permits(), MAX_STEPS_OF_KNOWN, "it is given back");
    }

    #[tokio::test]
    async fn awaited_bodies_take_places_of_their_network_and_no_memory() {
        let hour = Duration::from_hours(1);
        let bodies = bodies(Deadlines { first_byte: hour, body: hour, ..Deadlines::default() });
        let client = client(length(), &bodies);
        let come = Arc::new(Semaphore::new(0));
        let wait = async || {
            let come = come.clone();
            let body = stream::once(async move {
                come.acquire().await.map(|_| Bytes::from_static(b"x")).map_err(std::io::Error::other)
            });
            client.post("/").body(Body::from_bytes_stream(body)).send().await.0.status().as_u16()
        };
        let watch = async {
            let waiting = bodies.waiting.of(network());
            while waiting.available_permits() > 0 {
                tokio::task::yield_now().await;
            }
            let refused = client.post("/").body(endless("")).send().await.0.status().as_u16();
            assert_eq!(
                (refused, bodies.all.available_permits()),
                (429, MAX_STEPS),
                "at once, though its body never comes"
            );
            come.add_permits(1);
        };
        let (statuses, ()) = tokio::join!(join_all((0..MAX_WAITING).map(|_| wait())), watch);
        assert_eq!(statuses, [200; MAX_WAITING]);
        assert_eq!(client.post("/").body("x").send().await.0.status().as_u16(), 200, "the places are free again");
    }

    #[tokio::test]
    async fn a_body_begins_and_ends_within_its_time() {
        let (hour, short) = (Duration::from_hours(1), Duration::from_millis(10));
        let never_begins = Deadlines { first_byte: short, body: hour, drain: short, ..Deadlines::default() };
        let never_ends = Deadlines { first_byte: hour, body: short, drain: short, ..Deadlines::default() };
        for (deadlines, start) in [(never_begins, ""), (never_ends, "x")] {
            let client = client(length(), &bodies(deadlines));
            let answer = client.post("/").body(endless(start)).send().await.0;
            assert_eq!(answer.status().as_u16(), 400, "{start:?}");
        }
    }
}
