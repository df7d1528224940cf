//! Cost of the analyses compared with parsing the JSON of their rows, and growth of the cost with the number of rows.
//!
//! The rows are invented. The search engine returns at most 50,000; 1,000,000 rows only show that no cost grows faster
//! than the input.

use std::{collections::BTreeMap, hint::black_box};

use analytics::{
    cannibalization::candidates,
    country_trends::{Countries, trends},
    ctr_curve::Curve,
    growth::{best_pages, opportunities},
    listing::Listing,
    movers::movers,
    page::Page,
    positions::Distribution,
    query_periods::{Distinct, QueryPeriods},
    series::{Slot, Span},
    table::Sides,
};
use api::{
    analytics::{CannibalizationThresholds, CurveSource, GrowthThresholds},
    models::{Granularity, Window},
};
use chrono::{DateTime, Days, NaiveDate, TimeDelta};
use common::metrics::Metrics;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rand::{Rng as _, SeedableRng as _, rngs::SmallRng};
use search_engine::QueryResponse;

/// Number of rows of an analysis at the search engine's ceiling.
const CEILING: usize = 50_000;

/// The shortest series.
const ONE_DAY: Span = Span {
    start: NaiveDate::MIN,
    end: NaiveDate::MIN,
    last_final: NaiveDate::MIN,
    granularity: Granularity::Day,
    until: DateTime::UNIX_EPOCH,
};

/// Numbers of rows at which the growth of the cost is measured.
const SIZES: [usize; 3] = [10_000, 100_000, 1_000_000];

const CANNIBALIZATION: CannibalizationThresholds = CannibalizationThresholds {
    min_query_impressions: 50,
    min_page_impressions: 10,
    min_page_share: 0.1,
    max_top_share: 0.8,
    branded_excluded: true,
};

const GROWTH: GrowthThresholds = GrowthThresholds {
    min_position: 4.0,
    max_position: 20.0,
    min_impressions: 100,
    target_position: 3,
    page_one_position: 10,
    curve: CurveSource::Own,
    branded_excluded: true,
};

/// Rows by query and page as the search engine sends them: two or three pages per query, few queries with many impressions.
fn json(rows: usize) -> String {
    let mut random = SmallRng::seed_from_u64(7);
    let row = |index: usize| {
        let impressions = 20_000.0_f64.powf(random.random::<f64>()).floor();
        let (clicks, position) =
            ((impressions * random.random::<f64>() * 0.2).floor(), 1.0 + 40.0 * random.random::<f64>());
        let (query, page) = (index * 2 / 5, random.random_range(0..rows / 20 + 5));
        format!(
            r#"{{"keys":["waterproof walking boots size {query}","https://www.example.com/shop/boots/{page}-{index}/"],"clicks":{clicks},"impressions":{impressions},"ctr":{},"position":{position}}}"#,
            clicks / impressions
        )
    };
    let rows: Vec<String> = (0..rows).map(row).collect();
    format!(r#"{{"rows":[{}],"responseAggregationType":"byPage"}}"#, rows.join(","))
}

/// A row by query and page.
type Row = (Box<str>, Box<str>, Metrics);

/// The rows of an analysis: as sent, by query and page, and by query.
struct Input {
    json: String,
    pages: Vec<Row>,
    queries: Vec<(Box<str>, Metrics)>,
}

impl Input {
    fn new(rows: usize) -> Self {
        let json = json(rows);
        let answer: QueryResponse = serde_json::from_str(&json).unwrap_or_default();
        let pages: Vec<_> = answer
            .rows
            .into_iter()
            .filter_map(|row| {
                let [query, page] = <[Box<str>; 2]>::try_from(row.keys).ok()?;
                Some((query, page, Metrics::of_row(row.clicks, row.impressions, row.position)))
            })
            .collect();
        assert_eq!(pages.len(), rows);
        let queries = pages.chunk_by(|a, b| a.0 == b.0);
        let queries = queries.map(|rows| (rows[0].0.clone(), rows.iter().map(|row| row.2).sum())).collect();
        Self { json, pages, queries }
    }

    fn by_page(&self) -> impl Iterator<Item = (&str, &str, &Metrics)> {
        self.pages.iter().map(|(query, page, metrics)| (&**query, &**page, metrics))
    }

    fn by_query(&self) -> impl Iterator<Item = (&str, Metrics)> {
        self.queries.iter().map(|(query, metrics)| (&**query, *metrics))
    }

    /// One row per key, as many as there are rows by query and page.
    fn keyed(&self) -> Vec<(&str, Metrics)> {
        self.pages.iter().map(|(_, page, metrics)| (&**page, *metrics)).collect()
    }

    /// The same rows as 28 days: `rows ÷ 28` queries each.
    fn days(&self) -> impl Iterator<Item = (NaiveDate, &[Row])> {
        let first = NaiveDate::from_ymd_opt(2026, 10, 21).unwrap_or_default();
        let days = self.pages.chunks(self.pages.len() / 28 + 1);
        (0..).zip(days).map(move |(day, rows)| (first + TimeDelta::days(day), rows))
    }
}

/// An analysis of all rows of an input.
type Analysis = (&'static str, fn(&Input));

const ANALYSES: [Analysis; 7] = [
    ("cannibalization", |input| {
        let pages = input.by_page().map(|(query, page, metrics)| (query, page, *metrics));
        black_box(candidates(input.by_query(), pages, &CANNIBALIZATION, &Page::first(5_000), |_| None));
    }),
    ("growth", |input| {
        let rows = input.keyed();
        let curve = Curve::of(rows.iter().map(|(_, metrics)| metrics));
        let found = opportunities(rows.iter().copied(), &curve, &GROWTH, None);
        black_box(best_pages(input.by_page(), &found[..found.len().min(5_000)]));
    }),
    ("visibility", |input| {
        black_box(Distribution::of(input.pages.iter().map(|(_, _, metrics)| metrics)).rows());
    }),
    ("movers", |input| {
        let rows = input.keyed();
        // Each window lacks a tenth of the keys.
        let (now, before) = (&rows[rows.len() / 10..], &rows[..rows.len() - rows.len() / 10]);
        let listing = |rows| Listing { rows, capped: false };
        let sides = Sides { current: listing(now), previous: Some(listing(before)) };
        black_box(movers(sides, 10, &Page::first(50)));
    }),
    ("query count", |input| {
        let (mut days, mut distinct) = (QueryPeriods::new(ONE_DAY), Distinct::default());
        for (date, rows) in input.days() {
            days.add(date, rows.iter().map(|(query, _, metrics)| (query.as_ref(), metrics)), CEILING);
            for (query, _, _) in rows {
                distinct.add(query);
            }
        }
        black_box((days, distinct.count()));
    }),
    ("table of 5,000 with comparison", |input| {
        let rows = input.keyed();
        let (now, before) = (&rows[rows.len() / 10..], &rows[..rows.len() - rows.len() / 10]);
        let listing = |rows| Listing { rows, capped: false };
        let sides = Sides { current: listing(now), previous: Some(listing(before)) };
        black_box(sides.table(&Page::first(5_000)));
    }),
    ("country trends", |input| {
        let codes: Vec<String> = (0..200).map(|code| format!("c{code}")).collect();
        let counted = Some(Window { start_date: NaiveDate::default(), end_date: NaiveDate::MAX });
        let mut countries = Countries {
            span: ONE_DAY,
            counted,
            days: codes.iter().map(|code| (code.as_str(), BTreeMap::default())).collect(),
        };
        for (index, (_, _, metrics)) in input.pages.iter().enumerate() {
            let day = NaiveDate::default() + Days::new((index / codes.len()) as u64);
            countries.days.entry(&codes[index % codes.len()]).or_default().insert(Slot::day(day), *metrics);
        }
        black_box(trends(&countries, None, 10));
    }),
];

fn beside_parsing(criterion: &mut Criterion) {
    let input = Input::new(CEILING);
    let mut group = criterion.benchmark_group("50,000 rows");
    group.sample_size(20);
    group.bench_function("parsing their JSON", |bencher| {
        bencher.iter(|| black_box(serde_json::from_str::<QueryResponse>(&input.json).is_ok()));
    });
    for (name, analysis) in ANALYSES {
        group.bench_function(name, |bencher| bencher.iter(|| analysis(&input)));
    }
    group.finish();
}

fn growth_with_rows(criterion: &mut Criterion) {
    for size in SIZES {
        let input = Input::new(size);
        let mut group = criterion.benchmark_group("growth with rows");
        group.sample_size(10).throughput(Throughput::Elements(size as u64));
        group.bench_with_input(BenchmarkId::new("parsing their JSON", size), &input, |bencher, input| {
            bencher.iter(|| black_box(serde_json::from_str::<QueryResponse>(&input.json).is_ok()));
        });
        for (name, analysis) in ANALYSES {
            group.bench_with_input(BenchmarkId::new(name, size), &input, |bencher, input| {
                bencher.iter(|| analysis(input));
            });
        }
        group.finish();
    }
}

criterion_group!(benches, beside_parsing, growth_with_rows);
criterion_main!(benches);
