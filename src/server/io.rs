//! The socket of a connection. It reports reads and writes to the [`Watch`].

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::Instant,
};

use super::watch::Watch;

/// A watched socket. If the connection was cut, the socket is reset instead of closed, so that no client takes the end of
/// the connection for the end of the response.
pub(super) struct WatchedSocket {
    pub(super) stream: TcpStream,
    pub(super) watch: Watch,
}

impl AsyncRead for WatchedSocket {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.stream).poll_read(context, buffer))?;
        if buffer.filled().len() > before {
            this.watch.received(Instant::now());
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for WatchedSocket {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.note(&written);
        written
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write_vectored(context, slices);
        this.note(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// Called when all that was buffered has been written.
    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(Pin::new(&mut this.stream).poll_flush(context))?;
        this.watch.flushed();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.watch.must_reset() {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut this.stream).poll_shutdown(context)
    }
}

impl WatchedSocket {
    fn note(&self, written: &Poll<io::Result<usize>>) {
        match written {
            Poll::Ready(Ok(bytes)) => self.watch.sent(*bytes),
            Poll::Ready(Err(_)) => {}
            Poll::Pending => self.watch.blocked(Instant::now()),
        }
    }
}

impl Drop for WatchedSocket {
    fn drop(&mut self) {
        if self.watch.must_reset() {
            // On failure the socket is closed normally. There is nobody to report the error to.
            let _ = self.stream.set_zero_linger();
        }
    }
}
