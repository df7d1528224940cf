//! Lists of provider A: filter, order, and one page of the rest.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use super::filters::{Filters, Order};
use super::{Failure, Task};

/// One page of a list.
pub(super) struct Page {
    /// Items that pass the filters, on all pages.
    pub total: usize,
    pub items: Vec<Value>,
    pub offset: usize,
    /// Continues after this page, if there is more.
    pub next: Option<String>,
}

/// The continuation that stands for an offset.
fn token(offset: usize) -> String {
    BASE64_STANDARD.encode(format!("offset {offset}"))
}

fn offset(token: &str) -> Option<usize> {
    let text = String::from_utf8(BASE64_STANDARD.decode(token).ok()?).ok()?;
    text.strip_prefix("offset ")?.parse().ok()
}

/// The page of `items` that a task asks for. `continuation` names the field that may hold a continuation.
pub(super) fn page<T>(
    task: &Task<'_>,
    continuation: &'static str,
    items: &[T],
    build: impl Fn(&T) -> Value,
) -> Result<Page, Failure> {
    let start = match task.given(continuation).and_then(Value::as_str) {
        Some(text) => offset(text).ok_or(Failure::Field(continuation))?,
        None => task.number("offset").unwrap_or_default(),
    };
    let limit = task.number("limit").unwrap_or(100);
    let filters = task.given("filters").and_then(Filters::parse);
    let order = task.given("order_by").and_then(Order::parse);
    let (total, items) = if filters.is_none() && order.is_none() {
        (items.len(), items.iter().skip(start).take(limit).map(build).collect())
    } else {
        let mut rows: Vec<Value> = items.iter().map(build).collect();
        if let Some(row) = rows.first() {
            if filters.as_ref().is_some_and(|filters| !filters.knows(row)) {
                return Err(Failure::Field("filters"));
            }
            if order.as_ref().is_some_and(|order| !order.knows(row)) {
                return Err(Failure::Field("order_by"));
            }
        }
        rows.retain(|row| filters.as_ref().is_none_or(|filters| filters.admits(row)));
        if let Some(order) = order {
            order.sort(&mut rows);
        }
        (rows.len(), rows.into_iter().skip(start).take(limit).collect::<Vec<Value>>())
    };
    let end = start + items.len();
    Ok(Page { total, next: (end < total).then(|| token(end)), items, offset: start })
}
