//! Lists of provider B: the columns that are asked for, the filter, the order, the number of rows, and the bill.

use serde_json::{Map, Value};

use super::columns::Columns;
use super::filter::Filter;
use super::params::Params;
use super::{Found, Refusal};
use crate::providers::values::order;

/// Units that an answer costs, at least.
pub(super) const LEAST: u64 = 50;

/// The part of a list that a request asks for.
#[derive(Debug)]
pub(super) struct Table {
    select: Vec<String>,
    filter: Option<Filter>,
    /// Columns, and whether they descend.
    order: Vec<(String, bool)>,
    limit: usize,
    /// Units of each row.
    units: u64,
}

impl Table {
    pub fn parse(params: &Params, columns: &Columns) -> Result<Self, Refusal> {
        let all: Vec<&str> = columns.selectable.iter().map(|(name, _)| *name).collect();
        params.required("select")?;
        let select: Vec<String> = params.list("select").into_iter().map(str::to_owned).collect();
        if let Some(unknown) = select.iter().find(|name| !all.contains(&name.as_str())) {
            let known = all.join(", ");
            return Err(Refusal::bad(format!("bad select: column '{unknown}' not found, known columns are {known}")));
        }
        let filter = params.get("where").map(Filter::parse).transpose();
        let filter = filter.map_err(|why| Refusal::bad(format!("bad where: {why}")))?;
        let filtered = filter.as_ref().map(Filter::columns).unwrap_or_default();
        if let Some(unknown) = filtered.iter().find(|name| columns.units(name).is_none()) {
            return Err(Refusal::bad(format!("bad where: column '{unknown}' not found")));
        }
        let order = Self::order(params, &all, columns.unsorted)?;
        let mut used: Vec<&str> = select.iter().map(String::as_str).chain(filtered).collect();
        used.extend(order.iter().map(|(name, _)| name.as_str()));
        used.sort_unstable();
        used.dedup();
        let units = used.iter().filter_map(|name| columns.units(name)).sum();
        Ok(Self { select, order, limit: params.limit()?, units, filter })
    }

    fn order(params: &Params, all: &[&str], unsorted: &[&str]) -> Result<Vec<(String, bool)>, Refusal> {
        let rule = |text: &str| {
            let (name, direction) = text.split_once(':').unwrap_or((text, "asc"));
            let sorted = all.contains(&name) && !unsorted.contains(&name) && ["asc", "desc"].contains(&direction);
            let refusal = || Refusal::bad(format!("bad order_by: '{text}' is not a column to order by"));
            sorted.then(|| (name.to_owned(), direction == "desc")).ok_or_else(refusal)
        };
        params.list("order_by").into_iter().map(rule).collect()
    }

    /// Returns whether `name` is selected.
    pub fn selects(&self, name: &str) -> bool {
        self.select.iter().any(|selected| selected == name)
    }

    /// The answer from all `rows` with all their columns. `more` units are billed for each row.
    pub fn answer(&self, key: &'static str, mut rows: Vec<Value>, more: u64) -> Found {
        rows.retain(|row| self.filter.as_ref().is_none_or(|filter| filter.admits(row)));
        if !self.order.is_empty() {
            rows.sort_by(|a, b| {
                let compare = |(name, descending): &(String, bool)| {
                    if *descending { order(&b[name], &a[name]) } else { order(&a[name], &b[name]) }
                };
                self.order.iter().map(compare).fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
            });
        }
        rows.truncate(self.limit);
        let chosen = |row: &Value| {
            let field = |name: &String| (name.clone(), row[name].clone());
            Value::Object(self.select.iter().map(field).collect::<Map<_, _>>())
        };
        let rows: Vec<Value> = rows.iter().map(chosen).collect();
        let units = self.units + more;
        let cost = (units * rows.len() as u64).max(LEAST);
        Found { rows: rows.len(), key, value: rows.into(), units, cost }
    }
}
