//! The header `Retry-After` of other servers (RFC 9110, section 10.2.3).

use std::time::Duration;

use chrono::{DateTime, Utc};

/// Reads a number of seconds or a date, which is the time to wait from `now`. More seconds than a number holds are the longest time. A date that
/// has passed is no time. `None` for anything else.
#[must_use]
pub fn time(retry_after: &str, now: DateTime<Utc>) -> Option<Duration> {
    let text = retry_after.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(text.parse().map_or(Duration::MAX, Duration::from_secs));
    }
    let date = DateTime::parse_from_rfc2822(text).ok()?;
    Some((date.to_utc() - now).to_std().unwrap_or_default())
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
            ("1000000000000", Some(Duration::from_secs(1_000_000_000_000))),
            ("99999999999999999999", Some(Duration::MAX)),
            ("Sat, 21 Nov 2026 12:02:00 GMT", Some(Duration::from_mins(2))),
            ("Sat, 21 Nov 2026 12:02:00 +0000", Some(Duration::from_mins(2))),
            ("Sat, 21 Nov 2026 11:59:00 GMT", Some(Duration::ZERO)),
            ("", None),
            ("-1", None),
            ("+1", None),
            ("1.5", None),
            ("1e3", None),
            ("soon", None),
            ("2026-11-21T12:02:00Z", None),
        ] {
            assert_eq!(time(text, now), expected, "{text:?}");
        }
    }
}
