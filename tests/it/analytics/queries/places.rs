//! The properties, windows and slices of the tests of analyses.

use super::case::{Case, Place, Window};
use crate::support::class::Class;

/// A small site.
pub const GARDEN: &Place =
    &Place { who: "stranger", url: "sc-domain:quietmeadow.test", section: "/services/", topic: "plant" };

/// A small site that went live in the year of the tests.
pub const YOUNG: &Place = &Place { who: "owner", url: "https://tinyfern.test/", section: "/services/", topic: "fern" };

/// Software for companies.
pub const SOFTWARE: &Place =
    &Place { who: "owner", url: "https://www.ledgerline.example/", section: "/docs/", topic: "invoice" };

/// A newspaper.
pub const PAPER: &Place =
    &Place { who: "owner", url: "sc-domain:harbourpost.example", section: "/news/", topic: "harbour" };

/// A large shop.
pub const SHOP: &Place =
    &Place { who: "owner", url: "sc-domain:northmoor.example", section: "/products/", topic: "jacket" };

pub const WEEK: Window = ("2026-10-05", "2026-10-11");
/// Shorter than [`WEEK`], and not adjacent to it.
pub const BEFORE: Window = ("2026-09-28", "2026-10-02");
/// The default window.
pub const MONTH: Window = ("2026-10-22", "2026-11-18");
pub const MONTH_BEFORE: Window = ("2026-09-24", "2026-10-21");
pub const DAY: Window = ("2026-11-03", "2026-11-03");
pub const DAY_BEFORE: Window = ("2026-11-02", "2026-11-02");
/// Its last three days are not final.
pub const TAIL: Window = ("2026-11-13", "2026-11-21");
/// Before the young site went live.
pub const UNBORN: Window = ("2026-01-05", "2026-01-09");

/// Windows of one to 28 days, with and without comparison, on sites of every kind.
pub fn windows() -> Vec<Case> {
    vec![
        Case::of(GARDEN, WEEK),
        Case::of(GARDEN, WEEK).compared(BEFORE),
        Case::of(GARDEN, MONTH).compared(MONTH_BEFORE),
        Case::of(GARDEN, DAY).compared(DAY_BEFORE),
        Case::of(GARDEN, TAIL),
        Case::of(GARDEN, DAY).compared(TAIL),
        Case::of(GARDEN, TAIL).compared(("2026-11-04", "2026-11-12")),
        Case::of(GARDEN, WEEK).compared(("2026-11-17", "2026-11-21")),
        Case::of(YOUNG, WEEK).compared(UNBORN),
        Case::of(YOUNG, UNBORN).compared(WEEK),
        Case::of(YOUNG, MONTH),
        Case::of(SOFTWARE, WEEK).compared(BEFORE),
        Case::of(SOFTWARE, DAY),
        Case::of(SOFTWARE, MONTH).compared(WEEK),
        Case::of(SHOP, DAY).compared(DAY_BEFORE),
        Case::of(PAPER, ("2026-11-01", "2026-11-03")).compared(DAY_BEFORE),
    ]
}

/// Search types, filters and classifications.
pub fn slices() -> Vec<Case> {
    let garden = || Case::of(GARDEN, WEEK).compared(BEFORE);
    let software = || Case::of(SOFTWARE, DAY).compared(DAY_BEFORE);
    vec![
        garden().of_class(Class::Branded),
        garden().of_class(Class::NonBranded),
        garden().of_class(Class::Segment),
        garden().of_class(Class::Topic),
        garden().where_("page", "contains", "/BLOG/"),
        garden().where_("query", "contains", "PLANT").where_("device", "equals", "mobile"),
        garden().where_("query", "not_contains", "a").of_class(Class::Segment),
        garden().where_("country", "equals", "AUS").or("device", "equals", "desktop"),
        garden().images(),
        garden().of_class(Class::Topic).where_("country", "equals", "fji"),
        software().where_("country", "equals", "deu"),
        software().of_class(Class::Segment).where_("device", "equals", "DESKTOP"),
        software().of_class(Class::Branded),
        software().of_class(Class::Topic),
        software().where_("searchAppearance", "equals", "VIDEO"),
        Case::of(PAPER, DAY).images().compared(DAY_BEFORE),
        Case::of(PAPER, DAY).images().of_class(Class::Segment),
        Case::of(SHOP, DAY).of_class(Class::NonBranded).where_("country", "equals", "gbr"),
    ]
}
