//! Names of hosts: in Unicode for people, in ASCII for machines.

use std::borrow::Cow;

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};
use unicode_security::{MixedScript as _, RestrictionLevel, RestrictionLevelDetection as _, skeleton};

use super::escapes::escaped;

/// Returns the host as a person reads it. A label that could be taken for another one stays in ASCII, and what is no name of a host is
/// escaped.
#[must_use]
pub fn shown(host: &str) -> String {
    let (shown, outcome) =
        Uts46::new().to_user_interface(host.as_bytes(), AsciiDenyList::URL, Hyphens::Allow, |label, top, _| {
            is_unmistakable(&label.iter().collect::<String>(), &top.iter().collect::<String>())
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

/// Returns whether a label cannot be taken for another one. It is of one script, or of scripts that are written together (UTS 39), and no
/// ASCII letter or digit stands beside what looks like a slash. If it looks like ASCII throughout, the top-level domain `top` must be of
/// its script and not look like ASCII. The other labels of the host do not matter.
fn is_unmistakable(label: &str, top: &str) -> bool {
    let looks_ascii = |text: &str| skeleton(text).all(|letter| letter.is_ascii());
    let has_slash = skeleton(label).any(|letter| letter == '/');
    label.check_restriction_level(RestrictionLevel::HighlyRestrictive)
        && !(has_slash && label.contains(|letter: char| letter.is_ascii_alphanumeric()))
        && (!looks_ascii(label) || (!looks_ascii(top) && [label, top].concat().as_str().is_single_script()))
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
    fn each_label_is_judged_by_itself() {
        for (host, unicode_form, why) in [
            (
                "xn--4dbrk0ce.xn--80ak6aa92e.example",
                "ישראל.xn--80ak6aa92e.example",
                "a look-alike below a Hebrew label",
            ),
            ("xn--80ak6aa92e.xn--4dbrk0ce", "xn--80ak6aa92e.ישראל", "a look-alike in a domain of another script"),
            (
                "xn--80ak6aa92e.xn--bcher-kva.example",
                "xn--80ak6aa92e.bücher.example",
                "a look-alike beside an honest label",
            ),
            ("xn--9dbxb.example", "xn--9dbxb.example", "Hebrew letters that look Latin throughout"),
            ("shop.xn--n1af", "shop.xn--n1af", "a top-level domain that looks Latin"),
            ("xn--80ak6aa92e.xn--n1af", "xn--80ak6aa92e.xn--n1af", "a look-alike in such a domain"),
            ("xn--80ak6aa92e.xn--p1ai", "аррӏе.рф", "the domain shows that the letters are Cyrillic"),
            ("xn--nckm4f.example", "キノコ.example", "a letter like a slash among letters of its script"),
        ] {
            assert_eq!(shown(host), unicode_form, "{why}");
            assert_eq!(ascii(unicode_form), host, "{why}");
        }
    }

    #[test]
    fn nothing_in_a_host_looks_like_a_slash() {
        for (host, ascii_form) in [
            ("example\u{2044}login.evil.example", "xn--examplelogin-xk0g.evil.example"),
            ("example\u{2215}login.evil.example", "xn--examplelogin-ni5g.evil.example"),
            ("example\u{29f8}login.evil.example", "xn--examplelogin-kx6i.evil.example"),
            ("com\u{30ce}login.evil.example", "xn--comlogin-634g.evil.example"),
            ("example\u{ff0f}login.evil.example", "example%EF%BC%8Flogin.evil.example"),
        ] {
            assert_eq!(shown(host), ascii_form);
            assert_eq!(shown(ascii_form), ascii_form);
        }
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
