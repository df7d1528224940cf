//! Content that stays the same while the service runs. It carries an `ETag`, and a client that has it gets 304.
//!
//! It is compressed once for each coding, when it is first asked for, and sent from the stored bytes. So a request costs the same,
//! however large the content is.

use std::{io, sync::Arc};

use bytes::Bytes;
use common::{
    compute::beside,
    digest::opaque_tag,
    entity_tags::{is_named, names_tag},
};
use poem::{
    Request, Response, Result, RouteMethod,
    endpoint::make,
    error::InternalServerError,
    get,
    http::{HeaderName, StatusCode, header},
    web::CompressionLevel,
};
use tokio::{runtime::Handle, sync::OnceCell};

use super::coding::{self, Coding};

/// Five minutes, then a client asks again with the tag.
const CACHED: &str = "public, max-age=300, must-revalidate";

/// Marks an answer with fixed content, as response data.
#[derive(Debug, Clone, Copy)]
pub struct Fixed;

/// Serves `body` to `GET` and `HEAD`.
pub fn fixed(content_type: &'static str, body: impl Into<Bytes>) -> RouteMethod {
    with_headers(content_type, body, &[])
}

/// Serves `body` to `GET` and `HEAD`, with these further headers.
pub fn with_headers(content_type: &'static str, body: impl Into<Bytes>, more: &[(HeaderName, String)]) -> RouteMethod {
    let document = Arc::new(Document::new(content_type, body.into(), more.to_vec()));
    get(make(move |request: Request| {
        let document = document.clone();
        async move { document.answer(&request).await }
    }))
}

/// A document, plain and in each coding that somebody has asked for.
struct Document {
    content_type: &'static str,
    more: Vec<(HeaderName, String)>,
    plain: Bytes,
    opaque_tag: String,
    brotli: OnceCell<Bytes>,
    gzip: OnceCell<Bytes>,
}

impl Document {
    fn new(content_type: &'static str, plain: Bytes, more: Vec<(HeaderName, String)>) -> Self {
        let opaque_tag = opaque_tag(&plain);
        Self { content_type, more, plain, opaque_tag, brotli: OnceCell::new(), gzip: OnceCell::new() }
    }

    async fn answer(self: Arc<Self>, request: &Request) -> Result<Response> {
        let coding = coding::preferred(request.headers(), Coding::Brotli);
        let tag = self.tag(coding);
        let is_known = is_named(request.headers().get_all(header::IF_NONE_MATCH), &tag, names_tag);
        let response = Response::builder()
            .header(header::ETAG, &tag)
            .header(header::CACHE_CONTROL, CACHED)
            .header(header::VARY, "Accept-Encoding");
        let response = self.more.iter().fold(response, |response, (name, value)| response.header(name, value));
        let mut response = match coding {
            _ if is_known => response.status(StatusCode::NOT_MODIFIED).finish(),
            None => response.content_type(self.content_type).body(self.plain.clone()),
            Some(coding) => {
                let response = response.content_type(self.content_type).header(header::CONTENT_ENCODING, coding.name());
                response.body(self.packed(coding).await.map_err(InternalServerError)?)
            }
        };
        response.set_data(Fixed);
        Ok(response)
    }

    /// The strong tag of the content in one coding, which no other coding shares (RFC 9110, 8.8.3.3).
    fn tag(&self, coding: Option<Coding>) -> String {
        match coding {
            None => format!("\"{}\"", self.opaque_tag),
            Some(coding) => format!("\"{}-{}\"", self.opaque_tag, coding.name()),
        }
    }

    /// Returns the content in `coding`. The first caller has it made, and the others wait for it.
    async fn packed(self: Arc<Self>, coding: Coding) -> io::Result<Bytes> {
        if let Some(packed) = self.stored(coding).get() {
            return Ok(packed.clone());
        }
        // A task of its own, so that the work is not lost with the client that asked first.
        let work = tokio::spawn(async move {
            self.stored(coding).get_or_try_init(|| packed(self.plain.clone(), coding)).await.cloned()
        });
        work.await.map_err(io::Error::other)?
    }

    fn stored(&self, coding: Coding) -> &OnceCell<Bytes> {
        match coding {
            Coding::Brotli => &self.brotli,
            Coding::Gzip => &self.gzip,
        }
    }
}

async fn packed(plain: Bytes, coding: Coding) -> io::Result<Bytes> {
    let level = match coding {
        // Higher levels take seconds for a script of a megabyte.
        Coding::Brotli => CompressionLevel::Precise(6),
        Coding::Gzip => CompressionLevel::Best,
    };
    let packed = beside(move || Handle::current().block_on(coding.packed(plain, level))).await;
    packed.map_err(io::Error::other)?.map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use futures_util::future::join_all;
    use poem::{Route, test::TestClient};

    use super::*;

    #[tokio::test]
    async fn a_client_that_has_the_content_is_told_so() {
        let client = TestClient::new(Route::new().at("/x", fixed("text/plain", "words")));
        let mut tags = Vec::new();
        for coding in ["", "gzip", "br"] {
            let get = || client.get("/x").header("accept-encoding", coding);
            let first = get().send().await.0;
            let tag = first.header("etag").unwrap().to_owned();
            assert_eq!((first.header("cache-control"), first.header("vary")), (Some(CACHED), Some("Accept-Encoding")));
            assert_eq!(first.header("content-encoding").unwrap_or_default(), coding);
            let bytes = first.into_body().into_vec().await.unwrap();
            assert_eq!(bytes == b"words", coding.is_empty());
            for (known, status) in [(tag.clone(), 304), (format!("\"x\", W/{tag}"), 304), ("\"x\"".to_owned(), 200)] {
                let again = get().header("if-none-match", &known).send().await.0;
                assert_eq!(again.status().as_u16(), status, "{known}");
                assert_eq!((again.header("etag"), again.header("cache-control")), (Some(tag.as_str()), Some(CACHED)));
                assert_eq!(again.into_body().into_vec().await.unwrap().is_empty(), status == 304);
            }
            tags.push(tag);
        }
        for (coding, tag) in [("", &tags[1]), ("gzip", &tags[2]), ("br", &tags[0])] {
            let other = client.get("/x").header("accept-encoding", coding).header("if-none-match", tag).send().await;
            assert_eq!(other.0.status(), StatusCode::OK, "{tag} is another coding than {coding:?}");
        }
        let other = TestClient::new(Route::new().at("/x", fixed("text/plain", "other words")));
        assert_ne!(other.get("/x").send().await.0.header("etag"), Some(tags[0].as_str()));
    }

    #[tokio::test]
    async fn content_is_compressed_once_even_if_the_first_client_leaves() {
        let document = Arc::new(Document::new("text/plain", "words ".repeat(10_000).into(), Vec::new()));
        for coding in [Coding::Gzip, Coding::Brotli] {
            let first = tokio::spawn(document.clone().packed(coding));
            tokio::task::yield_now().await;
            first.abort();
            let all = join_all((0..20).map(|_| document.clone().packed(coding))).await;
            let starts: Vec<_> = all.into_iter().map(|packed| packed.unwrap().as_ptr()).collect();
            assert!(starts.iter().all(|start| *start == starts[0]), "the same bytes, not a copy of each caller");
        }
    }
}
