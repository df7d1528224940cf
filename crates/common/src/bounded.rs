//! Reads answers of other servers up to a limit, so that one without an end takes little memory. Bytes are counted as they come out of a
//! decompression. The time limit of the request bounds the whole answer.

use bytes::{Bytes, BytesMut};
use reqwest::Response;
use serde::de::DeserializeOwned;

use super::json;

/// The limit of answers of a known kind without many rows, in bytes: tokens, keys, metadata, profiles and refusals.
pub const DOCUMENT: usize = 1 << 20;

/// The reason why an answer was not read.
#[derive(Debug, thiserror::Error)]
pub enum Unread {
    /// It is longer than the limit, in bytes.
    #[error("the answer is longer than {0} bytes")]
    TooLong(usize),
    /// It did not come to its end.
    #[error("{0}")]
    Broken(#[source] reqwest::Error),
    /// It is not the expected JSON object. The text may quote it.
    #[error("{0}")]
    Unexpected(#[source] serde_json::Error),
}

/// Reads an answer of at most `most` bytes. Beyond them it is dropped, and its connection ends.
///
/// # Errors
/// [`Unread::TooLong`], [`Unread::Broken`].
#[expect(clippy::disallowed_methods, reason = "the one place where answers are read")]
pub async fn bytes(mut response: Response, most: usize) -> Result<Bytes, Unread> {
    if response.content_length().is_some_and(|length| length > most as u64) {
        return Err(Unread::TooLong(most));
    }
    let mut body = BytesMut::new();
    while let Some(piece) = response.chunk().await.map_err(|error| Unread::Broken(error.without_url()))? {
        if piece.len() > most - body.len() {
            return Err(Unread::TooLong(most));
        }
        body.extend_from_slice(&piece);
    }
    Ok(body.freeze())
}

/// Reads an answer of at most `most` bytes as a JSON object.
///
/// # Errors
/// [`Unread`].
pub async fn object<T: DeserializeOwned>(response: Response, most: usize) -> Result<T, Unread> {
    json::object(&bytes(response, most).await?).map_err(Unread::Unexpected)
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
        time::Duration,
    };

    use futures_util::{StreamExt as _, stream};
    use poem::{
        Body, Endpoint, EndpointExt as _, Response as Answer, endpoint::make_sync, listener::Acceptor as _,
        middleware::Compression,
    };
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
    };

    use super::*;

    const MOST: usize = 64 << 10;

    /// More bytes than two sockets hold.
    const IN_SOCKETS: usize = 64 << 20;

    #[expect(clippy::disallowed_methods, reason = "tests make their own client")]
    fn client() -> reqwest::Client {
        reqwest::Client::builder().no_proxy().build().unwrap()
    }

    /// Asks a server that answers as `endpoint`.
    async fn ask(endpoint: impl Endpoint + 'static) -> Response {
        ask_within(Duration::from_hours(1), endpoint).await.unwrap()
    }

    async fn ask_within(limit: Duration, endpoint: impl Endpoint + 'static) -> reqwest::Result<Response> {
        let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", socket.local_addr().unwrap());
        let acceptor = poem::listener::TcpAcceptor::from_tokio(socket).unwrap();
        assert_eq!(acceptor.local_addr().len(), 1);
        tokio::spawn(poem::Server::new_with_acceptor(acceptor).run(endpoint));
        client().get(url).timeout(limit).send().await
    }

    fn sized(length: usize) -> impl Endpoint {
        make_sync(move |_| Answer::builder().body(vec![b'x'; length]))
    }

    fn streamed(length: usize) -> impl Endpoint {
        make_sync(move |_| {
            let pieces = (0..length).step_by(1_000).map(move |at| vec![b'x'; 1_000.min(length - at)]);
            Body::from_bytes_stream(stream::iter(pieces.map(Ok::<_, io::Error>)))
        })
    }

    /// An answer without an end, whose bytes are counted.
    fn endless(sent: &Arc<AtomicUsize>) -> impl Endpoint + use<> {
        let sent = sent.clone();
        make_sync(move |_| {
            let sent = sent.clone();
            let piece = move |()| {
                sent.fetch_add(1 << 16, Ordering::Relaxed);
                Ok::<_, io::Error>(vec![b'x'; 1 << 16])
            };
            Body::from_bytes_stream(stream::repeat(()).map(piece))
        })
    }

    #[tokio::test]
    async fn an_answer_is_read_to_its_limit_and_no_further() {
        for (length, is_read) in [(0, true), (1, true), (MOST, true), (MOST + 1, false), (1 << 20, false)] {
            let read = [
                bytes(ask(sized(length)).await, MOST).await,
                bytes(ask(streamed(length)).await, MOST).await,
                bytes(ask(sized(length).with(Compression::new())).await, MOST).await,
            ];
            for read in read {
                match read {
                    Ok(body) => assert_eq!((is_read, body.len()), (true, length)),
                    Err(error) => assert!(!is_read && matches!(error, Unread::TooLong(MOST)), "{length}: {error}"),
                }
            }
        }
    }

    #[tokio::test]
    async fn an_answer_without_an_end_is_left_at_the_limit() {
        let sent = Arc::default();
        let refused = bytes(ask(endless(&sent)).await, MOST).await;
        assert!(matches!(refused, Err(Unread::TooLong(MOST))), "{refused:?}");
        assert!(sent.load(Ordering::Relaxed) < IN_SOCKETS, "{} bytes were sent", sent.load(Ordering::Relaxed));
    }

    #[tokio::test]
    async fn an_answer_that_stops_is_given_up_at_the_time_limit_of_its_request() {
        let stuck = make_sync(|_| {
            let begun = stream::iter([Ok::<_, io::Error>("{")]);
            Body::from_bytes_stream(begun.chain(stream::pending()))
        });
        // On a machine that is busy for so long, the limit ends the wait for the head.
        let error = match ask_within(Duration::from_millis(300), stuck).await {
            Ok(response) => match bytes(response, MOST).await {
                Err(Unread::Broken(error)) => error,
                other => panic!("{other:?}"),
            },
            Err(error) => error,
        };
        assert!(error.is_timeout(), "{error:?}");
    }

    #[tokio::test]
    async fn an_answer_that_breaks_off_is_none() {
        let cases = [
            "content-length: 8\r\n\r\n{\"a\":1}",
            "transfer-encoding: chunked\r\n\r\n7\r\n{\"a\":1}\r\n",
            "transfer-encoding: chunked\r\n\r\n8\r\n{\"a\":1}",
            "content-encoding: gzip\r\n\r\n\u{1f}",
        ];
        for rest in cases {
            let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let url = format!("http://{}", socket.local_addr().unwrap());
            tokio::spawn(async move {
                let (mut connection, _) = socket.accept().await.unwrap();
                connection.read_u8().await.unwrap();
                connection.write_all(format!("HTTP/1.1 200 OK\r\n{rest}").as_bytes()).await.unwrap();
                connection.shutdown().await.unwrap();
                // The request is read to its end, so that the connection is not reset.
                tokio::io::copy(&mut connection, &mut tokio::io::sink()).await.unwrap();
            });
            let refused = bytes(client().get(url).send().await.unwrap(), MOST).await;
            assert!(matches!(&refused, Err(Unread::Broken(error)) if !error.is_timeout()), "{rest}: {refused:?}");
        }
    }
}
