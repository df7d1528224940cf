//! Tests of the simulated search engine.

mod faults;
mod freshness;
mod invariants;
mod network;
mod oauth;
mod oracle;
mod provider_a;
mod provider_b;
mod providers;
mod rules;
mod wire;

use std::sync::LazyLock;

use chrono::{DateTime, NaiveDate, Utc};
use common::{
    bounded::{self, Unread},
    clock::{Clock, Hand},
};
use serde_json::{Value, json};

use super::{Settings, Simulator, World, start};

pub(super) const RETAIL: &str = "sc-domain:northmoor.example";
pub(super) const SOFTWARE: &str = "https://www.ledgerline.example/";
pub(super) const PUBLISHER: &str = "sc-domain:harbourpost.example";
pub(super) const YOUNG: &str = "https://tinyfern.test/";

/// One world for all tests, so that its days are generated once.
pub(super) static WORLD: LazyLock<World> = LazyLock::new(|| World::new(7, today()));

pub(super) fn date(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

pub(super) fn today() -> NaiveDate {
    date("2026-11-20")
}

/// The response to `body`, computed without a server.
pub(super) fn ask(site: &str, body: &Value) -> Value {
    serde_json::from_str(&WORLD.answer(site, &body.to_string(), today()).unwrap()).unwrap()
}

/// A request for `start` to `end`, with the fields of `more`.
#[expect(clippy::needless_pass_by_value, reason = "most callers write the value in place")]
pub(super) fn body(start: &str, end: &str, more: Value) -> Value {
    let mut body = json!({ "startDate": start, "endDate": end, "rowLimit": 25_000 });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

pub(super) fn filters(filters: &Value) -> Value {
    json!([{ "filters": filters }])
}

pub(super) fn rows(answer: &Value) -> &[Value] {
    answer["rows"].as_array().map_or(&[], Vec::as_slice)
}

/// Clicks, impressions and the position sum of all rows.
pub(super) fn sums(answer: &Value) -> [u64; 3] {
    rows(answer).iter().fold([0; 3], |sum, row| {
        let impressions = row["impressions"].as_u64().unwrap();
        let positions = row["position"].as_f64().unwrap_or_default() * impressions as f64;
        let positions = format!("{positions:.0}").parse::<u64>().unwrap();
        [sum[0] + row["clicks"].as_u64().unwrap(), sum[1] + impressions, sum[2] + positions]
    })
}

/// 10:00 Pacific time on 2026-11-20.
pub(super) fn morning() -> DateTime<Utc> {
    "2026-11-20T18:00:00Z".parse().unwrap()
}

pub(super) struct Server {
    pub simulator: Simulator,
    pub hand: Hand,
    pub client: reqwest::Client,
}

impl Server {
    pub async fn start() -> Self {
        Self::with(Settings::default()).await
    }

    pub async fn with(settings: Settings) -> Self {
        let (clock, hand) = Clock::manual(morning());
        #[expect(clippy::disallowed_methods, reason = "a test's own client, which follows no redirect")]
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        Self { simulator: start(settings, clock).await.unwrap(), hand, client }
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.simulator.url())
    }

    pub async fn get(&self, path: &str, token: &str) -> (u16, Value) {
        read(self.client.get(self.url(path)).bearer_auth(token).send().await.unwrap()).await
    }

    /// Sends a query about `site` as the owner.
    pub async fn query(&self, site: &str, body: &Value) -> (u16, Value) {
        self.query_as(site, body, "sim-owner").await
    }

    pub async fn query_as(&self, site: &str, body: &Value, token: &str) -> (u16, Value) {
        let id = percent_encoding::utf8_percent_encode(site, percent_encoding::NON_ALPHANUMERIC);
        let url = self.url(&format!("/webmasters/v3/sites/{id}/searchAnalytics/query?alt=json"));
        read(self.client.post(url).bearer_auth(token).json(body).send().await.unwrap()).await
    }

    pub async fn form(&self, path: &str, form: &[(&str, &str)]) -> (u16, Value) {
        read(self.client.post(self.url(path)).form(form).send().await.unwrap()).await
    }
}

/// The whole body of an answer.
pub(super) async fn whole(response: reqwest::Response) -> Result<String, Unread> {
    Ok(String::from_utf8(bounded::bytes(response, 1 << 30).await?.into()).unwrap())
}

pub(super) async fn read(response: reqwest::Response) -> (u16, Value) {
    let status = response.status().as_u16();
    let text = whole(response).await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}
