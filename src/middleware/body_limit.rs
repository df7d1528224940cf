//! Refuses bodies over 1 MiB, also those that do not say how long they are, and compressed ones.

use api::error::{ApiError, Code};
use poem::{
    Endpoint, Middleware, Request, Result,
    http::{Method, header},
};

/// The longest body accepted, in bytes.
pub const LIMIT: usize = 1024 * 1024;

/// The middleware.
#[derive(Debug, Clone, Copy, Default)]
pub struct BodyLimit;

/// See [`BodyLimit`].
pub struct BodyLimitEndpoint<E>(E);

impl<E: Endpoint> Middleware<E> for BodyLimit {
    type Output = BodyLimitEndpoint<E>;

    fn transform(&self, inner: E) -> Self::Output {
        BodyLimitEndpoint(inner)
    }
}

impl<E: Endpoint> Endpoint for BodyLimitEndpoint<E> {
    type Output = E::Output;

    async fn call(&self, mut request: Request) -> Result<Self::Output> {
        if matches!(*request.method(), Method::GET | Method::HEAD) {
            return self.0.call(request).await;
        }
        let text = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
        if text(header::CONTENT_ENCODING).is_some_and(|encoding| !encoding.eq_ignore_ascii_case("identity")) {
            let refusal = ApiError::new(Code::UnsupportedMediaType);
            return Err(refusal.hint("Content-Encoding: compressed bodies are not accepted").into());
        }
        let length = text(header::CONTENT_LENGTH).and_then(|length| length.parse::<usize>().ok());
        if length.is_some_and(|length| length > LIMIT) {
            return Err(too_large());
        }
        let body = request.take_body().into_bytes_limit(LIMIT).await.map_err(|error| match error {
            poem::error::ReadBodyError::PayloadTooLarge => too_large(),
            _ => ApiError::invalid("body", "could not be read to its end").into(),
        })?;
        request.set_body(body);
        self.0.call(request).await
    }
}

fn too_large() -> poem::Error {
    ApiError::new(Code::PayloadTooLarge).hint("body: at most 1 MiB").into()
}

#[cfg(test)]
mod tests {
    use poem::{Body, EndpointExt, endpoint::make, test::TestClient};

    use super::*;

    #[tokio::test]
    async fn bodies_are_measured_whether_or_not_they_say_their_length() {
        let app = make(async |mut request: Request| Ok::<_, poem::Error>(request.take_body().into_string().await?));
        let client = TestClient::new(app.with(BodyLimit));
        for (size, status) in [(0, 200), (LIMIT, 200), (LIMIT + 1, 413)] {
            let response = client.post("/").body("x".repeat(size)).send().await;
            assert_eq!(response.0.status().as_u16(), status, "{size}");
            let unsized_body = Body::from_async_read(std::io::Cursor::new("x".repeat(size)));
            let response = client.post("/").body(unsized_body).send().await;
            assert_eq!(response.0.status().as_u16(), status, "{size}, unsized");
        }
        let declared = client.post("/").header("content-length", LIMIT + 1).send().await;
        assert_eq!(declared.0.status().as_u16(), 413);
        let compressed = client.post("/").header("content-encoding", "gzip").body("x").send().await;
        assert_eq!(compressed.0.status().as_u16(), 415);
    }
}
