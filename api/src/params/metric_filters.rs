//! Conditions on the rows of a table.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::{
    ParamValue,
    order::{CHANGE, METRIC, SortBy},
};
use crate::models::{Dimension, Presence};

/// The comparison of a condition on a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Comparator {
    /// `>=`.
    AtLeast,
    /// `<=`.
    AtMost,
    /// `>`.
    Above,
    /// `<`.
    Below,
    /// `=`.
    Equal,
}

impl Comparator {
    /// Every comparison. One that begins with another comes before it.
    const ALL: [Self; 5] = [Self::AtLeast, Self::AtMost, Self::Above, Self::Below, Self::Equal];

    fn sign(self) -> &'static str {
        match self {
            Self::AtLeast => ">=",
            Self::AtMost => "<=",
            Self::Above => ">",
            Self::Below => "<",
            Self::Equal => "=",
        }
    }

    /// Returns whether the comparison holds.
    #[must_use]
    pub fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Self::AtLeast => value >= bound,
            Self::AtMost => value <= bound,
            Self::Above => value > bound,
            Self::Below => value < bound,
            Self::Equal => value.total_cmp(&bound).is_eq(),
        }
    }
}

/// One condition on the rows of a table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MetricFilter {
    /// The dimension of the rows. `None`: queries and pages.
    pub table: Option<Dimension>,
    /// The rows that satisfy it.
    pub rows: RowsThat,
}

/// The rows that satisfy a condition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RowsThat {
    /// Rows with such a value.
    Have {
        /// The value.
        value: SortBy,
        /// The comparison.
        comparator: Comparator,
        /// The number to compare with.
        bound: f64,
    },
    /// Rows that these windows have.
    Are(Presence),
}

impl RowsThat {
    /// Returns whether it needs a comparison.
    #[must_use]
    pub fn needs_comparison(self) -> bool {
        match self {
            Self::Have { value, .. } => value.needs_comparison(),
            Self::Are(_) => true,
        }
    }
}

impl MetricFilter {
    /// Returns whether it is a condition on the rows by `dimension`.
    #[must_use]
    pub fn is_on(&self, dimension: Dimension) -> bool {
        self.table.map_or(matches!(dimension, Dimension::Query | Dimension::Page), |own| own == dimension)
    }
}

impl fmt::Display for MetricFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(table) = self.table {
            write!(f, "{}.", table.table())?;
        }
        match self.rows {
            RowsThat::Have { value, comparator, bound } => write!(f, "{value}{}{bound}", comparator.sign()),
            RowsThat::Are(presence) => write!(f, "{PRESENCE}{}", presence.name()),
        }
    }
}

/// The `metricFilters` parameter: conditions on rows, all of which hold.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MetricFilters(pub Vec<MetricFilter>);

impl Eq for MetricFilters {}

impl MetricFilters {
    /// Returns the conditions on the rows by `dimension`.
    #[must_use]
    pub fn on(&self, dimension: Dimension) -> Self {
        Self(self.0.iter().filter(|filter| filter.is_on(dimension)).copied().collect())
    }
}

/// The most conditions of one list.
const MOST: usize = 10;

impl fmt::Display for MetricFilters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, filter) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{filter}")?;
        }
        Ok(())
    }
}

impl Serialize for MetricFilters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl ParamValue for MetricFilters {
    fn schema() -> Value {
        let number = r"[0-9]{1,12}(\.[0-9]{1,12})?";
        let comparator = "(>=|<=|>|<|=)";
        let one = format!(
            r"((queries|pages|countries|devices|searchAppearances)\.)?(({METRIC}){comparator}{number}|({CHANGE}){comparator}-?{number}|presence=(both|new|lost|unknown))"
        );
        json!({ "type": "string", "maxLength": 900, "pattern": format!("^{one}(,{one}){{0,{}}}$", MOST - 1) })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let filters: Vec<MetricFilter> = text.split(',').map(condition).collect::<Option<_>>().ok_or(
            "must be conditions such as impressions>=100,countries.change.clicks<0,presence=new: a table and a dot, or neither for \
             queries and pages, then clicks, impressions, ctr, position or the change of one, then >=, <=, >, < or =, then a number; \
             or presence= and both, new, lost or unknown",
        )?;
        if filters.len() > MOST {
            return Err(format!("at most {MOST} conditions are allowed, {} were sent", filters.len()));
        }
        Ok(Self(filters))
    }

    fn to_value(&self) -> Value {
        json!(self.to_string())
    }
}

/// How a condition on the presence of rows begins.
const PRESENCE: &str = "presence=";

fn condition(text: &str) -> Option<MetricFilter> {
    let named = text.split_once('.').and_then(|(name, rest)| Some((Dimension::of_table(name)?, rest)));
    let (table, text) = named.map_or((None, text), |(table, rest)| (Some(table), rest));
    if let Some(name) = text.strip_prefix(PRESENCE) {
        return Some(MetricFilter { table, rows: RowsThat::Are(Presence::named(name)?) });
    }
    let (name, rest) = text.split_at(text.find(['>', '<', '='])?);
    let value = SortBy::named(name)?;
    let comparator = Comparator::ALL.into_iter().find(|comparator| rest.starts_with(comparator.sign()))?;
    let number = rest.strip_prefix(comparator.sign())?;
    let unsigned = if value.needs_comparison() { number.strip_prefix('-').unwrap_or(number) } else { number };
    let digits = |part: &str| (1..=12).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    let plain = match unsigned.split_once('.') {
        Some((whole, fraction)) => digits(whole) && digits(fraction),
        None => digits(unsigned),
    };
    let bound = number.parse().ok().filter(|_| plain)?;
    Some(MetricFilter { table, rows: RowsThat::Have { value, comparator, bound } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_and_written_again() {
        for text in [
            "impressions>=100,position<=10",
            "clicks>0",
            "ctr<0.05",
            "position=1",
            "clicks>=1,clicks<=5",
            "queries.position<=10.5,searchAppearances.ctr>0.1,clicks>1",
            "change.clicks.absolute<-10,pages.change.impressions.percent>=12.5",
            "presence=new",
            "queries.presence=lost,pages.presence=both",
        ] {
            let filters = MetricFilters::parse(text).unwrap();
            assert_eq!(filters.to_string(), text);
        }
        for text in [
            "",
            ",",
            "clicks",
            "clicks>",
            "clicks>=-1",
            "clicks=>1",
            "clicks>=1e3",
            "clicks>=.5",
            "queries>1",
            "ctr>=1.",
            "queries.>1",
            "query.clicks>1",
            "queries.pages.clicks>1",
            ".clicks>1",
            " clicks>1",
            "change.clicks>--1",
            "change>1",
            "change.ctr.percent>1",
            "presence=old",
            "presence>new",
            "presence=",
        ] {
            assert!(MetricFilters::parse(text).is_err(), "{text}");
        }
        assert!(MetricFilters::parse(&["clicks>1"; 11].join(",")).unwrap_err().contains("11 were sent"));
    }

    #[test]
    fn a_condition_without_a_table_is_one_on_queries_and_pages() {
        let filters = MetricFilters::parse("clicks>1,pages.ctr<0.5,devices.position<=3").unwrap();
        for (table, conditions) in [
            (Dimension::Query, "clicks>1"),
            (Dimension::Page, "clicks>1,pages.ctr<0.5"),
            (Dimension::Country, ""),
            (Dimension::Device, "devices.position<=3"),
            (Dimension::SearchAppearance, ""),
        ] {
            assert_eq!(filters.on(table).to_string(), conditions, "{table:?}");
        }
    }
}
