//! The body of an answer, which tells the [`Watch`](super::watch::Watch) whether it is being read.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::time::Instant;

use super::watch::{Request, SLOW_BYTES};

/// A watched body. It hands out pieces of at most [`SLOW_BYTES`], so that each has the same time to be read.
pub(super) struct WatchedBody<B> {
    inner: B,
    /// The rest of the last frame.
    rest: Bytes,
    request: Request,
}

impl<B> WatchedBody<B> {
    pub(super) fn new(inner: B, request: Request) -> Self {
        Self { inner, rest: Bytes::new(), request }
    }

    fn piece(&mut self) -> Bytes {
        self.request.handed_over(Instant::now());
        self.rest.split_to(self.rest.len().min(SLOW_BYTES))
    }
}

impl<B: Body<Data = Bytes, Error = io::Error> + Unpin> Body for WatchedBody<B> {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let this = self.get_mut();
        this.request.asked_for_more();
        if !this.rest.is_empty() {
            return Poll::Ready(Some(Ok(Frame::data(this.piece()))));
        }
        match ready!(Pin::new(&mut this.inner).poll_frame(context)) {
            Some(Ok(frame)) => match frame.into_data() {
                Ok(data) => {
                    this.rest = data;
                    Poll::Ready(Some(Ok(Frame::data(this.piece()))))
                }
                Err(trailers) => Poll::Ready(Some(Ok(trailers))),
            },
            Some(Err(error)) => {
                tracing::warn!(%error, "an answer is cut off");
                this.request.watch().cut();
                Poll::Ready(Some(Err(error)))
            }
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (inner, rest) = (self.inner.size_hint(), self.rest.len() as u64);
        let mut hint = SizeHint::new();
        hint.set_lower(inner.lower() + rest);
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper + rest);
        }
        hint
    }
}
