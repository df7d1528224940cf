//! The time for which a document is kept: what its HTTP headers say (RFC 9111), within bounds.

use chrono::{DateTime, TimeDelta, Utc};
use http::{HeaderMap, HeaderName, header};

/// Also for a document that must not be stored: the form of the sign-in page needs it again.
const SHORTEST: TimeDelta = TimeDelta::minutes(1);
const LONGEST: TimeDelta = TimeDelta::hours(24);
/// For a document without any statement.
const UNSTATED: TimeDelta = TimeDelta::minutes(10);

/// Returns the time for which a response that arrived at `now` is kept.
pub(super) fn of(headers: &HeaderMap, now: DateTime<Utc>) -> TimeDelta {
    let stated = by_cache_control(headers).or_else(|| by_expires(headers, now)).unwrap_or(UNSTATED);
    let age = text(headers, &header::AGE).and_then(|age| age.trim().parse().ok()).unwrap_or(0);
    (stated - seconds(age)).clamp(SHORTEST, LONGEST)
}

/// This is a shared cache: `s-maxage` counts before `max-age`, and a private response is not stored.
fn by_cache_control(headers: &HeaderMap) -> Option<TimeDelta> {
    let lines = headers.get_all(header::CACHE_CONTROL).iter().filter_map(|line| line.to_str().ok());
    let directives: Vec<String> =
        lines.flat_map(|line| line.split(',')).map(|directive| directive.trim().to_ascii_lowercase()).collect();
    let name = |directive: &String| directive.split('=').next().map(str::trim).map(str::to_owned);
    let is_there = |wanted: &str| directives.iter().filter_map(name).any(|name| name == wanted);
    if ["no-store", "no-cache", "private"].into_iter().any(is_there) {
        return Some(TimeDelta::zero());
    }
    ["s-maxage", "max-age"].into_iter().find_map(|wanted| {
        let found =
            directives.iter().find_map(|directive| directive.strip_prefix(wanted)?.trim_start().strip_prefix('='));
        // A value that cannot be read counts as stale.
        found.map(|value| seconds(value.trim().trim_matches('"').parse().unwrap_or(0)))
    })
}

fn by_expires(headers: &HeaderMap, now: DateTime<Utc>) -> Option<TimeDelta> {
    let expires = text(headers, &header::EXPIRES)?;
    // A value that cannot be read counts as stale.
    let Ok(expires) = DateTime::parse_from_rfc2822(expires) else { return Some(TimeDelta::zero()) };
    Some(expires.to_utc() - now)
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn seconds(count: u64) -> TimeDelta {
    i64::try_from(count).ok().and_then(TimeDelta::try_seconds).unwrap_or(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_decide_within_bounds() {
        let now = "2026-11-21T12:00:00Z".parse().unwrap();
        let cases: [(&[(&str, &str)], i64); 17] = [
            (&[], 600),
            (&[("cache-control", "max-age=300")], 300),
            (&[("cache-control", "public, Max-Age = 300")], 300),
            (&[("cache-control", "max-age=\"300\"")], 300),
            (&[("cache-control", "max-age=300, s-maxage=900")], 900),
            (&[("cache-control", "public"), ("cache-control", "max-age=300")], 300),
            (&[("cache-control", "max-age=300"), ("age", "100")], 200),
            (&[("cache-control", "max-age=300"), ("age", "1000")], 60),
            (&[("cache-control", "max-age=5")], 60),
            (&[("cache-control", "max-age=many")], 60),
            (&[("cache-control", "max-age=99999999999999999999")], 60),
            (&[("cache-control", "max-age=31536000")], 86_400),
            (&[("cache-control", "no-store, max-age=300")], 60),
            (&[("cache-control", "private=\"x\", max-age=300")], 60),
            (&[("expires", "Sat, 21 Nov 2026 12:05:00 GMT")], 300),
            (&[("expires", "0")], 60),
            (&[("cache-control", "max-age=300"), ("expires", "0")], 300),
        ];
        for (lines, expected) in cases {
            let mut headers = HeaderMap::new();
            for (name, value) in lines {
                headers.append(HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
            }
            assert_eq!(of(&headers, now), TimeDelta::seconds(expected), "{lines:?}");
        }
    }
}
