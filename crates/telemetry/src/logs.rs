//! Log lines on stderr. A separate thread writes them, so no request waits.

use std::{
    fmt::Display,
    io::{self, IsTerminal as _, Write},
    mem,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use tracing_subscriber::{EnvFilter, fmt::MakeWriter};

use crate::text::{Marked, Text};

/// The format of a log line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Plain text for people.
    #[default]
    Text,
    /// One JSON object per line, for programs.
    Json,
}

/// Interval between writes.
const INTERVAL: Duration = Duration::from_millis(50);

/// The maximum number of bytes that wait to be written. Lines beyond it are dropped and counted.
const MAX_WAITING: usize = 8 * 1024 * 1024;

/// The level unless `RUST_LOG` sets another. The tool protocol's SDK writes several lines for each message, and its warnings quote
/// what clients send. Its errors of `service` say that a client has left. Migrations have a line of our own, and so has the start.
const FILTER: &str = "info,rmcp=error,rmcp::service=off,sea_orm_migration=warn,poem=warn";

/// Off whatever `RUST_LOG` says: the driver prints parameters of a database URL that it does not know, and these may be part of a password.
const NEVER: &str = "sqlx_postgres::options=off";

/// Starts logging. Dropping the guard writes the pending lines.
///
/// `RUST_LOG` sets the level, `info` by default. Text has colours only on a terminal that takes them, and not with `NO_COLOR`.
#[must_use]
pub fn start(format: LogFormat) -> Guard {
    let lines = Lines::default();
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(FILTER));
    let filter = NEVER.parse().map_or_else(|_| EnvFilter::new(FILTER), |never| filter.add_directive(never));
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_writer(lines.clone());
    let for_journal = said("JOURNAL_STREAM").is_some_and(|stream| is_stderr(&stream));
    match format {
        LogFormat::Text => {
            let has_colours =
                stderr().is_terminal() && takes_colours(said("TERM").as_deref(), said("NO_COLOR").as_deref());
            let text = Text { for_journal };
            subscriber.with_ansi(has_colours).fmt_fields(text).event_format(text).init();
        }
        LogFormat::Json if for_journal => subscriber.json().flatten_event(true).map_event_format(Marked).init(),
        LogFormat::Json => subscriber.json().flatten_event(true).init(),
    }
    Guard::start(lines)
}

/// Returns whether stderr is the stream to the journal of systemd that `JOURNAL_STREAM` names by its device and inode. A program that is
/// started by a service inherits the variable, and may write elsewhere.
#[cfg(unix)]
fn is_stderr(stream: &str) -> bool {
    rustix::fs::fstat(stderr()).is_ok_and(|own| stream == format!("{}:{}", own.st_dev, own.st_ino))
}

#[cfg(not(unix))]
fn is_stderr(_stream: &str) -> bool {
    false
}

/// Returns whether a terminal obeys escape sequences, as `TERM` says.
#[must_use]
pub fn takes_escapes() -> bool {
    obeys(said("TERM").as_deref())
}

fn obeys(term: Option<&str>) -> bool {
    term != Some("dumb")
}

/// Returns whether a terminal takes colours, and the person, who forbids them by `NO_COLOR` with any text.
fn takes_colours(term: Option<&str>, no_color: Option<&str>) -> bool {
    obeys(term) && no_color.is_none_or(str::is_empty)
}

#[expect(clippy::disallowed_methods, reason = "the terminal's own variables, and no settings of the service")]
fn said(variable: &str) -> Option<String> {
    std::env::var_os(variable).map(|text| text.to_string_lossy().into_owned())
}

/// Notes the person on whose behalf a request is made, for the lines of the log about it.
pub fn note_user(user: impl Display) {
    tracing::Span::current().record("user", tracing::field::display(user));
}

/// Lines that wait to be written.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Waiting>>);

#[derive(Default)]
struct Waiting {
    bytes: Vec<u8>,
    lost: u64,
}

impl Lines {
    /// Takes the waiting lines and writes them to `out`.
    fn flush(&self, out: &mut impl Write) {
        let waiting = mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        // A failure of stderr cannot be reported anywhere.
        let _ = out.write_all(&waiting.bytes);
        if waiting.lost > 0 {
            let _ = writeln!(out, "{} log lines were lost: they came faster than they could be written", waiting.lost);
        }
    }
}

impl Write for Lines {
    /// Takes a whole line, because the subscriber writes each line in one call.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.bytes.len() + line.len() > MAX_WAITING {
            waiting.lost += 1;
        } else {
            waiting.bytes.extend_from_slice(line);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[expect(clippy::disallowed_methods, reason = "the log cleans its own lines")]
fn stderr() -> io::Stderr {
    io::stderr()
}

/// Writes lines until it is dropped.
pub struct Guard {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Guard {
    fn start(lines: Lines) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let told = is_over.clone();
        let thread = thread::spawn(move || {
            while !told.load(Ordering::Acquire) {
                lines.flush(&mut stderr());
                thread::park_timeout(INTERVAL);
            }
            lines.flush(&mut stderr());
        });
        Self { is_over, thread: Some(thread) }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_for_terminals_and_people_who_take_them() {
        for (term, no_color, takes) in [
            (Some("xterm-256color"), None, true),
            (None, None, true),
            (Some("xterm"), Some(""), true),
            (Some("dumb"), None, false),
            (Some("xterm"), Some("1"), false),
            (Some("xterm"), Some("0"), false),
        ] {
            assert_eq!(takes_colours(term, no_color), takes, "{term:?} {no_color:?}");
        }
    }

    #[test]
    fn lines_are_written_in_order_and_what_is_lost_is_counted() {
        let lines = Lines::default();
        let mut writer = lines.make_writer();
        for line in ["one\n", "two\n"] {
            writer.write_all(line.as_bytes()).unwrap();
        }
        let mut out = Vec::new();
        lines.flush(&mut out);
        assert_eq!(out, b"one\ntwo\n");

        for _ in 0..3 {
            writer.write_all(&vec![b'x'; MAX_WAITING / 2]).unwrap();
        }
        let mut out = Vec::new();
        lines.flush(&mut out);
        assert!(String::from_utf8(out.split_off(MAX_WAITING)).unwrap().starts_with("1 log lines were lost"));
        lines.flush(&mut out);
        assert_eq!(out.len(), MAX_WAITING, "nothing waits any more");
    }
}
