//! A response body that tells the [`Watch`](super::watch::Watch) whether the client reads it.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::time::Instant;

use super::watch::{Request, SLOW_BYTES};

/// A watched body. It yields chunks of at most [`SLOW_BYTES`]: the connection buffers a few of them, and every chunk has the same time to be
/// read.
pub(super) struct WatchedBody<B> {
    /// The rest of the response. `None` after it was abandoned because the client did not read it.
    rest: Arc<Mutex<Option<Rest<B>>>>,
    request: Request,
}

struct Rest<B> {
    inner: B,
    /// The rest of the last frame.
    frame: Bytes,
}

impl<B> Rest<B> {
    fn piece(&mut self) -> Frame<Bytes> {
        Frame::data(self.frame.split_to(self.frame.len().min(SLOW_BYTES)))
    }
}

impl<B: Body<Data = Bytes, Error = io::Error> + Unpin + Send + 'static> WatchedBody<B> {
    pub(super) fn new(inner: B, request: Request) -> Self {
        Self { rest: Arc::new(Mutex::new(Some(Rest { inner, frame: Bytes::new() }))), request }
    }

    fn hand_over(&self) {
        let rest = Arc::downgrade(&self.rest);
        let abandon = move || {
            let Some(rest) = rest.upgrade() else { return };
            drop(rest.lock().unwrap_or_else(PoisonError::into_inner).take());
        };
        self.request.handed_over(Instant::now(), Arc::new(abandon));
    }
}

impl<B: Body<Data = Bytes, Error = io::Error> + Unpin + Send + 'static> Body for WatchedBody<B> {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let this = self.get_mut();
        if this.request.is_stream {
            this.request.asked_for_more();
        }
        let mut held = this.rest.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(rest) = held.as_mut() else {
            return Poll::Ready(Some(Err(io::Error::new(io::ErrorKind::TimedOut, "the answer was not read in time"))));
        };
        if rest.frame.is_empty() {
            match ready!(Pin::new(&mut rest.inner).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => rest.frame = data,
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
                Some(Err(error)) => {
                    tracing::warn!(%error, "an answer is cut off");
                    this.request.fail();
                    return Poll::Ready(Some(Err(error)));
                }
                None => return Poll::Ready(None),
            }
        }
        let piece = rest.piece();
        drop(held);
        if this.request.is_stream {
            this.hand_over();
        }
        Poll::Ready(Some(Ok(piece)))
    }

    fn is_end_stream(&self) -> bool {
        let held = self.rest.lock().unwrap_or_else(PoisonError::into_inner);
        held.as_ref().is_some_and(|rest| rest.frame.is_empty() && rest.inner.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        let held = self.rest.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(rest) = held.as_ref() else { return SizeHint::default() };
        let (inner, frame) = (rest.inner.size_hint(), rest.frame.len() as u64);
        let mut hint = SizeHint::new();
        hint.set_lower(inner.lower() + frame);
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper + frame);
        }
        hint
    }
}
