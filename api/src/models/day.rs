//! Days and times that callers name. They lie within three centuries, so that no sum with them leaves the calendar.

use chrono::{DateTime, NaiveDate, Utc};

/// Returns a constant date. An invalid date does not compile.
#[expect(clippy::expect_used, reason = "at compile time")]
const fn constant(year: i32, month: u32, day: u32) -> NaiveDate {
    NaiveDate::from_ymd_opt(year, month, day).expect("the day exists")
}

/// The first day that a caller may name.
pub const FIRST_DAY: NaiveDate = const { constant(1900, 1, 1) };

/// The last day that a caller may name.
pub const LAST_DAY: NaiveDate = const { constant(2200, 12, 31) };

/// Parses a day, `YYYY-MM-DD`, from [`FIRST_DAY`] to [`LAST_DAY`].
///
/// # Errors
/// The allowed values, in words.
pub fn parse_day(text: &str) -> Result<NaiveDate, String> {
    let shaped = text.len() == 10
        && text.bytes().enumerate().all(|(i, b)| if i == 4 || i == 7 { b == b'-' } else { b.is_ascii_digit() });
    let date = shaped.then(|| text.parse::<NaiveDate>().ok()).flatten();
    let date = date.filter(|date| (FIRST_DAY..=LAST_DAY).contains(date));
    date.ok_or_else(|| format!("must be a calendar date, YYYY-MM-DD, from {FIRST_DAY} to {LAST_DAY}"))
}

/// Parses an RFC 3339 timestamp whose day in UTC is from [`FIRST_DAY`] to [`LAST_DAY`]. Leap seconds are refused: some databases store
/// them as the next second.
///
/// # Errors
/// The allowed values, in words.
pub fn parse_time(text: &str) -> Result<DateTime<Utc>, String> {
    let time = DateTime::parse_from_rfc3339(text).ok().map(|time| time.to_utc());
    let is_allowed = |time: &DateTime<Utc>| {
        (FIRST_DAY..=LAST_DAY).contains(&time.date_naive()) && time.timestamp_subsec_millis() < 1000
    };
    let allowed = || format!("must be an RFC 3339 timestamp from {FIRST_DAY} to {LAST_DAY} in UTC");
    time.filter(is_allowed).ok_or_else(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_lie_within_three_centuries() {
        for (text, is_allowed) in [
            ("1900-01-01", true),
            ("2028-02-29", true),
            ("2200-12-31", true),
            ("1899-12-31", false),
            ("2201-01-01", false),
            ("0000-01-01", false),
            ("9999-12-31", false),
            ("-262143-01-01", false),
            ("+262142-12-31", false),
            ("2026-02-29", false),
            ("2026-1-001", false),
            ("2026-10-01\0", false),
            ("٢٠٢٦-٠١", false),
        ] {
            assert_eq!(parse_day(text).is_ok(), is_allowed, "{text}");
        }
    }

    #[test]
    fn times_lie_within_three_centuries_in_utc() {
        for (text, is_allowed) in [
            ("1900-01-01T00:00:00Z", true),
            ("2200-12-31T23:59:59.999Z", true),
            ("2201-01-01T00:30:00+01:00", true),
            ("1900-01-01T00:30:00+01:00", false),
            ("2200-12-31T23:30:00-01:00", false),
            ("9999-12-31T23:59:59-12:00", false),
            ("-262143-01-01T00:00:00Z", false),
            ("2026-12-31T23:59:60Z", false),
            ("2026-12-31", false),
        ] {
            assert_eq!(parse_time(text).is_ok(), is_allowed, "{text}");
        }
    }
}
