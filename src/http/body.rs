//! Refuses compressed bodies and bodies over 1 MiB, including those without a stated length.
//!
//! There are two layers. [`read`] reads the body before anything is answered, because a client that is still sending would get a
//! closed connection instead of the answer. [`refuse`] runs after authorization.

use std::{sync::Arc, time::Duration};

use api::error::{ApiError, Code};
use poem::{
    Body, Endpoint, IntoResponse, Request, Response, Result,
    http::{HeaderMap, Method, header},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};

use super::client_address;
use crate::{addresses::ClientAddress, store::places::Places};

/// The maximum size of a body, in bytes.
pub const LIMIT: usize = 1024 * 1024;
/// The number of bytes of a refused body that are read and discarded. If the client sends more, the connection is closed.
const MAX_DRAIN: u64 = 16 * LIMIT as u64;

/// The time limit for a body to arrive.
const TIME: Duration = Duration::from_secs(20);

/// The number of bytes by which the memory of a body grows.
const STEP: usize = 64 * 1024;
/// The size up to which a body holds no memory while its request is answered, as it takes no more than the request's head. Many
/// assistants may call from one address, and wait for long.
const SMALL: usize = 4 * 1024;
/// The maximum number of steps of all bodies together: 64 MiB.
const MAX_STEPS: usize = 1024;
/// The maximum number of steps of one address's bodies together: 8 MiB.
const MAX_STEPS_PER_ADDRESS: usize = 128;

/// The memory available for bodies.
#[derive(Debug)]
pub struct BodyMemory {
    all: Arc<Semaphore>,
    by_address: Places<ClientAddress>,
}

impl Default for BodyMemory {
    fn default() -> Self {
        Self { all: Arc::new(Semaphore::new(MAX_STEPS)), by_address: Places::new(MAX_STEPS_PER_ADDRESS) }
    }
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
pub async fn read<E: Endpoint>(memory: Arc<BodyMemory>, next: Arc<E>, mut request: Request) -> Result<Response> {
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        return next.call(request).await.map(IntoResponse::into_response);
    }
    let mut body = request.take_body().into_async_read();
    let end = Instant::now() + TIME;
    let read = if let Some(refusal) = compressed(request.headers()) {
        Err(refusal)
    } else {
        let own = memory.by_address.of(client_address::of(&request));
        let whole = whole(&mut body, &memory.all, &own);
        tokio::time::timeout_at(end, whole).await.unwrap_or_else(|_| Err(too_slow()))
    };
    match read {
        Ok((bytes, kept)) => {
            request.set_data(kept);
            request.set_body(Body::from(bytes));
        }
        Err(refusal) => {
            // An error here means that the client has disconnected, which sending the answer will reveal.
            let mut rest = body.take(MAX_DRAIN);
            let _ = tokio::time::timeout_at(end, tokio::io::copy(&mut rest, &mut tokio::io::sink())).await;
            request.set_data(Refused(refusal));
        }
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

/// Reads the whole body. Reserves the memory of each step before reading it.
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
    if bytes.len() <= SMALL {
        bytes.shrink_to_fit();
        kept.clear();
    }
    Ok((bytes, Kept(Arc::new(kept))))
}

fn too_many_bodies() -> ApiError {
    ApiError::new(Code::RateLimited).hint("body: too many bodies are being sent at once").retry_after(1)
}

#[cfg(test)]
mod tests {
    use poem::{
        EndpointExt,
        endpoint::{make, make_sync},
        test::TestClient,
    };

    use super::*;

    fn client<E: Endpoint<Output = String> + 'static>(
        app: E,
        memory: &Arc<BodyMemory>,
    ) -> TestClient<impl Endpoint + use<E>> {
        let memory = memory.clone();
        TestClient::new(app.around(refuse).around(move |next, request| read(memory.clone(), next, request)))
    }

    #[tokio::test]
    async fn bodies_are_measured_whether_or_not_they_say_their_length() {
        let app = make(async |mut request: Request| Ok::<_, poem::Error>(request.take_body().into_string().await?));
        let memory = Arc::default();
        let client = client(app, &memory);
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
        let memory = Arc::new(BodyMemory::default());
        let of_answer = memory.clone();
        let app = make_sync(move |_| of_answer.all.available_permits().to_string());
        let client = client(app, &memory);
        for (size, held) in [(0, 0), (SMALL, 0), (SMALL + 1, 1)] {
            let response = client.post("/").body("x".repeat(size)).send().await;
            response.assert_text((MAX_STEPS - held).to_string()).await;
        }
    }

    #[tokio::test]
    async fn the_bodies_of_an_address_take_so_much_memory_and_give_it_back() {
        let memory = Arc::new(BodyMemory::default());
        let app = make(async |mut request: Request| {
            let length = request.take_body().into_vec().await?.len();
            tokio::task::yield_now().await;
            Ok::<_, poem::Error>(length.to_string())
        });
        let client = client(app, &memory);
        for held in [0, MAX_STEPS_PER_ADDRESS] {
            let own = memory.by_address.of(client_address::of(&Request::default()));
            let taken = own.clone().try_acquire_many_owned(u32::try_from(held).unwrap()).unwrap();
            let response = client.post("/").body("x".repeat(STEP + 1)).send().await;
            assert_eq!(response.0.status().as_u16(), if held == 0 { 200 } else { 429 });
            drop(taken);
            assert_eq!(own.available_permits(), MAX_STEPS_PER_ADDRESS, "memory is given back");
            assert_eq!(memory.all.available_permits(), MAX_STEPS);
        }
    }
}
