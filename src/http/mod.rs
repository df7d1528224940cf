//! The HTTP layers around the operations: one stack of functions.
//!
//! A layer refuses with an error, and only [`errors`] writes error bodies. Only [`version`] stands around it and answers itself,
//! because it brings error bodies into the terms of older versions. Layers pass data inwards as request data ([`operation`],
//! [`request_id`], [`CountedAs`](rate_limit::CountedAs), the caller and the access). They pass data outwards as error data
//! ([`Challenge`](authenticate::Challenge), the state of a rate limit) and as headers.

pub mod access;
pub mod authenticate;
pub mod body;
pub mod client_address;
pub mod compression;
pub mod conditional;
pub mod error_map;
pub mod errors;
pub mod failures;
pub mod headers;
pub mod idempotency;
pub mod methods;
pub mod operation;
pub mod rate_limit;
pub mod request_id;
pub mod version;

use std::sync::Arc;

use poem::{Endpoint, EndpointExt as _, Response, Route, http::HeaderValue};

use self::{
    access::Authorize, authenticate::Authenticate, body::BodyMemory, client_address::NameClient, idempotency::Writes,
    rate_limit::RateLimit, version::Served,
};
use crate::{clock::Clock, random::Random, telemetry::requests::RequestMeter, web::paths::Methods};

/// The header that tells a replayed answer from that of the operation itself.
const REPLAYED: &str = "idempotency-replayed";

/// The settings of the layers.
pub struct Layers {
    /// The clock that times requests.
    pub clock: Clock,
    /// Counts and times requests. `None` if metrics are not served.
    pub requests: Option<Arc<RequestMeter>>,
    /// The source of request ids.
    pub random: Random,
    /// True if the public root uses https.
    pub https: bool,
    /// The trusted proxies.
    pub client: NameClient,
    /// The versions of the API.
    pub versions: Arc<Served>,
    /// The paths outside the operation table, with their methods.
    pub other_paths: Methods,
    /// The settings of authentication.
    pub authenticate: Authenticate,
    /// The settings of rate limits.
    pub rate_limit: RateLimit,
    /// The settings of authorization.
    pub authorize: Authorize,
    /// The settings of transactions and replays.
    pub writes: Writes,
}

/// Wraps the layers around the `operations` below `/api` and around the `open` paths. A request passes the layers from the last
/// line to the first. Layers are futures within futures; a box here and there keeps them from filling a thread's stack.
pub fn stack(
    layers: Layers,
    operations: impl Endpoint<Output = Response> + 'static,
    open: Route,
) -> impl Endpoint<Output = Response> {
    let Layers { clock, requests, random, https, client, versions, other_paths, .. } = layers;
    let newest = HeaderValue::from_static(versions.versions.newest());
    let (authenticate, rate_limit) = (Arc::new(layers.authenticate), Arc::new(layers.rate_limit));
    let (authorize, writes) = (Arc::new(layers.authorize), Arc::new(layers.writes));
    let (client, memory, open_limit) = (Arc::new(client), Arc::new(BodyMemory::default()), rate_limit.clone());

    let operations = operations
        .around(conditional::conditional)
        .around(move |next, request| idempotency::idempotency(writes.clone(), next, request))
        .around(body::refuse)
        // 404, 402 and 403 come before any error about the body, so that a body error never reveals what exists.
        .around(move |next, request| access::authorize(authorize.clone(), next, request))
        .boxed()
        .around(move |next, request| rate_limit::limit(rate_limit.clone(), next, request))
        .around(move |next, request| authenticate::authenticate(authenticate.clone(), next, request))
        .around(methods::options);
    let open =
        open.around(body::refuse).around(move |next, request| rate_limit::limit(open_limit.clone(), next, request));
    Route::new()
        .nest_no_strip("/api", operations)
        .nest_no_strip("/", open)
        .around(move |next, request| body::read(memory.clone(), next, request))
        .boxed()
        .around(move |next, request| errors::errors(other_paths.clone(), next, request))
        .around(move |next, request| version::version(versions.clone(), next, request))
        .around(move |next, request| headers::headers(https, newest.clone(), next, request))
        .around(compression::compress)
        .around(move |next, request| client_address::name_client(client.clone(), next, request))
        .around(move |next, request| request_id::request_id(clock.clone(), random.clone(), next, request))
        .around(move |next, request| operation::look_up(requests.clone(), next, request))
}
