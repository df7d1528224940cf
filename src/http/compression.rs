//! Compresses answers in the coding that the client prefers, gzip or brotli.
//!
//! poem's own middleware would also decompress the bodies of requests before anything could refuse them. This layer leaves request
//! bodies alone, so a refused body costs no more than its bytes on the wire.

use std::sync::Arc;

use poem::{
    Endpoint, IntoResponse, Request, Response, Result,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    web::{Compress, CompressionAlgo},
};

/// The compression layer.
pub async fn compress<E: Endpoint>(inner: Arc<E>, request: Request) -> Result<Response> {
    let preferred = preferred(request.headers());
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
    Ok(match preferred {
        Some(coding) => Compress::new(response, coding).into_response(),
        None => response,
    })
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

/// Returns the coding with the highest weight, brotli before gzip. Returns `None` if the client accepts neither or prefers plain
/// bytes. `*` is the weight of codings that are not named (RFC 9110, 12.5.3). Here it applies to
/// gzip only, the coding that every client knows.
fn preferred(headers: &HeaderMap) -> Option<CompressionAlgo> {
    let lines = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok());
    let weights: Vec<(String, f32)> = lines.flat_map(|line| line.split(',')).filter_map(weighted).collect();
    let named =
        |names: &[&str]| weights.iter().find(|(coding, _)| names.contains(&coding.as_str())).map(|(_, weight)| *weight);
    let (brotli, identity) = (named(&["br"]).unwrap_or(0.0), named(&["identity"]).unwrap_or(0.0));
    let gzip = named(&["gzip", "x-gzip"]).or_else(|| named(&["*"])).unwrap_or(0.0);
    let (coding, weight) = if brotli >= gzip { (CompressionAlgo::BR, brotli) } else { (CompressionAlgo::GZIP, gzip) };
    (weight > 0.0 && weight >= identity).then_some(coding)
}

/// Parses a coding and its weight (RFC 9110, 12.4.2), which is 1 by default.
fn weighted(item: &str) -> Option<(String, f32)> {
    let (coding, weight) = item.split_once(';').unwrap_or((item, "q=1"));
    let weight = weight.trim().to_ascii_lowercase().strip_prefix("q=")?.trim().parse().ok()?;
    Some((coding.trim().to_ascii_lowercase(), weight))
}

#[cfg(test)]
mod tests {
    use poem::{EndpointExt as _, endpoint::make, test::TestClient};

    use super::*;

    #[test]
    fn the_heaviest_coding_is_preferred() {
        for (sent, coding) in [
            ("gzip", Some(CompressionAlgo::GZIP)),
            ("GZIP;Q=0.5", Some(CompressionAlgo::GZIP)),
            ("gzip, br", Some(CompressionAlgo::BR)),
            ("br;q=0.5, gzip;q=0.6", Some(CompressionAlgo::GZIP)),
            ("gzip;q=0, br ; q=0.5", Some(CompressionAlgo::BR)),
            ("*", Some(CompressionAlgo::GZIP)),
            ("identity, *;q=0", None),
            ("gzip;q=0, *", None),
            ("br;q=0, *;q=0.5", Some(CompressionAlgo::GZIP)),
            ("identity, gzip;q=0.5", None),
            ("identity;q=0.5, gzip", Some(CompressionAlgo::GZIP)),
            ("gzip;level=9", None),
            ("zstd, deflate", None),
            ("", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, sent.parse().unwrap());
            assert_eq!(preferred(&headers), coding, "{sent}");
        }
    }

    #[tokio::test]
    async fn the_body_of_a_request_is_read_as_it_was_sent() {
        let length = make(async |mut request: Request| {
            let coding = request.header("content-encoding").unwrap_or_default().to_owned();
            let bytes = request.take_body().into_vec().await?;
            Ok::<_, poem::Error>(format!("{coding} {}", bytes.len()))
        });
        let client = TestClient::new(length.around(compress));
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
        let empty = poem::endpoint::make_sync(|_| StatusCode::NO_CONTENT.into_response());
        let client = TestClient::new(empty.around(compress));
        let answer = client.get("/").header("accept-encoding", "gzip").send().await.0;
        assert_eq!((answer.status(), answer.header("content-encoding")), (StatusCode::NO_CONTENT, None));
    }
}
