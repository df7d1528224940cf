//! Time from the start of the process to its first answer, and memory of an idle service.

use std::time::{Duration, Instant};

use crate::{
    Measured,
    figure::{Figure, median, milliseconds},
    memory::{MIB, mebibytes},
    setting::{Engine, MIDDLING, Setting},
};

/// Number of measured starts.
const STARTS: usize = 5;

/// Idle time before the memory is read.
const IDLE: Duration = Duration::from_secs(3);

/// Runs the measurement.
pub async fn measure() -> Measured<Vec<Figure>> {
    let engine = Engine::start(0)?;
    let mut setting = Setting::start(&engine, MIDDLING, &[]).await?;
    let (mut times, mut idle) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let begun = Instant::now();
        setting = setting.restart(&engine)?;
        setting.get("/api/health").await?;
        times.push(begun.elapsed());
        tokio::time::sleep(IDLE).await;
        idle.extend(setting.server.memory("VmRSS"));
    }
    let time = median(times);
    idle.sort_unstable();
    let idle = idle.get(idle.len() / 2).copied();
    Ok(vec![
        Figure {
            name: "start to first answer, existing database".to_owned(),
            value: milliseconds(time),
            baseline: String::new(),
            ratio: String::new(),
            aim: Some(("≤ 300 ms".to_owned(), time <= Duration::from_millis(300))),
        },
        Figure {
            name: "memory of an idle service".to_owned(),
            value: mebibytes(idle),
            baseline: String::new(),
            ratio: String::new(),
            aim: idle.map(|idle| ("≤ 40 MB".to_owned(), idle <= 40 * MIB)),
        },
    ])
}
