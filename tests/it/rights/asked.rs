//! The operations that pages and tools ask, as they are counted.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use sightline::config::Config;

use super::{
    pages::PAGES,
    resources::{self, RESOURCES},
    tools::USES,
    world::{SITE, World, everything},
};
use crate::{
    metrics::scrape,
    support::{assistant::Assistant, signed_in::Browser},
};

/// The number of requests for each operation.
async fn requests(world: &World) -> BTreeMap<String, f64> {
    let mut found = BTreeMap::new();
    for (series, value) in scrape(&world.app).await {
        let Some(labels) = series.strip_prefix("sightline_http_requests_total{operation=\"") else { continue };
        *found.entry(labels.split('"').next().unwrap().to_owned()).or_default() += value;
    }
    found
}

/// The operations that are asked for while `work` is done.
async fn asked<T>(world: &World, work: impl Future<Output = T>) -> (T, BTreeSet<String>) {
    let before = requests(world).await;
    let done = work.await;
    let mut after = requests(world).await;
    after.retain(|operation, number| operation != "other" && before.get(operation) != Some(number));
    (done, after.into_keys().collect())
}

#[tokio::test]
async fn pages_and_tools_ask_the_operations_of_the_table() {
    let with_metrics = |config: &mut Config| config.metrics.listen = Some(([127, 0, 0, 1], 0).into());
    let world = Box::pin(World::with(Some(everything()), with_metrics)).await;
    let (browser, owner) = (Browser::signed_in(&world.app, "owner").await, world.app.actor("owner").await);
    let (id, token) = (&world.site(SITE).id, &world.links[1].0);
    for row in &PAGES {
        let address = row.address(if row.0.starts_with("/share/") { token } else { id });
        let (page, counted) = asked(&world, browser.get(&address)).await;
        let status = if row.asks().is_empty() { 404 } else { 200 };
        assert_eq!(page.status, status, "{address}: {}", page.body);
        assert_eq!(counted, row.asks().into_iter().map(str::to_owned).collect(), "{address}");
    }
    let assistant = Assistant::of(&world.app, &owner);
    for used in &USES {
        let (reply, counted) = asked(&world, assistant.ask("tools/call", used.call(id))).await;
        assert_eq!(reply.json["result"]["isError"], false, "{}: {}", used.0, reply.text);
        assert_eq!(counted, BTreeSet::from([used.asks().id.to_owned()]), "{} {}", used.0, used.1);
    }
    for (template, asks) in RESOURCES {
        let uri = template.replace("{property}", id);
        let (reply, counted) = asked(&world, assistant.ask("resources/read", json!({ "uri": uri }))).await;
        assert!(reply.json["error"].is_null(), "{uri}: {}", reply.text);
        assert_eq!(counted, asks.iter().map(|id| (*id).to_owned()).collect(), "{uri}");
    }
    let known: BTreeSet<String> = RESOURCES.iter().map(|(template, _)| (*template).to_owned()).collect();
    assert_eq!(resources::addresses(&assistant).await, known);
}
