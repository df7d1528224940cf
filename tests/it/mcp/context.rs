//! Tests of the offers to people beside tools: resources, prompts, and completion of their arguments.

use serde_json::{Value, json};
use sightline::mcp::clean::ADVICE;

use super::as_said;
use crate::support::{
    app::{TestApp, shared},
    assistant::Assistant,
};

async fn of(app: &TestApp, name: &str) -> Assistant {
    Assistant::of(app, &app.actor(name).await)
}

/// The result of a request that succeeds, as a client of the stateless revision gets it.
async fn result(assistant: &Assistant, method: &str, params: Value) -> Value {
    let reply = assistant.ask_statelessly(method, params).await.expect(200);
    assert!(reply.json["error"].is_null(), "{method} {}", reply.text);
    reply.json["result"].clone()
}

/// The JSON of a resource.
async fn read(assistant: &Assistant, uri: &str) -> Value {
    let found = result(assistant, "resources/read", json!({ "uri": uri })).await;
    assert_eq!(found["cacheScope"], "private", "{uri}");
    let contents = found["contents"].as_array().unwrap();
    assert_eq!(
        (contents.len(), &contents[0]["uri"], &contents[0]["mimeType"]),
        (1, &json!(uri), &json!("application/json"))
    );
    serde_json::from_str(contents[0]["text"].as_str().unwrap()).unwrap()
}

/// The values that complete `typed`.
async fn completed(assistant: &Assistant, reference: &Value, argument: &str, typed: &str) -> Vec<String> {
    let params = json!({ "ref": reference, "argument": { "name": argument, "value": typed } });
    let found = result(assistant, "completion/complete", params).await;
    let values = found["completion"]["values"].as_array().unwrap();
    values.iter().map(|value| value.as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn lists_say_how_long_they_may_be_kept() {
    let assistant = of(shared(), "owner").await;
    for (method, field, names) in [
        ("resources/list", "resources", &["guide", "properties"][..]),
        ("resources/templates/list", "resourceTemplates", &["definitions"]),
        ("prompts/list", "prompts", &["monthly_report", "traffic_drop_diagnosis", "cannibalization_review"]),
    ] {
        let list = result(&assistant, method, json!({})).await;
        let found: Vec<&str> =
            list[field].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect();
        assert_eq!(found, names, "{method}");
        assert!(list["ttlMs"].as_u64().unwrap() > 0 && list["cacheScope"] == "public", "{method} {list}");
        for item in list[field].as_array().unwrap() {
            assert!(item["title"].is_string() && item["description"].as_str().unwrap().len() > 40, "{item}");
        }
        let older = assistant.ask(method, json!({})).await.expect(200).json["result"].clone();
        assert_eq!(older[field], list[field], "{method}");
    }
}

#[tokio::test]
async fn the_guide_is_short_and_the_same_for_everyone() {
    let assistant = of(shared(), "owner").await;
    let guide = result(&assistant, "resources/read", json!({ "uri": "sightline://guide" })).await;
    assert_eq!(guide["cacheScope"], "public");
    let contents = &guide["contents"][0];
    assert_eq!(contents["mimeType"], "text/markdown");
    let text = contents["text"].as_str().unwrap();
    assert!(text.len() < 4_500, "{} bytes of every assistant's memory", text.len());
    for state in ["analysed", "no_search_data", "not_final_yet", "never connected", "reconnected"] {
        assert!(text.contains(state), "{state}");
    }
}

#[tokio::test]
async fn resources_hold_what_the_operations_say() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let (assistant, property) = (Assistant::of(&app, &owner), owner.property("northmoor").await);
    let listed = read(&assistant, "sightline://properties").await;
    let answer = owner.get("/api/properties").await.expect(200).json;
    assert_eq!(listed["properties"], as_said(answer)["data"]);
    assert_eq!((&listed["notice"], &listed["leftOut"]), (&json!(ADVICE), &json!([])));

    let condition = json!({ "operator": "contains", "value": "/shop/" });
    let segment = json!({ "name": "Shop\u{200b}pohs", "conditions": [condition] });
    let path = format!("/api/properties/{property}");
    owner.post(&format!("{path}/segments"), &segment).await.expect(201);
    let site = listed["properties"].as_array().unwrap().iter().find(|entry| entry["id"] == json!(property)).unwrap();
    let site: String = url::form_urlencoded::byte_serialize(site["siteUrl"].as_str().unwrap().as_bytes()).collect();
    for name in [property.as_str(), "northmoor.example", &site] {
        let found = read(&assistant, &format!("sightline://properties/{name}/definitions")).await;
        for (field, list) in
            [("segments", "segments"), ("topicClusters", "topic-clusters"), ("brandedKeywords", "branded-keywords")]
        {
            let answer = owner.get(&format!("{path}/{list}")).await.expect(200).json;
            assert_eq!(found[field], as_said(answer)["data"], "{name} {field}");
            assert!(!found[field].as_array().unwrap().is_empty(), "{field}");
        }
        assert_eq!(found["property"], json!(property));
        let names = found["segments"].as_array().unwrap().iter().map(|segment| segment["name"].as_str().unwrap());
        assert!(names.into_iter().any(|name| name == "Shoppohs"), "{found}");
    }
}

#[tokio::test]
async fn a_missing_resource_has_the_code_of_its_revision() {
    let app = shared();
    let assistant = of(app, "owner").await;
    let foreign = app.actor("stranger").await.property("quietmeadow").await;
    let mut said = Vec::new();
    for uri in [
        "sightline://nothing".to_owned(),
        "https://example.org/".to_owned(),
        format!("sightline://properties/{foreign}/definitions"),
        "sightline://properties/quietmeadow.example/definitions".to_owned(),
        "sightline://properties/01937f5e-8a7b-7c3d-9e4f-0a1b2c3d4e5f/definitions".to_owned(),
    ] {
        let params = json!({ "uri": uri });
        assert_eq!(assistant.ask("resources/read", params.clone()).await.expect(200).error(), -32002, "{uri}");
        let newest = assistant.ask_statelessly("resources/read", params).await.expect(200);
        assert_eq!((newest.error(), &newest.json["error"]["data"]), (-32602, &json!({ "uri": uri })));
        said.push(newest.json["error"]["message"].clone());
    }
    assert!(said.iter().all(|text| *text == said[0]), "a stranger's property looks like a missing one: {said:?}");
}

#[tokio::test]
async fn resources_need_the_rights_of_the_operations() {
    let app = TestApp::start(|_| {}).await;
    let lapsed_person = app.actor("lapsed").await;
    let lapsed = Assistant::of(&app, &lapsed_person);
    let locked = lapsed_person.listed("/api/properties").await[0]["id"].as_str().unwrap().to_owned();
    let params = json!({ "uri": format!("sightline://properties/{locked}/definitions") });
    let reply = lapsed.ask("resources/read", params).await.expect(200);
    let error = &reply.json["error"];
    assert_eq!((reply.error(), &error["data"]["code"]), (-32602, &json!("subscription_required")), "{}", reply.text);
    assert!(error["message"].as_str().unwrap().contains("Subscribe"), "{error}");
    Assistant::anonymous(&app).ask("resources/read", json!({ "uri": "sightline://guide" })).await.expect(401);
}

#[tokio::test]
async fn prompts_are_filled_in_and_refused_by_name() {
    let assistant = of(shared(), "owner").await;
    let list = result(&assistant, "prompts/list", json!({})).await;
    for prompt in list["prompts"].as_array().unwrap() {
        let arguments = prompt["arguments"].as_array().unwrap();
        assert_eq!((&arguments[0]["name"], &arguments[0]["required"]), (&json!("property"), &json!(true)), "{prompt}");
        let params =
            json!({ "name": prompt["name"], "arguments": { "property": "northmoor.example", "period": "last_week" } });
        let filled = result(&assistant, "prompts/get", params).await;
        let message = &filled["messages"][0];
        let text = message["content"]["text"].as_str().unwrap();
        assert_eq!((&message["role"], &message["content"]["type"]), (&json!("user"), &json!("text")));
        assert!(text.contains("property=\"northmoor.example\", period=last_week"), "{text}");
    }
    for (params, said) in [
        (json!({ "name": "no_prompt" }), "name: no prompt is called no_prompt"),
        (json!({ "name": "monthly_report", "arguments": {} }), "arguments.property: is required"),
    ] {
        let reply = assistant.ask("prompts/get", params).await.expect(200);
        let message = reply.json["error"]["message"].as_str().unwrap();
        assert!(reply.error() == -32602 && message.starts_with(said), "{message}");
    }
}

#[tokio::test]
async fn completion_knows_the_persons_properties_only() {
    let app = shared();
    let (owner, stranger) = (app.actor("owner").await, app.actor("stranger").await);
    let prompt = json!({ "type": "ref/prompt", "name": "monthly_report" });
    let template = json!({ "type": "ref/resource", "uri": "sightline://properties/{property}/definitions" });
    for person in [&owner, &stranger] {
        let assistant = Assistant::of(app, person);
        let listed = person.listed("/api/properties").await;
        let names: Vec<&str> = listed.iter().map(|entry| entry["name"].as_str().unwrap()).collect();
        for reference in [&prompt, &template] {
            let values = completed(&assistant, reference, "property", "").await;
            assert_eq!(values.len(), names.len());
            assert!(names.iter().all(|name| values.iter().any(|value| value.contains(name))), "{values:?} {names:?}");
        }
    }
    let assistant = Assistant::of(app, &owner);
    assert_eq!(completed(&assistant, &prompt, "property", "NORTHM").await, ["northmoor.example"]);
    assert_eq!(completed(&assistant, &template, "property", "thmoor").await, ["northmoor.example"]);
    assert_eq!(completed(&assistant, &prompt, "property", "quietmeadow").await, Vec::<String>::new());
    assert_eq!(completed(&assistant, &prompt, "period", "last_m").await, ["last_month"]);
    let years = ["previous_year", "previous_year_same_weekdays"];
    assert_eq!(completed(&assistant, &prompt, "compareTo", "year").await, years);
    for (reference, argument) in [
        (&prompt, "days"),
        (&template, "period"),
        (&json!({ "type": "ref/prompt", "name": "no_prompt" }), "property"),
        (&json!({ "type": "ref/resource", "uri": "sightline://guide" }), "property"),
    ] {
        let params = json!({ "ref": reference, "argument": { "name": argument, "value": "" } });
        assert_eq!(
            assistant.ask("completion/complete", params).await.expect(200).error(),
            -32602,
            "{reference} {argument}"
        );
    }
}
