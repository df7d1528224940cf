//! E-mail addresses.

use url::Host;

use crate::plain_text::is_unseen;

/// Returns whether people see each character of an address.
#[must_use]
pub fn is_visible(address: &str) -> bool {
    !address.chars().any(is_unseen)
}

/// Returns an address in the form that every mail server takes: without surrounding space, and an international domain in its ASCII form
/// (RFC 5891). `None` if the part before the `@` is not ASCII, or holds spaces or quotes, if the domain is not one, or if a character cannot
/// be seen: domains are read without some of these, and the address would be another person's.
#[must_use]
pub fn in_ascii(text: &str) -> Option<String> {
    let (local, domain) = text.trim().rsplit_once('@')?;
    let is_plain = !local.is_empty() && local.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"');
    let is_name = !domain.contains(['[', ']', '%', '/', ':']);
    if !is_plain || !is_name || !is_visible(domain) {
        return None;
    }
    if domain.is_ascii() {
        return Some(format!("{local}@{domain}"));
    }
    let Ok(Host::Domain(written)) = Host::parse(domain) else { return None };
    // A label that only looks like an ASCII one becomes that one, and the address would be another person's.
    let is_itself = |(label, written): (&str, &str)| label.is_ascii() || written.starts_with("xn--");
    domain.split('.').zip(written.split('.')).all(is_itself).then(|| format!("{local}@{written}"))
}

/// Returns the form by which addresses are compared: that of [`in_ascii`] where there is one, without surrounding space, and with ASCII letters
/// in lower case.
#[must_use]
pub fn key(address: &str) -> String {
    in_ascii(address).unwrap_or_else(|| address.trim().to_owned()).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn international_domains_are_written_in_ascii() {
        for (text, expected) in [
            ("Ann@Example.org", Some("Ann@Example.org")),
            (" ann@example.org ", Some("ann@example.org")),
            ("ann@b\u{fc}ro.example", Some("ann@xn--bro-hoa.example")),
            ("ann@bu\u{308}ro.example", Some("ann@xn--bro-hoa.example")),
            ("ann@\u{4f8b}\u{3048}.\u{30c6}\u{30b9}\u{30c8}", Some("ann@xn--r8jz45g.xn--zckzah")),
            ("ann@te\u{17f}t.example", None),
            ("ann@\u{ff45}xample.org", None),
            ("ann@example\u{3002}org", None),
            ("\u{e4}nn@example.org", None),
            ("ann@exam\u{ad}ple.org", None),
            ("ann@exam\u{200b}ple.org", None),
            ("ann@b\u{fc}ro.example\u{feff}", None),
            ("a b@example.org", None),
            ("\"a\"@example.org", None),
            ("ann", None),
            ("@example.org", None),
            ("ann@", Some("ann@")),
            ("ann@[127.0.0.1]", None),
        ] {
            assert_eq!(in_ascii(text).as_deref(), expected, "{text}");
        }
        let spellings = [" Ann@B\u{fc}ro.example", "ann@xn--bro-hoa.example", "ANN@bu\u{308}ro.Example "].map(key);
        assert!(spellings.iter().all(|key| key == "ann@xn--bro-hoa.example"), "{spellings:?}");
        assert_eq!(
            [key(" \u{e4}nn@Example.org"), key("ann@te\u{17f}t.example")],
            ["\u{e4}nn@example.org", "ann@te\u{17f}t.example"]
        );
    }
}
