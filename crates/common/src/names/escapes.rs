//! Percent-encoded text as a person reads it.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use crate::plain_text::judged;

/// ASCII characters whose escapes stay, because without them an address means something else, or seems to.
const RESERVED: &str = "%/\\?#&=+;";

/// Characters that look like a slash or a backslash, which divide an address.
const LIKE_SLASHES: &str =
    "\u{2044}\u{2215}\u{2216}\u{2571}\u{2572}\u{27cb}\u{27cd}\u{29f5}\u{29f8}\u{29f9}\u{fe68}\u{ff0f}\u{ff3c}";

/// The characters that an address in ASCII escapes.
const ESCAPED: &AsciiSet = &CONTROLS.add(b' ');

/// A character of a text.
struct Letter<'t> {
    /// The character that is shown if it can be seen.
    read: char,
    /// The part of the text that stands for it.
    written: &'t str,
    kind: Kind,
}

#[derive(PartialEq, Eq)]
enum Kind {
    /// It is written as it is.
    Plain,
    /// It is written as escapes.
    Escaped,
    /// The escape is no part of a character in UTF-8.
    Broken,
}

/// Returns the text with its escapes decoded, as far as a person can see what they stand for and it means the same. What nobody sees is
/// escaped, and so are spaces other than the plain one and characters that look like slashes.
#[must_use]
pub fn readable(text: &str) -> String {
    let letters = letters(text);
    let mut readable = String::with_capacity(text.len());
    for (one, (letter, is_seen)) in letters.iter().zip(judged(letters.iter().map(|one| one.read))) {
        let is_clear = is_seen && !letter.is_whitespace() && !LIKE_SLASHES.contains(letter);
        match one.kind {
            Kind::Plain if is_clear || letter == ' ' => readable.push(letter),
            Kind::Plain => readable.extend(escaped(one.written)),
            Kind::Escaped if is_clear && is_readable(letter) => readable.push(letter),
            Kind::Escaped | Kind::Broken => readable.push_str(one.written),
        }
    }
    readable
}

/// Returns the text as it is, in which what nobody sees is escaped, and so are spaces other than the plain one and characters that look like
/// slashes.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut visible = String::with_capacity(text.len());
    for (letter, is_seen) in judged(text.chars()) {
        if letter == ' ' || is_seen && !letter.is_whitespace() && !LIKE_SLASHES.contains(letter) {
            visible.push(letter);
        } else {
            visible.extend(escaped(letter.encode_utf8(&mut [0; 4])));
        }
    }
    visible
}

/// Returns whether a decoded character reads as itself. A letter or digit in ASCII needs no escape, and could become a part of another one.
fn is_readable(letter: char) -> bool {
    !letter.is_ascii_alphanumeric() && !RESERVED.contains(letter)
}

/// Returns the text in ASCII: what else it has is escaped, and so are spaces and controls.
pub fn escaped(text: &str) -> impl Iterator<Item = &str> {
    utf8_percent_encode(text, ESCAPED)
}

fn letters(text: &str) -> Vec<Letter<'_>> {
    let mut letters = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let bytes: Vec<u8> = escapes(rest).collect();
        let (written, after) = rest.split_at(if bytes.is_empty() { letter.len_utf8() } else { bytes.len() * 3 });
        if bytes.is_empty() {
            letters.push(Letter { read: letter, written, kind: Kind::Plain });
        } else {
            decoded(&bytes, written, &mut letters);
        }
        rest = after;
    }
    letters
}

/// The bytes of the escapes at the start of a text.
fn escapes(text: &str) -> impl Iterator<Item = u8> {
    text.as_bytes().chunks_exact(3).map_while(|escape| {
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        match escape {
            [b'%', high, low] => Some(digit(*high)? * 16 + digit(*low)?),
            _ => None,
        }
    })
}

/// Adds the characters that `bytes` are, each `written` as an escape.
fn decoded<'t>(bytes: &[u8], mut written: &'t str, letters: &mut Vec<Letter<'t>>) {
    let mut add = |letter: char, bytes: usize, kind| {
        let (own, rest) = written.split_at(bytes * 3);
        letters.push(Letter { read: letter, written: own, kind });
        written = rest;
    };
    for chunk in bytes.utf8_chunks() {
        chunk.valid().chars().for_each(|letter| add(letter, letter.len_utf8(), Kind::Escaped));
        chunk.invalid().iter().for_each(|_| add('%', 1, Kind::Broken));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escapes_are_decoded_where_a_person_sees_what_they_mean() {
        for (text, shown) in [
            ("/%D7%A9%D7%9C%D7%95%D7%9D", "/שלום"),
            ("/%d7%a9%d7%9C", "/של"),
            ("/%D9%85%D8%B1%D8%AD%D8%A8%D8%A7/", "/مرحبا/"),
            ("/%E4%BD%A0%E5%A5%BD", "/你好"),
            ("/%F0%9F%91%9F-sale", "/👟-sale"),
            ("/%F0%9F%91%A9%E2%80%8D%F0%9F%91%A7", "/👩\u{200d}👧"),
            ("/%D9%85%DB%8C%E2%80%8C%D8%AE", "/می\u{200c}خ"),
            ("/caf%C3%A9_%28old%29%7E1", "/café_(old)~1"),
            ("/caf\u{e9}", "/café"),
            ("/%41%2D", "/%41-"),
        ] {
            assert_eq!(readable(text), shown, "{text}");
        }
    }

    #[test]
    fn escapes_stay_where_they_mean_something_or_nobody_sees_what() {
        for text in [
            "/a%2Fb%2fc%3Fd%23e%25f%26g%3Dh%2Bi%3Bj%5C",
            "/%2541",
            "/%E2%80%AEgnp.exe",
            "/%E2%80%8F%D8%9C%E2%81%A6",
            "/%00%0A%1B%7F%C2%85",
            "/a%20b%C2%A0c%E3%80%80d%E2%80%A8",
            "/a%E2%80%8Bb%E2%80%8Dc%EF%BB%BF%F3%A0%81%81",
            "/a%E2%81%84b%E2%88%95c%E2%A7%B8d%EF%BC%8Fe%EF%BC%BCf",
            "/%D7",
            "/%D7%",
            "/%FF%C0%AF%ED%A0%80",
            "/100%",
            "/%zz%4",
        ] {
            assert_eq!(readable(text), text, "{text}");
        }
        assert_eq!(readable("/%D7%A9%D7%FF"), "/ש%D7%FF", "what can be read is read");
    }

    #[test]
    fn what_nobody_sees_or_looks_like_a_slash_is_escaped() {
        for (text, shown) in [
            ("/\u{202e}gnp.exe", "/%E2%80%AEgnp.exe"),
            ("a\u{0}\n\tb", "a%00%0A%09b"),
            ("a b\u{a0}c", "a b%C2%A0c"),
            ("cla\u{200b}ude", "cla%E2%80%8Bude"),
            ("a\u{2044}b\u{ff0f}c", "a%E2%81%84b%EF%BC%8Fc"),
        ] {
            assert_eq!(readable(text), shown, "{text:?}");
        }
    }

    #[test]
    fn a_text_as_it_is_hides_nothing() {
        for (text, shown) in [
            ("/%D7%A9 b/é/שלום?c=%41", "/%D7%A9 b/é/שלום?c=%41"),
            ("/\u{202e}gnp\u{200b}.exe\n", "/%E2%80%AEgnp%E2%80%8B.exe%0A"),
            ("a\u{a0}b\u{2044}c", "a%C2%A0b%E2%81%84c"),
            ("/می\u{200c}خ", "/می\u{200c}خ"),
        ] {
            assert_eq!(visible(text), shown, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_readable_stays_so_and_means_the_same(text in "([a-c/ %é\u{202e}א]|%[0-9A-F]{2}|%D7%A[0-9]){0,12}") {
            let shown = readable(&text);
            let is_unseen = shown.chars().any(crate::plain_text::is_unseen);
            prop_assert!(!is_unseen, "{}", shown);
            let meant = |text: &str| percent_encoding::percent_decode_str(text).collect::<Vec<u8>>();
            prop_assert_eq!(meant(&shown), meant(&text));
        }
    }
}
