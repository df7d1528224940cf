//! Time in which the simulated search engine answers about its largest site.

use std::hint::black_box;

use chrono::NaiveDate;
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use simulator::World;

const SITE: &str = "sc-domain:northmoor.example";

fn today() -> NaiveDate {
    NaiveDate::from_ymd_opt(2026, 11, 20).unwrap_or_default()
}

fn body(start: &str, dimensions: &str) -> String {
    format!(r#"{{"startDate":"{start}","endDate":"2026-11-17","dimensions":{dimensions},"rowLimit":5000}}"#)
}

fn bench(criterion: &mut Criterion) {
    let questions = [
        ("28 days by query", body("2026-10-21", r#"["query"]"#)),
        ("28 days by query and page", body("2026-10-21", r#"["query","page"]"#)),
        ("28 days by date and query", body("2026-10-21", r#"["date","query"]"#)),
        ("28 days by page", body("2026-10-21", r#"["page"]"#)),
        ("16 months by date", body("2025-07-20", r#"["date"]"#)),
    ];
    for (name, body) in &questions {
        let mut group = criterion.benchmark_group(*name);
        group.sample_size(10);
        group.bench_function("cold", |bencher| {
            let fresh = || {
                let world = World::new(7, today());
                // One day, so that the queries themselves are generated before the measurement.
                let _ = world.answer(SITE, &body.replace("2026-10-21", "2026-11-17"), today());
                world
            };
            let setup = || if name.starts_with("28") { fresh() } else { World::new(7, today()) };
            bencher.iter_batched(setup, |world| black_box(world.answer(SITE, body, today())), BatchSize::PerIteration);
        });
        let world = World::new(7, today());
        group.bench_function("warm", |bencher| bencher.iter(|| black_box(world.answer(SITE, body, today()))));
        group.finish();
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
