//! The HTTP layers around the operations: one stack of functions.
//!
//! A layer refuses with an error, and only [`errors`] writes error bodies. Only [`version`] is outside it and answers itself,
//! because it brings error bodies into the terms of older versions. Layers pass data inwards as request data ([`operation`],
//! [`request_id`], [`CountedAs`](rate_limit::CountedAs), the caller and the access). They pass data outwards as error data
//! ([`Challenge`](authenticate::Challenge), the state of a rate limit) and as headers.

pub mod access;
pub mod audience;
pub mod authenticate;
pub mod body;
pub mod client_address;
pub mod compression;
pub mod conditional;
pub mod cors;
pub mod deadline;
pub mod deprecation;
pub mod entry;
pub mod error_map;
pub mod errors;
pub mod failures;
pub mod headers;
pub mod idempotency;
pub mod methods;
pub mod operation;
pub mod origin;
pub mod parameters;
pub mod rate_limit;
pub mod request_id;
pub mod slips;
pub mod tools;
pub mod unsent;
mod until_sent;
pub mod version;

use std::sync::Arc;

use common::{base_url::BaseUrl, clock::Clock, random::Random};
use pages::paths::TOOLS;
use poem::{Endpoint, EndpointExt as _, Response, Route, endpoint::BoxEndpoint, http::HeaderValue};
use telemetry::{requests::RequestMeter, traces::Traces};

use self::{
    access::Authorize, audience::Audiences, authenticate::Authenticate, body::Bodies, client_address::NameClient,
    compression::Encoders, cors::Cors, errors::Errors, headers::Headers, idempotency::Writes, rate_limit::RateLimit,
    request_id::Identify, tools::Tools, version::Served,
};
use crate::{
    calls,
    server::Deadlines,
    web::dashboard::{self, Dashboard},
};

/// The header that tells a replayed answer from that of the operation itself.
const REPLAYED: &str = "idempotency-replayed";

/// The settings of the layers.
pub struct Layers {
    /// The clock that dates ids, and spaces lines of the log.
    pub clock: Clock,
    /// Counts and times requests. `None` if metrics are not served.
    pub requests: Option<Arc<RequestMeter>>,
    /// Begins the spans of requests.
    pub traces: Traces,
    /// The source of request ids.
    pub random: Random,
    /// The service's public root.
    pub base_url: BaseUrl,
    /// The origins whose pages may call.
    pub cors: Arc<Cors>,
    /// The trusted proxies.
    pub client: NameClient,
    /// The time limits of bodies.
    pub deadlines: Deadlines,
    /// The versions of the API.
    pub versions: Arc<Served>,
    /// The settings of errors.
    pub errors: Arc<Errors>,
    /// The settings of authentication.
    pub authenticate: Authenticate,
    /// The settings of rate limits.
    pub rate_limit: RateLimit,
    /// The settings of authorization.
    pub authorize: Authorize,
    /// The settings of transactions and replays.
    pub writes: Writes,
    /// The pages that show numbers.
    pub dashboard: Dashboard,
}

/// The layers that more than one path passes.
struct Shared {
    errors: Arc<Errors>,
    requests: Option<Arc<RequestMeter>>,
    rate_limit: Arc<RateLimit>,
    authorize: Arc<Authorize>,
    writes: Arc<Writes>,
}

/// Wraps the layers around the `operations` below `/api`, which the dashboard asks, too, around the tool endpoint and around
/// the `open` paths. A request passes the layers from the last line to the first. Each layer is boxed: futures within futures would be
/// copied whole whenever one is made, and would fill a thread's stack.
pub fn stack(
    layers: Layers,
    operations: Arc<impl Endpoint<Output = Response> + 'static>,
    tools: Tools,
    open: Route,
) -> impl Endpoint<Output = Response> {
    let Layers {
        clock,
        requests,
        traces,
        random,
        base_url,
        cors,
        client,
        versions,
        errors,
        authenticate,
        deadlines,
        ..
    } = layers;
    let headers = Arc::new(Headers { base_url, newest: HeaderValue::from_static(versions.versions.newest()) });
    let shared = Shared {
        errors: errors.clone(),
        requests: requests.clone(),
        rate_limit: Arc::new(layers.rate_limit),
        authorize: Arc::new(layers.authorize),
        writes: Arc::new(layers.writes),
    };
    let (pages, bodies) = (errors.other_paths.clone(), bodies(&authenticate, deadlines));
    let (client, authenticate) = (Arc::new(client), Arc::new(authenticate));
    let identify = Identify::new(clock, random, &errors.other_paths).with_meter(requests.clone()).with_traces(traces);
    let (encoders, identify) = (Encoders::default(), Arc::new(identify));
    let told_limits = shared.rate_limit.clone();

    let open = shared.pages(layers.dashboard, open, operations.clone(), authenticate.clone());
    let operations = shared.api(operations, authenticate);
    let tools = shared.limited(shared.tools(tools));
    Route::new()
        .nest_no_strip("/api", operations)
        .at(TOOLS, tools)
        .nest_no_strip("/", open)
        .around(move |next, request| slips::lead(pages.clone(), next, request))
        .boxed()
        .around(entry::admit)
        .boxed()
        .around(move |next, request| body::read(bodies.clone(), next, request))
        .boxed()
        .around(|next, request| deadline::limit(deadline::OF_REQUEST, next, request))
        .boxed()
        .around(move |next, request| errors::errors(errors.clone(), next, request))
        .boxed()
        .around(move |next, request| version::version(versions.clone(), next, request))
        .boxed()
        .around(move |next, request| cors::cors(cors.clone(), next, request))
        .boxed()
        .around(move |next, request| rate_limit::tell_uncounted(told_limits.clone(), next, request))
        .boxed()
        .around(move |next, request| headers::headers(headers.clone(), next, request))
        .boxed()
        .around(move |next, request| compression::compress(encoders.clone(), next, request))
        .boxed()
        .around(move |next, request| request_id::request_id(identify.clone(), next, request))
        .boxed()
        .around(move |next, request| client_address::name_client(client.clone(), next, request))
        .boxed()
        .around(move |next, request| operation::look_up(requests.clone(), next, request))
        .boxed()
}

/// The memory of bodies, a share of which is for callers with a known token.
fn bodies(authenticate: &Authenticate, deadlines: Deadlines) -> Arc<Bodies> {
    let admissions = authenticate.admissions.clone();
    Arc::new(Bodies::new(deadlines, Box::new(move |headers| admissions.knows(headers))))
}

impl Shared {
    /// Wraps the limits of an address around paths where a caller needs no credentials.
    fn limited(&self, inner: impl Endpoint + 'static) -> BoxEndpoint<'static> {
        let limits = self.rate_limit.clone();
        inner.around(move |next, request| rate_limit::limit(limits.clone(), next, request)).boxed()
    }

    /// Wraps the layers that follow authentication and the rate limit around `operations`.
    fn authorized(&self, operations: impl Endpoint<Output = Response> + 'static) -> BoxEndpoint<'static> {
        let (authorize, writes) = (self.authorize.clone(), self.writes.clone());
        operations
            .around(parameters::judge)
            .boxed()
            .around(conditional::conditional)
            .boxed()
            .around(move |next, request| idempotency::idempotency(writes.clone(), next, request))
            .boxed()
            .around(body::refuse)
            .boxed()
            // 404, 403 and 402 come before any error about the body, so that a body error never reveals what exists.
            .around(move |next, request| access::authorize(authorize.clone(), next, request))
            .boxed()
    }

    /// Wraps the layers around the operations below `/api`.
    fn api(
        &self,
        operations: impl Endpoint<Output = Response> + 'static,
        authenticate: Arc<Authenticate>,
    ) -> BoxEndpoint<'static> {
        self.limited(self.authorized(operations))
            .around(move |next, request| authenticate::authenticate(authenticate.clone(), next, request))
            .boxed()
            .around(methods::methods)
            .boxed()
    }

    /// Wraps the layers around `operations` that let tools and pages call them: each call is an operation, and every error is a response.
    fn answered(&self, operations: impl Endpoint + 'static) -> BoxEndpoint<'static> {
        let (errors, requests) = (self.errors.clone(), self.requests.clone());
        operations
            .around(|next, request| deadline::limit(calls::OF_CALL, next, request))
            .boxed()
            .around(move |next, request| errors::errors(errors.clone(), next, request))
            .boxed()
            .around(move |next, request| operation::look_up(requests.clone(), next, request))
            .boxed()
    }

    /// Adds the dashboard to the `open` paths, and wraps the layers of operations around the operations that it asks.
    fn pages(
        &self,
        dashboard: Dashboard,
        open: Route,
        operations: impl Endpoint<Output = Response> + 'static,
        authenticate: Arc<Authenticate>,
    ) -> BoxEndpoint<'static> {
        let (caller, keeper) = (authenticate.clone(), authenticate.clone());
        let audiences: Audiences = dashboard::audiences().collect();
        let operations = self
            .authorized(operations)
            .around(move |next, request| authenticate::authenticate(caller.clone(), next, request))
            .boxed();
        let authorize = self.authorize.clone();
        let pages = dashboard
            .mount(open, self.answered(operations))
            .around(move |next, request| access::enter(authorize.clone(), next, request))
            .boxed();
        self.limited(pages.around(body::refuse))
            .around(move |next, request| authenticate::recognise(authenticate.clone(), next, request))
            .boxed()
            .around(move |next, request| unsent::give_back(keeper.clone(), next, request))
            .boxed()
            .around(move |next, request| audience::look_up(audiences.clone(), next, request))
            .boxed()
    }

    /// Wraps the layers around the tool endpoint, and the layers of operations around the operations that it calls.
    fn tools(&self, tools: Tools) -> BoxEndpoint<'static> {
        let (authenticate, origins) = (Arc::new(tools.authenticate), tools.origins);
        let (caller, address) = (authenticate.clone(), Arc::<str>::from(tools.address));
        let operations = self
            .authorized(tools.operations)
            .around(move |next, request| authenticate::authenticate(caller.clone(), next, request))
            .boxed();
        self.limited((tools.build)(self.answered(operations)).around(body::refuse))
            .around(move |next, request| authenticate::authenticate(authenticate.clone(), next, request))
            .boxed()
            .around(tools::without_cookies)
            .boxed()
            .around(tools::methods)
            .boxed()
            .around(move |next, request| tools::explain(address.clone(), next, request))
            .boxed()
            .around(move |next, request| origin::own_origin(origins.clone(), next, request))
            .boxed()
    }
}
