//! Tests of sums and lists over properties of which some or all cannot be read: what is not counted is null, and counted by its reason.

use chrono::TimeDelta;
use serde_json::{Value, json};

use crate::{
    coverage::NOBODYS,
    dashboard::holds_none,
    faults::{impatient, trouble},
    support::{
        actor::Actor,
        app::{TestApp, shared},
        assistant::Assistant,
        signed_in::Browser,
    },
};

async fn portfolio(actor: &Actor, query: &[(&str, &str)]) -> Value {
    actor.ask("/api/portfolio", query).await.expect(200).json
}

/// Fails unless the answer has no sums.
#[track_caller]
fn has_no_sums(answer: &Value) {
    let data = answer["data"].as_object().unwrap();
    for name in ["totals", "previous", "change"] {
        assert_eq!(data.get(name), Some(&Value::Null), "{name}: {answer}");
    }
    assert_eq!((&data["series"], &data["previousSeries"]), (&json!([]), &json!([])), "{answer}");
    assert_eq!((&data["movers"], &data["tags"]), (&json!({ "up": [], "down": [] }), &json!([])), "{answer}");
    assert!(answer["meta"].get("window").is_none() && answer["meta"]["coverage"]["inSum"] == 0, "{answer}");
}

#[tokio::test]
async fn what_is_not_counted_is_null_and_counted_by_its_reason_in_lists_and_sums() {
    for (person, fault, reason, count) in [
        ("owner", "permission403:1", "refused", 4),
        ("owner", "error500:1", "refused", 4),
        ("owner", "invalid_grant:1", "disconnected", 4),
        ("editor", "permission403:1", "refused", 3),
        ("lapsed", "", "locked", 1),
    ] {
        let app = TestApp::start(impatient).await;
        app.hand.advance(TimeDelta::hours(7));
        let actor = app.actor(person).await;
        trouble(&app, if fault.is_empty() { &[] } else { std::slice::from_ref(&fault) });
        let sums = portfolio(&actor, &[]).await;
        has_no_sums(&sums);
        let progress = actor.ask("/api/properties", &[]).await.expect(200).json["meta"]["progress"].clone();
        let coverage = &sums["meta"]["coverage"];
        for name in ["stillReading", "refused", "locked", "disconnected"] {
            let expected = if name == reason { count } else { 0 };
            assert_eq!(
                (&progress[name], &coverage[name]),
                (&json!(expected), &json!(expected)),
                "{person} {fault} {name}"
            );
        }
        assert_eq!(progress["read"], 0);
        let tool = Assistant::of(&app, &actor).call("list_properties", json!({ "compareTo": "previous_period" })).await;
        if tool["isError"] == false {
            assert_eq!(tool["structuredContent"]["data"].get("totals"), Some(&Value::Null), "{tool}");
        } else {
            assert_eq!(person, "lapsed", "{tool}");
        }
        let page = Browser::signed_in(&app, person).await.get("/").await.expect(200);
        holds_none(&page, &["class=\"tiles\""]);
    }
}

#[tokio::test]
async fn a_filter_that_leaves_no_property_has_no_sums() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let tag = owner.made("/api/tags", &json!({ "name": "Nothing carries it" })).await;
    for filter in [("tag", tag.as_str()), ("search", "nothing-like-it"), ("role", "viewer")] {
        has_no_sums(&portfolio(&owner, &[filter]).await);
        let list = owner.ask("/api/properties", &[filter]).await.expect(200).json;
        assert_eq!(list["data"], json!([]), "{filter:?}");
    }
}

#[tokio::test]
async fn an_unknown_tag_is_not_found_wherever_a_tag_is_a_filter() {
    let (owner, viewer) = (shared().actor("owner").await, shared().actor("viewer").await);
    let theirs = owner.made("/api/tags", &json!({ "name": "Of the owner alone" })).await;
    for tag in [theirs.as_str(), NOBODYS] {
        for path in ["/api/properties", "/api/portfolio"] {
            for more in [("days", "7"), ("search", "northmoor")] {
                let refused = viewer.ask(path, &[("tag", tag), more]).await.expect(404);
                assert_eq!(refused.code(), "not_found");
                assert_eq!(
                    refused.hint(),
                    "tag: is not one of your tags; send the id of one, or leave it out",
                    "{path}"
                );
            }
        }
        let assistant = Assistant::of(shared(), &viewer);
        for arguments in [json!({ "tag": tag }), json!({ "tag": tag, "compareTo": "previous_year" })] {
            let (code, said) = assistant.refused("list_properties", arguments).await;
            assert!(code == "not_found" && said.contains("tag: is not one of your tags"), "{code} {said}");
        }
        let page = Browser::signed_in(shared(), "viewer").await.get(&format!("/?tag={tag}")).await.expect(404);
        assert!(
            page.body.contains("tag: is not one of your tags") && page.body.contains("Start again"),
            "{}",
            page.body
        );
    }
    owner.ask("/api/properties", &[("tag", &theirs)]).await.expect(200);
}
