//! Lines of the log for people: time, level, message, fields, and the request with its person. Each is on one line. A line for the journal of
//! systemd has its priority in place of the time, which the journal notes by itself.

use std::fmt;

use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
    span::Record,
};
use tracing_subscriber::{
    field::RecordFields,
    fmt::{
        FmtContext, FormatEvent, FormatFields, FormattedFields,
        format::Writer,
        time::{FormatTime as _, SystemTime},
    },
    registry::LookupSpan,
};

/// The fields that the message about a request says.
const SAID: [&str; 4] = ["method", "path", "status", "milliseconds"];

/// The format of lines and their fields.
#[derive(Debug, Clone, Copy, Default)]
pub struct Text {
    /// True if the journal reads them.
    pub for_journal: bool,
}

/// A format of lines that each begin with their priority, as the journal reads it.
pub struct Marked<F>(pub F);

/// The priority of `sd-daemon(3)`.
fn priority(level: Level) -> u8 {
    match level {
        Level::ERROR => 3,
        Level::WARN => 4,
        Level::INFO => 6,
        _ => 7,
    }
}

impl<S, N, F> FormatEvent<S, N> for Marked<F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut line: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        write!(line, "<{}>", priority(*event.metadata().level()))?;
        self.0.format_event(context, line, event)
    }
}

impl<S, N> FormatEvent<S, N> for Text
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut line: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let level = *event.metadata().level();
        if self.for_journal {
            write!(line, "<{}>", priority(level))?;
        } else {
            SystemTime.format_time(&mut line)?;
            line.write_char(' ')?;
        }
        let (colour, end) = if line.has_ansi_escapes() { (colour(level), "\x1b[0m") } else { ("", "") };
        write!(line, "{colour}{level:>5}{end} ")?;
        if level != Level::INFO {
            write!(line, "{}: ", event.metadata().target())?;
        }
        let mut message = Message::default();
        event.record(&mut message);
        line.write_str(&message.0)?;
        let mut fields = Fields { line: line.by_ref(), is_first: false, outcome: Ok(()) };
        event.record(&mut fields);
        fields.outcome?;
        for span in context.event_scope().into_iter().flat_map(tracing_subscriber::registry::Scope::from_root) {
            let kept = span.extensions();
            if let Some(fields) = kept.get::<FormattedFields<N>>().filter(|fields| !fields.is_empty()) {
                write!(line, " {fields}")?;
            }
        }
        writeln!(line)
    }
}

impl<'writer> FormatFields<'writer> for Text {
    fn format_fields<R: RecordFields>(&self, line: Writer<'writer>, fields: R) -> fmt::Result {
        let mut visitor = Fields { line, is_first: true, outcome: Ok(()) };
        fields.record(&mut visitor);
        visitor.outcome
    }

    /// Adds fields that a span did not have when it began. One that is there already is not repeated.
    fn add_fields(&self, known: &'writer mut FormattedFields<Self>, fields: &Record<'_>) -> fmt::Result {
        let mut added = String::new();
        self.format_fields(Writer::new(&mut added), fields)?;
        if !known.fields.split(' ').any(|field| field == added) {
            known.fields.push(' ');
            known.fields.push_str(&added);
        }
        Ok(())
    }
}

fn colour(level: Level) -> &'static str {
    match level {
        Level::ERROR => "\x1b[31m",
        Level::WARN => "\x1b[33m",
        Level::INFO => "\x1b[32m",
        _ => "\x1b[2m",
    }
}

/// The message of an event.
#[derive(Default)]
struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.0 = on_one_line(&format!("{value:?}"));
        }
    }
}

/// Writes the fields beside the message as `name=value`.
struct Fields<'writer> {
    line: Writer<'writer>,
    is_first: bool,
    outcome: fmt::Result,
}

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let name = match field.name() {
            "message" => return,
            said if SAID.contains(&said) => return,
            "correlation_id" => "request",
            name => name,
        };
        let space = if std::mem::take(&mut self.is_first) { "" } else { " " };
        let value = on_one_line(&format!("{value:?}"));
        self.outcome = self.outcome.and_then(|()| write!(self.line, "{space}{name}={value}"));
    }
}

/// `text` with its line breaks and other control characters escaped, so that it cannot pass for lines of its own.
fn on_one_line(text: &str) -> String {
    if !text.chars().any(char::is_control) {
        return text.to_owned();
    }
    text.chars().map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() }).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tracing_subscriber::fmt::MakeWriter;

    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl std::io::Write for Kept {
        fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(line);
            Ok(line.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    impl<'a> MakeWriter<'a> for Kept {
        type Writer = Self;

        fn make_writer(&'a self) -> Self {
            self.clone()
        }
    }

    /// The lines of `log`, without their times.
    fn lines(log: impl FnOnce()) -> Vec<String> {
        let kept = Kept::default();
        let subscriber = tracing_subscriber::fmt().with_writer(kept.clone()).with_ansi(false);
        let text = Text::default();
        tracing::subscriber::with_default(subscriber.fmt_fields(text).event_format(text).finish(), log);
        let text = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
        text.lines().map(|line| line.split_once(' ').unwrap().1.to_owned()).collect()
    }

    #[test]
    fn a_line_for_the_journal_begins_with_its_priority_and_has_no_time() {
        let said = |subscriber: &dyn Fn(Kept) -> tracing::Dispatch| {
            let kept = Kept::default();
            tracing::dispatcher::with_default(&subscriber(kept.clone()), || {
                tracing::error!("lost");
                tracing::warn!("late");
                tracing::info!(address = 1, "ready");
            });
            String::from_utf8(kept.0.lock().unwrap().clone()).unwrap()
        };
        let own = module_path!();
        let text = Text { for_journal: true };
        let plain = said(&|kept| {
            let subscriber = tracing_subscriber::fmt().with_writer(kept).with_ansi(false);
            subscriber.fmt_fields(text).event_format(text).finish().into()
        });
        assert_eq!(plain, format!("<3>ERROR {own}: lost\n<4> WARN {own}: late\n<6> INFO ready address=1\n"));
        let json =
            said(&|kept| tracing_subscriber::fmt().with_writer(kept).json().map_event_format(Marked).finish().into());
        let begins: Vec<&str> = json.lines().map(|line| &line[..4]).collect();
        assert_eq!(begins, ["<3>{", "<4>{", "<6>{"]);
    }

    #[test]
    fn a_request_is_one_line_and_says_everything_once() {
        let said = lines(|| {
            let path = "/account/search/{id}";
            let span = tracing::info_span!("request", correlation_id = %"7f", method = "GET", path, user = tracing::field::Empty);
            let entered = span.enter();
            tracing::info!(status = 403, milliseconds = 1, "GET {path} 403 1 ms");
            span.record("user", tracing::field::display("ann"));
            span.record("user", tracing::field::display("ann"));
            tracing::info!(status = 403, milliseconds = 1, "GET {path} 403 1 ms");
            tracing::warn!(error = "away", "nobody answers");
            drop(entered);
            tracing::info!(address = %"127.0.0.1:8080", "accepting requests");
        });
        let own = module_path!();
        assert_eq!(
            said,
            [
                " INFO GET /account/search/{id} 403 1 ms request=7f".to_owned(),
                " INFO GET /account/search/{id} 403 1 ms request=7f user=ann".to_owned(),
                format!(" WARN {own}: nobody answers error=\"away\" request=7f user=ann"),
                " INFO accepting requests address=127.0.0.1:8080".to_owned(),
            ]
        );
    }

    #[test]
    fn a_strangers_text_stays_on_its_line() {
        let said = lines(|| {
            let forged = "gone\n2026-11-22T12:00:00Z ERROR all is lost\u{1b}[31m";
            tracing::info!(error = %forged, "failed: {forged}");
        });
        assert_eq!(said.len(), 1);
        assert!(!said[0].contains('\u{1b}'), "{said:?}");
    }
}
