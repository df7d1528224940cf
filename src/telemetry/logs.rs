//! Log lines on stderr. A separate thread writes them, so no request waits.

use std::io::{self, IsTerminal as _};

use tracing_appender::non_blocking::WorkerGuard;
use tracing_subscriber::EnvFilter;

use crate::config::LogFormat;

/// Starts logging. Dropping the guard writes the pending lines.
///
/// `RUST_LOG` sets the level, `info` by default. Text has colours only on a terminal.
pub fn start(format: LogFormat) -> WorkerGuard {
    let (writer, guard) = tracing_appender::non_blocking(io::stderr());
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer);
    match format {
        LogFormat::Text => lines.with_ansi(io::stderr().is_terminal()).init(),
        LogFormat::Json => lines.json().flatten_event(true).init(),
    }
    guard
}
