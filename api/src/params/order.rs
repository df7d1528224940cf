//! The order of rows.

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

/// The names of metrics, as a pattern.
pub(super) const METRIC: &str = "clicks|impressions|ctr|position";

/// The names of changes, as a pattern.
pub(super) const CHANGE: &str =
    r"change\.(clicks|impressions)(\.(absolute|percent))?|change\.(ctr|position)(\.absolute)?";

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

impl SortBy {
    /// Returns the value of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name.split('.').collect::<Vec<_>>()[..] {
            [metric] => Metric::named(metric).map(Self::Metric),
            ["change", metric] | ["change", metric, "absolute"] => Metric::named(metric).map(Self::Change),
            ["change", metric, "percent"] => {
                Metric::named(metric).filter(|metric| metric.is_count()).map(Self::ChangePercent)
            }
            _ => None,
        }
    }

    /// Returns whether it needs a comparison.
    #[must_use]
    pub fn needs_comparison(self) -> bool {
        !matches!(self, Self::Metric(_))
    }
}

impl fmt::Display for SortBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Metric(metric) => f.write_str(metric.name()),
            Self::Change(metric) => write!(f, "change.{}.absolute", metric.name()),
            Self::ChangePercent(metric) => write!(f, "change.{}.percent", metric.name()),
        }
    }
}

impl Sort {
    /// Returns whether it needs a comparison.
    #[must_use]
    pub fn needs_comparison(self) -> bool {
        self.by.needs_comparison()
    }
}

impl fmt::Display for Sort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.descending { "-" } else { "" }, self.by)
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
            "pattern": format!("^-?({METRIC}|{CHANGE})$"),
        })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let (descending, name) = text.strip_prefix('-').map_or((false, text), |name| (true, name));
        let by = SortBy::named(name).ok_or(
            "must be clicks, impressions, ctr or position, or with a comparison the change of one, such as change.clicks or \
             change.clicks.percent (not of ctr and position); a minus in front puts the largest first",
        )?;
        Ok(Self { by, descending })
    }

    fn to_value(&self) -> Value {
        json!(self.to_string())
    }
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
}
