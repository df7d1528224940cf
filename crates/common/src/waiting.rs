//! The header `Retry-After` of other servers (RFC 9110, section 10.2.3).

use std::time::Duration;

use chrono::{DateTime, Utc};
use reqwest::header::{HeaderMap, RETRY_AFTER};

/// The longest time to wait that another server is believed.
const LONGEST: Duration = Duration::from_hours(1);

/// Reads a number of seconds or a date, which is the time to wait from `now`. A date that has passed is no time. `None` for anything else, and
/// without the header.
#[must_use]
pub fn time(headers: &HeaderMap, now: DateTime<Utc>) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let wait = if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // More seconds than a number holds are the longest time.
        text.parse().map_or(LONGEST, Duration::from_secs)
    } else {
        let date = DateTime::parse_from_rfc2822(text).ok()?;
        (date.to_utc() - now).to_std().unwrap_or_default()
    };
    Some(wait.min(LONGEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_to_wait_is_seconds_or_a_date() {
        let now = DateTime::from_timestamp(1_795_262_400, 0).unwrap();
        for (text, expected) in [
            ("0", Some(Duration::ZERO)),
            (" 120 ", Some(Duration::from_mins(2))),
            ("3601", Some(LONGEST)),
            ("1000000000000", Some(LONGEST)),
            ("99999999999999999999", Some(LONGEST)),
            ("Sat, 21 Nov 2026 12:02:00 GMT", Some(Duration::from_mins(2))),
            ("Sat, 21 Nov 2026 12:02:00 +0000", Some(Duration::from_mins(2))),
            ("Sat, 21 Nov 2026 11:59:00 GMT", Some(Duration::ZERO)),
            ("Sun, 21 Nov 2027 12:02:00 GMT", Some(LONGEST)),
            ("", None),
            ("-1", None),
            ("+1", None),
            ("1.5", None),
            ("1e3", None),
            ("soon", None),
            ("2026-11-21T12:02:00Z", None),
        ] {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, text.parse().unwrap())]);
            assert_eq!(time(&headers, now), expected, "{text:?}");
        }
        assert_eq!(time(&HeaderMap::new(), now), None);
    }
}
