//! `ETag`, `304 Not Modified` and `Cache-Control` for successful reads.

use std::sync::Arc;

use api::operation::EtagKind;
use common::{
    digest::opaque_tag,
    entity_tags::{is_named, names_shared_tag},
};
use poem::{
    Endpoint, IntoResponse, Request, Response, Result,
    http::{HeaderValue, Method, StatusCode, header},
};

use super::operation;

/// The headers of requests that select an answer. The version is among them even where no version changes the body, because an
/// older one changes the headers.
const VARIES_BY: &str = "Accept-Encoding, Authorization, Cookie, X-API-Version";

/// The layer for conditional requests. It runs inside compression, so that an `ETag` identifies the answer and not one coding of it.
///
/// # Errors
/// The errors of the inner layers.
pub async fn conditional<E: Endpoint>(next: Arc<E>, mut request: Request) -> Result<Response> {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let Some(operation) = operation::of(&request).filter(|_| is_read) else {
        return next.call(request).await.map(IntoResponse::into_response);
    };
    let known = request.headers().get_all(header::IF_NONE_MATCH).iter().cloned().collect::<Vec<_>>();
    // For HEAD the router would return an empty body with another ETag. The HTTP layer omits the body instead.
    request.set_method(Method::GET);
    let response = next.call(request).await?.into_response();
    if response.status() != StatusCode::OK {
        return Ok(response);
    }
    let mut response = tagged(response, operation.etag).await?;
    let headers = response.headers_mut();
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("private"));
    headers.append(header::VARY, HeaderValue::from_static(VARIES_BY));
    let tag = headers.get(header::ETAG).and_then(|tag| tag.to_str().ok());
    let is_unchanged = tag.is_some_and(|tag| is_named(&known, tag, names_shared_tag));
    if is_unchanged {
        response.set_status(StatusCode::NOT_MODIFIED);
        response.headers_mut().remove(header::CONTENT_TYPE);
        response.set_body(());
    }
    Ok(response)
}

/// Adds an `ETag` computed from the body, unless the operation has none or set one itself.
async fn tagged(mut response: Response, kind: EtagKind) -> Result<Response> {
    if kind == EtagKind::None || response.headers().contains_key(header::ETAG) {
        return Ok(response);
    }
    let body = response.take_body().into_bytes().await?;
    let digest = opaque_tag(&body);
    let tag = if kind == EtagKind::Weak { format!("W/\"{digest}\"") } else { format!("\"{digest}\"") };
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response.set_body(body);
    Ok(response)
}

#[cfg(test)]
mod tests {
    use poem::{EndpointExt, endpoint::make_sync, test::TestClient};

    use super::*;

    fn client() -> TestClient<impl Endpoint> {
        let app = make_sync(|request: Request| match request.uri().path() {
            "/api/properties/tracking" => Response::builder().content_type("application/json").body("{}"),
            "/api/properties" => Response::builder().content_type("application/json").body("{\"data\":[]}"),
            _ => Response::builder().status(StatusCode::NOT_FOUND).finish(),
        });
        TestClient::new(app.around(conditional).around(|next, request| operation::look_up(None, next, request)))
    }

    #[tokio::test]
    async fn a_known_answer_is_not_sent_again() {
        for (path, weak) in [("/api/properties", true), ("/api/properties/tracking", false)] {
            let first = client().get(path).send().await.0;
            assert_eq!(first.header("cache-control"), Some("private"));
            assert_eq!(first.header("vary"), Some(VARIES_BY));
            let tag = first.header("etag").unwrap().to_owned();
            assert_eq!(tag.starts_with("W/"), weak);
            let opaque = tag.trim_start_matches("W/").to_owned();
            for known in [tag.clone(), format!("W/{opaque}"), format!("\"x\", {opaque}"), "*".into()] {
                let again = client().get(path).header("if-none-match", &known).send().await.0;
                assert_eq!(again.status(), StatusCode::NOT_MODIFIED, "{known}");
                assert_eq!(again.header("etag"), Some(tag.as_str()));
                assert_eq!(again.into_body().into_vec().await.unwrap().len(), 0);
            }
            let changed = client().get(path).header("if-none-match", "\"x\"").send().await.0;
            assert_eq!(changed.status(), StatusCode::OK);
        }
    }

    #[tokio::test]
    async fn refusals_and_writes_have_no_tag() {
        let missing = client().get("/api/team").send().await.0;
        assert_eq!((missing.status(), missing.header("etag")), (StatusCode::NOT_FOUND, None));
        assert_eq!(client().put("/api/properties/tracking").send().await.0.header("etag"), None);
    }
}
