//! Time in which the simulated search engine generates four weeks of its largest site, which tests and demonstrations wait for.

use std::time::Instant;

use common::clock::Clock;
use serde_json::json;
use simulator::World;

use crate::{
    figure::{Figure, median, milliseconds},
    setting::window,
};

/// The site with the most queries.
const LARGEST: &str = "sc-domain:northmoor.example";

/// Runs the measurement.
pub fn measure() -> Vec<Figure> {
    let today = Clock::system().pacific_today();
    let ask = |world: &World, (start, end)| {
        let body = json!({ "startDate": start, "endDate": end, "dimensions": ["query"], "rowLimit": 25_000 });
        world.answer(LARGEST, &body.to_string(), today).is_ok()
    };
    let times = (0..5).map(|_| {
        let world = World::new(7, today);
        // One other day, so that the queries themselves are generated before the measurement.
        ask(&world, window(40, 1));
        let begun = Instant::now();
        ask(&world, window(0, 28));
        begun.elapsed()
    });
    let time = median(times.collect());
    vec![Figure {
        name: "simulated search engine, 28 days by query, none drawn".to_owned(),
        value: milliseconds(time),
        baseline: String::new(),
        ratio: String::new(),
        aim: Some(("< 200 ms".to_owned(), time.as_millis() < 200)),
    }]
}
