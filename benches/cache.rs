//! Cost of an insertion into a full cache, which evicts an entry. The baseline is a cache of 1,000 entries; the cost with 100,000
//! must be about the same, apart from the processor's caches.

use std::hint::black_box;

use chrono::{DateTime, TimeDelta};
use common::{byte_cache::ByteCache, clock::Moment};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};

/// Estimated bytes of a value.
const BYTES: usize = 1_000;

fn key(number: usize) -> String {
    format!("account/{number:08}/question of some length, as the keys of upstream requests have")
}

fn insertion(criterion: &mut Criterion) {
    let now = Moment::starting_at(DateTime::UNIX_EPOCH);
    let mut group = criterion.benchmark_group("insertion into a full cache");
    for entries in [1_000, 99_000] {
        // Room for `entries` values, as the cache counts them.
        let probe = ByteCache::new(usize::MAX);
        probe.put(key(0), 0, BYTES, now);
        let cache = ByteCache::new(entries * probe.usage().bytes);
        let mut number = 0;
        let mut insert = || {
            cache.put(key(number), number, BYTES, now + TimeDelta::hours(6));
            number += 1;
        };
        for _ in 0..entries {
            insert();
        }
        group.bench_function(BenchmarkId::from_parameter(entries), |bencher| bencher.iter(&mut insert));
        assert_eq!(black_box(cache.usage().entries), entries, "the cache stayed full");
    }
    group.finish();
}

criterion_group!(benches, insertion);
criterion_main!(benches);
