//! The tool endpoint: answers an assistant's questions in the Model Context Protocol.
//!
//! Each tool calls one operation of the API, through the same layers as a request for it, so both say the same under the same rights.
//! The modules read like a call: `transport` takes the message and hands it to the protocol's SDK, which calls `server`. `server` finds
//! the tool, `arguments` reads its arguments (`values` each value), `call` asks the operation, `dates` replaces named periods on the way,
//! and `answer` says the result for a model (`meta` reads its metadata, `fit` keeps it small, `round` its figures short). `parameters`
//! names what the SDK could not read. `resources`, `prompts` and `completion` are what clients offer to people.

mod answer;
mod arguments;
mod body;
mod call;
pub mod catalogue;
pub mod clean;
mod completion;
mod dates;
mod fit;
mod meta;
mod offer;
mod parameters;
mod prompts;
mod properties;
mod refusal;
mod resources;
pub mod round;
mod schema;
mod server;
mod state;
mod text;
mod transport;
mod values;
mod waiting;

use std::sync::Arc;

use common::clock::Clock;
use poem::{EndpointExt as _, endpoint::BoxEndpoint};
use serde_json::Value;

use self::{
    offer::Offers,
    properties::Properties,
    server::{Server, ServerParts},
    transport::Transport,
};
use crate::{operations::Operations, services::analyses::search_data::SearchData};

pub use self::dates::dated;

/// Makes the endpoint. `operations` have their own layers, and `document` is the published document.
#[must_use]
pub fn endpoint(
    document: &Value,
    operations: BoxEndpoint<'static>,
    search: SearchData,
    clock: Clock,
) -> BoxEndpoint<'static> {
    let operations = Operations::new(operations);
    let properties = Properties { search, clock };
    let server = Server(Arc::new(ServerParts { offers: Offers::of(document), operations, properties }));
    Transport::new(server).boxed()
}
