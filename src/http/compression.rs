//! Compresses answers in the coding that the client prefers, gzip or brotli, and gzip if it has no preference. Fixed documents come compressed (`crates/pages/src/fixed.rs`).
//!
//! poem's own middleware would also decompress the bodies of requests before anything could refuse them. This layer leaves request
//! bodies alone, so a refused body costs no more than its bytes on the wire.
//!
//! An encoder takes up to 300 kB, and a millisecond for each 25 kB. So a short answer is encoded at once and leaves no encoder behind
//! for a client that does not read. A long one is encoded while it is read, in pieces, and only while there is a permit for its encoder.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http_body::Body as _;
use http_body_util::{BodyExt as _, combinators::BoxBody};
use pages::coding::{self, Coding};
use poem::{
    Body, Endpoint, IntoResponse, Request, Response, Result,
    error::InternalServerError,
    http::{HeaderValue, StatusCode, header},
    web::CompressionLevel,
};
use tokio::{
    io::{AsyncRead, ReadBuf},
    sync::Semaphore,
};

use super::until_sent::until_sent;

/// The maximum number of answers that are encoded while they are read. Beyond it answers are sent plain.
const MAX_ENCODERS: usize = 64;

/// The number of bytes that are encoded at once, in one to two milliseconds.
const PIECE: usize = 32 * 1024;

/// The permits for encoders in the process.
#[derive(Debug, Clone)]
pub struct Encoders(Arc<Semaphore>);

impl Default for Encoders {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_ENCODERS)))
    }
}

/// The compression layer.
///
/// # Errors
/// The errors of the inner layers.
pub async fn compress<E: Endpoint>(encoders: Encoders, inner: Arc<E>, request: Request) -> Result<Response> {
    // Encoded quickly, gzip is the smaller one.
    let preferred = coding::preferred(request.headers(), Coding::Gzip);
    let mut response = inner.call(request).await?.into_response();
    if !is_compressible(&response) {
        return Ok(response);
    }
    let varies = response
        .headers()
        .get_all(header::VARY)
        .iter()
        .any(|names| String::from_utf8_lossy(names.as_bytes()).to_ascii_lowercase().contains("accept-encoding"));
    if !varies {
        response.headers_mut().append(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    }
    match preferred {
        Some(coding) => encoders.encode(response, coding).await,
        None => Ok(response),
    }
}

fn is_compressible(response: &Response) -> bool {
    !matches!(response.status(), StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
        && !response.headers().contains_key(header::CONTENT_ENCODING)
        && !is_event_stream(response)
}

/// Returns whether the response is a stream of events, which the encoder would keep back.
fn is_event_stream(response: &Response) -> bool {
    response.content_type().is_some_and(|media_type| media_type.starts_with("text/event-stream"))
}

impl Encoders {
    async fn encode(&self, mut response: Response, coding: Coding) -> Result<Response> {
        let body = BoxBody::from(response.take_body());
        match body.size_hint().exact().map(usize::try_from) {
            Some(Ok(size)) if size <= PIECE => return at_once(response, body, size, coding).await,
            _ => response.set_body(body),
        }
        let Ok(permit) = self.0.clone().try_acquire_owned() else { return Ok(response) };
        let pieces = Pieces { inner: response.take_body().into_async_read(), left: PIECE };
        response.set_body(Body::from_async_read(pieces));
        Ok(until_sent(coding.encoded(response), permit))
    }
}

/// Encodes a body of `size` bytes. Its end stays unread until the encoded bytes are, because it gives back what the request holds.
async fn at_once(
    mut response: Response,
    mut body: BoxBody<Bytes, io::Error>,
    size: usize,
    coding: Coding,
) -> Result<Response> {
    let mut plain = Vec::with_capacity(size);
    while plain.len() < size {
        let Some(frame) = body.frame().await else { break };
        plain.extend_from_slice(&frame.map_err(InternalServerError)?.into_data().unwrap_or_default());
    }
    if !plain.is_empty() {
        let packed = coding.packed(plain.into(), CompressionLevel::Fastest).await.map_err(InternalServerError)?;
        response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
        response.set_body(packed);
    }
    Ok(until_sent(response, body))
}

/// A reader that lets other tasks run after each [`PIECE`]. What reads it does so in one poll as long as there are bytes.
struct Pieces<R> {
    inner: R,
    left: usize,
}

impl<R: AsyncRead + Unpin> AsyncRead for Pieces<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.left == 0 {
            self.left = PIECE;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        self.left = self.left.saturating_sub(buffer.filled().len() - before);
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::{StreamExt as _, future::poll_fn, stream};
    use poem::{
        EndpointExt as _,
        endpoint::{make, make_sync},
        test::TestClient,
    };

    use super::*;

    fn client<E: Endpoint + 'static>(app: E, encoders: &Encoders) -> TestClient<impl Endpoint + use<E>> {
        let encoders = encoders.clone();
        TestClient::new(app.around(move |next, request| compress(encoders.clone(), next, request)))
    }

    /// An answer of many small chunks that pack well, and how many of its bytes were taken.
    fn long(taken: &Arc<AtomicUsize>) -> Response {
        let taken = taken.clone();
        let chunks = stream::iter(0..1_000).map(move |_| {
            taken.fetch_add(1_000, Ordering::Relaxed);
            Ok::<_, io::Error>(Bytes::from(vec![b'x'; 1_000]))
        });
        Response::builder().body(Body::from_bytes_stream(chunks))
    }

    #[tokio::test]
    async fn the_body_of_a_request_is_read_as_it_was_sent() {
        let length = make(async |mut request: Request| {
            let coding = request.header("content-encoding").unwrap_or_default().to_owned();
            let bytes = request.take_body().into_vec().await?;
            Ok::<_, poem::Error>(format!("{coding} {}", bytes.len()))
        });
        let client = client(length, &Encoders::default());
        // Seventeen bytes of zstd that decompress to 100,000 zeros.
        let coded =
            [0x28, 0xb5, 0x2f, 0xfd, 0xa4, 0xa0, 0x86, 0x01, 0x00, 0x4b, 0x00, 0x00, 0x10, 0x00, 0x01, 0x00, 0x9b];
        for coding in ["zstd", "gzip", "br", "deflate", "identity"] {
            let answer = client.post("/").header("content-encoding", coding).body(coded.to_vec()).send().await;
            answer.assert_text(format!("{coding} 17")).await;
        }
    }

    #[tokio::test]
    async fn an_answer_without_a_body_has_no_coding() {
        let empty = make_sync(|request: Request| match request.uri().path() {
            "/none" => StatusCode::NO_CONTENT.into_response(),
            _ => StatusCode::OK.into_response(),
        });
        let client = client(empty, &Encoders::default());
        for (path, status) in [("/none", StatusCode::NO_CONTENT), ("/", StatusCode::OK)] {
            let answer = client.get(path).header("accept-encoding", "gzip").send().await.0;
            assert_eq!((answer.status(), answer.header("content-encoding")), (status, None));
        }
    }

    #[tokio::test]
    async fn a_poll_encodes_one_piece() {
        let taken = Arc::new(AtomicUsize::new(0));
        let of_app = taken.clone();
        let client = client(make_sync(move |_| long(&of_app)), &Encoders::default());
        for coding in ["gzip", "br"] {
            taken.store(0, Ordering::Relaxed);
            let answer = client.get("/").header("accept-encoding", coding).send().await.0;
            let mut body = BoxBody::from(answer.into_body());
            let (mut polls, mut before, mut is_over) = (0, 0, false);
            while !is_over {
                poll_fn(|context| {
                    let frame = Pin::new(&mut body).poll_frame(context);
                    is_over = matches!(frame, Poll::Ready(None));
                    Poll::Ready(())
                })
                .await;
                let now = taken.load(Ordering::Relaxed);
                assert!(now - before <= PIECE + 10_000, "{coding}: {} bytes in one poll", now - before);
                (polls, before) = (polls + 1, now);
            }
            assert_eq!(before, 1_000_000);
            assert!(polls > 1_000_000 / PIECE, "{coding}: {polls} polls");
        }
    }

    #[tokio::test]
    async fn an_encoder_has_a_permit_until_its_answer_is_read_or_given_up() {
        let (encoders, taken) = (Encoders(Arc::new(Semaphore::new(1))), Arc::default());
        let client = client(make_sync(move |_| long(&taken)), &encoders);
        let ask = async || client.get("/").header("accept-encoding", "gzip").send().await.0;
        let coding = |answer: &Response| answer.header("content-encoding").map(ToOwned::to_owned);

        let unread = ask().await;
        assert_eq!(coding(&unread).as_deref(), Some("gzip"));
        let plain = ask().await;
        assert_eq!((coding(&plain), plain.header("vary")), (None, Some("Accept-Encoding")));
        assert_eq!(plain.into_body().into_vec().await.unwrap().len(), 1_000_000);

        drop(unread);
        let read = ask().await;
        assert_eq!(coding(&read).as_deref(), Some("gzip"));
        let mut body = BoxBody::from(read.into_body());
        while body.frame().await.is_some() {}
        assert_eq!(encoders.0.available_permits(), 1, "it has been read, though its body is still there");
        assert_eq!(coding(&ask().await).as_deref(), Some("gzip"));
    }

    #[tokio::test]
    async fn a_short_answer_has_no_encoder_and_keeps_what_its_request_holds() {
        let (encoders, held) = (Encoders(Arc::new(Semaphore::new(0))), Arc::new(()));
        let of_app = held.clone();
        let client =
            client(make_sync(move |_| until_sent("x".repeat(PIECE).into_response(), of_app.clone())), &encoders);
        let answer = client.get("/").header("accept-encoding", "gzip").send().await.0;
        assert_eq!(answer.header("content-encoding"), Some("gzip"));
        assert_eq!(Arc::strong_count(&held), 3, "of the test, of the app and of the unread answer");
        let body = BoxBody::from(answer.into_body());
        assert!(body.size_hint().exact().is_some_and(|size| size < 1_000));
        let mut body = body;
        while body.frame().await.is_some() {}
        assert_eq!(Arc::strong_count(&held), 2);
    }
}
