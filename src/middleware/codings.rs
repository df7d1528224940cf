//! Cleans `Accept-Encoding` for the compression behind it, which takes a coding refused with `q=0` for one that is accepted and
//! answers `*` with a coding of its own choice.

use poem::{
    Endpoint, Middleware, Request, Result,
    http::{HeaderMap, HeaderValue, header},
};

/// The middleware.
#[derive(Debug, Clone, Copy, Default)]
pub struct Codings;

/// See [`Codings`].
pub struct CodingsEndpoint<E>(E);

impl<E: Endpoint> Middleware<E> for Codings {
    type Output = CodingsEndpoint<E>;

    fn transform(&self, inner: E) -> Self::Output {
        CodingsEndpoint(inner)
    }
}

impl<E: Endpoint> Endpoint for CodingsEndpoint<E> {
    type Output = E::Output;

    async fn call(&self, mut request: Request) -> Result<Self::Output> {
        let accepted = accepted(request.headers());
        match HeaderValue::from_str(&accepted) {
            Ok(value) if !accepted.is_empty() => request.headers_mut().insert(header::ACCEPT_ENCODING, value),
            _ => request.headers_mut().remove(header::ACCEPT_ENCODING),
        };
        self.0.call(request).await
    }
}

/// The codings that a client takes, with their weights; `*` stands for gzip.
fn accepted(headers: &HeaderMap) -> String {
    let lines = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok());
    let listed = lines.flat_map(|line| line.split(',')).filter_map(|item| {
        let (coding, weight) = item.split_once(';').unwrap_or((item, "q=1"));
        let weight: f32 = weight.trim().strip_prefix("q=")?.trim().parse().ok()?;
        let coding = if coding.trim() == "*" { "gzip" } else { coding.trim() };
        (weight > 0.0 && !coding.is_empty()).then(|| format!("{coding};q={weight}"))
    });
    listed.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_is_left_out() {
        for (sent, kept) in [
            ("gzip", "gzip;q=1"),
            ("gzip;q=0, br ; q=0.5", "br;q=0.5"),
            ("*", "gzip;q=1"),
            ("identity, *;q=0", "identity;q=1"),
            ("gzip;level=9", ""),
            ("", ""),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, sent.parse().unwrap());
            assert_eq!(accepted(&headers), kept, "{sent}");
        }
    }
}
