//! Content that stays the same while the service runs. It carries an `ETag`, and a client that has it gets 304.

use bytes::Bytes;
use poem::{
    Request, Response, RouteMethod,
    endpoint::make_sync,
    get,
    http::{HeaderName, StatusCode, header},
};

use crate::digest::{names_tag, opaque_tag};

/// Five minutes, then a client asks again with the tag.
const CACHED: &str = "public, max-age=300, must-revalidate";

/// Serves `body` to `GET` and `HEAD`.
pub fn fixed(content_type: &'static str, body: impl Into<Bytes>) -> RouteMethod {
    with_headers(content_type, body, &[])
}

/// Serves `body` to `GET` and `HEAD`, with these further headers.
pub fn with_headers(content_type: &'static str, body: impl Into<Bytes>, more: &[(HeaderName, String)]) -> RouteMethod {
    let (body, more) = (body.into(), more.to_vec());
    let tag = format!("\"{}\"", opaque_tag(&body));
    get(make_sync(move |request: Request| {
        let known = request.headers().get_all(header::IF_NONE_MATCH).iter();
        let is_known = known.filter_map(|list| list.to_str().ok()).any(|list| names_tag(list, &tag));
        let response = Response::builder()
            .header(header::ETAG, &tag)
            .header(header::CACHE_CONTROL, CACHED)
            .header(header::VARY, "Accept-Encoding");
        let response = more.iter().fold(response, |response, (name, value)| response.header(name, value));
        if is_known {
            response.status(StatusCode::NOT_MODIFIED).finish()
        } else {
            response.content_type(content_type).body(body.clone())
        }
    }))
}

#[cfg(test)]
mod tests {
    use poem::{Route, test::TestClient};

    use super::*;

    #[tokio::test]
    async fn a_client_that_has_the_content_is_told_so() {
        let client = TestClient::new(Route::new().at("/x", fixed("text/plain", "words")));
        let first = client.get("/x").send().await.0;
        let tag = first.header("etag").unwrap().to_owned();
        assert_eq!(first.header("cache-control"), Some(CACHED));
        assert_eq!(first.into_body().into_string().await.unwrap(), "words");
        for (known, status) in [(tag.clone(), 304), (format!("\"x\", W/{tag}"), 304), ("\"x\"".to_owned(), 200)] {
            let again = client.get("/x").header("if-none-match", &known).send().await.0;
            assert_eq!(again.status().as_u16(), status, "{known}");
            assert_eq!((again.header("etag"), again.header("cache-control")), (Some(tag.as_str()), Some(CACHED)));
            assert_eq!(again.into_body().into_vec().await.unwrap().is_empty(), status == 304);
        }
        let other = TestClient::new(Route::new().at("/x", fixed("text/plain", "other words")));
        assert_ne!(other.get("/x").send().await.0.header("etag"), Some(tag.as_str()));
    }
}
