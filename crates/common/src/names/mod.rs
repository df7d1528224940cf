//! Names of sites and pages, as people see them. A name never holds credentials, and nothing in it is unseen.

pub mod escapes;
pub mod hosts;
pub mod pages;
pub mod sites;

/// The parts of an address that its name is made of.
#[derive(Debug, PartialEq, Eq)]
struct Address<'t> {
    /// The scheme, or nothing in a text without one.
    scheme: &'t str,
    /// The user with its password, or nothing.
    user: &'t str,
    host: &'t str,
    /// The port with its colon, or nothing.
    port: &'t str,
    /// The path, with the query string and the fragment.
    rest: &'t str,
}

impl<'t> Address<'t> {
    fn of(text: &'t str) -> Self {
        let (scheme, after) = text.split_once("://").filter(|(scheme, _)| is_scheme(scheme)).unwrap_or(("", text));
        let (authority, rest) = after.split_at(after.find(['/', '?', '#', '\\']).unwrap_or(after.len()));
        let (user, place) = authority.rsplit_once('@').unwrap_or(("", authority));
        let port = place.rfind(':').filter(|colon| place[colon + 1..].chars().all(|digit| digit.is_ascii_digit()));
        let (host, port) = place.split_at(port.unwrap_or(place.len()));
        Self { scheme, user, host, port, rest }
    }

    /// Returns whether the address is one of the web.
    fn is_web(&self) -> bool {
        ["http", "https"].iter().any(|scheme| self.scheme.eq_ignore_ascii_case(scheme))
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter))
}
