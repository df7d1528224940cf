//! A collector of spans, which takes them over OTLP.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{KeyValue, any_value::Value},
    trace::v1::Span,
};
use poem::{
    Body, EndpointExt as _, Request, Response, Route, endpoint,
    http::{HeaderMap, StatusCode},
    listener::TcpAcceptor,
};
use prost::Message as _;
use tokio::{net::TcpListener, sync::Notify};

/// A collector, and what it got.
#[derive(Clone)]
pub struct Collector {
    /// Its address, below which `/v1/traces` takes spans.
    pub root: String,
    got: Arc<Got>,
}

#[derive(Default)]
struct Got {
    batches: Mutex<Vec<(HeaderMap, Vec<u8>)>>,
    number: AtomicUsize,
    came: Notify,
}

impl Collector {
    /// Starts a collector that answers every batch with `status`.
    pub async fn start(status: StatusCode) -> Self {
        let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let root = format!("http://{}", socket.local_addr().unwrap());
        let got = Arc::<Got>::default();
        let taker = got.clone();
        let take = endpoint::make(move |request: Request| {
            let got = taker.clone();
            async move {
                let (parts, body): (_, Body) = request.into_parts();
                let body = body.into_vec().await.unwrap();
                got.batches.lock().unwrap().push((parts.headers, body));
                got.number.fetch_add(1, Ordering::SeqCst);
                got.came.notify_waiters();
                Ok::<_, poem::Error>(Response::builder().status(status).finish())
            }
        });
        let app = Route::new().at("/v1/traces", poem::post(take.boxed()));
        tokio::spawn(poem::Server::new_with_acceptor(TcpAcceptor::from_tokio(socket).unwrap()).run(app));
        Self { root, got }
    }

    /// Waits until it got so many batches.
    pub async fn got(&self, number: usize) {
        loop {
            let came = self.got.came.notified();
            tokio::pin!(came);
            came.as_mut().enable();
            if self.got.number.load(Ordering::SeqCst) >= number {
                return;
            }
            came.await;
        }
    }

    /// The headers and the body of each batch.
    pub fn batches(&self) -> Vec<(HeaderMap, Vec<u8>)> {
        self.got.batches.lock().unwrap().clone()
    }

    fn requests(&self) -> Vec<ExportTraceServiceRequest> {
        let batches = self.batches();
        batches.iter().map(|(_, body)| ExportTraceServiceRequest::decode(body.as_slice()).unwrap()).collect()
    }

    /// Everything that it got, as text.
    pub fn as_text(&self) -> String {
        format!("{:?}", self.requests())
    }

    /// The spans that it got.
    pub fn spans(&self) -> Vec<Span> {
        let resources = self.requests().into_iter().flat_map(|request| request.resource_spans);
        resources.flat_map(|resource| resource.scope_spans).flat_map(|scope| scope.spans).collect()
    }

    /// An attribute of the service that the first spans come from.
    pub fn service(&self, key: &str) -> String {
        let request = self.requests().remove(0);
        text(&request.resource_spans[0].resource.as_ref().unwrap().attributes, key)
    }
}

/// An attribute as text, or nothing.
pub fn text(attributes: &[KeyValue], key: &str) -> String {
    let found = attributes.iter().find(|attribute| attribute.key == key);
    match found.and_then(|attribute| attribute.value.clone()?.value) {
        Some(Value::StringValue(text)) => text,
        Some(Value::IntValue(number)) => number.to_string(),
        other => other.map_or_else(String::new, |value| format!("{value:?}")),
    }
}
