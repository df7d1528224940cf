//! Keeps a value, such as a place or a permit, until a response has been read or dropped.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use http_body_util::combinators::BoxBody;
use poem::{Body, Response};

/// Keeps `held` until the end of the response's body has been read, or the body is dropped.
pub fn until_read<T: Send + Sync + Unpin + 'static>(mut response: Response, held: T) -> Response {
    let body = response.take_body().into();
    response.set_body(Body::from(BoxBody::new(Unread { rest: Some((body, held)) })));
    response
}

/// A body that drops its contents and its source when its end has been read.
struct Unread<T> {
    rest: Option<(BoxBody<Bytes, io::Error>, T)>,
}

impl<T: Unpin> http_body::Body for Unread<T> {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let Some((body, _)) = &mut self.rest else { return Poll::Ready(None) };
        let frame = Pin::new(body).poll_frame(context);
        if matches!(frame, Poll::Ready(None)) {
            self.rest = None;
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.rest.as_ref().is_none_or(|(body, _)| body.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        self.rest.as_ref().map_or_else(|| SizeHint::with_exact(0), |(body, _)| body.size_hint())
    }
}
