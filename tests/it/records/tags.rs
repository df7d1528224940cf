//! Tests of tags: positions run from 0 without gaps, and attaching is all or nothing.

use poem::http::Method;
use proptest::{prelude::*, strategy::ValueTree as _, test_runner::TestRunner};
use serde_json::{Value, json};

use super::column;
use crate::{
    coverage::{NOBODYS, untracked},
    support::{actor::Actor, app::TestApp},
};

/// An operation on the list of tags.
#[derive(Debug, Clone)]
enum Step {
    Make(Option<u32>),
    Move(prop::sample::Index, Option<u32>),
    Delete(prop::sample::Index),
}

fn step() -> impl Strategy<Value = Step> {
    let place = prop::option::weighted(0.8, prop_oneof![0_u32..8, Just(1_000_000)]);
    let tag = any::<prop::sample::Index>();
    prop_oneof![
        2 => place.clone().prop_map(Step::Make),
        4 => (tag.clone(), place).prop_map(|(tag, place)| Step::Move(tag, place)),
        1 => tag.prop_map(Step::Delete),
    ]
}

fn body(name: &str, order: Option<u32>) -> Value {
    order.map_or_else(|| json!({ "name": name }), |order| json!({ "name": name, "order": order }))
}

/// Inserts `id` at the requested position, or at the end.
fn insert(model: &mut Vec<String>, id: String, order: Option<u32>) -> usize {
    let place = order.map_or(model.len(), |order| model.len().min(order as usize));
    model.insert(place, id);
    place
}

async fn apply(owner: &Actor, model: &mut Vec<String>, step: Step, turn: usize) {
    match step {
        Step::Make(order) => {
            let made = owner.post("/api/tags", &body(&format!("tag {turn}"), order)).await.expect(201);
            let id = made.json["data"]["id"].as_str().unwrap().to_owned();
            assert_eq!(made.json["data"]["order"], insert(model, id, order));
        }
        Step::Move(..) | Step::Delete(_) if model.is_empty() => {}
        Step::Move(tag, order) => {
            let from = tag.index(model.len());
            let id = model.remove(from);
            let to = insert(model, id.clone(), order.or_else(|| u32::try_from(from).ok()));
            let moved = owner.put(&format!("/api/tags/{id}"), &body(&format!("tag {turn}"), order)).await.expect(200);
            assert_eq!(moved.json["data"]["order"], to);
        }
        Step::Delete(tag) => {
            let id = model.remove(tag.index(model.len()));
            owner.delete(&format!("/api/tags/{id}")).await.expect(204);
        }
    }
}

#[tokio::test]
async fn positions_have_no_gaps_after_any_change() {
    let app = TestApp::start(|_| {}).await;
    let (owner, other) = (app.actor("owner").await, app.actor("stranger").await);
    for name in ["a", "b", "c"] {
        other.made("/api/tags", &json!({ "name": name })).await;
    }
    let before = other.listed("/api/tags").await;
    let mut model = Vec::new();
    let steps = prop::collection::vec(step(), 80).new_tree(&mut TestRunner::deterministic()).unwrap().current();
    for (turn, step) in steps.into_iter().enumerate() {
        let doing = format!("{turn}: {step:?}");
        apply(&owner, &mut model, step, turn).await;
        let tags = owner.listed("/api/tags").await;
        assert_eq!(column(&tags, "id"), model, "{doing}");
        let places: Vec<u64> = tags.iter().map(|tag| tag["order"].as_u64().unwrap()).collect();
        assert!(places.iter().copied().eq(0..model.len() as u64), "{doing}: {places:?}");
    }
    assert!(model.len() > 3, "the steps leave something to look at");
    assert_eq!(other.listed("/api/tags").await, before, "other people's tags stay where they are");
    for wrong in [json!(-1), json!(1.5), json!(1_000_001), json!("1")] {
        let answer = owner.post("/api/tags", &json!({ "name": "x", "order": wrong })).await.expect(400);
        assert!(answer.hint().starts_with("order"), "{}", answer.hint());
    }
}

/// The tags of each property of a person, as in the property list.
#[tokio::test]
async fn a_list_that_was_read_once_can_be_put_in_order_tag_by_tag() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    for name in ["a", "b", "c", "d"] {
        owner.made("/api/tags", &json!({ "name": name })).await;
    }
    let read = owner.listed("/api/tags").await;
    app.hand.advance(chrono::TimeDelta::seconds(1));
    // Each move shifts the others, without changing their ETags.
    for tag in &read {
        let (path, etag) = (format!("/api/tags/{}", tag["id"].as_str().unwrap()), tag["etag"].as_str().unwrap());
        let headers = [("content-type", "application/json"), ("if-match", etag)];
        let first = body(tag["name"].as_str().unwrap(), Some(0)).to_string();
        let moved = owner.send(Method::PUT, &path, Some(first), &headers).await.expect(200);
        assert_ne!(moved.header("etag"), etag);
    }
    assert_eq!(column(&owner.listed("/api/tags").await, "name"), ["d", "c", "b", "a"]);
}

async fn tagged(actor: &Actor) -> Vec<(String, Vec<Value>)> {
    let listed = actor.listed("/api/properties").await;
    listed
        .iter()
        .map(|entry| (entry["id"].as_str().unwrap().to_owned(), entry["tagIds"].as_array().unwrap().clone()))
        .collect()
}

#[tokio::test]
async fn tags_are_attached_all_or_nothing() {
    let app = TestApp::start(|_| {}).await;
    let (owner, stranger) = (app.actor("owner").await, app.actor("stranger").await);
    let properties = column(&owner.listed("/api/properties").await, "id");
    let mut tags = Vec::new();
    for name in ["a", "b", "c"] {
        tags.push(owner.made("/api/tags", &json!({ "name": name })).await);
    }
    let theirs = stranger.made("/api/tags", &json!({ "name": "a" })).await;
    let of_property = format!("/api/properties/{}/tags", properties[0]);
    let of_tag = format!("/api/tags/{}/properties", tags[0]);
    let set = owner.post(&of_property, &json!({ "tagIds": [tags[2], tags[0]] })).await.expect(200);
    assert_eq!(set.json["data"], json!({ "id": properties[0], "tagIds": [tags[0], tags[2]] }), "in the tags' order");
    let set = owner.post(&of_tag, &json!({ "propertyIds": [properties[1], properties[0]] })).await.expect(200);
    assert_eq!(set.json["data"].as_array().unwrap().len(), 2);
    assert_eq!(owner.get(&of_tag).await.expect(200).json["data"], set.json["data"]);
    let before = tagged(&owner).await;
    let named = |index: usize| before.iter().find(|(id, _)| *id == properties[index]).unwrap().1.clone();
    assert_eq!((named(0), named(1)), (vec![json!(tags[0]), json!(tags[2])], vec![json!(tags[0])]));
    let counts: Vec<Value> = owner.listed("/api/tags").await.iter().map(|tag| tag["rowsMatched"].clone()).collect();
    assert_eq!(counts, [2, 0, 1]);

    let foreign = stranger.property("quietmeadow").await;
    for stray in [theirs.as_str(), NOBODYS] {
        owner.post(&of_property, &json!({ "tagIds": [tags[1], stray] })).await.expect(404);
    }
    for stray in [foreign.as_str(), NOBODYS, &untracked(&owner).await] {
        owner.post(&of_tag, &json!({ "propertyIds": [properties[2], stray] })).await.expect(404);
    }
    owner.post(&format!("/api/tags/{theirs}/properties"), &json!({ "propertyIds": [] })).await.expect(404);
    owner.get(&format!("/api/tags/{theirs}/properties")).await.expect(404);
    for (path, name, id) in [(&of_property, "tagIds", &tags[1]), (&of_tag, "propertyIds", &properties[2])] {
        // The same id twice, also in two spellings.
        for twice in [json!([id, id]), json!([id, id.to_uppercase()]), json!([id, id.replace('-', "")]), json!(["x"])] {
            let answer = owner.post(path, &json!({ name: twice })).await.expect(400);
            assert!(answer.hint().starts_with(name), "{}", answer.hint());
        }
    }
    assert_eq!(tagged(&owner).await, before, "what is refused changes nothing");

    owner.delete(&format!("/api/tags/{}", tags[0])).await.expect(204);
    let after = tagged(&owner).await;
    assert_eq!(after.iter().map(|(_, tags)| tags.len()).sum::<usize>(), 1);
    owner.post(&of_property, &json!({ "tagIds": [] })).await.expect(200);
    assert!(tagged(&owner).await.iter().all(|(_, tags)| tags.is_empty()));
}

#[tokio::test]
async fn two_people_tag_the_same_property_each_for_themselves() {
    let app = TestApp::start(|_| {}).await;
    let (owner, viewer) = (app.actor("owner").await, app.actor("viewer").await);
    let property = column(&viewer.listed("/api/properties").await, "id").remove(0);
    let path = format!("/api/properties/{property}/tags");
    let mut tags = Vec::new();
    for actor in [&owner, &viewer] {
        let tag = actor.made("/api/tags", &json!({ "name": "same" })).await;
        actor.post(&path, &json!({ "tagIds": [tag] })).await.expect(200);
        tags.push(tag);
    }
    for (actor, tag) in [(&owner, &tags[0]), (&viewer, &tags[1])] {
        let found = tagged(actor).await;
        assert_eq!(found.iter().find(|(id, _)| *id == property).unwrap().1, [json!(tag)]);
    }
    owner.post(&path, &json!({ "tagIds": [] })).await.expect(200);
    assert_eq!(viewer.listed("/api/tags").await[0]["rowsMatched"], 1);
}
