//! The two text formats of metrics: `OpenMetrics`, and the older one, which every reader takes.

use std::fmt::{self, Write as _};

use prometheus_client::{encoding::text, registry::Registry};

/// A format of metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// The text format 0.0.4 of Prometheus.
    Text,
    /// `OpenMetrics` 1.0.
    OpenMetrics,
}

impl Format {
    /// Returns the format for a reader that sends these lines of `Accept`: `OpenMetrics` where it is named and no less wanted than plain
    /// text, else plain text, also for readers that name neither.
    #[must_use]
    pub fn wanted<'a>(accept: impl Iterator<Item = &'a str>) -> Self {
        let ranges: Vec<&str> = accept.flat_map(|line| line.split(',')).collect();
        let weight = |is_meant: &dyn Fn(&str, Option<&str>) -> bool| {
            let weights = ranges.iter().filter_map(|range| weight(range, is_meant));
            weights.fold(None, |most: Option<f32>, weight| Some(most.map_or(weight, |most| most.max(weight))))
        };
        let open = weight(&|kind, version| {
            kind.eq_ignore_ascii_case("application/openmetrics-text")
                && version.is_none_or(|version| ["1.0.0", "0.0.1"].contains(&version))
        });
        let plain = weight(&|kind, version| {
            kind.eq_ignore_ascii_case("text/plain") && version.is_none_or(|version| version == "0.0.4")
        });
        match open {
            Some(open) if open > 0.0 && open >= plain.unwrap_or_default() => Self::OpenMetrics,
            _ => Self::Text,
        }
    }

    /// Returns the media type.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Text => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }

    /// Returns the metrics of `registry` in this format.
    ///
    /// # Errors
    /// A metric cannot be written.
    pub fn encode(self, registry: &Registry) -> Result<String, fmt::Error> {
        let mut open = String::new();
        text::encode(&mut open, registry)?;
        match self {
            Self::Text => as_text(&open),
            Self::OpenMetrics => Ok(open),
        }
    }
}

/// Returns the weight of a media range that is meant.
fn weight(range: &str, is_meant: &dyn Fn(&str, Option<&str>) -> bool) -> Option<f32> {
    let mut parts = range.split(';').map(str::trim);
    let kind = parts.next()?;
    let parameters: Vec<(&str, &str)> = parts.filter_map(|part| part.split_once('=')).collect();
    let parameter = |name: &str| {
        let found = parameters.iter().find(|(known, _)| known.trim().eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.trim().trim_matches('"'))
    };
    is_meant(kind, parameter("version")).then(|| parameter("q").map_or(1.0, |q| q.parse().unwrap_or(0.0)))
}

/// Returns the older format of `open`. There a counter is described by the name of its samples, which ends with `_total`, and nothing is
/// said of units and of the end.
fn as_text(open: &str) -> Result<String, fmt::Error> {
    let (mut plain, mut help) = (String::with_capacity(open.len()), None);
    for line in open.lines() {
        if let Some(described) = line.strip_prefix("# HELP ") {
            help = described.split_once(' ');
        } else if let Some((name, kind)) = line.strip_prefix("# TYPE ").and_then(|typed| typed.split_once(' ')) {
            let ending = if kind == "counter" { "_total" } else { "" };
            let kind = if kind == "unknown" { "untyped" } else { kind };
            if let Some((_, help)) = help.take() {
                writeln!(plain, "# HELP {name}{ending} {help}")?;
            }
            writeln!(plain, "# TYPE {name}{ending} {kind}")?;
        } else if !line.starts_with('#') {
            writeln!(plain, "{line}")?;
        }
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use prometheus_client::metrics::{
        counter::Counter,
        gauge::Gauge,
        histogram::{Histogram, exponential_buckets},
    };

    use super::*;

    #[test]
    fn each_reader_gets_the_format_that_it_names() {
        let prometheus = "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,\
                          text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2";
        let with_protobuf = format!(
            "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.7,{prometheus}"
        );
        let telegraf = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.7,\
                        text/plain;version=0.0.4;q=0.3";
        for (accept, format) in [
            (&[][..], Format::Text),
            (&["*/*"], Format::Text),
            (&["text/html,application/xhtml+xml,*/*;q=0.8"], Format::Text),
            (&["application/json"], Format::Text),
            (&[prometheus], Format::OpenMetrics),
            (&[&with_protobuf], Format::OpenMetrics),
            (&[telegraf], Format::Text),
            (&["application/openmetrics-text"], Format::OpenMetrics),
            (&["Application/OpenMetrics-Text; Version=\"1.0.0\"; Q=0.5"], Format::OpenMetrics),
            (&["text/plain", "application/openmetrics-text;q=0.5"], Format::Text),
            (&["application/openmetrics-text;q=0"], Format::Text),
            (&["application/openmetrics-text;version=2.0.0"], Format::Text),
        ] {
            assert_eq!(Format::wanted(accept.iter().copied()), format, "{accept:?}");
        }
    }

    #[test]
    fn plain_text_describes_each_sample_by_its_name() {
        let mut registry = Registry::with_prefix("own");
        let (counter, gauge) = (Counter::<u64>::default(), Gauge::<i64>::default());
        let histogram = Histogram::new(exponential_buckets(1.0, 2.0, 1));
        registry.register("requests", "Requests answered", counter.clone());
        registry.register("open", "Requests open", gauge.clone());
        registry.register("time", "Time", histogram.clone());
        counter.inc();
        gauge.set(2);
        histogram.observe(0.5);
        let plain = Format::Text.encode(&registry).unwrap();
        let expected = "# HELP own_requests_total Requests answered.\n# TYPE own_requests_total counter\nown_requests_total 1\n\
                        # HELP own_open Requests open.\n# TYPE own_open gauge\nown_open 2\n\
                        # HELP own_time Time.\n# TYPE own_time histogram\nown_time_sum 0.5\nown_time_count 1\n\
                        own_time_bucket{le=\"1.0\"} 1\nown_time_bucket{le=\"+Inf\"} 1\n";
        assert_eq!(plain, expected);
        assert!(Format::OpenMetrics.encode(&registry).unwrap().ends_with("# EOF\n"));
    }
}
