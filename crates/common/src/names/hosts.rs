//! Names of hosts: in Unicode for people, in ASCII for machines.

use std::borrow::Cow;

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};
use unicode_security::{RestrictionLevel, RestrictionLevelDetection as _, skeleton};

use super::escapes::escaped;

/// Returns the host as a person reads it. A label that could be taken for another one stays in ASCII, and what is no name of a host is
/// escaped.
#[must_use]
pub fn shown(host: &str) -> String {
    let (shown, outcome) =
        Uts46::new().to_user_interface(host.as_bytes(), AsciiDenyList::URL, Hyphens::Allow, |label, top, is_bidi| {
            is_unmistakable(&label.iter().collect::<String>(), is_bidi || !top.iter().all(char::is_ascii))
        });
    outcome.map_or_else(|_| escaped(host).collect(), |()| shown.into_owned())
}

/// Returns the host in ASCII and small letters. What is no name of a host is escaped.
#[must_use]
pub fn ascii(host: &str) -> String {
    let ascii = Uts46::new().to_ascii(host.as_bytes(), AsciiDenyList::URL, Hyphens::Allow, DnsLength::Ignore);
    ascii.map_or_else(|_| escaped(&host.to_lowercase()).collect(), Cow::into_owned)
}

/// Returns the host in Unicode, also where it could be taken for another one, to be compared with what a person writes.
#[must_use]
pub(super) fn unicode(host: &str) -> String {
    Uts46::new().to_unicode(host.as_bytes(), AsciiDenyList::URL, Hyphens::Allow).0.into_owned()
}

/// Returns whether a label is of one script, or of scripts that are written together (UTS 39). One that looks like ASCII throughout is
/// unmistakable only in a domain that is foreign to it.
fn is_unmistakable(label: &str, is_foreign: bool) -> bool {
    label.check_restriction_level(RestrictionLevel::HighlyRestrictive)
        && (is_foreign || !skeleton(label).all(|letter| letter.is_ascii()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_shown_in_unicode_and_found_in_ascii() {
        for (ascii_form, unicode_form) in [
            ("shop.example", "shop.example"),
            ("xn--bcher-kva.example", "bücher.example"),
            ("xn--4dbcagdahymbxekheh6e0a7fei0b.example", "למההםפשוטלאמדבריםעברית.example"),
            ("xn--mgbh0fb.xn--kgbechtv", "مثال.إختبار"),
            ("xn--fiqs8s.example", "中国.example"),
            ("xn--tckwe.example", "コム.example"),
            ("xn--e1afmkfd.example", "пример.example"),
            ("xn--hxajbheg2az3al.xn--jxalpdlp", "παράδειγμα.δοκιμή"),
        ] {
            assert_eq!(shown(ascii_form), unicode_form);
            assert_eq!(ascii(unicode_form), ascii_form);
            assert_eq!(shown(unicode_form), unicode_form);
        }
        assert_eq!(
            (shown("SHOP.Example"), ascii("BÜCHER.example")),
            ("shop.example".into(), "xn--bcher-kva.example".into())
        );
    }

    #[test]
    fn a_host_that_misleads_or_is_none_stays_in_ascii() {
        for (host, why) in [
            ("xn--pple-43d.example", "a Cyrillic letter among Latin ones"),
            ("xn--80ak6aa92e.example", "Cyrillic letters that look Latin throughout"),
            ("xn--i-7iq.example", "an emoji is no letter of a host"),
            ("xn--abc.example", "no punycode"),
            ("xn--.example", "an empty one"),
            ("127.0.0.1", "an address"),
            ("[::1]", "an address"),
            ("a_b.example", "no letter of a host"),
        ] {
            assert_eq!(shown(host), host, "{why}");
        }
        assert_eq!(shown("sh\u{202e}op.example"), "sh%E2%80%AEop.example");
        assert_eq!(ascii("Sh\u{202e}op.example"), "sh%E2%80%AEop.example");
        assert_eq!(shown("a b\n.example"), "a%20b%0A.example");
    }
}
