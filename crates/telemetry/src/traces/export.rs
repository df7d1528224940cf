//! Sends spans to a collector. A thread of its own sends them in batches; what does not fit in its queue is dropped, so no request waits.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use opentelemetry::{Context, KeyValue, trace::TracerProvider as _};
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{ExporterBuildError, Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::{Resource, trace::SdkTracerProvider};
use tokio::{runtime::Handle, task::spawn_blocking};

use super::{Exporting, Traces};

/// The time limit of a batch.
const OF_BATCH: Duration = Duration::from_secs(10);

/// The time that the last spans have when the service stops.
const OF_LAST: Duration = Duration::from_secs(3);

/// The service that spans come from.
pub struct Source {
    /// The version of the program.
    pub version: &'static str,
    /// The id of the process.
    pub instance: String,
}

/// Why spans cannot be exported: a standard variable of the environment has a value that is not supported.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Refused(ExporterBuildError);

impl Traces {
    /// Sends spans to `url` by `http`. The standard variables of the environment set headers (`OTEL_EXPORTER_OTLP_HEADERS`), the sampler, the
    /// batches and further attributes of the service.
    ///
    /// # Errors
    /// A variable has a value that is not supported.
    pub fn to(url: &str, http: reqwest::Client, source: Source) -> Result<Self, Refused> {
        let collector = Collector { http, runtime: Handle::current(), is_failing: AtomicBool::default() };
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(collector)
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(url)
            .with_timeout(OF_BATCH)
            .build()
            .map_err(Refused)?;
        let about =
            [KeyValue::new("service.version", source.version), KeyValue::new("service.instance.id", source.instance)];
        let resource = Resource::builder().with_service_name("sightline").with_attributes(about).build();
        let provider = SdkTracerProvider::builder().with_resource(resource).with_batch_exporter(exporter).build();
        let outside = Context::new().with_value(provider.tracer("sightline"));
        Ok(Self(Some(Exporting { provider, outside })))
    }

    /// Sends the last spans, for three seconds at most. Later ones are dropped.
    pub async fn end(&self) {
        let Some(Exporting { provider, .. }) = self.0.clone() else { return };
        let ended = spawn_blocking(move || provider.shutdown_with_timeout(OF_LAST)).await;
        if let Ok(Err(error)) = ended {
            tracing::warn!(%error, "the last spans were not sent");
        }
    }
}

/// The collector. The thread that sends has no runtime, so requests run on that of the service.
#[derive(Debug)]
struct Collector {
    http: reqwest::Client,
    runtime: Handle,
    /// True from a failure to the next success, so that the log has one line about both.
    is_failing: AtomicBool,
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let mut request = reqwest::Request::try_from(request)?;
        *request.timeout_mut() = Some(OF_BATCH);
        let http = self.http.clone();
        let sent = self.runtime.spawn(async move { http.execute(request).await }).await?;
        self.note(&sent);
        let mut response = Response::new(Bytes::new());
        *response.status_mut() = sent?.status();
        Ok(response)
    }
}

impl Collector {
    /// Says once that the collector fails, and once that it does no longer.
    fn note(&self, sent: &reqwest::Result<reqwest::Response>) {
        let failure = match sent {
            Ok(response) if response.status().is_success() => None,
            Ok(response) => Some(format!("it answered {}", response.status().as_u16())),
            Err(error) if error.is_timeout() => Some("it did not answer in time".to_owned()),
            Err(error) if error.is_connect() => Some("it cannot be reached".to_owned()),
            Err(_) => Some("the connection was lost".to_owned()),
        };
        match (failure, self.is_failing.load(Ordering::Relaxed)) {
            (Some(failure), false) => {
                tracing::warn!("spans are lost: the collector at traces.otlp_endpoint fails: {failure}");
            }
            (None, true) => tracing::info!("the collector at traces.otlp_endpoint takes spans again"),
            _ => return,
        }
        self.is_failing.fetch_not(Ordering::Relaxed);
    }
}
