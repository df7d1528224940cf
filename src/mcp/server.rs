//! The answer of the endpoint to each message of the protocol.

use std::{borrow::Cow, sync::Arc};

use api::{
    error::{ApiError, Code},
    scope::Scope,
};
use poem::http::request::Parts;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
        CustomRequest, CustomResult, ErrorCode, GetPromptRequestParams, GetPromptResponse, Implementation, JsonObject,
        ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
};
use serde_json::Value;

use super::{
    answer,
    arguments::{self, Size},
    clean::echo,
    completion,
    meta::Meta,
    offer::{Offer, Offers},
    parameters, prompts,
    properties::Properties,
    refusal,
    resources::{self, LASTING},
    state::AnswerState,
    waiting::{answered, outer},
};
use crate::operations::Operations;

/// The revisions of the protocol that clients may speak.
pub const VERSIONS: [ProtocolVersion; 3] =
    [ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28];

/// The methods that are answered.
const METHODS: [&str; 11] = [
    "initialize",
    "server/discover",
    "ping",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
    "completion/complete",
];

/// The text for models that explains at length what the arguments of tools say in a sentence.
const INSTRUCTIONS: &str = include_str!("instructions.md");

/// The server of the protocol.
#[derive(Clone)]
pub struct Server(pub Arc<ServerParts>);

/// The parts that the server calls.
pub struct ServerParts {
    /// The tools.
    pub offers: Offers,
    /// The operations that tools call.
    pub operations: Operations,
    /// The properties that callers name.
    pub properties: Properties,
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .enable_completions()
            .build();
        let own = Implementation::new("sightline", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities).with_server_info(own).with_instructions(INSTRUCTIONS)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(&VERSIONS)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.0.offers.tools().iter().find(|tool| tool.name == name).cloned()
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        only_page(page)?;
        let list = ListToolsResult::with_all_items(self.0.offers.tools().to_vec());
        Ok(list.with_ttl_ms(LASTING).with_cache_scope(CacheScope::Public))
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        only_page(page)?;
        let list = ListResourcesResult::with_all_items(resources::all());
        Ok(list.with_ttl_ms(LASTING).with_cache_scope(CacheScope::Public))
    }

    async fn list_resource_templates(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        only_page(page)?;
        let list = ListResourceTemplatesResult::with_all_items(resources::templates());
        Ok(list.with_ttl_ms(LASTING).with_cache_scope(CacheScope::Public))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let outer = outer(&context)?;
        let ServerParts { operations, properties, .. } = &*self.0;
        let read = resources::read(operations, properties, &request.uri, outer);
        answered(&context, outer, read).await?.map(Into::into)
    }

    async fn list_prompts(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        only_page(page)?;
        let list = ListPromptsResult::with_all_items(prompts::all());
        Ok(list.with_ttl_ms(LASTING).with_cache_scope(CacheScope::Public))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::filled(&request.name, &request.arguments.unwrap_or_default()).map(Into::into)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let (outer, argument) = (outer(&context)?, &request.argument);
        let values =
            completion::complete(&self.0.properties, &request.r#ref, &argument.name, &argument.value, outer).await?;
        Ok(CompleteResult::new(values))
    }

    /// The SDK passes every message here that it does not know, also one of its own methods with parameters of another shape.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if METHODS.contains(&request.method.as_str()) {
            let fault = parameters::fault(&request.method, &request.params.unwrap_or_default());
            return Err(ErrorData::invalid_params(fault, None));
        }
        let advice = format!("{}: is not a method of this endpoint", echo(&request.method));
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, advice, None))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let outer = outer(&context)?;
        let answer = self.answer(&request.name, request.arguments.unwrap_or_default(), outer);
        Ok(answered(&context, outer, answer).await??.into())
    }
}

/// Refuses a cursor: every list is one page, so none was given out.
fn only_page(page: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    if page.and_then(|page| page.cursor).is_none() {
        return Ok(());
    }
    Err(ErrorData::invalid_params("cursor: unknown; ask without one, every list is one page", None))
}

impl Server {
    /// Returns the scope that the answer to `message` needs, if any.
    pub fn needed(&self, message: &Value) -> Option<Scope> {
        let params = &message["params"];
        let text = |name: &str| params[name].as_str().unwrap_or_default();
        match message["method"].as_str()? {
            // A call that is refused for other reasons needs none.
            "tools/call" => {
                let arguments = params["arguments"].as_object().cloned().unwrap_or_default();
                let arguments = self.0.offers.meant(text("name"), arguments);
                self.0.offers.find(text("name"), &arguments)?.ok()?.operation.scope
            }
            "resources/read" => resources::needed(text("uri")),
            // Names of properties are completed.
            "completion/complete" => Some(Scope::SearchRead),
            _ => None,
        }
    }

    /// Calls the tool `name` on behalf of the caller of `outer`.
    async fn answer(&self, name: &str, arguments: JsonObject, outer: &Parts) -> Result<CallToolResult, ErrorData> {
        let arguments = self.0.offers.meant(name, arguments);
        let offer = match self.0.offers.find(name, &arguments) {
            Some(Ok(offer)) => offer,
            Some(Err(refusal)) => return Ok(refusal::refused(&refusal, None)),
            None => {
                let advice = format!("name: no tool is called {}; see tools/list", echo(name));
                return Err(ErrorData::invalid_params(advice, None));
            }
        };
        Ok(match self.asked(offer, arguments, outer).await {
            Ok((answer, size)) => {
                let meta = Meta::of(&answer);
                let state = self.state_of_answer(offer, &answer, &meta, outer).await;
                answer::success(offer.declaration, answer, &meta, size, told(state))
            }
            Err(refusal) => {
                let state = self.state_of_refusal(offer, &refusal, outer).await;
                refusal::refused(&refusal, told(state))
            }
        })
    }

    /// Returns the state of a refusal. If the caller sees no property, it is the person's state.
    async fn state_of_refusal(
        &self,
        offer: &Offer,
        refusal: &ApiError,
        outer: &Parts,
    ) -> Result<Option<AnswerState>, ApiError> {
        if refusal.code == Code::NotFound && offer.operation.is_property_scoped() {
            return self.0.properties.absence(outer).await;
        }
        Ok(AnswerState::of_refusal(refusal))
    }

    /// Returns the state of an answer. If the caller sees no property, it is the person's state.
    async fn state_of_answer(
        &self,
        offer: &Offer,
        answer: &Value,
        meta: &Meta,
        outer: &Parts,
    ) -> Result<Option<AnswerState>, ApiError> {
        let properties = &self.0.properties;
        if offer.operation.is_property_scoped() {
            Ok(AnswerState::of_answer(answer, meta))
        } else if offer.operation.id == "listSearchAccountHealth" {
            properties.account(outer).await
        } else if is_without_properties(offer, answer) {
            properties.absence(outer).await
        } else {
            Ok(AnswerState::of_answer(answer, meta))
        }
    }

    /// Returns the answer of the operation to a call, and the size that the call asks for.
    async fn asked(&self, offer: &Offer, arguments: JsonObject, outer: &Parts) -> Result<(Value, Size), ApiError> {
        let call = arguments::read(offer, arguments)?;
        let property = match &call.property {
            Some(text) => Some(self.0.properties.find(text, outer).await?),
            None => None,
        };
        let size = call.size;
        Ok((self.0.operations.call(outer, offer.operation, property, call).await?, size))
    }
}

/// Returns whether an answer about a caller's properties has none.
fn is_without_properties(offer: &Offer, answer: &Value) -> bool {
    match offer.operation.id {
        "listProperties" => answer["data"].as_array().is_some_and(Vec::is_empty),
        "getPortfolio" => answer["meta"]["window"].is_null(),
        _ => false,
    }
}

fn told(state: Result<Option<AnswerState>, ApiError>) -> Option<AnswerState> {
    state.unwrap_or_else(|refusal| {
        tracing::error!(%refusal, "the state of an answer cannot be told");
        None
    })
}
