//! How fast and how large the service is, each figure beside a baseline that the same run measures.
//!
//! `cargo bench --bench service` measures everything; `-- warm`, `-- cold`, `-- memory`, `-- engine`, `-- writes` choose.
//! `docs/BENCHMARKS.md` says what the figures mean.

mod cold;
mod connection;
mod engine;
mod figure;
mod memory;
mod setting;
mod warm;
mod writes;

use figure::Figure;

/// What a measurement yields, or why it could not be made.
type Measured<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// The measurements in the order they are made. Memory comes first, while nothing else has left its mark on the process.
const NAMES: [&str; 5] = ["memory", "cold", "warm", "writes", "engine"];

#[tokio::main]
async fn main() -> Measured<()> {
    let asked: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let mut figures = Vec::new();
    for name in NAMES.into_iter().filter(|name| asked.is_empty() || asked.iter().any(|asked| asked == name)) {
        eprintln!("measuring: {name}");
        figures.extend(match name {
            "memory" => memory::measure().await?,
            "cold" => cold::measure().await?,
            "warm" => warm::measure().await?,
            "writes" => writes::measure().await?,
            _ => engine::measure(),
        });
    }
    println!("{}", Figure::table(&figures));
    Ok(())
}
