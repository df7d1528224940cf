//! Traces: spans of requests, of what they ask of other services, and of statements. A collector gets them over OTLP.
//!
//! A span is current while the future runs that [`Span::around`] returns. Where traces are off no span ever is, so none is made. Texts of
//! attributes are known when the program is built: no span can hold what people ask about.

mod export;
mod parent;

use std::{
    borrow::Cow,
    pin::Pin,
    task::{self, Poll},
    time::Duration,
};

use http::HeaderMap;
use opentelemetry::{
    Context, KeyValue, time,
    trace::{Span as _, SpanKind, Status, TraceContextExt as _, Tracer as _},
};
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use pin_project_lite::pin_project;

pub use self::export::{Refused, Source};

/// The first words of statements that spans are named by.
const OPERATIONS: [&str; 5] = ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"];

/// Begins traces, and exports them. By default they are off.
#[derive(Debug, Clone, Default)]
pub struct Traces(Option<Exporting>);

#[derive(Debug, Clone)]
struct Exporting {
    provider: SdkTracerProvider,
    /// A context without a span, in which spans can begin: it has the tracer.
    outside: Context,
}

impl Traces {
    /// Begins the span of a request with this method, pattern of the path, and id. Its parent is the span that `traceparent` names.
    pub fn request(&self, method: &'static str, route: &str, id: &str, headers: &HeaderMap) -> Span {
        let Some(Exporting { outside, .. }) = &self.0 else { return Span::default() };
        let method = if method.chars().all(char::is_alphabetic) { method } else { "_OTHER" };
        let about = vec![
            KeyValue::new("http.request.method", method),
            KeyValue::new("http.route", route.to_owned()),
            KeyValue::new("sightline.request_id", id.to_owned()),
        ];
        let context = parent::of(headers).map(|parent| outside.with_remote_span_context(parent));
        begin(context.as_ref().unwrap_or(outside), format!("{method} {route}"), SpanKind::Server, about)
    }

    /// Begins the span of work in the background, which no request is the parent of.
    pub fn background(&self, name: &'static str) -> Span {
        let Some(Exporting { outside, .. }) = &self.0 else { return Span::default() };
        begin(outside, name, SpanKind::Internal, Vec::new())
    }
}

/// A span under way, or none. Dropping it ends it.
#[derive(Debug, Default)]
#[must_use]
pub struct Span(Current);

impl Span {
    /// Begins a part of the current span.
    pub fn part(name: &'static str) -> Self {
        Current::get().begin(name, SpanKind::Internal)
    }

    /// Begins a request to another service, as a part of the current span.
    pub fn client(name: &'static str) -> Self {
        Current::get().begin(name, SpanKind::Client)
    }

    /// Begins an attempt of a request to another service, which was `sent` before.
    pub fn attempt(name: &'static str, sent: u32) -> Self {
        let span = Self::client(name);
        if sent > 0 {
            span.count("http.request.resend_count", sent);
        }
        span
    }

    /// Begins an operation of a database of this kind, as a part of the current span.
    pub fn database(system: &'static str, operation: &'static str) -> Self {
        let span = Self::client(operation);
        span.set("db.system.name", system);
        span.set("db.operation.name", operation);
        span
    }

    /// Runs `work` with this span as the current one. Without one the current one stays.
    pub fn around<F: Future>(&self, work: F) -> Around<F> {
        self.0.clone().around(work)
    }

    /// Notes a text that was known when the program was built.
    pub fn set(&self, key: &'static str, value: &'static str) {
        self.note(KeyValue::new(key, value));
    }

    /// Notes a number.
    pub fn count(&self, key: &'static str, value: impl Into<i64>) {
        self.note(KeyValue::new(key, value.into()));
    }

    /// Notes the status of an answer.
    pub fn status(&self, status: u16) {
        self.count("http.response.status_code", status);
    }

    /// Notes that it failed, if it did.
    pub fn fail_if(&self, has_failed: bool) {
        if let (true, Current(Some(context))) = (has_failed, &self.0) {
            context.span().set_status(Status::error(""));
        }
    }

    /// Notes the outcome of an attempt.
    pub fn ended(&self, outcome: &'static str, is_well: bool) {
        self.set("sightline.outcome", outcome);
        self.fail_if(!is_well);
    }

    fn note(&self, attribute: KeyValue) {
        if let Current(Some(context)) = &self.0 {
            context.span().set_attribute(attribute);
        }
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        // Work that goes on in the background may keep the context.
        if let Current(Some(context)) = &self.0 {
            context.span().end();
        }
    }
}

/// The span that is current, or none.
#[derive(Debug, Clone, Default)]
pub struct Current(Option<Context>);

impl Current {
    /// Returns the span that is current here, for work in another task.
    #[must_use]
    pub fn get() -> Self {
        Self(Context::map_current(|context| context.get::<SdkTracer>().map(|_| context.clone())))
    }

    /// Runs `work` with it as the current one.
    pub fn around<F: Future>(self, work: F) -> Around<F> {
        Around { work, current: self }
    }

    fn begin(&self, name: &'static str, kind: SpanKind) -> Span {
        self.0.as_ref().map(|context| begin(context, name, kind, Vec::new())).unwrap_or_default()
    }
}

pin_project! {
    /// A future that runs in a span. It is a type of its own, because an async function would hold the future twice.
    pub struct Around<F> {
        #[pin]
        work: F,
        current: Current,
    }
}

impl<F: Future> Future for Around<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, task: &mut task::Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _current = this.current.0.clone().map(Context::attach);
        this.work.poll(task)
    }
}

/// Begins a span in `parent`, if that has a tracer.
fn begin(parent: &Context, name: impl Into<Cow<'static, str>>, kind: SpanKind, about: Vec<KeyValue>) -> Span {
    let Some(tracer) = parent.get::<SdkTracer>() else { return Span::default() };
    let span = tracer.build_with_context(tracer.span_builder(name).with_kind(kind).with_attributes(about), parent);
    Span(Current(Some(parent.with_span(span))))
}

/// Notes a statement that has just ended, as a part of the current span. Only its first word is exported, because its text may hold values.
pub fn statement(system: &'static str, sql: &str, took: Duration, has_failed: bool) {
    let Current(Some(context)) = Current::get() else { return };
    let Some(tracer) = context.get::<SdkTracer>() else { return };
    let first = sql.split_whitespace().next().unwrap_or_default();
    let operation = OPERATIONS.into_iter().find(|known| first.eq_ignore_ascii_case(known)).unwrap_or("statement");
    let begun = time::now().checked_sub(took).unwrap_or_else(time::now);
    let about = [KeyValue::new("db.system.name", system), KeyValue::new("db.operation.name", operation)];
    let builder = tracer.span_builder(operation).with_kind(SpanKind::Client).with_attributes(about);
    let mut span = tracer.build_with_context(builder.with_start_time(begun), &context);
    if has_failed {
        span.set_status(Status::error(""));
    }
}
