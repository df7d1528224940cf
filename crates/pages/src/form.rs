//! The fields of forms and queries, as browsers send them.
//!
//! Every page, and every endpoint of the issuer, reads its fields here. Control characters are refused by the name of their field: no
//! person types them, and `PostgreSQL` stores no text with NUL.

pub use common::plain_text::Controlled;
use common::plain_text::is_line;
use poem::{
    Request,
    http::{HeaderMap, header},
};
use url::form_urlencoded;

/// The longest name that a refusal quotes, in characters.
const QUOTED: usize = 64;

/// The characters that a field may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// One line, without control characters.
    Line,
    /// Several lines: tabs and line breaks, and no other control characters of ASCII.
    Lines,
    /// Any characters, for a value that is never stored or looked up as text, such as a password.
    Anything,
}

impl Holds {
    fn allows(self, value: &str) -> bool {
        let is_text = |letter: char| !letter.is_ascii_control() || ['\t', '\r', '\n'].contains(&letter);
        match self {
            Self::Line => is_line(value),
            Self::Lines => value.chars().all(is_text),
            Self::Anything => true,
        }
    }
}

/// Returns whether headers say once that a body is a form.
#[must_use]
pub fn is_sent(headers: &HeaderMap) -> bool {
    types(headers).is_some_and(|types| types.len() == 1 && types.iter().all(|media_type| is_form(media_type)))
}

/// Returns whether headers say that a body is a form, maybe beside another type: some clients of the token endpoint merge two headers into
/// one. Never for what a browser sends with a cookie.
#[must_use]
pub fn is_sent_by_program(headers: &HeaderMap) -> bool {
    types(headers).is_some_and(|types| types.iter().any(|media_type| is_form(media_type)))
}

/// Returns the media types of the one `Content-Type`.
fn types(headers: &HeaderMap) -> Option<Vec<&str>> {
    let mut lines = headers.get_all(header::CONTENT_TYPE).iter();
    let (Some(line), None) = (lines.next(), lines.next()) else { return None };
    Some(line.to_str().ok()?.split(',').map(|one| one.split(';').next().unwrap_or_default().trim()).collect())
}

fn is_form(media_type: &str) -> bool {
    media_type.eq_ignore_ascii_case("application/x-www-form-urlencoded")
}

/// Decodes the fields of a form or query, in their order. `holds` says by name what a field may hold. A field with a control character in
/// its name, or with one in its value that it must not hold, is an error.
pub fn fields(
    encoded: &[u8],
    holds: impl Fn(&str) -> Holds,
) -> impl Iterator<Item = Result<(String, String), Controlled>> {
    form_urlencoded::parse(encoded).map(move |(name, value)| {
        judge(&name, &value, holds(&name))?;
        Ok((name.into_owned(), value.into_owned()))
    })
}

/// Judges one field.
///
/// # Errors
/// It holds a control character in its name, or one in its value that it must not hold.
pub fn judge(name: &str, value: &str, holds: Holds) -> Result<(), Controlled> {
    if is_line(name) && holds.allows(value) { Ok(()) } else { Err(Controlled { field: quoted(name) }) }
}

/// The words of another provider about its error. They may have line breaks, and no page reads them.
pub const UNREAD: &str = "error_description";

/// Decodes the fields of the query of a request. No field that a page reads holds control characters.
///
/// # Errors
/// The first field with one.
pub fn of_query(request: &Request) -> Result<Vec<(String, String)>, Controlled> {
    let query = request.uri().query().unwrap_or_default();
    fields(query.as_bytes(), |name| if name == UNREAD { Holds::Anything } else { Holds::Line }).collect()
}

/// Returns the first value of a field.
#[must_use]
pub fn first<'f>(fields: &'f [(String, String)], name: &str) -> Option<&'f str> {
    fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
}

/// A name as a refusal quotes it. OAuth allows ASCII without quotation marks and backslashes there.
fn quoted(name: &str) -> String {
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || "_-.[]".contains(*letter);
    let plain: String = name.chars().filter(is_plain).take(QUOTED).collect();
    if plain.is_empty() || !is_line(name) { "name".to_owned() } else { plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_has_one_content_type() {
        let form = "application/x-www-form-urlencoded";
        let sent = |types: &[&'static str]| {
            let lines = types.iter().map(|text| (header::CONTENT_TYPE, text.parse().unwrap()));
            is_sent(&lines.collect())
        };
        assert!(sent(&[form]) && sent(&["Application/X-WWW-Form-Urlencoded; charset=utf-8"]));
        assert!(!sent(&[]) && !sent(&["text/plain"]) && !sent(&[form, "text/plain"]) && !sent(&["text/plain", form]));
        assert!(!sent(&["application/json, application/x-www-form-urlencoded"]));
    }

    #[test]
    fn a_program_may_merge_two_types() {
        for (text, is_form) in [
            ("application/x-www-form-urlencoded;charset=UTF-8", true),
            ("application/json, application/x-www-form-urlencoded", true),
            ("application/x-www-form-urlencoded;charset=UTF-8,application/json", true),
            ("application/json", false),
            ("", false),
        ] {
            let headers = [(header::CONTENT_TYPE, text.parse().unwrap())].into_iter().collect();
            assert_eq!(is_sent_by_program(&headers), is_form, "{text}");
        }
    }

    #[test]
    fn a_field_with_a_control_character_is_named() {
        let holds = |name: &str| match name {
            "text" => Holds::Lines,
            "password" => Holds::Anything,
            _ => Holds::Line,
        };
        for (form, refused) in [
            ("client_id=a&text=a%0D%0Ab%09c&password=%00%1B", None),
            ("name=%C3%A9%E2%80%8B", None),
            ("=", None),
            ("a=1&client_id=%00", Some("client_id")),
            ("client_id=a%0Ab", Some("client_id")),
            ("client_id=a%C2%9Bb", Some("client_id")),
            ("client_id=a%7Fb", Some("client_id")),
            ("text=a%1Bb", Some("text")),
            ("text=%00", Some("text")),
            ("text=a%C2%92b", None),
            ("a%00b=1", Some("name")),
            ("password%00=1", Some("name")),
            ("%22%3Cscript%3E=%00", Some("script")),
            ("%C3%A9=%00", Some("name")),
        ] {
            let refusal = fields(form.as_bytes(), holds).find_map(Result::err).map(|controlled| controlled.field);
            assert_eq!(refusal.as_deref(), refused, "{form}");
        }
    }
}
