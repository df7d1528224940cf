//! Tests of calls that take long: reports of progress, and clients that leave.

use std::{future::Future, time::Duration};

use poem::http::Method;
use serde_json::{Value, json};
use sightline::config::Config;
use simulator::Endpoint;
use tokio::time::timeout;

use crate::{
    metrics::in_flight,
    support::{
        app::TestApp,
        assistant::{Assistant, HANDSHAKE, STATELESS},
        whole::Whole as _,
    },
};

const BOTH: &str = "application/json, text/event-stream";
const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";

/// A call of a tool with a question that contains `text`, as a client of `revision` sends it.
fn call(revision: &str, text: &str, token: Option<&str>, more: &Value) -> Value {
    let filter = json!([{ "dimension": "query", "operator": "equals", "value": text }]);
    let mut arguments = json!({ "property": "northmoor.example", "filters": filter });
    for (name, value) in more.as_object().into_iter().flatten() {
        arguments[name] = value.clone();
    }
    let mut meta = json!({});
    if let Some(token) = token {
        meta["progressToken"] = json!(token);
    }
    if revision == STATELESS {
        meta["io.modelcontextprotocol/protocolVersion"] = json!(STATELESS);
        meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
    }
    let params = json!({ "name": "get_countries", "arguments": arguments, "_meta": meta });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })
}

async fn open(assistant: &Assistant, revision: &str, accept: &str, message: &Value) -> reqwest::Response {
    let mut headers = vec![("mcp-protocol-version", revision), ("accept", accept)];
    if revision == STATELESS {
        headers.extend([("mcp-method", "tools/call"), ("mcp-name", "get_countries")]);
    }
    assistant.open(Method::POST, message.to_string(), &headers).await
}

/// Fails the test if what it waits for never comes.
async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    timeout(Duration::from_mins(1), future).await.unwrap_or_else(|_| panic!("{what} never comes"))
}

/// An app that counts requests under way, and whose upstream requests have no time limit that a test could reach.
async fn patient(change: impl FnOnce(&mut Config)) -> TestApp {
    TestApp::start(|config| {
        config.metrics.listen = Some(([127, 0, 0, 1], 0).into());
        config.search_engine.patience.attempt = Duration::from_mins(10);
        config.search_engine.patience.deadline = Duration::from_mins(10);
        change(config);
    })
    .await
}

/// Waits until so many requests are under way: to the endpoint, and from it to operations.
async fn until_under_way(app: &TestApp, count: f64, when: &str) {
    let waited = timeout(Duration::from_mins(1), async { while in_flight(app).await > count {} }).await;
    assert!(waited.is_ok(), "{} requests are under way, not {count}: {when}", in_flight(app).await);
}

/// A stream of events, as it comes.
struct Events {
    response: reqwest::Response,
    read: String,
}

impl Events {
    /// The messages that have come so far, once there are `count`.
    async fn at_least(&mut self, count: usize) -> Vec<Value> {
        loop {
            let messages = self.messages();
            if messages.len() >= count {
                return messages;
            }
            assert!(self.next().await, "the stream ends after {messages:?}");
        }
    }

    /// Reads more of the stream. Returns false at its end.
    #[expect(clippy::disallowed_methods, reason = "events are read as they come")]
    async fn next(&mut self) -> bool {
        let Some(chunk) = soon("an event", self.response.chunk()).await.unwrap() else { return false };
        self.read.push_str(std::str::from_utf8(&chunk).unwrap());
        true
    }

    /// All messages.
    async fn all(mut self) -> Vec<Value> {
        while self.next().await {}
        self.messages()
    }

    fn messages(&self) -> Vec<Value> {
        let events = self.read.split("\n\n").filter(|_| self.read.contains("\n\n"));
        let data = events.flat_map(str::lines).filter_map(|line| line.strip_prefix("data:"));
        data.filter_map(|data| serde_json::from_str(data.trim()).ok()).collect()
    }
}

#[tokio::test]
async fn long_calls_report_progress_to_clients_that_asked_for_it_and_take_events() {
    let app = patient(|_| {}).await;
    let assistant = Assistant::of(&app, &app.actor("owner").await);
    let controls = app.simulator().controls();
    controls.hold("long question");
    let silent = [(HANDSHAKE, JSON, Some("quiet")), (STATELESS, JSON, Some("quiet")), (HANDSHAKE, BOTH, None)];
    let silent = silent.map(|(revision, accept, token)| {
        let assistant = assistant.clone();
        tokio::spawn(async move {
            let message = call(revision, "long question", token, &Value::Null);
            let response = open(&assistant, revision, accept, &message).await;
            assert_eq!(response.headers()["content-type"], JSON, "{accept} {token:?}");
            serde_json::from_slice::<Value>(&response.whole_bytes().await.unwrap()).unwrap()
        })
    });
    let mut streams = Vec::new();
    for (revision, accept) in [(HANDSHAKE, BOTH), (HANDSHAKE, EVENTS), (STATELESS, BOTH), (STATELESS, EVENTS)] {
        let message = call(revision, "long question", Some("token-7"), &Value::Null);
        let response = soon("the first report", open(&assistant, revision, accept, &message)).await;
        assert_eq!(response.headers()["content-type"], EVENTS, "{revision} {accept}");
        streams.push((revision, accept, Events { response, read: String::new() }));
    }
    for (revision, accept, stream) in &mut streams {
        let reports = stream.at_least(2).await;
        assert!(
            reports.iter().all(|report| report["method"] == "notifications/progress"),
            "{revision} {accept} {reports:?}"
        );
    }
    assert!(silent.iter().all(|call| !call.is_finished()));
    controls.release();
    let mut results = Vec::new();
    for (revision, accept, stream) in streams {
        let mut messages = stream.all().await;
        let mut answer = messages.pop().unwrap();
        assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(1), &json!(false)), "{revision} {accept}");
        let mut last = 0.0;
        for report in messages {
            let params = &report["params"];
            assert_eq!(params["progressToken"], "token-7", "{report}");
            assert!(params["progress"].as_f64().unwrap() > last && params["message"].is_string(), "{report}");
            last = params["progress"].as_f64().unwrap();
        }
        results.push((revision, answer["result"].take()));
    }
    for (call, revision) in silent.into_iter().zip([HANDSHAKE, STATELESS, HANDSHAKE]) {
        results.push((revision, call.await.unwrap()["result"].take()));
    }
    let first = results[0].1.clone();
    for (revision, mut result) in results {
        let result_type = result.as_object_mut().unwrap().remove("resultType");
        assert_eq!(result_type, (revision == STATELESS).then(|| json!("complete")), "{revision}");
        assert_eq!(result, first, "an event, a message and a message of the other revision say the same");
    }
}

/// Asks a question of its own and returns the number of upstream requests made meanwhile.
async fn asked(app: &TestApp, assistant: &Assistant, question: &str) -> u64 {
    let before = app.simulator().controls().requests(Endpoint::Query);
    let message = call(HANDSHAKE, question, None, &Value::Null);
    let reply = soon("the answer", assistant.post(&message, &[])).await;
    assert_eq!(reply.json["result"]["isError"], false, "{question}: {}", reply.text);
    app.simulator().controls().requests(Endpoint::Query) - before
}

#[tokio::test]
async fn a_client_that_leaves_ends_its_upstream_requests() {
    // One request at a time may be under way for a site, so that a request that goes on keeps others from being sent.
    let app = patient(|config| config.search_engine.max_in_flight = 1).await;
    let assistant = Assistant::of(&app, &app.actor("owner").await);
    let controls = app.simulator().controls();
    asked(&app, &assistant, "first").await;
    assert_eq!(asked(&app, &assistant, "second").await, 1, "the rest is known");
    let clients = [
        (HANDSHAKE, JSON, None),
        (HANDSHAKE, EVENTS, None),
        (HANDSHAKE, BOTH, Some("token")),
        (STATELESS, JSON, None),
        (STATELESS, EVENTS, None),
        (STATELESS, BOTH, Some("token")),
    ];
    for (number, (revision, accept, token)) in clients.into_iter().enumerate() {
        let question = format!("abandoned {number}");
        controls.hold(&question);
        let message = call(revision, &question, token, &json!({ "compareTo": "previous_period" }));
        let client = assistant.clone();
        let waiting = tokio::spawn(async move { open(&client, revision, accept, &message).await.whole_bytes().await });
        soon("a request", controls.wait_until_held(1)).await;
        waiting.abort();
        until_under_way(&app, 0.0, &format!("{revision} {accept} has left")).await;
        assert_eq!(asked(&app, &assistant, &format!("other {number}")).await, 1, "{revision} {accept}");
        controls.release();
    }
    // The message of the older revisions names a request of another connection, which no replica needs to know.
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    assistant.post(&cancelled, &[]).await.expect(202);
}

#[tokio::test]
async fn a_shared_read_goes_on_when_one_client_leaves() {
    let app = patient(|_| {}).await;
    let (owner, editor) = (app.actor("owner").await, app.actor("editor").await);
    let (owner, editor) = (Assistant::of(&app, &owner), Assistant::of(&app, &editor));
    let controls = app.simulator().controls();
    controls.hold("shared question");
    let ask = |assistant: Assistant, against: &str| {
        let message = call(HANDSHAKE, "shared question", None, &json!({ "compareTo": against }));
        tokio::spawn(async move { open(&assistant, HANDSHAKE, JSON, &message).await.whole_bytes().await.unwrap() })
    };
    // One request for the window, which both share, and one for each comparison window.
    let leaves = ask(owner, "previous_year");
    soon("the first question", controls.wait_until_held(2)).await;
    let stays = ask(editor, "previous_period");
    soon("the second question", controls.wait_until_held(3)).await;
    leaves.abort();
    until_under_way(&app, 2.0, "one has left").await;
    let before = controls.requests(Endpoint::Query);
    controls.release();
    let answer: Value = serde_json::from_slice(&soon("the answer", stays).await.unwrap()).unwrap();
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    assert_eq!(controls.requests(Endpoint::Query), before, "nothing is asked again");
}
