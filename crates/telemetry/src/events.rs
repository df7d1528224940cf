//! Counts events by what came of them: sign-ins, messages, sweeps.

use std::{
    sync::atomic::{AtomicI64, AtomicU64},
    time::Duration,
};

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};

use super::requests::histogram;

/// The outcome of a sign-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignIn {
    /// A browser is signed in.
    Ok,
    /// The person cancelled.
    Cancelled,
    /// The attempt took too long, was used before, or began in another browser.
    Expired,
    /// The person may not sign in.
    Refused,
    /// There is no such account, or the password is wrong.
    WrongPassword,
    /// There were too many attempts.
    Limited,
    /// The issuer or the database does not answer.
    Unavailable,
    /// The issuer gave an unexpected answer, or something else went wrong.
    Failed,
}

impl SignIn {
    const ALL: [Self; 8] = [
        Self::Ok,
        Self::Cancelled,
        Self::Expired,
        Self::Refused,
        Self::WrongPassword,
        Self::Limited,
        Self::Unavailable,
        Self::Failed,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
            Self::Refused => "refused",
            Self::WrongPassword => "wrong_password",
            Self::Limited => "limited",
            Self::Unavailable => "unavailable",
            Self::Failed => "failed",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Came {
    outcome: &'static str,
}

/// Counts events. Each outcome is there from the start, so that its rate is known from the first event on.
#[derive(Debug, Clone)]
pub struct EventMeter {
    sign_ins: Family<Came, Counter>,
    messages: Family<Came, Counter>,
    sweeps: Family<Came, Counter>,
    warmed: Family<Came, Counter>,
    swept: Counter<u64, AtomicU64>,
    sweep_seconds: Histogram,
    last_sweep: Gauge<i64, AtomicI64>,
}

impl Default for EventMeter {
    fn default() -> Self {
        Self {
            sign_ins: from_zero(&SignIn::ALL.map(SignIn::name)),
            messages: from_zero(&["sent", "failed"]),
            sweeps: from_zero(&["done", "failed"]),
            warmed: from_zero(&["done", "failed"]),
            swept: Counter::default(),
            sweep_seconds: histogram(),
            last_sweep: Gauge::default(),
        }
    }
}

fn from_zero(outcomes: &[&'static str]) -> Family<Came, Counter> {
    let family = Family::default();
    for outcome in outcomes {
        drop(Family::<Came, Counter>::get_or_create(&family, &Came { outcome }));
    }
    family
}

impl EventMeter {
    /// Adds the metrics to `registry`.
    pub fn register(&self, registry: &mut Registry) {
        registry.register("sign_ins", "Sign-ins of browsers, by what came of them", self.sign_ins.clone());
        registry.register("mail_messages", "Messages to the mail server, by what came of them", self.messages.clone());
        registry.register("warmed_pages", "Pages that were read ahead, by what came of them", self.warmed.clone());
        registry.register("sweeps", "Sweeps of expired rows, by what came of them", self.sweeps.clone());
        registry.register("swept_rows", "Expired rows deleted by sweeps", self.swept.clone());
        registry.register("sweep_duration_seconds", "Time of a sweep", self.sweep_seconds.clone());
        let help = "End of the last sweep without a failure, or start of the service, in seconds since 1970";
        registry.register("sweep_last_success_timestamp_seconds", help, self.last_sweep.clone());
    }

    /// Counts a sign-in.
    pub fn note_sign_in(&self, outcome: SignIn) {
        self.sign_ins.get_or_create(&Came { outcome: outcome.name() }).inc();
    }

    /// Counts a page that was read ahead.
    pub fn note_warmed(&self, is_done: bool) {
        self.warmed.get_or_create(&Came { outcome: if is_done { "done" } else { "failed" } }).inc();
    }

    /// Counts a message to the mail server.
    pub fn note_message(&self, was_sent: bool) {
        self.messages.get_or_create(&Came { outcome: if was_sent { "sent" } else { "failed" } }).inc();
    }

    /// Counts a sweep that deleted this number of rows, and ended at `now`, in seconds since 1970.
    pub fn note_sweep(&self, rows: u64, took: Duration, is_well: bool, now: i64) {
        self.sweeps.get_or_create(&Came { outcome: if is_well { "done" } else { "failed" } }).inc();
        self.swept.inc_by(rows);
        self.sweep_seconds.observe(took.as_secs_f64());
        if is_well {
            self.last_sweep.set(now);
        }
    }

    /// Notes the start of a service that sweeps, in seconds since 1970.
    pub fn note_start(&self, now: i64) {
        self.last_sweep.set(now);
    }
}
