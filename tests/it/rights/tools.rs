//! The tools of the tool endpoint.

use std::collections::BTreeSet;

use api::{error::Code, models::Feature, operation::Operation};
use poem::http::StatusCode;
use serde_json::{Value, json};
use sightline::mcp::catalogue;

use super::{
    operation,
    world::{Caller, Named, PEOPLE, Site, World},
};
use crate::support::{
    actor::Actor,
    assistant::{Assistant, Reply},
};

/// A use of a tool: its name with its kind, the arguments beside the property, and the operation that it calls.
pub struct Use(pub &'static str, pub &'static str, pub &'static str);

/// Every use of every tool.
pub const USES: [Use; 21] = [
    Use("list_properties", "{}", "listProperties"),
    Use("list_properties", r#"{"compareTo":"previous_period"}"#, "getPortfolio"),
    Use("get_connection_health", "{}", "listSearchAccountHealth"),
    Use("get_performance", "{}", "getPropertyPerformance"),
    Use("get_performance", r#"{"dimensions":["device"]}"#, "queryPropertyPerformance"),
    Use("compare_periods", "{}", "getPropertyPerformance"),
    Use("compare_periods", r#"{"dimensions":["device"]}"#, "queryPropertyPerformance"),
    Use("explain_click_change", "{}", "getPropertyPerformance"),
    Use("find_cannibalization", "{}", "getPropertyCannibalization"),
    Use("find_growth_opportunities", "{}", "getPropertyGrowthOpportunities"),
    Use("get_query_insights", "{}", "getPropertyQueryInsights"),
    Use("get_countries", "{}", "listPropertyCountries"),
    Use("list_records/annotations", "{}", "listPropertyAnnotations"),
    Use("list_records/segments", "{}", "listPropertySegments"),
    Use("list_records/topic_clusters", "{}", "listPropertyTopicClusters"),
    Use("list_records/branded_keywords", "{}", "listPropertyBrandedKeywords"),
    Use("list_records/tags", "{}", "listTags"),
    Use("list_records/filter_presets", "{}", "listFilterPresets"),
    Use("add_annotation", r#"{"date":"2026-11-16","text":"Launch"}"#, "createPropertyAnnotation"),
    Use("research_keywords", "{}", "getPropertyKeywordResearch"),
    Use("get_backlinks", "{}", "getPropertyBacklinks"),
];

impl Use {
    /// The operation.
    pub fn asks(&self) -> &'static Operation {
        operation(self.2)
    }

    /// The parameters of the call, about `property` if the operation is about one.
    pub fn call(&self, property: &str) -> Value {
        let mut arguments: Value = serde_json::from_str(self.1).unwrap();
        let (name, kind) = self.named();
        if !kind.is_empty() {
            arguments["kind"] = json!(kind);
        }
        if self.asks().is_property_scoped() {
            arguments["property"] = json!(property);
        }
        json!({ "name": name, "arguments": arguments })
    }

    /// The name of the tool, and the kind.
    fn named(&self) -> (&'static str, &'static str) {
        self.0.split_once('/').unwrap_or((self.0, ""))
    }
}

/// Returns whether an operation answers a tool: if it answers the caller, and the plan of the site's owner includes the endpoint. Paid
/// answers also need the caller's own account at a provider, which only the owner has.
pub fn judged(world: &World, asked: &Operation, caller: Option<Caller>, site: Option<&Site>) -> Result<(), Code> {
    world.judged(asked, caller, site)?;
    if asked.is_property_scoped() && !site.is_some_and(|site| world.includes(site, Feature::ToolEndpoint)) {
        return Err(Code::SubscriptionRequired);
    }
    let is_connected = caller.is_some_and(|caller| caller.name == "owner");
    if asked.is_paid && !is_connected { Err(Code::ProviderNotConnected) } else { Ok(()) }
}

/// A caller with an assistant.
pub async fn assistant(world: &World, caller: Caller) -> Assistant {
    let scope = caller.scopes.words().collect::<Vec<_>>().join(" ");
    // Grants take effect once a token has stated the address.
    let scope = format!("openid profile email {scope}");
    let issuer = world.app.service.issuer.as_ref().unwrap();
    let token = issuer.demo_token(caller.name, &scope).await.unwrap();
    Assistant::of(&world.app, &Actor::with_token(&world.app.service.base_url, &token))
}

/// What a reply says of a call. What a client must do something about, to get another token, is an answer of HTTP.
fn outcome(reply: &Reply) -> Result<(), Code> {
    let result = &reply.json["result"];
    let code = match reply.status.as_u16() {
        200 if result["isError"] == false => return Ok(()),
        200 => &result["_meta"]["sightline/error"]["code"],
        _ => &reply.json["code"],
    };
    let code = *Code::ALL.iter().find(|known| code == known.as_str()).unwrap_or_else(|| panic!("{}", reply.text));
    let is_about_the_token = matches!(code, Code::Unauthorized | Code::InsufficientScope);
    let expected = if is_about_the_token { code.status() } else { StatusCode::OK };
    assert_eq!(reply.status, expected, "{}", reply.text);
    Err(code)
}

/// Calls every tool as a caller about each of the `sites`.
async fn ask(world: &World, caller: Option<Caller>, assistant: &Assistant, sites: &[Named<'_>]) {
    for used in &USES {
        let sites = if used.asks().is_property_scoped() { sites } else { &sites[..1] };
        ask_one(world, used, caller, assistant, sites).await;
    }
}

/// Calls a tool as a caller about each of the `sites`.
async fn ask_one(world: &World, used: &Use, caller: Option<Caller>, assistant: &Assistant, sites: &[Named<'_>]) {
    let mut missing = None;
    for (property, site) in sites {
        let reply = assistant.ask("tools/call", used.call(property)).await;
        let expected = judged(world, used.asks(), caller, *site);
        assert_eq!(outcome(&reply), expected, "{caller:?} {} {} {property}: {}", used.0, used.1, reply.text);
        if expected == Err(Code::NotFound) {
            let said = reply.json["result"].clone();
            assert_eq!(*missing.get_or_insert_with(|| said.clone()), said, "{} {property}", used.0);
        }
        let named: Vec<&str> = match (expected, site) {
            (Err(_), _) => Vec::new(),
            (Ok(()), Some(site)) if used.asks().is_property_scoped() => vec![site.name],
            (Ok(()), _) => seen(world, caller).collect(),
        };
        world.names_none(&reply.text, &named);
    }
}

/// The names of the sites that a caller sees.
pub fn seen(world: &World, caller: Option<Caller>) -> impl Iterator<Item = &'static str> {
    let sees = move |site: &&Site| caller.is_some_and(|caller| site.role(caller.name).is_some());
    world.sites.iter().filter(sees).map(|site| site.name)
}

/// Calls every tool as everybody, about each of the `sites`.
pub async fn check(world: &World, sites: &[Named<'_>]) {
    ask(world, None, &Assistant::anonymous(&world.app), sites).await;
    for caller in PEOPLE.map(Caller::person) {
        ask(world, Some(caller), &assistant(world, caller).await, sites).await;
    }
}

/// Calls every tool about a site with tokens for fewer scopes: of its owner, of a member, and of somebody who does not see it.
pub async fn check_scopes(world: &World) {
    for caller in ["owner", "viewer", "stranger"].into_iter().flat_map(Caller::with_fewer_scopes) {
        ask(world, Some(caller), &assistant(world, caller).await, &world.own()).await;
    }
}

/// Calls a tool as everybody, about each site by its name.
pub async fn check_names(world: &World) {
    let sites: Vec<Named<'_>> = world.sites.iter().map(|site| (site.name.to_owned(), Some(site))).collect();
    let used = USES.iter().find(|used| used.0 == "list_records/segments").unwrap();
    for caller in PEOPLE.map(Caller::person) {
        ask_one(world, used, Some(caller), &assistant(world, caller).await, &sites).await;
    }
}

#[test]
fn every_tool_is_in_the_table() {
    let declared = catalogue::all();
    let choosers: BTreeSet<&str> = declared.iter().filter_map(|one| one.chosen_by).collect();
    let declared = declared.iter().map(|one| ((one.name, one.kind), one.chosen_by, one.operation));
    let known = USES.iter().map(|used| {
        let arguments: Value = serde_json::from_str(used.1).unwrap();
        let chosen_by = choosers.iter().copied().find(|name| arguments.get(name).is_some());
        (used.named(), chosen_by, used.2)
    });
    assert_eq!(known.collect::<BTreeSet<_>>(), declared.collect());
}
