//! Conditions as rows of a form. A row without a value is none.

use api::{classifications::ClassificationCondition, models::FilterLogic};
use maud::{Markup, html};
use serde_json::{Value, json};

use crate::web::dashboard::{
    draw::conditions::{OPERATORS, named},
    forms::{self, Sent},
};

/// The fewest rows of a form.
const FEWEST: usize = 2;

/// The most conditions of a record.
const MOST: usize = 50;

/// A row of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    is_or: bool,
    operator: String,
    value: String,
}

impl Row {
    /// A row that was left empty.
    fn empty() -> Self {
        Self { is_or: false, operator: String::new(), value: String::new() }
    }

    fn stored(condition: &ClassificationCondition) -> Self {
        let (is_or, operator) = (condition.logic == Some(FilterLogic::Or), named(condition.operator).0);
        Self { is_or, operator: operator.to_owned(), value: condition.value.clone() }
    }

    /// The rows of a form as they were sent.
    fn sent(sent: &Sent) -> Vec<Self> {
        let fields = sent.all("logic").zip(sent.all("operator")).zip(sent.all("value"));
        let row = |((logic, operator), value): ((&str, &str), &str)| Self {
            is_or: logic == "or",
            operator: operator.to_owned(),
            value: value.to_owned(),
        };
        fields.map(row).collect()
    }
}

/// The conditions of a form as an operation takes them.
pub fn body(sent: &Sent) -> Value {
    let rows = Row::sent(sent).into_iter().filter(|row| !row.value.is_empty());
    let condition = |(index, Row { is_or, operator, value }): (usize, Row)| {
        let logic = (index > 0).then_some(if is_or { "or" } else { "and" });
        json!({ "operator": operator, "value": value, "logic": logic })
    };
    rows.enumerate().map(condition).collect()
}

/// The rows to fill in: those that were sent, or else those of the stored conditions. There are no more of them than a record has
/// conditions, because each is drawn larger than it was sent.
pub fn rows(sent: Option<&Sent>, stored: &[ClassificationCondition]) -> Vec<Row> {
    let mut rows = sent.map_or_else(|| stored.iter().map(Row::stored).collect(), Row::sent);
    if rows.len() > MOST {
        rows.retain(|row| !row.value.is_empty());
        rows.truncate(MOST);
    }
    if rows.len() < MOST && sent.is_some_and(|sent| sent.used(forms::AGAIN)) {
        rows.push(Row::empty());
    }
    rows.resize(rows.len().max(FEWEST), Row::empty());
    rows
}

/// Draws the rows.
pub fn fields(legend: &str, rows: &[Row]) -> Markup {
    html! {
        fieldset {
            legend { (legend) }
            @for (row, number) in rows.iter().zip(1..) {
                div.condition {
                    @if number == 1 {
                        input type="hidden" name="logic" value="and";
                    } @else {
                        select name="logic" aria-label={ "Condition " (number) ", how it joins the one before" } {
                            option value="and" { "and" }
                            option value="or" selected[row.is_or] { "or" }
                        }
                    }
                    select name="operator" aria-label={ "Condition " (number) ", comparison" } {
                        @for (_, name, words) in OPERATORS { option value=(name) selected[row.operator == name] { (words) } }
                    }
                    input type="text" name="value" maxlength="4096" aria-label={ "Condition " (number) ", text" } value=(row.value);
                }
            }
            p.quiet-text { "A row with “or” begins an alternative. “is one of” takes texts with commas between them. An empty row is left out." }
        }
    }
}

/// The button for one more row, if there may be one.
pub fn more(rows: &[Row]) -> Markup {
    html! {
        @if rows.len() < MOST {
            button.secondary name=(forms::BUTTON) value=(forms::AGAIN) formnovalidate { "One more condition" }
        }
    }
}
