//! The question of a page as words, and the links that change it.

use std::iter::successors;

use api::{
    analytics::AnswerMeta,
    models::{Compare, SearchType, Warning, Window},
};
use chrono::{Datelike as _, Days, Months, NaiveDate};
use maud::{Markup, html};

use super::{conditions, presets, words};
use crate::{
    services::analyses::windows::oldest_day,
    web::dashboard::{
        door::Door,
        kind::{self, KINDS},
        opened::Opened,
        view::{NO_COMPARISON, View, name_of},
    },
};

const PERIODS: [(&str, &str); 8] = [
    ("last_7_days", "7 days"),
    ("last_28_days", "28 days"),
    ("last_91_days", "13 weeks"),
    ("last_182_days", "26 weeks"),
    ("last_12_months", "12 months"),
    ("last_480_days", "16 months"),
    ("last_month", "Last month"),
    ("this_month", "This month"),
];

const COMPARISONS: [(Compare, &str); 5] = [
    (Compare::PreviousPeriod, "Period before"),
    (Compare::PreviousPeriodSameWeekdays, "Same weekdays before"),
    (Compare::PreviousCalendarPeriod, "Months before"),
    (Compare::PreviousYear, "Year before, same dates"),
    (Compare::PreviousYearSameWeekdays, "Year before, same weekdays"),
];

/// Draws the question in words and everything that changes it.
pub fn bar(opened: &Opened<'_>, meta: &AnswerMeta) -> Markup {
    let view = &opened.view;
    html! {
        p.question { (question(view, meta)) }
        (on_paper(opened))
        div.controls {
            @if !opened.site.fixed_window { (periods(view)) (comparisons(view, meta, opened.today)) }
            @if !opened.site.classes.is_empty() { (classes(opened)) }
        }
        details.more open[opened.sent.is_some()] {
            summary {
                @if opened.site.fixed_window { "Newest days, kinds of search" } @else { "Own dates, months, newest days, kinds of search" }
                @if opened.site.role.is_some() { ", saved filters" }
            }
            @if !opened.site.fixed_window { (dates(view, meta)) (months(view, opened.today)) }
            (states(view))
            (search_types(view))
            @if opened.site.role.is_some() { (presets::fold(opened)) }
        }
        (chips(view, &opened.site.name.name))
        (warnings(meta))
    }
}

/// The question in print: the part of the traffic, and the address, which links and the browser show on a screen. The address of a share
/// link is a secret, and paper is passed on.
fn on_paper(opened: &Opened<'_>) -> Markup {
    html! {
        @if let Some((_, name)) = opened.class() { p.paper { "Only " bdi { (name) } } }
        @if let Door::Signed(_) = opened.door { p.paper.quiet-text { (opened.base_url.join(opened.asker.page.address())) } }
    }
}

fn warnings(meta: &AnswerMeta) -> Markup {
    let Some(warnings) = meta.warnings.as_ref().filter(|warnings| !warnings.is_empty()) else { return html! {} };
    html! {
        ul.notice.warn.warnings {
            @for warning in warnings {
                li { (of_days(warning)) (warning.text) @if let Some(url) = &warning.url { " " a href=(url) rel="noreferrer" { "Source" } } }
            }
        }
    }
}

/// The days that a warning is about.
fn of_days(warning: &Warning) -> Markup {
    let (Some(start_date), Some(end_date)) = (warning.start_date, warning.end_date) else { return html! {} };
    html! { strong { (words::window(Window { start_date, end_date })) } ": " }
}

/// The question in words.
fn question(view: &View, meta: &AnswerMeta) -> Markup {
    let kind = view.search_type();
    html! {
        @if kind != SearchType::Web { strong { (kind::name(kind)) } ", " }
        strong { (words::window(meta.window)) }
        @if let Some(before) = meta.compare_window { ", against " (words::window(before)) }
        @let last_final = words::short_day(meta.freshness.last_final_date);
        @if meta.window.end_date > meta.freshness.last_final_date {
            ". Days are in Pacific time. Those after " (last_final) " are not final yet."
        } @else {
            ". Days are in Pacific time and end with the last final day, " (last_final) "."
        }
    }
}

/// A row of choices, of which one is current. A choice without a link is not available; its second text says why.
fn choices(label: &str, choices: &[(&str, Result<String, String>, bool)]) -> Markup {
    html! {
        nav.choices aria-label=(label) {
            @for (name, link, is_current) in choices {
                @match link {
                    Ok(link) => a href=(link) aria-current=[is_current.then_some("true")] { (name) },
                    Err(reason) => span.off title=(reason) { (name) span.visually-hidden { " is not available: " (reason) } },
                }
            }
        }
    }
}

fn periods(view: &View) -> Markup {
    let has_dates = view.text("startDate").is_some();
    let current = view.text("period").unwrap_or(if has_dates { "" } else { "last_28_days" });
    let choice = |(name, label): (&'static str, &'static str)| {
        let link = view.link(&[("period", Some(name)), ("startDate", None), ("endDate", None), ("offset", None)]);
        (label, Ok(link), name == current)
    };
    choices("Period", &PERIODS.map(choice))
}

fn comparisons(view: &View, meta: &AnswerMeta, today: NaiveDate) -> Markup {
    let oldest = oldest_day(today);
    let given = view.text("compare");
    let dates = [("compareStart", None), ("compareEnd", None)];
    let link = |name: &str| view.link(&[("compare", Some(name)), dates[0], dates[1]]);
    let mut found = Vec::new();
    for (compare, label) in COMPARISONS {
        let name = name_of(compare);
        let is_current = given == Some(&name)
            || (given.is_none() && compare == Compare::PreviousPeriod && meta.compare_window.is_some());
        match compare.before(meta.window) {
            // Only windows of whole months have months before them.
            None => {}
            Some(before) if before.start_date < oldest => found.push((
                label,
                Err(format!(
                    "it would begin before {}, and the search engine keeps 16 months",
                    words::short_day(oldest)
                )),
                false,
            )),
            Some(_) => found.push((label, Ok(link(&name)), is_current)),
        }
    }
    found.push(("No comparison", Ok(link(NO_COMPARISON)), meta.compare_window.is_none()));
    choices("Comparison", &found)
}

/// The whole traffic, its branded and other queries, segments and topic clusters.
fn classes(opened: &Opened<'_>) -> Markup {
    let view = &opened.view;
    let current = view.text("classification");
    let link = |value| view.link(&[("classification", value), ("offset", None)]);
    html! {
        nav.choices aria-label="Part of the traffic" {
            a href=(link(None)) aria-current=[current.is_none().then_some("true")] { "All" }
            @for (value, name) in &opened.site.classes {
                @if view.has_class(value) {
                    a href=(link(Some(value))) aria-current=[(current == Some(value)).then_some("true")] { bdi { (name) } }
                } @else {
                    @let reason = format!("{} has no queries", kind::name(view.search_type()));
                    span.off title=(reason) { bdi { (name) } span.visually-hidden { " is not available: " (reason) } }
                }
            }
        }
    }
}

/// The whole months that the search engine still has, the newest first.
fn months(view: &View, today: NaiveDate) -> Markup {
    let oldest = oldest_day(today);
    let first = today.with_day(1).unwrap_or(today);
    let starts = successors(first.checked_sub_months(Months::new(1)), |start| start.checked_sub_months(Months::new(1)));
    let found =
        starts.take_while(|start| *start >= oldest).map(|start| (start, (start + Months::new(1)) - Days::new(1)));
    html! {
        nav.choices aria-label="Months" {
            @for (start, end) in found {
                @let (start_text, end_text) = (start.to_string(), end.to_string());
                a href=(view.link(&[("startDate", Some(&start_text)), ("endDate", Some(&end_text)), ("period", None), ("offset", None)]))
                    aria-current=[(view.text("startDate") == Some(&start_text) && view.text("endDate") == Some(&end_text)).then_some("true")] {
                    (start.format("%b %Y"))
                }
            }
        }
    }
}

fn states(view: &View) -> Markup {
    let current = view.text("dataState").unwrap_or("final");
    let choice = |name: &'static str, value, label| (label, Ok(view.link(&[("dataState", value)])), name == current);
    choices("Days", &[choice("final", None, "Final days"), choice("all", Some("all"), "Also days that are not final")])
}

/// The kinds of search. One that lacks what a condition is on is not available; one that cannot tell the part of the traffic shows all of it.
fn search_types(view: &View) -> Markup {
    let current = view.search_type();
    let choice = |(one, label): (SearchType, &'static str)| {
        let value = Some(one.name()).filter(|_| one != SearchType::Web);
        let lacks = view.filters.iter().any(|condition| !one.has(condition.dimension));
        let class = view.text("classification").filter(|class| kind::has_class(one, class));
        let link = view.link(&[("searchType", value), ("classification", class), ("offset", None)]);
        let reason = || "it lacks what a condition is on; remove the condition first".to_owned();
        (label, if lacks { Err(reason()) } else { Ok(link) }, one == current)
    };
    choices("Kind of search", &KINDS.map(choice))
}

/// A form for own dates. It keeps the rest of the question.
fn dates(view: &View, meta: &AnswerMeta) -> Markup {
    html! {
        form.dates method="get" {
            @for (name, value) in view.kept(&["startDate", "endDate", "period", "offset"]) {
                input type="hidden" name=(name) value=(value);
            }
            label { "From " input type="date" name="startDate" required value=(meta.window.start_date); }
            label { "to " input type="date" name="endDate" required value=(meta.window.end_date); }
            button.secondary { "Show" }
        }
    }
}

/// The conditions, each with a link that takes it away.
fn chips(view: &View, site: &str) -> Markup {
    html! {
        @if !view.filters.is_empty() {
            p.chips {
                "Only "
                @for (index, condition) in view.filters.iter().enumerate() {
                    a.chip href=(view.widened(index)) { (conditions::said(condition, site)) span aria-hidden="true" { " ×" } span.visually-hidden { ", remove" } }
                    " "
                }
            }
        }
    }
}
