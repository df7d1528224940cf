//! The simulated SEO providers: A below `/provider-a/v3`, wire-compatible with `DataForSEO` v3, and B below
//! `/provider-b/v3`, wire-compatible with Ahrefs v3.
//!
//! Both know the same market (`market`) and the same links (`links`), which rest on the simulated sites. They differ, as
//! the vendors do, in rounding, units and scales. Every answer is a pure function of the seed, the day and the question,
//! apart from the credit that is left.

mod a;
mod accounts;
mod answer;
mod b;
pub(super) mod calls;
mod countries;
mod links;
pub(super) mod market;
mod values;

use bytes::Bytes;
use poem::Request;
use poem::http::{Method, header};

use answer::ProviderAnswer;
pub use calls::{ProviderA, ProviderB};

use super::controls::Endpoint;
use super::state::Shared;

/// A request to a provider. `None` stands for a path or method that the provider does not have.
#[derive(Debug, Clone, Copy)]
pub(super) enum Call {
    A(Option<ProviderA>),
    B(Option<ProviderB>),
}

impl Call {
    /// The call that a method and path address, or `None` if the path is not a provider's.
    pub fn at(method: &Method, path: &str) -> Option<Self> {
        let path = path.trim_start_matches('/');
        if let Some(path) = path.strip_prefix("provider-a/") {
            let call = ProviderA::at(path);
            let verb = if call == Some(ProviderA::UserData) { Method::GET } else { Method::POST };
            return Some(Self::A(call.filter(|_| *method == verb)));
        }
        let call = ProviderB::at(path.strip_prefix("provider-b/")?);
        Some(Self::B(call.filter(|_| *method == Method::GET)))
    }

    /// The endpoint under which the request is counted.
    pub fn endpoint(self) -> Endpoint {
        match self {
            Self::A(Some(call)) => Endpoint::ProviderA(call),
            Self::B(Some(call)) => Endpoint::ProviderB(call),
            Self::A(None) | Self::B(None) => Endpoint::Unknown,
        }
    }
}

/// The parts of a request that a provider reads.
#[derive(Debug)]
pub(super) struct Question {
    call: Call,
    authorization: Option<String>,
    query: String,
    body: Bytes,
}

impl Question {
    pub fn new(call: Call, request: &Request, body: Bytes) -> Self {
        let authorization = request.headers().get(header::AUTHORIZATION);
        Self {
            call,
            authorization: authorization.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()),
            query: request.uri().query().unwrap_or_default().to_owned(),
            body,
        }
    }

    /// The query and the body, as texts that are held back are looked for in.
    pub fn text(&self) -> String {
        let body = String::from_utf8_lossy(&self.body);
        let query = percent_encoding::percent_decode_str(&self.query).decode_utf8_lossy();
        format!("{query} {body}")
    }
}

/// Answers a question. It computes for up to a few hundred milliseconds.
pub(super) fn answer(shared: &Shared, question: &Question) -> ProviderAnswer {
    let authorization = question.authorization.as_deref();
    match question.call {
        Call::A(call) => a::answer(shared, call, authorization, &question.body),
        Call::B(call) => b::answer(shared, call, authorization, &question.query),
    }
}
