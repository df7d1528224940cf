//! Content codings of answers: the one that a client prefers, and bytes in it.

use bytes::Bytes;
use poem::{
    IntoResponse as _, Response,
    error::ReadBodyError,
    http::{HeaderMap, header},
    web::{Compress, CompressionAlgo, CompressionLevel},
};

/// A content coding (RFC 9110, 8.4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// Brotli.
    Brotli,
    /// Gzip.
    Gzip,
}

impl Coding {
    /// The name in `Content-Encoding`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Gzip => "gzip",
        }
    }

    /// Returns the response with a body that is encoded while it is read.
    #[must_use]
    pub fn encoded(self, response: Response) -> Response {
        Compress::new(response, self.algorithm()).into_response()
    }

    /// Encodes `bytes`. Meant for few bytes, or for a thread beside the runtime.
    ///
    /// # Errors
    /// The encoder's.
    pub async fn packed(self, bytes: Bytes, level: CompressionLevel) -> Result<Bytes, ReadBodyError> {
        let plain = Response::builder().body(bytes);
        Compress::new(plain, self.algorithm()).with_quality(level).into_response().into_body().into_bytes().await
    }

    fn algorithm(self) -> CompressionAlgo {
        match self {
            Self::Brotli => CompressionAlgo::BR,
            Self::Gzip => CompressionAlgo::GZIP,
        }
    }
}

/// Returns the coding with the highest weight, and `at_a_tie` of two with the same. Returns `None` if the client accepts neither or prefers plain
/// bytes. `*` is the weight of codings that are not named (RFC 9110, 12.5.3). Here it applies to
/// gzip only, the coding that every client knows.
#[must_use]
pub fn preferred(headers: &HeaderMap, at_a_tie: Coding) -> Option<Coding> {
    let lines = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok());
    let weights: Vec<(String, f32)> = lines.flat_map(|line| line.split(',')).filter_map(weighted).collect();
    let named =
        |names: &[&str]| weights.iter().find(|(coding, _)| names.contains(&coding.as_str())).map(|(_, weight)| *weight);
    let (brotli, identity) = (named(&["br"]).unwrap_or(0.0), named(&["identity"]).unwrap_or(0.0));
    let gzip = named(&["gzip", "x-gzip"]).or_else(|| named(&["*"])).unwrap_or(0.0);
    let is_brotli = brotli > gzip || (brotli >= gzip && at_a_tie == Coding::Brotli);
    let (coding, weight) = if is_brotli { (Coding::Brotli, brotli) } else { (Coding::Gzip, gzip) };
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
    use poem::http::HeaderValue;

    use super::*;

    #[test]
    fn the_heaviest_coding_is_preferred() {
        for (sent, coding) in [
            ("gzip", Some(Coding::Gzip)),
            ("GZIP;Q=0.5", Some(Coding::Gzip)),
            ("gzip, br", Some(Coding::Brotli)),
            ("br;q=0.5, gzip;q=0.6", Some(Coding::Gzip)),
            ("gzip;q=0, br ; q=0.5", Some(Coding::Brotli)),
            ("*", Some(Coding::Gzip)),
            ("identity, *;q=0", None),
            ("gzip;q=0, *", None),
            ("br;q=0, *;q=0.5", Some(Coding::Gzip)),
            ("identity, gzip;q=0.5", None),
            ("identity;q=0.5, gzip", Some(Coding::Gzip)),
            ("gzip;level=9", None),
            ("zstd, deflate", None),
            ("", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, sent.parse().unwrap());
            assert_eq!(preferred(&headers, Coding::Brotli), coding, "{sent}");
        }
        let both = HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip, br"))]);
        assert_eq!(preferred(&both, Coding::Gzip), Some(Coding::Gzip));
    }
}
