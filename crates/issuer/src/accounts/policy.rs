//! Decides on new passwords: long ones are accepted, unless an attacker would try them first. No kinds of characters are required.

use std::{collections::HashSet, sync::LazyLock};

/// The least number of characters (Unicode scalar values).
pub const MIN_CHARS: usize = 12;
/// The most bytes.
pub const MAX_BYTES: usize = 1_024;
/// Common words and our own are looked for below this length. A longer phrase may be made of ordinary words.
const PHRASE_CHARS: usize = 24;
/// Characters that must be left when such words are taken out.
const MIN_OWN_CHARS: usize = 6;
/// The name of the service.
const SERVICE: &str = "sightline";

/// The commonest passwords of at least [`MIN_CHARS`] characters; shorter ones are refused by their length.
static PASSWORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| include_str!("common_passwords.txt").lines().collect());

/// The words that the commonest passwords are made of, longest first.
static WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let mut words: Vec<&str> = include_str!("common_words.txt").lines().collect();
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    words
});

/// A refusal: a sentence with the way out.
pub type WeakPassword = &'static str;

/// Judges a new password of the account with this address.
pub fn judge(password: &str, email: &str) -> Result<(), WeakPassword> {
    if password.chars().count() < MIN_CHARS {
        return Err("Choose a password of at least 12 characters. Several words in a row are fine.");
    }
    if password.len() > MAX_BYTES {
        return Err("Choose a password of at most 1,024 bytes.");
    }
    let folded = password.trim().to_lowercase();
    if PASSWORDS.contains(folded.as_str()) {
        return Err("This password is one of the most used ones, which are tried first. Choose another.");
    }
    if is_sequence(&folded) || is_repeated(&folded) {
        return Err("This password is a sequence or repeats itself. Choose another.");
    }
    let own = own_words(email);
    if [folded.as_str(), &plain(&folded)].into_iter().any(|text| is_made_of(text, own.iter().map(String::as_str))) {
        return Err("This password is made of your address or of the name of the service. Choose another.");
    }
    if folded.chars().count() < PHRASE_CHARS
        && [folded.as_str(), &plain(&folded)].into_iter().any(|text| is_made_of(text, WORDS.iter().copied()))
    {
        return Err("This password is a very common one with a few characters added. Choose another.");
    }
    Ok(())
}

/// The words that a stranger can guess: the address, its parts, and the service's name.
fn own_words(email: &str) -> Vec<String> {
    let email = email.trim().to_lowercase();
    let (local, domain) = email.split_once('@').unwrap_or((&email, ""));
    let labels = domain.split('.').filter(|label| label.len() > 3);
    let parts = local.split(['.', '_', '-', '+']).filter(|part| part.len() > 2);
    let mut words: Vec<String> = [email.as_str(), local, domain, SERVICE].into_iter().map(str::to_owned).collect();
    words.extend(labels.chain(parts).map(str::to_owned));
    words.retain(|word| !word.is_empty());
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    words
}

/// Returns whether little is left of `text` without `words`.
fn is_made_of<'a>(text: &str, words: impl Iterator<Item = &'a str>) -> bool {
    let mut left = text.to_owned();
    for word in words {
        // A word leaves a gap, so that its neighbours do not become another word.
        left = left.replace(word, "\u{0}");
    }
    left.contains('\u{0}') && left.chars().filter(|c| *c != '\u{0}').count() < MIN_OWN_CHARS
}

/// Undoes the usual replacements of letters.
fn plain(text: &str) -> String {
    let letter = |character| match character {
        '0' => 'o',
        '1' | '!' => 'i',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        other => other,
    };
    text.chars().map(letter).collect()
}

/// Returns whether each character follows the one before it, up, down or not at all; 0 follows 9.
fn is_sequence(text: &str) -> bool {
    let steps: HashSet<i64> = text
        .chars()
        .zip(text.chars().skip(1))
        .map(|(left, right)| match (left, right) {
            ('9', '0') => 1,
            ('0', '9') => -1,
            _ => i64::from(u32::from(right)) - i64::from(u32::from(left)),
        })
        .collect();
    steps.len() == 1 && steps.iter().all(|step| step.abs() <= 1)
}

/// Returns whether `text` is a short text, of up to seven characters, again and again.
fn is_repeated(text: &str) -> bool {
    let characters: Vec<char> = text.chars().collect();
    (1..8).any(|length| characters.iter().zip(characters.iter().skip(length)).all(|(left, right)| left == right))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: &str = "Ann.Smithson@Northwind.example";

    #[test]
    fn long_passwords_of_any_kind_are_taken() {
        let long = "x7 ".repeat(341);
        for good in [
            "tin can river 9",
            "wet socks on the line",
            "ünïcödé würde",
            "kk2-jv8-qqe7",
            "my dragon loves football in summer",
            "sightlines over the valley",
            &format!("{long}y"),
        ] {
            assert_eq!(judge(good, ADDRESS), Ok(()), "{good}");
        }
    }

    #[test]
    fn what_is_tried_first_is_refused() {
        for bad in [
            "",
            "short",
            "elevenchars",
            "Qwertyuiop12",
            " PASSWORD1234 ",
            "correct horse battery staple",
            "Password2024!",
            "P@$$w0rd2024",
            "DragonMonkey1",
            "letmein-letmein",
            "aaaaaaaaaaaaa",
            "abcabcabcabcabc",
            "defghijklmnop",
            "zyxwvutsrqponm",
            "8901234567890",
            "ann.smithson@northwind.example",
            "ann.smithson",
            "annsmithson12",
            "smithsonsmithson",
            "Northwind2024",
            "sightline2024",
            "S1ghtl1ne-ann",
            &"long".repeat(257),
            &"a1b2-".repeat(300),
        ] {
            assert!(judge(bad, ADDRESS).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_lists_hold_what_the_rules_do_not_refuse_otherwise() {
        assert!(PASSWORDS.len() > 250 && WORDS.len() > 200, "{} {}", PASSWORDS.len(), WORDS.len());
        for password in PASSWORDS.iter() {
            assert!(password.chars().count() >= MIN_CHARS && *password == password.to_lowercase(), "{password}");
        }
        assert!(WORDS.iter().all(|word| word.len() >= 4 && *word == word.to_lowercase()));
    }
}
