//! Speed and size of the service; each figure is beside a baseline that the same run measures.
//!
//! Three processes take part: the service, the baseline, and this one, which generates the load. `cargo bench --bench
//! service` measures everything; `-- warm`, `-- cold`, `-- memory`, `-- start`, `-- engine`, `-- writes`,
//! `-- pages`, `-- shared` select parts.
//! `docs/BENCHMARKS.md` explains the figures.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints its figures")]

mod bare;
mod child;
mod cold;
mod connection;
mod engine;
mod figure;
mod load;
mod memory;
mod pages;
mod setting;
mod shared;
mod start;
mod warm;
mod writes;

use figure::Figure;

// The same allocator as the service, so that baselines use it, too.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Result of a measurement, or the reason why it failed.
type Measured<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// The measurements, in order.
const NAMES: [&str; 8] = ["start", "memory", "warm", "shared", "pages", "writes", "cold", "engine"];

#[tokio::main]
async fn main() -> Measured<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, file] = &arguments[..]
        && command == bare::COMMAND
    {
        return bare::serve(file).await;
    }
    let asked: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let mut figures = Vec::new();
    for name in NAMES.into_iter().filter(|name| asked.is_empty() || asked.iter().any(|asked| asked == name)) {
        eprintln!("measuring: {name}");
        figures.extend(match name {
            "start" => start::measure().await?,
            "memory" => memory::measure().await?,
            "cold" => cold::measure().await?,
            "warm" => warm::measure().await?,
            "shared" => shared::measure().await?,
            "pages" => pages::measure().await?,
            "writes" => writes::measure().await?,
            _ => engine::measure(),
        });
    }
    println!("{}", Figure::table(&figures));
    Ok(())
}
