//! Ends requests that take too long, before a proxy in front gives them up and the work continues for nobody.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::combinators::BoxBody;
use poem::{Body, Endpoint, IntoResponse, Request, Response, Result};
use tokio::time::{Instant, Sleep, sleep, timeout};

use crate::error::unanswered;

/// The time that the service may take for a request. Proxies usually wait for a minute.
pub const OF_REQUEST: Duration = Duration::from_secs(55);
/// The layer that ends a request after `time`. An answer that is written while it is sent has what is left of it, and ends in the middle
/// if that does not suffice. Time in which the client does not read does not count: that has a limit of its own.
///
/// # Errors
/// 503 if there is no answer in time, and the errors of the inner layers.
pub async fn limit<E: Endpoint>(time: Duration, next: Arc<E>, request: Request) -> Result<Response> {
    let begun = Instant::now();
    if let Ok(answer) = timeout(time, next.call(request)).await {
        return Ok(limited(answer?.into_response(), time.saturating_sub(begun.elapsed())));
    }
    Err(unanswered(time).into())
}

/// Limits the time for the rest of an answer. One that is there already is left as it is.
fn limited(mut response: Response, left: Duration) -> Response {
    let inner: BoxBody<Bytes, io::Error> = response.take_body().into();
    let is_there = inner.size_hint().exact().is_some();
    response.set_body(if is_there {
        Body::from(inner)
    } else {
        Body::from(BoxBody::new(Limited { inner, left, waiting: None }))
    });
    response
}

/// A body that fails when it has been waited for too long.
struct Limited {
    inner: BoxBody<Bytes, io::Error>,
    left: Duration,
    /// Runs while the next part is waited for.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl http_body::Body for Limited {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.inner).poll_frame(context) {
            if let Some(waited) = self.waiting.take() {
                self.left = waited.deadline().saturating_duration_since(Instant::now());
            }
            return Poll::Ready(frame);
        }
        let left = self.left;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(left)));
        ready!(waiting.as_mut().poll(context));
        tracing::warn!("an answer was ended in the middle, because the rest took too long");
        Poll::Ready(Some(Err(io::ErrorKind::TimedOut.into())))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{StreamExt as _, stream};
    use http_body_util::BodyExt as _;
    use poem::{endpoint::make, http::StatusCode};

    use super::*;

    const AT_ONCE: Duration = Duration::ZERO;
    const AN_HOUR: Duration = Duration::from_hours(1);

    /// An answer whose rows come at once, and after which nothing comes unless the stream ends.
    async fn answered(path: &str, time: Duration) -> Result<Response> {
        let endpoint = Arc::new(make(async |request: Request| {
            let rows = || stream::iter([Ok::<_, io::Error>("row\n"), Ok("row\n")]);
            Ok::<_, poem::Error>(match request.uri().path() {
                "/never" => std::future::pending::<Response>().await,
                "/rows" => Response::builder().body(Body::from_bytes_stream(rows())),
                "/stuck" => Response::builder().body(Body::from_bytes_stream(rows().chain(stream::pending()))),
                _ => "there".into_response(),
            })
        }));
        limit(time, endpoint, Request::builder().uri_str(path).finish()).await
    }

    async fn body(path: &str, time: Duration) -> BoxBody<Bytes, io::Error> {
        answered(path, time).await.unwrap().take_body().into()
    }

    #[tokio::test]
    async fn a_request_without_an_answer_ends() {
        let refused = answered("/never", AT_ONCE).await.unwrap_err().into_response();
        assert_eq!((refused.status(), refused.header("retry-after")), (StatusCode::SERVICE_UNAVAILABLE, Some("5")));
        assert_eq!(answered("/", AN_HOUR).await.unwrap().status(), StatusCode::OK);
    }

    #[tokio::test]
    async fn an_answer_that_comes_to_a_halt_ends_in_the_middle() {
        for time in [AT_ONCE, AN_HOUR] {
            let rows = body("/rows", time).await.collect().await.unwrap().to_bytes();
            assert_eq!(rows, "row\nrow\n", "what is there takes no time");
        }
        let mut stuck = body("/stuck", Duration::from_millis(1)).await;
        for _ in 0..2 {
            assert_eq!(stuck.frame().await.unwrap().unwrap().into_data().unwrap(), "row\n");
        }
        assert_eq!(stuck.frame().await.unwrap().unwrap_err().kind(), io::ErrorKind::TimedOut);
    }

    /// Otherwise an answer that comes row by row would never end.
    #[tokio::test]
    async fn what_is_waited_for_a_row_is_not_there_for_the_next() {
        let rows = stream::iter([Ok::<_, io::Error>("row\n"), Ok("row\n")]).then(async |row| {
            tokio::task::yield_now().await;
            row
        });
        let inner = Body::from_bytes_stream(rows).into();
        let mut rows = Limited { inner, left: AN_HOUR, waiting: None };
        let mut left = AN_HOUR;
        for _ in 0..2 {
            rows.frame().await.unwrap().unwrap();
            assert!(rows.left < left, "{:?} of {left:?}", rows.left);
            left = rows.left;
        }
    }

    #[tokio::test]
    async fn the_length_of_an_answer_is_still_known() {
        assert_eq!(body("/", AN_HOUR).await.size_hint().exact(), Some(5));
    }
}
