//! Clients for outgoing requests. All have the same settings of TLS, because reading the root certificates of the machine takes longer than
//! the rest of a client.

use std::{
    sync::{Arc, LazyLock},
    time::Duration,
};

use common::urls::is_loopback;
use rustls::{ClientConfig, RootCertStore, crypto::aws_lc_rs};
use rustls_platform_verifier::BuilderVerifierExt as _;
use url::Url;

use crate::error::Error;

/// The root certificates of the machine, as they were when the first client was made. Without any, only servers without TLS can be reached,
/// such as those of a demo.
static TLS: LazyLock<Result<ClientConfig, rustls::Error>> = LazyLock::new(|| {
    let builder = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
    let builder = builder.with_safe_default_protocol_versions()?;
    let verified = builder.clone().with_platform_verifier().unwrap_or_else(|error| {
        tracing::warn!(%error, "no https server can be reached: install ca-certificates, or name a file by SSL_CERT_FILE");
        builder.with_root_certificates(RootCertStore::empty())
    });
    Ok(verified.with_no_client_auth())
});

/// Creates the HTTP client for all outgoing requests: time limits, no redirects.
///
/// # Errors
/// The settings of TLS are invalid.
pub fn http_client() -> Result<reqwest::Client, Error> {
    http_settings()?.build().map_err(Error::internal)
}

/// Creates the HTTP client for requests to a service on this machine, which no proxy passes on.
///
/// # Errors
/// The settings of TLS are invalid.
pub fn local_http_client() -> Result<reqwest::Client, Error> {
    http_settings()?.no_proxy().build().map_err(Error::internal)
}

/// Creates the HTTP client for requests to a service at `url`: [`local_http_client`] if it is on this machine, else [`http_client`].
///
/// # Errors
/// The settings of TLS are invalid.
pub fn http_client_to(url: &str) -> Result<reqwest::Client, Error> {
    if Url::parse(url).is_ok_and(|url| is_loopback(&url)) { local_http_client() } else { http_client() }
}

/// The settings of outgoing requests. Documents of clients are fetched by a client of their own, with more of them.
///
/// # Errors
/// The settings of TLS are invalid.
pub fn http_settings() -> Result<reqwest::ClientBuilder, Error> {
    #[expect(clippy::disallowed_methods, reason = "clients are made here and handed on")]
    let builder = reqwest::Client::builder();
    let tls = TLS.as_ref().map_err(Error::internal)?;
    let builder = builder
        .tls_backend_preconfigured(tls.clone())
        .connect_timeout(Duration::from_secs(5))
        .timeout(Duration::from_mins(1))
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("sightline/", env!("CARGO_PKG_VERSION")));
    Ok(builder)
}
