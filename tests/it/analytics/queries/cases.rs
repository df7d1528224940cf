//! The windows, and the cases of most tests of analyses.

use simulator::SearchType;

use crate::{
    analytics::case::{Case, PAPER, SHOP, SMALL, SOFTWARE, Window, YOUNG},
    support::class::Class,
};

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
        Case::of(SMALL, WEEK),
        Case::of(SMALL, WEEK).against(BEFORE),
        Case::of(SMALL, MONTH).against(MONTH_BEFORE),
        Case::of(SMALL, DAY).against(DAY_BEFORE),
        Case::of(SMALL, TAIL),
        Case::of(SMALL, DAY).against(TAIL),
        Case::of(SMALL, TAIL).against(("2026-11-04", "2026-11-12")),
        Case::of(SMALL, WEEK).against(("2026-11-17", "2026-11-21")),
        Case::of(YOUNG, WEEK).against(UNBORN),
        Case::of(YOUNG, UNBORN).against(WEEK),
        Case::of(YOUNG, MONTH),
        Case::of(SOFTWARE, WEEK).against(BEFORE),
        Case::of(SOFTWARE, DAY),
        Case::of(SOFTWARE, MONTH).against(WEEK),
        Case::of(SHOP, DAY).against(DAY_BEFORE),
        Case::of(PAPER, ("2026-11-01", "2026-11-03")).against(DAY_BEFORE),
    ]
}

/// Search types, filters and classifications.
pub fn slices() -> Vec<Case> {
    let garden = || Case::of(SMALL, WEEK).against(BEFORE);
    let software = || Case::of(SOFTWARE, DAY).against(DAY_BEFORE);
    vec![
        garden().class(Class::Branded),
        garden().class(Class::NonBranded),
        garden().class(Class::Segment),
        garden().class(Class::Topic),
        garden().and("page", "contains", "/BLOG/"),
        garden().and("query", "contains", "PLANT").and("device", "equals", "mobile"),
        garden().and("query", "not_contains", "a").class(Class::Segment),
        garden().and("country", "equals", "AUS").or("device", "equals", "desktop"),
        garden().search_type(SearchType::Image),
        garden().class(Class::Topic).and("country", "equals", "fji"),
        software().and("country", "equals", "deu"),
        software().class(Class::Segment).and("device", "equals", "DESKTOP"),
        software().class(Class::Branded),
        software().class(Class::Topic),
        software().and("searchAppearance", "equals", "VIDEO"),
        Case::of(PAPER, DAY).search_type(SearchType::Image).against(DAY_BEFORE),
        Case::of(PAPER, DAY).search_type(SearchType::Image).class(Class::Segment),
        Case::of(SHOP, DAY).class(Class::NonBranded).and("country", "equals", "gbr"),
    ]
}
