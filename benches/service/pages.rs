//! The warm overview of a site, beside the operations that it asks.

use std::time::{Duration, Instant};

use crate::{
    Measured,
    figure::Figure,
    setting::{Engine, MIDDLING, Setting},
};

/// Views of the page, and questions of each operation, in a round.
const VIEWS: u32 = 200;

/// Rounds of each side. They alternate; the first of each warms up.
const ROUNDS: usize = 3;

/// The most that a view may take of the processor time of its operations.
const MOST_TIMES: f64 = 3.0;

/// Time to the last byte of a view that the dashboard aims at.
const SOON: Duration = Duration::from_millis(100);

/// The operations that the overview asks, with the question that it asks without parameters.
fn operations(property: &str) -> [String; 8] {
    let of = |rest: &str| format!("/api/properties/{property}{rest}");
    [
        of(""),
        of("/branded-keywords?limit=1"),
        of("/segments?limit=100"),
        of("/topic-clusters?limit=100"),
        "/api/filter-presets?limit=100".to_owned(),
        of("/performance?compare=previous_period&scope=all&queryLimit=10&pageLimit=10&explain=true"),
        of("/table-sparklines?table=queries&limit=10"),
        of("/annotations?includeSystem=true"),
    ]
}

/// Runs the measurement.
pub async fn measure() -> Measured<Vec<Figure>> {
    let engine = Engine::start(0)?;
    let setting = Setting::start(&engine, MIDDLING, &[]).await?;
    let cookie = setting.session().await?;
    let page = format!("/p/{}", setting.property);
    let (mut of_page, mut of_operations, mut waits) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..=ROUNDS {
        let (before, mut bytes) = (setting.server.processor_time(), 0);
        for _ in 0..VIEWS {
            let begun = Instant::now();
            bytes += setting.page(&page, &cookie).await?.len();
            waits.push(begun.elapsed());
        }
        let between = setting.server.processor_time();
        if bytes == 0 {
            return Err("the page is empty".into());
        }
        for _ in 0..VIEWS {
            for operation in operations(&setting.property) {
                setting.get(&operation).await?;
            }
        }
        let after = setting.server.processor_time();
        if let (Some(before), Some(between), Some(after)) = (before, between, after) {
            of_page.push((between.saturating_sub(before) / VIEWS).as_secs_f64());
            of_operations.push((after.saturating_sub(between) / VIEWS).as_secs_f64());
        }
    }
    let best = |times: &[f64]| times.iter().skip(1).copied().reduce(f64::min);
    waits.drain(..VIEWS as usize);
    waits.sort_unstable();
    let wait = waits.get(waits.len() / 2).copied().unwrap_or_default();
    let mut figures = vec![Figure {
        name: "the warm overview, to its last byte".to_owned(),
        value: format!("{:.1} ms", wait.as_secs_f64() * 1e3),
        baseline: String::new(),
        ratio: String::new(),
        aim: Some(("≤ 100 ms".to_owned(), wait <= SOON)),
    }];
    if let (Some(page), Some(operations)) = (best(&of_page), best(&of_operations)) {
        let times = page / operations;
        figures.push(Figure {
            name: "processor time of the warm overview".to_owned(),
            value: format!("{:.2} ms", page * 1e3),
            baseline: format!("{:.2} ms the operations that it asks", operations * 1e3),
            ratio: format!("{times:.2}"),
            aim: Some((format!("≤ {MOST_TIMES:.1}"), times <= MOST_TIMES)),
        });
    }
    Ok(figures)
}
