//! The code that a machine without a browser shows, and a person types elsewhere (RFC 8628 section 6.1).

use std::fmt;

use common::random::Random;
use unicode_normalization::UnicodeNormalization as _;

/// Consonants, so that no code is a word, without letters that look like others.
const ALPHABET: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";
/// The number of letters.
const LENGTH: usize = 8;
/// Bytes from here on would make the first letters more likely than the others.
const END: u8 = 240;

/// A code of eight letters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UserCode(String);

impl UserCode {
    /// Makes a code. All are equally likely.
    pub fn new(random: &Random) -> Self {
        let mut letters = String::with_capacity(LENGTH);
        while letters.len() < LENGTH {
            let [byte] = random.bytes::<1>();
            if byte < END {
                letters.push(char::from(ALPHABET[usize::from(byte) % ALPHABET.len()]));
            }
        }
        Self(letters)
    }

    /// Reads what a person typed, in any case and width, with or without dashes and spaces.
    pub fn parse(text: &str) -> Option<Self> {
        let letters: String = text.nfkc().filter(|c| !is_separator(*c)).map(|c| c.to_ascii_uppercase()).collect();
        (letters.len() == LENGTH && letters.bytes().all(|byte| ALPHABET.contains(&byte))).then_some(Self(letters))
    }

    /// The letters alone.
    pub fn letters(&self) -> &str {
        &self.0
    }
}

/// Returns whether a person may type it between the letters: a space, or a dash of any keyboard.
fn is_separator(c: char) -> bool {
    c.is_whitespace() || matches!(c, '-' | '\u{ad}' | '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{30fc}')
}

/// Shows the letters in two groups.
impl fmt::Display for UserCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (left, right) = self.0.split_at(LENGTH / 2);
        write!(f, "{left}-{right}")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_code_is_read_as_people_type_it() {
        let code = UserCode("WDJBMJHT".to_owned());
        for text in [
            "WDJB-MJHT",
            "wdjbmjht",
            " wdjb mjht ",
            "W-D-J-B-M-J-H-T",
            "Wdjb - Mjht",
            "WDJB–MJHT",
            "ＷＤＪＢ－ＭＪＨＴ",
            "wdjb\u{a0}mjht",
        ] {
            assert_eq!(UserCode::parse(text), Some(code.clone()), "{text}");
        }
        for text in ["", "WDJB-MJH", "WDJB-MJHTT", "WDJB-MJHA", "WDJB_MJHT", "WDJB-MJH1", "ẄDJB-MJH", "--------"] {
            assert_eq!(UserCode::parse(text), None, "{text}");
        }
        assert_eq!(code.to_string(), "WDJB-MJHT");
    }

    #[test]
    fn codes_differ_and_use_every_letter() {
        let random = Random::seeded(5);
        let codes: Vec<UserCode> = (0..500).map(|_| UserCode::new(&random)).collect();
        let distinct: BTreeSet<&str> = codes.iter().map(UserCode::letters).collect();
        let letters: BTreeSet<u8> = codes.iter().flat_map(|code| code.letters().bytes()).collect();
        assert_eq!((distinct.len(), letters.len()), (codes.len(), ALPHABET.len()));
        assert!(codes.iter().all(|code| UserCode::parse(&code.to_string()).as_ref() == Some(code)));
    }
}
