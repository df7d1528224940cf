//! Times, addresses and numbers in plain words.

use chrono::{DateTime, Utc};
use common::{numbers, urls::is_loopback};
use maud::{Markup, html};
use url::Url;

/// A time for people and, in its attribute, for programs.
#[must_use]
pub fn time(at: DateTime<Utc>) -> Markup {
    html! { time datetime=(at.format("%Y-%m-%dT%H:%M:%SZ")) { (at.format("%-d %B %Y, %H:%M UTC")) } }
}

/// The place that an address leads to: a host, this computer, or an app with a scheme of its own.
#[must_use]
pub fn place(address: &str) -> String {
    match Url::parse(address) {
        Ok(url) if is_loopback(&url) => "this computer".to_owned(),
        Ok(url) if matches!(url.scheme(), "https" | "http") => url.host_str().unwrap_or(address).to_owned(),
        Ok(url) => format!("an app that opens {}:", url.scheme()),
        Err(_) => address.to_owned(),
    }
}

/// A whole number with a comma between groups of three digits.
#[must_use]
pub fn grouped(number: f64) -> String {
    numbers::grouped(&format!("{number:.0}"))
}

/// A number with one decimal place.
#[must_use]
pub fn decimal(number: f64) -> String {
    format!("{number:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_stand_in_groups_of_three() {
        for (number, words) in [
            (0.0, "0"),
            (7.0, "7"),
            (999.0, "999"),
            (1_000.0, "1,000"),
            (12_345.0, "12,345"),
            (1_234_567.0, "1,234,567"),
        ] {
            assert_eq!(grouped(number), words);
        }
        assert_eq!((decimal(9.7756), decimal(0.0)), ("9.8".to_owned(), "0.0".to_owned()));
    }

    #[test]
    fn a_time_is_read_by_people_and_programs() {
        let text = time(DateTime::from_timestamp(1_790_000_000, 0).unwrap()).into_string();
        assert_eq!(text, r#"<time datetime="2026-09-21T14:13:20Z">21 September 2026, 14:13 UTC</time>"#);
    }

    #[test]
    fn an_address_is_named_by_where_it_leads() {
        for (address, words) in [
            ("https://claude.example/callback?x=1", "claude.example"),
            ("https://user@evil.example/https://good.example", "evil.example"),
            ("http://127.0.0.1:4711/cb", "this computer"),
            ("http://localhost/cb", "this computer"),
            ("com.example.app:/callback", "an app that opens com.example.app:"),
            ("not an address", "not an address"),
        ] {
            assert_eq!(place(address), words);
        }
    }
}
