//! The versions that are served, with the headers that tell clients of an older version about its end.

use api::versions::{End, Versions};
use chrono::{NaiveDate, NaiveTime};
use common::base_url::BaseUrl;
use poem::{
    Request,
    http::{HeaderMap, HeaderName, HeaderValue, header},
};

use super::HEADER;
use crate::{error::Error, http::methods, web::changelog};

const DEPRECATION: HeaderName = HeaderName::from_static("deprecation");
const SUNSET: HeaderName = HeaderName::from_static("sunset");

/// The versions that are served.
#[derive(Debug)]
pub struct Served {
    /// The registry.
    pub versions: Versions,
    /// The headers of each version, in the order of the registry.
    headers: Vec<Headers>,
}

/// The headers of an answer in the shape of a version.
#[derive(Debug)]
struct Headers {
    date: HeaderValue,
    /// `None` for the newest version.
    end: Option<[(HeaderName, HeaderValue); 3]>,
}

/// The version that a request asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RequestedVersion {
    /// The newest version, by its name or by none.
    Newest,
    /// The older version of this index.
    Older(usize),
    /// A version that is not served.
    Unknown,
}

impl Served {
    /// Serves `versions`. Their changelog is below `base_url`.
    ///
    /// # Errors
    /// `base_url` does not fit into a header.
    pub fn new(versions: Versions, base_url: &BaseUrl) -> Result<Self, Error> {
        let headers = versions.all().iter().map(|version| {
            let end = version.end.map(|end| end_headers(end, base_url)).transpose()?;
            Ok(Headers { date: value(version.date)?, end })
        });
        let headers = headers.collect::<Result<_, Error>>()?;
        Ok(Self { versions, headers })
    }

    /// Reads the version that `request` asks for. Only the API has versions, not the sign-in pages and metadata.
    pub(super) fn asked(&self, request: &Request) -> RequestedVersion {
        let mut dates = request.headers().get_all(HEADER).iter();
        let Some(first) = dates.next() else { return RequestedVersion::Newest };
        let path = request.uri().path();
        if path != "/api" && !path.starts_with("/api/") {
            return RequestedVersion::Newest;
        }
        let same = dates.all(|date| date == first);
        match self.headers.iter().position(|headers| same && headers.date == first) {
            // A method that the path does not have is refused first of all.
            None if is_probe(request) || methods::is_refused(request) => RequestedVersion::Newest,
            None => RequestedVersion::Unknown,
            Some(at) if at + 1 == self.headers.len() => RequestedVersion::Newest,
            Some(at) => RequestedVersion::Older(at),
        }
    }

    /// Adds the headers of the version at `at`. An answer that names the version of its shape keeps that name.
    pub(super) fn tell(&self, at: usize, headers: &mut HeaderMap) {
        let Some(own) = self.headers.get(at) else { return };
        headers.entry(HEADER).or_insert_with(|| own.date.clone());
        for (name, value) in own.end.iter().flatten() {
            headers.append(name, value.clone());
        }
    }
}

/// Returns whether `request` asks if the process runs. A supervisor restarts a process that refuses that.
fn is_probe(request: &Request) -> bool {
    let uri = request.uri();
    uri.path() == "/api/health" && uri.query().is_some_and(|query| query.split('&').any(|pair| pair == "probe=live"))
}

fn end_headers(end: End, base_url: &BaseUrl) -> Result<[(HeaderName, HeaderValue); 3], Error> {
    let link = format!("<{base_url}{}#{}>; rel=\"deprecation\"; type=\"text/html\"", changelog::PATH, end.successor);
    let deprecation = format!("@{}", midnight(end.deprecation).timestamp());
    let sunset = midnight(end.sunset).format("%a, %d %b %Y %H:%M:%S GMT").to_string();
    Ok([(DEPRECATION, value(&deprecation)?), (SUNSET, value(&sunset)?), (header::LINK, value(&link)?)])
}

fn midnight(day: NaiveDate) -> chrono::DateTime<chrono::Utc> {
    day.and_time(NaiveTime::MIN).and_utc()
}

fn value(text: &str) -> Result<HeaderValue, Error> {
    HeaderValue::from_str(text).map_err(|_| Error::invalid("base_url: must consist of printable ASCII characters"))
}

#[cfg(test)]
mod tests {
    use api::versions::Release;

    use super::*;
    use crate::http::operation;

    fn served() -> Served {
        let releases = [
            Release { date: "2026-09-14", sunset: Some("2027-01-30"), changes: &[] },
            Release { date: "2026-11-01", sunset: None, changes: &[] },
        ];
        Served::new(Versions::new(&releases).unwrap(), &"https://sightline.example".parse().unwrap()).unwrap()
    }

    #[test]
    fn the_header_selects_the_version_below_the_api_only() {
        for (path, sent, expected) in [
            ("/api", vec![], RequestedVersion::Newest),
            ("/api", vec!["2026-11-01"], RequestedVersion::Newest),
            ("/api", vec!["2026-09-14"], RequestedVersion::Older(0)),
            ("/api/tags", vec!["2026-09-14", "2026-09-14"], RequestedVersion::Older(0)),
            ("/api/tags", vec!["2026-09-14", "2026-11-01"], RequestedVersion::Unknown),
            ("/api/tags", vec!["2026-11-02"], RequestedVersion::Unknown),
            ("/api/tags", vec![""], RequestedVersion::Unknown),
            ("/apiary", vec!["2026-11-02"], RequestedVersion::Newest),
            ("/api/health", vec!["2026-11-02"], RequestedVersion::Unknown),
            ("/api/health?probe=ready", vec!["2026-11-02"], RequestedVersion::Unknown),
            ("/api/health?probe=live", vec!["2026-11-02"], RequestedVersion::Newest),
            ("/api/tags?probe=live", vec!["2026-11-02"], RequestedVersion::Unknown),
            ("/docs", vec!["2026-09-14"], RequestedVersion::Newest),
        ] {
            let request =
                sent.iter().fold(Request::builder().uri_str(path), |request, date| request.header(HEADER, *date));
            let mut request = request.finish();
            operation::find(&mut request);
            assert_eq!(served().asked(&request), expected, "{path} {sent:?}");
        }
    }

    /// 1793491200 is midnight of 1 November 2026 in UTC, and 30 January 2027 is a Saturday.
    #[test]
    fn the_end_of_a_version_is_told_in_the_formats_of_the_rfcs() {
        let (served, mut headers) = (served(), HeaderMap::new());
        served.tell(0, &mut headers);
        for (name, expected) in [
            ("x-api-version", "2026-09-14"),
            ("deprecation", "@1793491200"),
            ("sunset", "Sat, 30 Jan 2027 00:00:00 GMT"),
            ("link", "<https://sightline.example/changelog#2026-11-01>; rel=\"deprecation\"; type=\"text/html\""),
        ] {
            assert_eq!(headers[name], expected, "{name}");
        }
    }
}
