//! The `sightline` command.

use std::{process::ExitCode, time::Duration};

use clap::Parser;
use sightline::{
    cli::{self, Cli},
    config::Config,
    telemetry::logs,
};

/// How long an idle thread beside the runtime lives. The allocator gives a thread's memory back when the thread ends.
const IDLE_THREAD: Duration = Duration::from_secs(1);

// Requests allocate much and briefly: the system's allocator takes about a quarter of their time. It also serves SQLite, whose threads
// would each keep what their largest answer took. Without huge pages the process takes about half the memory.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().thread_keep_alive(IDLE_THREAD).build();
    match runtime {
        Ok(runtime) => runtime.block_on(run()),
        Err(error) => {
            eprintln!("sightline: no threads can be started: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> ExitCode {
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
