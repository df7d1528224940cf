//! Times and addresses in plain words.

use chrono::{DateTime, Utc};
use maud::{Markup, html};
use url::Url;

use crate::urls::is_loopback;

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

#[cfg(test)]
mod tests {
    use super::*;

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
