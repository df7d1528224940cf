//! The whole table of queries, pages or countries: any order, page by page.

use api::{
    error::ApiError,
    models::{AnalysisStatus, Dimension, TableCoverage},
};
use common::compute::in_place;
use futures_util::future::try_join;
use maud::{Markup, html};
use url::form_urlencoded::Serializer;

use super::countries;
use crate::web::dashboard::{
    address::OVERVIEW,
    door::{Door, Query},
    draw::{
        controls, empty, footer,
        paging::pages,
        rows::{self, Order, Rows},
    },
    opened::Opened,
    table,
    view::View,
};

/// The rows of a page.
const ROWS: u32 = 50;

/// The parameters of the page besides those of the question.
pub const NAMES: [&str; 5] = ["sort", "least", "find", "rows", "offset"];

/// The order of the operations without one that is asked for.
const BY_CLICKS: &str = "-clicks";

/// The views of the rows: their name, the value of `rows`, and the condition and the order that they stand for.
const VIEWS: [(&str, Option<&str>, &str, &str); 5] = [
    ("All", None, "", BY_CLICKS),
    ("Growing", Some("growing"), "change.clicks>0", "-change.clicks"),
    ("Shrinking", Some("shrinking"), "change.clicks<0", "change.clicks"),
    ("New", Some("new"), "presence=new", BY_CLICKS),
    ("Lost", Some("lost"), "presence=lost", "change.clicks"),
];

/// Draws the page.
pub async fn page(opened: &Opened<'_>, table: Dimension) -> Result<Markup, ApiError> {
    let view = &opened.view;
    let offset = view.number("offset")?;
    let question = finding(view, table, opened.question())?;
    let mut query = question.clone();
    let order = order(view, table, &question)?;
    query.extend(order.iter().cloned());
    let limits = match table {
        Dimension::Page => ["pageLimit", "pageOffset", "queryLimit"],
        _ => ["queryLimit", "queryOffset", "pageLimit"],
    };
    query.push(("scope", "tables".to_owned()));
    query.extend(limits.into_iter().zip([ROWS, offset, 1]).map(|(name, value)| (name, value.to_string())));
    let trends = async {
        if table == Dimension::Country { countries::trends(opened, &question).await.map(Some) } else { Ok(None) }
    };
    let (answer, trends) = try_join(opened.door.performance(opened.asker, &query), trends).await?;
    let tables = answer.data.tables.unwrap_or_default();
    let coverage = answer.coverage.as_ref();
    let covered = coverage.map(|coverage| coverage.by(table));
    let shown = tables.by(table).unwrap_or_default();
    let compares = answer.meta.compare_window.is_some();
    let page = Some(OVERVIEW);
    let (_, own) = shown_as(view)?;
    let rows = Rows { table, found: shown, view, compares, sparks: None, page, order: Some(Order { view, own }) };
    Ok(in_place(|| {
        html! {
        (controls::bar(opened, &answer.meta))
        @if let Some(trends) = trends.filter(|_| !shown.is_empty()) { (trends) }
        (choices(view, table, compares))
        section.card aria-label=(table::heading(table)) {
            div.heads {
                h2 { (table::heading(table)) }
                a.aside href=(csv(opened, table, &question, &order)) download { "CSV of these rows" }
            }
            @if shown.is_empty() { (nothing(opened, table, answer.meta.status, offset, is_capped(covered))) } @else { (rows.wide(table::heading(table))) }
            @if let Some(covered) = covered {
                @if !shown.is_empty() { (rows::coverage(table, covered, if narrows(view) { " by these conditions" } else { rows::counted(compares) }, narrows(view) || view.is_narrowed())) }
                (pages(view, offset, ROWS, covered.has_more == Some(true)))
            }
        }
        (footer::of(opened, &answer.meta, answer.link.as_ref(), "performance", &query))
        }
    }))
}

/// Returns whether the page leaves rows out.
fn narrows(view: &View) -> bool {
    ["rows", "least", "find"].iter().any(|name| view.text(name).is_some())
}

/// Returns whether the site has rows beyond those that were read.
fn is_capped(covered: Option<&TableCoverage>) -> bool {
    covered.and_then(|covered| covered.total_rows_capped) == Some(true)
}

/// Says why there is no row, with the way back to some. `is_capped` is true if the site has rows beyond those that were read: which of them
/// are new or lost is not known.
fn nothing(opened: &Opened<'_>, table: Dimension, status: AnalysisStatus, offset: u32, is_capped: bool) -> Markup {
    let view = &opened.view;
    let presence = view.text("rows").filter(|rows| is_capped && ["new", "lost"].contains(rows));
    let all = [("rows", None), ("least", None), ("find", None), ("classification", None), ("offset", None)];
    html! {
        @if status == AnalysisStatus::NotFinalYet { (empty::still_counted(opened)) }
        @else if offset > 0 { p { "There are no rows this far. " a href=(view.link(&[("offset", None)])) { "The first rows" } } }
        @else if let Some(presence) = presence { (unsure(view, table, presence)) }
        @else if narrows(view) || view.is_narrowed() { p { "No row is left by these conditions. " a href=(view.everything(&all)) { "All rows" } } }
        @else { p { (empty::no_data(view)) } }
    }
}

/// Says that no row is surely new, or lost.
fn unsure(view: &View, table: Dimension, presence: &str) -> Markup {
    let rows = table::heading(table).to_lowercase();
    html! {
        p {
            "No row is surely " (presence) ". Only the " (rows) " with the most clicks are read, so of many it is unknown whether the other period had them."
            @if table == Dimension::Query { " " a href=(view.to("insights")) { "Insights" } " has those with at least 10 impressions." }
        }
    }
}

/// The parameters that judge a `question` for the page.
pub fn judged(
    view: &View,
    table: Dimension,
    question: Vec<(&'static str, String)>,
) -> Result<Vec<(&'static str, String)>, ApiError> {
    view.number("offset")?;
    let mut query = finding(view, table, question)?;
    query.extend(order(view, table, &query)?);
    query.push(("scope", "tables".to_owned()));
    Ok(query)
}

/// Narrows a question to the rows that hold the text to find.
fn finding(
    view: &View,
    table: Dimension,
    mut question: Vec<(&'static str, String)>,
) -> Result<Vec<(&'static str, String)>, ApiError> {
    if let Some(text) = view.text("find").map(str::trim).filter(|text| !text.is_empty()) {
        let filters = view.finding(table, text)?;
        question.retain(|(name, _)| *name != "filters");
        question.push(("filters", filters));
    }
    Ok(question)
}

/// The condition and the order that the view of the rows stands for.
fn shown_as(view: &View) -> Result<(&'static str, &'static str), ApiError> {
    let name = view.text("rows");
    let found = VIEWS.into_iter().find(|(_, value, ..)| *value == name);
    let found = found.ok_or_else(|| ApiError::invalid("rows", "must be growing, shrinking, new or lost"))?;
    Ok((found.2, found.3))
}

/// The order of the rows of a question, and the conditions on them, as the operations take them.
fn order(view: &View, table: Dimension, question: &Query) -> Result<Vec<(&'static str, String)>, ApiError> {
    let (condition, own) = shown_as(view)?;
    if !condition.is_empty() && !question.iter().any(|(name, _)| name.starts_with("compare")) {
        return Err(ApiError::invalid("rows", "need a comparison; choose one, or show all rows"));
    }
    let sort = view.text("sort").or(Some(own).filter(|own| *own != BY_CLICKS || !condition.is_empty()));
    let least = view.number("least")?;
    let least = (least > 0).then(|| format!("impressions>={least}"));
    let conditions = Some(condition.to_owned()).filter(|condition| !condition.is_empty()).into_iter().chain(least);
    let of_table = |condition| format!("{}.{condition}", table.table());
    let filters = conditions.map(of_table).collect::<Vec<_>>().join(",");
    let filters = (!filters.is_empty()).then_some(("metricFilters", filters));
    Ok(sort.map(|sort| ("sort", sort.to_owned())).into_iter().chain(filters).collect())
}

/// The views of the rows, the text to find, and the least impressions.
fn choices(view: &View, table: Dimension, compares: bool) -> Markup {
    html! {
        div.controls {
            @if compares {
                nav.choices aria-label="Rows" {
                    @for (name, value, ..) in VIEWS {
                        a href=(view.link(&[("rows", value), ("sort", None), ("offset", None)]))
                            aria-current=[(view.text("rows") == value).then_some("true")] { (name) }
                    }
                }
            }
            form.dates method="get" {
                @for (name, value) in view.kept(&["find", "least", "offset"]) { input type="hidden" name=(name) value=(value); }
                // Codes of countries are no words to search for.
                @if table != Dimension::Country {
                    label { "Find " input #find type="search" name="find" maxlength="200" value=[view.text("find")]; }
                }
                label { "At least " input type="number" name="least" min="0" max="1000000000" value=[view.text("least")]; " impressions" }
                button.secondary { "Show" }
            }
        }
    }
}

/// The address of the whole table as CSV, with the same question and order.
fn csv(opened: &Opened<'_>, table: Dimension, question: &[(&str, String)], order: &[(&str, String)]) -> String {
    let name = table.table();
    let query = Serializer::new(String::new()).extend_pairs(question).extend_pairs(order).finish();
    match opened.door {
        Door::Signed(_) => format!("{}?table={name}&bom=true&{query}", opened.door.operation("export")),
        Door::Shared(_) => format!("{}/{name}.csv?{query}", opened.door.root()),
    }
}
