//! The `sightline` command.

use std::{process::ExitCode, sync::LazyLock, time::Duration};

use clap::{CommandFactory as _, FromArgMatches as _};
use sightline::{
    cli::{
        self, Cli,
        terminal::{Text, note},
    },
    config::Config,
};
use telemetry::logs;

/// The stack of a thread, in bytes. A cold page of a site takes nearly 2 MiB of it without optimisation.
const STACK: usize = 4 << 20;

/// Time until an idle blocking thread ends. The allocator returns a thread's memory when the thread ends.
const IDLE_THREAD: Duration = Duration::from_secs(1);

/// The version, and the day of the commit that `make dist` built. It stands here, so that another day compiles no library again.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    format!("{} ({})", env!("CARGO_PKG_VERSION"), option_env!("SIGHTLINE_BUILD_DATE").unwrap_or("dev"))
});

// Requests make many short-lived allocations, and the system's allocator takes about a quarter of their time. This allocator
// also serves SQLite: without it, each SQLite thread would keep the memory of its largest result. Without huge pages the
// process uses about half the memory.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_keep_alive(IDLE_THREAD)
        .thread_stack_size(STACK)
        .build();
    match runtime {
        Ok(runtime) => runtime.block_on(run()),
        Err(error) => {
            note(&Text::line(format!("sightline: no threads can be started: {error}")));
            ExitCode::FAILURE
        }
    }
}

/// SIGXFSZ: the signal of a process whose file reaches the limit of its size (`ulimit -f`). The standard library does not name it.
#[cfg(unix)]
const TOO_LARGE: i32 = 25;

async fn run() -> ExitCode {
    // Unhandled, the signal would end the process. Handled, the write fails, as on a full disk.
    #[cfg(unix)]
    let _handled = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::from_raw(TOO_LARGE));
    let matches = Cli::command().version(VERSION.as_str()).get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    // Configuration errors are reported by the command that needs the settings.
    let format = Config::of_process().map(|config| config.log.format).unwrap_or_default();
    let _lines = logs::start(format);
    match Box::pin(cli::run(cli)).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            note(&Text::line(format!("sightline: {error}")));
            ExitCode::FAILURE
        }
    }
}
