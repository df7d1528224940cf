//! The demo people, and the conditions for signing one in without a page.

use http::HeaderMap;
use url::{Host, Url};

use super::Settings;

/// A demo person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Person {
    /// Name to sign in with.
    pub name: &'static str,
    /// Stable identifier (`sub`).
    pub subject: &'static str,
    /// Verified e-mail address.
    pub email: &'static str,
    /// Display name.
    pub display_name: &'static str,
    /// The plan, as README names it.
    pub plan: &'static str,
    /// What the person sees, as README says it.
    pub sees: &'static str,
}

/// All demo people. The last is there only where it has sites.
static ALL: [Person; 6] = [
    Person {
        name: "owner",
        subject: "demo-owner",
        email: "owner@demo.test",
        display_name: "Demo Owner",
        plan: "pro",
        sees: "a connected search account with five sites, four of them tracked",
    },
    Person {
        name: "editor",
        subject: "demo-editor",
        email: "editor@demo.test",
        display_name: "Demo Editor",
        plan: "free",
        sees: "three of the owner's properties, as editor",
    },
    Person {
        name: "viewer",
        subject: "demo-viewer",
        email: "viewer@demo.test",
        display_name: "Demo Viewer",
        plan: "free",
        sees: "two of the owner's properties, as viewer",
    },
    Person {
        name: "stranger",
        subject: "demo-stranger",
        email: "stranger@demo.test",
        display_name: "Demo Stranger",
        plan: "pro",
        sees: "one property of their own and nothing of the others",
    },
    Person {
        name: "lapsed",
        subject: "demo-lapsed",
        email: "lapsed@demo.test",
        display_name: "Demo Lapsed",
        plan: "none",
        sees: "one property of their own, locked: its operations answer 402",
    },
    Person {
        name: "network",
        subject: "demo-network",
        email: "network@demo.test",
        display_name: "Demo Network",
        plan: "agency",
        sees: "many sites, all of them tracked",
    },
];

/// Returns the demo people, with the one of many sites if `network`.
#[must_use]
pub fn people(network: bool) -> &'static [Person] {
    if network { &ALL } else { &ALL[..ALL.len() - 1] }
}

/// Returns whether a demo person has this name, present or not.
pub(super) fn is_name(name: &str) -> bool {
    ALL.iter().any(|person| person.name == name)
}

impl Settings {
    /// Returns the demo person with this name, if present.
    pub(super) fn demo_by_name(&self, name: &str) -> Option<&'static Person> {
        self.demo_people.iter().find(|person| person.name == name)
    }

    /// Returns the demo person with this subject, if present.
    pub(super) fn demo_by_subject(&self, subject: &str) -> Option<&'static Person> {
        self.demo_people.iter().find(|person| person.subject == subject)
    }
}

/// Returns whether `login_hint` may sign a person in without a page: everything stays on this machine, and the client is not
/// a browser. Browsers send `Sec-Fetch-Site` to loopback addresses, but not to a foreign name that resolves to one. Requests
/// for such a name are refused earlier (`web::own_host`).
pub(super) fn may_skip_page(settings: &Settings, redirect_uri: &str, headers: &HeaderMap) -> bool {
    settings.demo_sign_in
        && settings.base_url.is_loopback()
        && Url::parse(redirect_uri).is_ok_and(|uri| is_loopback_literal(&uri))
        && !headers.contains_key("sec-fetch-site")
}

fn is_loopback_literal(uri: &Url) -> bool {
    match uri.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_says_of_each_person_what_the_sign_in_page_says() {
        let readme = include_str!("../../../README.md");
        for Person { name, plan, sees, .. } in people(false) {
            let row = format!("| `{name}` | {plan} | {sees} |");
            assert!(readme.contains(&row), "{row}");
        }
    }
}
