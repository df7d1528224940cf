//! Refuses bodies over 1 MiB, also those that do not say how long they are, and compressed ones.
//!
//! In two halves: [`BodyLimit`] reads the body before anything is answered, because a client that is still sending would meet
//! a closed connection instead of the answer; [`BodyVerdict`] refuses behind the judgement of who asks.

use std::{sync::Arc, time::Duration};

use api::error::{ApiError, Code};
use poem::{
    Body, Endpoint, Middleware, Request, Result,
    http::{HeaderMap, Method, header},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};

use super::client_address;
use crate::{addresses::ClientAddress, store::places::Places};

/// The longest body accepted, in bytes.
pub const LIMIT: usize = 1024 * 1024;
/// How much of a body that is refused is read and thrown away, in bytes. Whoever sends more finds the connection closed.
const PATIENCE: u64 = 16 * LIMIT as u64;

/// How long a body may take to arrive.
const TIME: Duration = Duration::from_secs(20);

/// Bodies are kept in steps of this many bytes.
const STEP: usize = 64 * 1024;
/// Steps that all bodies together may take: 64 MiB.
const MAX_STEPS: usize = 1024;
/// Steps that the bodies of one address may take together: 8 MiB.
const MAX_STEPS_PER_ADDRESS: usize = 128;

/// The half that reads.
#[derive(Debug, Clone)]
pub struct BodyLimit {
    all: Arc<Semaphore>,
    by_address: Arc<Places<ClientAddress>>,
}

impl Default for BodyLimit {
    fn default() -> Self {
        let (all, by_address) = (Semaphore::new(MAX_STEPS), Places::new(MAX_STEPS_PER_ADDRESS));
        Self { all: Arc::new(all), by_address: Arc::new(by_address) }
    }
}

/// See [`BodyLimit`].
pub struct BodyLimitEndpoint<E> {
    inner: E,
    settings: BodyLimit,
}

/// The memory that a body takes until its request has been answered.
#[derive(Clone)]
struct Kept(#[expect(dead_code, reason = "dropping it gives the memory back")] Arc<Vec<[OwnedSemaphorePermit; 2]>>);

/// The half that refuses.
#[derive(Debug, Clone, Copy, Default)]
pub struct BodyVerdict;

/// See [`BodyVerdict`].
pub struct BodyVerdictEndpoint<E>(E);

/// What is wrong with a request's body, as request data.
#[derive(Clone)]
struct Refused(ApiError);

impl<E: Endpoint> Middleware<E> for BodyLimit {
    type Output = BodyLimitEndpoint<E>;

    fn transform(&self, inner: E) -> Self::Output {
        BodyLimitEndpoint { inner, settings: self.clone() }
    }
}

impl<E: Endpoint> Endpoint for BodyLimitEndpoint<E> {
    type Output = E::Output;

    async fn call(&self, mut request: Request) -> Result<Self::Output> {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let mut body = request.take_body().into_async_read();
            let end = Instant::now() + TIME;
            let read = if let Some(refusal) = compressed(request.headers()) {
                Err(refusal)
            } else {
                let own = self.settings.by_address.of(client_address::of(&request));
                let whole = whole(&mut body, &self.settings.all, &own);
                tokio::time::timeout_at(end, whole).await.unwrap_or_else(|_| Err(too_slow()))
            };
            match read {
                Ok((bytes, kept)) => {
                    request.set_data(kept);
                    request.set_body(Body::from(bytes));
                }
                Err(refusal) => {
                    // An error here is the client's leaving, which the answer will find out.
                    let mut rest = body.take(PATIENCE);
                    let _ = tokio::time::timeout_at(end, tokio::io::copy(&mut rest, &mut tokio::io::sink())).await;
                    request.set_data(Refused(refusal));
                }
            }
        }
        self.inner.call(request).await
    }
}

impl<E: Endpoint> Middleware<E> for BodyVerdict {
    type Output = BodyVerdictEndpoint<E>;

    fn transform(&self, inner: E) -> Self::Output {
        BodyVerdictEndpoint(inner)
    }
}

impl<E: Endpoint> Endpoint for BodyVerdictEndpoint<E> {
    type Output = E::Output;

    async fn call(&self, request: Request) -> Result<Self::Output> {
        match request.data::<Refused>() {
            Some(Refused(refusal)) => Err(refusal.clone().into()),
            None => self.0.call(request).await,
        }
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

fn too_slow() -> ApiError {
    ApiError::invalid("body", &format!("must arrive within {} seconds", TIME.as_secs()))
}

/// The bytes of a body. Memory for each step is taken before it is read.
async fn whole(
    body: &mut (impl AsyncRead + Unpin),
    all: &Arc<Semaphore>,
    own: &Arc<Semaphore>,
) -> Result<(Vec<u8>, Kept), ApiError> {
    let (mut bytes, mut kept) = (Vec::new(), Vec::new());
    loop {
        let before = bytes.len();
        if before > LIMIT {
            return Err(ApiError::new(Code::PayloadTooLarge).hint("body: at most 1 MiB"));
        }
        let permit = |of: &Arc<Semaphore>| of.clone().try_acquire_owned().map_err(|_| too_many_bodies());
        kept.push([permit(own)?, permit(all)?]);
        let read = (&mut *body).take(STEP as u64).read_to_end(&mut bytes).await;
        read.map_err(|_| ApiError::invalid("body", "could not be read to its end"))?;
        if bytes.len() < before + STEP {
            break;
        }
    }
    if bytes.len() > LIMIT {
        return Err(ApiError::new(Code::PayloadTooLarge).hint("body: at most 1 MiB"));
    }
    Ok((bytes, Kept(Arc::new(kept))))
}

fn too_many_bodies() -> ApiError {
    ApiError::new(Code::RateLimited).hint("body: too many bodies are being sent at once").retry_after(1)
}

#[cfg(test)]
mod tests {
    use poem::{EndpointExt, endpoint::make, test::TestClient};

    use super::*;

    #[tokio::test]
    async fn bodies_are_measured_whether_or_not_they_say_their_length() {
        let app = make(async |mut request: Request| Ok::<_, poem::Error>(request.take_body().into_string().await?));
        let client = TestClient::new(app.with(BodyVerdict).with(BodyLimit::default()));
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
    async fn the_bodies_of_an_address_take_so_much_memory_and_give_it_back() {
        let limit = BodyLimit::default();
        let app = make(async |mut request: Request| {
            let length = request.take_body().into_vec().await?.len();
            tokio::task::yield_now().await;
            Ok::<_, poem::Error>(length.to_string())
        });
        let client = TestClient::new(app.with(BodyVerdict).with(limit.clone()));
        for held in [0, MAX_STEPS_PER_ADDRESS] {
            let own = limit.by_address.of(client_address::of(&Request::default()));
            let taken = own.clone().try_acquire_many_owned(u32::try_from(held).unwrap()).unwrap();
            let response = client.post("/").body("x".repeat(STEP + 1)).send().await;
            assert_eq!(response.0.status().as_u16(), if held == 0 { 200 } else { 429 });
            drop(taken);
            assert_eq!(own.available_permits(), MAX_STEPS_PER_ADDRESS, "memory is given back");
            assert_eq!(limit.all.available_permits(), MAX_STEPS);
        }
    }
}
