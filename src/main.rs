//! The `sightline` command.

use std::process::ExitCode;

use clap::Parser;
use sightline::{
    cli::{self, Cli},
    config::Config,
    telemetry::logs,
};

// Requests allocate much and briefly; the system's allocator takes about a quarter of their time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() -> ExitCode {
    let cli = Cli::parse();
    // A setting that cannot be read is told by the command that needs it.
    let format = Config::of_process().map(|config| config.log.format).unwrap_or_default();
    let _lines = logs::start(format);
    match cli::run(cli).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sightline: {error}");
            ExitCode::FAILURE
        }
    }
}
