//! The resources of the tool endpoint.

use std::collections::BTreeSet;

use api::error::Code;
use serde_json::{Value, json};

use super::{
    operation,
    tools::{self, assistant, seen},
    world::{Caller, Named, PEOPLE, World},
};
use crate::support::assistant::{Assistant, Reply};

/// Each resource that is about a person, with the operations that it asks.
pub const RESOURCES: [(&str, &[&str]); 2] = [
    ("sightline://properties", &["listProperties"]),
    (
        "sightline://properties/{property}/definitions",
        &["listPropertySegments", "listPropertyTopicClusters", "listPropertyBrandedKeywords"],
    ),
];

/// The resource that is the same for everybody.
const GUIDE: &str = "sightline://guide";

/// What a reply says of a resource.
fn outcome(reply: &Reply) -> Result<(), Code> {
    let error = &reply.json["error"];
    let code = match error["code"].as_i64() {
        None if reply.json["result"].is_object() => return Ok(()),
        // "Resource not found" of the protocol.
        Some(-32002) => return Err(Code::NotFound),
        None => &reply.json["code"],
        Some(_) => &error["data"]["code"],
    };
    Err(*Code::ALL.iter().find(|known| code == known.as_str()).unwrap_or_else(|| panic!("{}", reply.text)))
}

/// Reads every resource as a caller, about each of the `sites`.
async fn ask(world: &World, caller: Option<Caller>, assistant: &Assistant, sites: &[Named<'_>]) {
    for (template, asks) in RESOURCES {
        let is_of_a_property = template.contains("{property}");
        for (property, site) in sites.iter().take(if is_of_a_property { sites.len() } else { 1 }) {
            let uri = template.replace("{property}", property);
            let reply = assistant.ask("resources/read", json!({ "uri": uri })).await;
            let judged = |id: &&str| tools::judged(world, operation(id), caller, *site);
            let expected = asks.iter().try_for_each(judged);
            assert_eq!(outcome(&reply), expected, "{caller:?} {uri}: {}", reply.text);
            let named: Vec<&str> = match (expected, site) {
                (Ok(()), Some(site)) if is_of_a_property => vec![site.name],
                (Ok(()), _) => seen(world, caller).collect(),
                (Err(_), _) => Vec::new(),
            };
            // A refusal repeats the address that it is about.
            world.names_none(&reply.text.replace(&uri, ""), &named);
        }
    }
}

/// Reads every resource as everybody, about each of the `sites`.
pub async fn check(world: &World, sites: &[Named<'_>]) {
    ask(world, None, &Assistant::anonymous(&world.app), sites).await;
    let everybody = PEOPLE.into_iter().map(Caller::person).chain(Caller::with_fewer_scopes("viewer"));
    for caller in everybody {
        ask(world, Some(caller), &assistant(world, caller).await, sites).await;
    }
}

/// The addresses of all resources, and the forms of those of which each property has one.
pub async fn addresses(assistant: &Assistant) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (method, list, field) in
        [("resources/list", "resources", "uri"), ("resources/templates/list", "resourceTemplates", "uriTemplate")]
    {
        let reply = assistant.ask(method, Value::Object(serde_json::Map::new())).await;
        let entries = reply.json["result"][list].as_array().unwrap();
        found.extend(entries.iter().map(|entry| entry[field].as_str().unwrap().to_owned()));
    }
    found.remove(GUIDE);
    found
}
