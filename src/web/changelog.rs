//! `GET /changelog`: the versions of the API with their breaking changes and ends, and below them all notable changes.
//!
//! The versions come from the registry, as the headers of answers do, and the rest is CHANGELOG.md as it was when the program was
//! built.

use api::{
    operation,
    versions::{Change, End, NOTICE_DAYS, Version, Versions},
};
use maud::{Markup, html};
use pages::{
    markdown::{self, Section, inline},
    paths::Paths,
};

use super::documentation::{
    addresses::{CHANGELOG, ROOT, target},
    frame,
};

/// The path of the page. The section of a version of the API is the fragment of its date, and that of a release the fragment of its number.
pub const PATH: &str = CHANGELOG;

/// The fragment of the section on operations that others replace.
pub const DEPRECATED: &str = "deprecated";
const DEPRECATED_TITLE: &str = "Deprecated operations";

const NOTES: &str = include_str!("../../CHANGELOG.md");

/// The page.
#[derive(Debug)]
pub struct Changelog {
    contents: Markup,
}

impl Changelog {
    /// The page of `versions`.
    #[must_use]
    pub fn new(versions: &Versions) -> Self {
        Self { contents: contents(versions) }
    }

    /// Adds the page.
    #[must_use]
    pub fn mount(self, paths: Paths) -> Paths {
        paths.at(PATH, "GET, HEAD", frame::page("Changelog").fixed(&self.contents))
    }
}

fn contents(versions: &Versions) -> Markup {
    let notes = markdown::render(NOTES, 1, |link| target(ROOT, link));
    let own = |id: &str, title: &str| Section { id: id.to_owned(), title: title.to_owned() };
    let mut sections: Vec<Section> =
        versions.all().iter().rev().map(|version| own(version.date, version.date)).collect();
    sections.push(own(DEPRECATED, DEPRECATED_TITLE));
    sections.extend(notes.sections);
    frame::with_sections(&sections, &text(versions, &notes.body))
}

fn text(versions: &Versions, notes: &Markup) -> Markup {
    html! {
        p {
            "A version of the API is a date. A client may pin one by sending it as " code { "X-API-Version" }
            "; without it, the newest answers. A breaking change comes with a new version, and the one before is served for at least "
            (NOTICE_DAYS) " days more. Additions come without a new version."
        }
        @for (index, version) in versions.all().iter().enumerate().rev() { (section(version, index == 0 && versions.all().len() > 1)) }
        (deprecated())
        h2 #changes { "All notable changes" }
        (notes)
    }
}

fn section(version: &Version, is_oldest: bool) -> Markup {
    html! {
        section.card aria-labelledby=(version.date) {
            h2 id=(version.date) { (version.date) }
            (state(version.end))
            @if is_oldest { p { "The oldest version that is served." } }
            @if !version.changes.is_empty() { ul { @for change in version.changes { (item(change)) } } }
        }
    }
}

/// The operations that others replace.
fn deprecated() -> Markup {
    let all = operation::all().iter().filter_map(|operation| Some((operation, operation.deprecated?)));
    html! {
        section.card aria-labelledby=(DEPRECATED) {
            h2 id=(DEPRECATED) { (DEPRECATED_TITLE) }
            p { "They work as long as the versions that have them. Their answers carry " code { "Deprecation" } "." }
            ul {
                @for (operation, deprecated) in all {
                    li {
                        code { (operation.id) } " since " (deprecated.since) ": use " code { (deprecated.successor) } "."
                    }
                }
            }
        }
    }
}

fn state(end: Option<End>) -> Markup {
    html! {
        @match end {
            None => p.state.good { "The newest version." },
            Some(end) => p.state.warn {
                "Deprecated since " (end.deprecation) ", when " a href={ "#" (end.successor) } { (end.successor) }
                " replaced it. It may be refused from " (end.sunset) " on."
            },
        }
    }
}

fn item(change: &Change) -> Markup {
    html! {
        li {
            @for (index, operation) in change.operations.iter().enumerate() { @if index > 0 { ", " } code { (operation) } }
            ": " (inline(change.text))
        }
    }
}

#[cfg(test)]
mod tests {
    use api::versions::Release;

    use super::*;

    const FIRST: Release = Release { date: "2026-09-14", sunset: Some("2027-01-30"), changes: &[] };
    const SECOND: Release = Release {
        date: "2026-11-01",
        sunset: None,
        changes: &[Change {
            request: Some(|_| {}),
            ..Change::of(&["createTag", "updateTag"], "`label` is <now> `name`.")
        }],
    };

    #[test]
    fn every_version_has_its_section_with_its_end_and_its_changes() {
        let text = contents(&Versions::new(&[FIRST, SECOND]).unwrap()).into_string();
        let (newest, first) = (text.find("id=\"2026-11-01\"").unwrap(), text.find("id=\"2026-09-14\"").unwrap());
        assert!(newest < first, "the newest version is first");
        let change =
            "<code>createTag</code>, <code>updateTag</code>: <code>label</code> is &lt;now&gt; <code>name</code>.";
        assert!(text[newest..first].contains(change) && text[newest..first].contains("The newest version."));
        for end in [
            "Deprecated since 2026-11-01, when <a href=\"#2026-11-01\">2026-11-01</a> replaced it.",
            "It may be refused from 2027-01-30 on.",
            "The oldest version that is served.",
        ] {
            assert!(text[first..].contains(end), "{end}: {}", &text[first..]);
        }
    }
}
