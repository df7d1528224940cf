//! Names of pages.

use std::collections::HashMap;

use super::{
    Address,
    escapes::{escaped, readable, visible},
    hosts,
};

/// A list of pages, each with a name.
#[derive(Debug, Default)]
pub struct Pages {
    /// True if the pages are on several hosts, so that names begin with the host.
    names_hosts: bool,
    /// The number of pages that have each name.
    names: HashMap<String, usize>,
}

impl Pages {
    /// Makes the list from the addresses of its pages. An address may occur several times.
    #[must_use]
    pub fn of<'a>(addresses: impl IntoIterator<Item = &'a str>) -> Self {
        let mut addresses: Vec<&str> = addresses.into_iter().collect();
        addresses.sort_unstable();
        addresses.dedup();
        let mut hosts = addresses.iter().map(|address| Address::of(address)).filter(Address::is_web);
        let first = hosts.next().map(|address| place(&address));
        let names_hosts = hosts.any(|address| Some(place(&address)) != first);
        let mut names = HashMap::new();
        for address in addresses {
            *names.entry(named(address, names_hosts)).or_default() += 1;
        }
        Self { names_hosts, names }
    }

    /// Returns the name of a page of the list: its path, or its host and path if the pages are on several hosts. If another page has the
    /// same name, it is the address.
    #[must_use]
    pub fn name(&self, address: &str) -> String {
        let name = named(address, self.names_hosts);
        if self.names.get(&name).is_some_and(|pages| *pages > 1) { self::address(address) } else { name }
    }
}

/// Returns the name of a page outside a list: its path, or its host and path if its host is not that of `site`, the name of a site.
#[must_use]
pub fn name_on(site: &str, address: &str) -> String {
    let parts = Address::of(address);
    named(address, !parts.is_web() || place(&parts) != place(&Address::of(site)))
}

/// Returns the host and the path of a page as they are shown, if the address has them in another form.
#[must_use]
pub fn shown_form(address: &str) -> Option<String> {
    let shown = named(address, true);
    let written = address.split_once("://").map_or(address, |(_, rest)| rest);
    (shown != written && shown.strip_suffix('/') != Some(written)).then_some(shown)
}

/// Returns the forms in which an address may hold `part`, a part of an address that a person wrote: as it is, percent-encoded, and
/// percent-encoded with the host in punycode. Equal ones are returned once.
#[must_use]
pub fn written_forms(part: &str) -> Vec<String> {
    let Address { scheme, host, port, rest, .. } = Address::of(part);
    let start = if scheme.is_empty() { String::new() } else { format!("{scheme}://") };
    let with_host =
        start + &escaped(&hosts::ascii(host)).collect::<String>() + port + &escaped(rest).collect::<String>();
    let mut forms = vec![part.to_owned()];
    for other in [escaped(part).collect(), with_host] {
        if !forms.iter().any(|one| one.eq_ignore_ascii_case(&other)) {
            forms.push(other);
        }
    }
    forms
}

fn named(address: &str, with_host: bool) -> String {
    let parts = Address::of(address);
    match (parts.is_web(), with_host) {
        (false, _) => readable(address),
        (true, false) => path(&parts),
        (true, true) => host(&parts) + &path(&parts),
    }
}

/// Returns the address of a page without credentials, and with nothing decoded.
#[must_use]
pub fn address(page: &str) -> String {
    let Address { scheme, host, port, rest, .. } = Address::of(page);
    let scheme = if scheme.is_empty() { String::new() } else { format!("{scheme}://") };
    let rest: String = escaped(rest).collect();
    scheme + &hosts::ascii(host) + port + &rest
}

/// Returns the address of a page exactly as it was found, without credentials. What nobody sees is escaped.
#[must_use]
pub fn exact(page: &str) -> String {
    let Address { user, .. } = Address::of(page);
    let without = if user.is_empty() { page.to_owned() } else { page.replacen(&format!("{user}@"), "", 1) };
    visible(&without)
}

/// The host and the port, by which pages are of one host.
fn place(parts: &Address<'_>) -> String {
    hosts::ascii(parts.host) + parts.port
}

fn host(parts: &Address<'_>) -> String {
    hosts::shown(parts.host) + parts.port
}

fn path(parts: &Address<'_>) -> String {
    readable(path_of(parts))
}

fn path_of<'t>(parts: &Address<'t>) -> &'t str {
    if parts.rest.is_empty() { "/" } else { parts.rest }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names<const N: usize>(addresses: [&str; N]) -> [String; N] {
        let pages = Pages::of(addresses);
        addresses.map(|address| pages.name(address))
    }

    #[test]
    fn pages_of_one_host_are_shown_by_their_paths() {
        assert_eq!(
            names([
                "https://www.shop.example/",
                "https://www.shop.example/a?b=c",
                "https://WWW.shop.example",
                "https://user:secret@www.shop.example/own",
                "http://www.shop.example/%D7%A9%D7%9C",
                "no address",
            ]),
            ["https://www.shop.example/", "/a?b=c", "https://www.shop.example", "/own", "/של", "no address"],
            "two addresses of the home page are told apart"
        );
        assert_eq!(names(["https://shop.example/", "https://shop.example/"]), ["/", "/"], "one page in two rows");
    }

    #[test]
    fn pages_of_several_hosts_are_shown_with_their_hosts() {
        assert_eq!(
            names([
                "https://xn--bcher-kva.example/",
                "https://blog.xn--bcher-kva.example/%E4%BD%A0",
                "https://xn--bcher-kva.example:8443/",
                "https://u:p@shop.example/x",
            ]),
            ["bücher.example/", "blog.bücher.example/你", "bücher.example:8443/", "shop.example/x"]
        );
    }

    #[test]
    fn pages_of_one_name_are_shown_by_their_addresses() {
        assert_eq!(
            names([
                "http://shop.example/a",
                "https://shop.example/a",
                "https://u:p@shop.example/\u{e9}",
                "https://shop.example/%C3%A9"
            ]),
            [
                "http://shop.example/a",
                "https://shop.example/a",
                "https://shop.example/%C3%A9",
                "https://shop.example/%C3%A9"
            ]
        );
        assert_eq!(
            names(["https://a.example/%d7%a9", "https://a.example/%D7%A9"]),
            ["https://a.example/%d7%a9", "https://a.example/%D7%A9"]
        );
    }

    #[test]
    fn an_exact_address_is_the_one_that_was_found_without_credentials() {
        for (page, exact_form) in [
            ("https://WWW.Shop.example/%d7%a9?A=%41#é", "https://WWW.Shop.example/%d7%a9?A=%41#é"),
            ("https://bücher.example/läden/", "https://bücher.example/läden/"),
            ("https://ann:secret@shop.example/@ann:secret@", "https://shop.example/@ann:secret@"),
            ("https://shop.example/\u{202e}gnp\u{200b}", "https://shop.example/%E2%80%AEgnp%E2%80%8B"),
            ("no address", "no address"),
        ] {
            assert_eq!(exact(page), exact_form);
        }
    }

    #[test]
    fn a_page_alone_names_its_host_where_it_is_not_the_sites() {
        for (site, address, name) in [
            ("shop.example", "https://shop.example/a", "/a"),
            ("bücher.example/laden", "https://xn--bcher-kva.example/laden/1", "/laden/1"),
            ("shop.example", "https://www.shop.example/a", "www.shop.example/a"),
            ("shop.example", "/%D7%A9", "/ש"),
            ("shop.example", "javascript:act()", "javascript:act()"),
            ("", "https://shop.example/a", "shop.example/a"),
        ] {
            assert_eq!(name_on(site, address), name);
        }
    }

    #[test]
    fn a_part_of_an_address_has_the_forms_that_addresses_have() {
        for (part, forms) in [
            ("guides", &["guides"][..]),
            ("https://Shop.example/a?b=c&d", &["https://Shop.example/a?b=c&d"]),
            ("/של", &["/של", "/%D7%A9%D7%9C"]),
            ("/a b", &["/a b", "/a%20b"]),
            (
                "bücher.example/läden",
                &["bücher.example/läden", "b%C3%BCcher.example/l%C3%A4den", "xn--bcher-kva.example/l%C3%A4den"],
            ),
        ] {
            assert_eq!(written_forms(part), forms, "{part}");
        }
    }

    #[test]
    fn an_address_in_the_form_that_is_shown_has_no_other_form() {
        for (address, shown) in [
            ("https://shop.example/a%20b?c=d", None),
            ("https://shop.example", None),
            ("https://shop.example/%D7%A9", Some("shop.example/ש")),
            ("https://xn--bcher-kva.example/", Some("bücher.example/")),
            ("https://u:p@shop.example/", Some("shop.example/")),
            ("shoes", None),
        ] {
            assert_eq!(shown_form(address).as_deref(), shown, "{address}");
        }
    }
}
