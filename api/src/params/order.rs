//! The order of rows, and conditions on their metrics.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::ParamValue;

/// A metric of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Metric {
    /// Clicks.
    Clicks,
    /// Impressions.
    Impressions,
    /// Clicks ÷ impressions.
    Ctr,
    /// Average position.
    Position,
}

impl Metric {
    /// Every metric.
    pub const ALL: [Self; 4] = [Self::Clicks, Self::Impressions, Self::Ctr, Self::Position];

    /// Its name in parameters.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Clicks => "clicks",
            Self::Impressions => "impressions",
            Self::Ctr => "ctr",
            Self::Position => "position",
        }
    }

    /// Returns the metric of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.name() == name)
    }

    /// Returns whether its change has a percentage.
    fn is_count(self) -> bool {
        matches!(self, Self::Clicks | Self::Impressions)
    }
}

/// The value that rows are sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SortBy {
    /// A metric of the window.
    Metric(Metric),
    /// The change of a metric: current minus previous.
    Change(Metric),
    /// The change in percent.
    ChangePercent(Metric),
}

/// The `sort` parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sort {
    /// The value.
    pub by: SortBy,
    /// True if the largest comes first.
    pub descending: bool,
}

impl Sort {
    /// Returns whether it needs a comparison.
    #[must_use]
    pub fn needs_comparison(self) -> bool {
        !matches!(self.by, SortBy::Metric(_))
    }
}

impl fmt::Display for Sort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.descending { "-" } else { "" };
        match self.by {
            SortBy::Metric(metric) => write!(f, "{sign}{}", metric.name()),
            SortBy::Change(metric) => write!(f, "{sign}change.{}.absolute", metric.name()),
            SortBy::ChangePercent(metric) => write!(f, "{sign}change.{}.percent", metric.name()),
        }
    }
}

impl Serialize for Sort {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl ParamValue for Sort {
    fn schema() -> Value {
        json!({
            "type": "string", "maxLength": 40,
            "pattern": "^-?(clicks|impressions|ctr|position|change\\.(clicks|impressions)(\\.(absolute|percent))?|change\\.(ctr|position)(\\.absolute)?)$",
        })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let (descending, name) = text.strip_prefix('-').map_or((false, text), |name| (true, name));
        let by = match name.split('.').collect::<Vec<_>>()[..] {
            [metric] => Metric::named(metric).map(SortBy::Metric),
            ["change", metric] | ["change", metric, "absolute"] => Metric::named(metric).map(SortBy::Change),
            ["change", metric, "percent"] => {
                Metric::named(metric).filter(|metric| metric.is_count()).map(SortBy::ChangePercent)
            }
            _ => None,
        };
        let by = by.ok_or(
            "must be clicks, impressions, ctr or position, or with a comparison the change of one, such as change.clicks or \
             change.clicks.percent (not of ctr and position); a minus in front puts the largest first",
        )?;
        Ok(Self { by, descending })
    }

    fn to_value(&self) -> Value {
        json!(self.to_string())
    }
}

/// A list of rows that conditions on metrics can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Table {
    /// By search query, also in analyses of queries.
    Queries,
    /// By page URL.
    Pages,
    /// By country.
    Countries,
    /// By device.
    Devices,
    /// By search appearance.
    SearchAppearances,
}

impl Table {
    const ALL: [Self; 5] = [Self::Queries, Self::Pages, Self::Countries, Self::Devices, Self::SearchAppearances];

    /// Its name in parameters and answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Queries => "queries",
            Self::Pages => "pages",
            Self::Countries => "countries",
            Self::Devices => "devices",
            Self::SearchAppearances => "searchAppearances",
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|table| table.name() == name)
    }
}

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

/// One condition on a metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MetricFilter {
    /// The table. `None`: queries and pages.
    pub table: Option<Table>,
    /// The metric.
    pub metric: Metric,
    /// The comparison.
    pub comparator: Comparator,
    /// The value to compare with.
    pub bound: f64,
}

impl MetricFilter {
    /// Returns whether it is a condition on the rows of `table`.
    #[must_use]
    pub fn is_on(&self, table: Table) -> bool {
        self.table.map_or(matches!(table, Table::Queries | Table::Pages), |own| own == table)
    }
}

impl fmt::Display for MetricFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(table) = self.table {
            write!(f, "{}.", table.name())?;
        }
        write!(f, "{}{}{}", self.metric.name(), self.comparator.sign(), self.bound)
    }
}

/// The `metricFilters` parameter: conditions on metrics, all of which hold.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MetricFilters(pub Vec<MetricFilter>);

impl Eq for MetricFilters {}

impl MetricFilters {
    /// Returns the conditions on the rows of `table`.
    #[must_use]
    pub fn on(&self, table: Table) -> Self {
        Self(self.0.iter().filter(|filter| filter.is_on(table)).copied().collect())
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
        let one = "((queries|pages|countries|devices|searchAppearances)\\.)?\
                   (clicks|impressions|ctr|position)(>=|<=|>|<|=)[0-9]{1,12}(\\.[0-9]{1,12})?";
        json!({ "type": "string", "maxLength": 600, "pattern": format!("^{one}(,{one}){{0,{}}}$", MOST - 1) })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let filters: Vec<MetricFilter> = text.split(',').map(condition).collect::<Option<_>>().ok_or(
            "must be conditions such as impressions>=100,countries.clicks>0: a table and a dot, or neither for queries and pages, then \
             clicks, impressions, ctr or position, then >=, <=, >, < or =, then a number",
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

fn condition(text: &str) -> Option<MetricFilter> {
    let named = text.split_once('.').and_then(|(name, rest)| Some((Table::named(name)?, rest)));
    let (table, text) = named.map_or((None, text), |(table, rest)| (Some(table), rest));
    let metric = Metric::ALL.into_iter().find(|metric| text.starts_with(metric.name()))?;
    let rest = text.strip_prefix(metric.name())?;
    let comparator = Comparator::ALL.into_iter().find(|comparator| rest.starts_with(comparator.sign()))?;
    let number = rest.strip_prefix(comparator.sign())?;
    let digits = |part: &str| (1..=12).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    let plain = match number.split_once('.') {
        Some((whole, fraction)) => digits(whole) && digits(fraction),
        None => digits(number),
    };
    Some(MetricFilter { table, metric, comparator, bound: number.parse().ok().filter(|_| plain)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_read_and_written_in_full() {
        for (text, written) in [
            ("clicks", "clicks"),
            ("-impressions", "-impressions"),
            ("-change.clicks", "-change.clicks.absolute"),
            ("change.position.absolute", "change.position.absolute"),
            ("-change.impressions.percent", "-change.impressions.percent"),
        ] {
            let sort = Sort::parse(text).unwrap();
            assert_eq!(sort.to_string(), written);
            assert_eq!(Sort::parse(written), Ok(sort));
            assert_eq!(sort.needs_comparison(), text.contains("change"));
        }
        for text in ["", "-", "--clicks", "+clicks", "Clicks", "key", "change", "change.ctr.percent", "clicks.absolute"]
        {
            assert!(Sort::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn conditions_are_read_and_written_again() {
        for text in [
            "impressions>=100,position<=10",
            "clicks>0",
            "ctr<0.05",
            "position=1",
            "clicks>=1,clicks<=5",
            "queries.position<=10.5,searchAppearances.ctr>0.1,clicks>1",
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
        ] {
            assert!(MetricFilters::parse(text).is_err(), "{text}");
        }
        assert!(MetricFilters::parse(&["clicks>1"; 11].join(",")).unwrap_err().contains("11 were sent"));
    }

    #[test]
    fn a_condition_without_a_table_is_one_on_queries_and_pages() {
        let filters = MetricFilters::parse("clicks>1,pages.ctr<0.5,devices.position<=3").unwrap();
        for (table, conditions) in [
            (Table::Queries, "clicks>1"),
            (Table::Pages, "clicks>1,pages.ctr<0.5"),
            (Table::Countries, ""),
            (Table::Devices, "devices.position<=3"),
            (Table::SearchAppearances, ""),
        ] {
            assert_eq!(filters.on(table).to_string(), conditions, "{table:?}");
        }
    }
}
