//! Refuses bodies over 1 MiB, also those that do not say how long they are, and compressed ones.
//!
//! In two halves: [`BodyLimit`] reads the body before anything is answered, because a client that is still sending would meet
//! a closed connection instead of the answer; [`BodyVerdict`] refuses behind the judgement of who asks.

use std::time::Duration;

use api::error::{ApiError, Code};
use poem::{
    Body, Endpoint, Middleware, Request, Result,
    http::{HeaderMap, Method, header},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    time::Instant,
};

/// The longest body accepted, in bytes.
pub const LIMIT: usize = 1024 * 1024;
/// How much of a body that is refused is read and thrown away, in bytes. Whoever sends more finds the connection closed.
const PATIENCE: u64 = 16 * LIMIT as u64;

/// How long a body may take to arrive.
const TIME: Duration = Duration::from_secs(20);

/// The half that reads.
#[derive(Debug, Clone, Copy, Default)]
pub struct BodyLimit;

/// See [`BodyLimit`].
pub struct BodyLimitEndpoint<E>(E);

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
        BodyLimitEndpoint(inner)
    }
}

impl<E: Endpoint> Endpoint for BodyLimitEndpoint<E> {
    type Output = E::Output;

    async fn call(&self, mut request: Request) -> Result<Self::Output> {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let mut body = request.take_body().into_async_read();
            let end = Instant::now() + TIME;
            let read = match compressed(request.headers()) {
                Some(refusal) => Err(refusal),
                None => tokio::time::timeout_at(end, whole(&mut body)).await.unwrap_or_else(|_| Err(too_slow())),
            };
            match read {
                Ok(bytes) => request.set_body(Body::from(bytes)),
                Err(refusal) => {
                    // An error here is the client's leaving, which the answer will find out.
                    let mut rest = body.take(PATIENCE);
                    let _ = tokio::time::timeout_at(end, tokio::io::copy(&mut rest, &mut tokio::io::sink())).await;
                    request.set_data(Refused(refusal));
                }
            }
        }
        self.0.call(request).await
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
    let plain = headers.get_all(header::CONTENT_ENCODING).iter().all(|coding| coding == "identity");
    let refusal = || ApiError::new(Code::UnsupportedMediaType);
    (!plain).then(|| refusal().hint("Content-Encoding: compressed bodies are not accepted"))
}

fn too_slow() -> ApiError {
    ApiError::invalid("body", &format!("must arrive within {} seconds", TIME.as_secs()))
}

async fn whole(body: &mut (impl AsyncRead + Unpin)) -> Result<Vec<u8>, ApiError> {
    let mut bytes = Vec::new();
    let read = body.take(LIMIT as u64 + 1).read_to_end(&mut bytes).await;
    read.map_err(|_| ApiError::invalid("body", "could not be read to its end"))?;
    if bytes.len() > LIMIT {
        return Err(ApiError::new(Code::PayloadTooLarge).hint("body: at most 1 MiB"));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use poem::{EndpointExt, endpoint::make, test::TestClient};

    use super::*;

    #[tokio::test]
    async fn bodies_are_measured_whether_or_not_they_say_their_length() {
        let app = make(async |mut request: Request| Ok::<_, poem::Error>(request.take_body().into_string().await?));
        let client = TestClient::new(app.with(BodyVerdict).with(BodyLimit));
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
}
