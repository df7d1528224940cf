//! Tests of creating, listing, replacing and deleting records.

use chrono::TimeDelta;
use poem::http::{HeaderValue, Method};
use serde_json::{Value, json};

use super::{column, contains};
use crate::{
    coverage::NOBODYS,
    support::{
        actor::{Actor, Answer},
        app::TestApp,
    },
};

/// A kind of record: its path, a body to create it, and changes, each to a different state.
pub struct Kind {
    /// Path of its list.
    pub list: String,
    /// A body that creates one.
    pub input: Value,
    /// Bodies that change it.
    pub changes: Vec<Value>,
}

impl Kind {
    /// The field of its conditions, if it has conditions.
    pub fn conditions(&self) -> Option<&'static str> {
        ["conditions", "filters"].into_iter().find(|field| self.input.get(field).is_some())
    }
}

/// The kinds of records that are created by a name or text.
pub fn kinds(property: &str) -> Vec<Kind> {
    let of = |part: &str| format!("/api/properties/{property}/{part}");
    let classification = |part: &str| Kind {
        list: of(part),
        input: json!({ "name": "New", "color": "#a1B2c3", "conditions": [contains("a")] }),
        changes: vec![
            json!({ "name": "NEW", "color": "#a1B2c3", "conditions": [contains("a")] }),
            json!({ "name": "NEW", "conditions": [contains("a")] }),
            json!({ "name": "NEW", "conditions": [{ "operator": "contains", "value": "b", "logic": "or" }, contains("c")] }),
        ],
    };
    let preset = |operator: &str, value: &str| json!([{ "dimension": "page", "operator": operator, "value": value }]);
    vec![
        classification("segments"),
        classification("topic-clusters"),
        Kind {
            list: of("annotations"),
            input: json!({ "date": "2026-11-01", "endDate": "2026-11-02", "text": "new", "category": "x" }),
            changes: vec![
                json!({ "date": "2026-11-01", "endDate": "2026-11-03", "text": "new", "category": "x" }),
                json!({ "date": "2026-11-01", "text": "new", "category": "x" }),
                json!({ "date": "2026-11-01", "text": "new" }),
                json!({ "date": "2026-11-05", "text": "new" }),
                json!({ "date": "2026-11-05", "text": "newer\nstill" }),
            ],
        },
        Kind {
            list: "/api/tags".into(),
            input: json!({ "name": "New", "order": 0 }),
            changes: vec![json!({ "name": "NEW", "order": 0 }), json!({ "name": "Newer", "order": 0 })],
        },
        Kind {
            list: "/api/filter-presets".into(),
            input: json!({ "name": "New", "filters": preset("contains", "a") }),
            changes: vec![
                json!({ "name": "New!", "filters": preset("contains", "a") }),
                json!({ "name": "New!", "filters": preset("equals", "a") }),
            ],
        },
    ]
}

/// Asserts that a record has all sent fields, and none of the optional ones that were omitted.
#[track_caller]
fn assert_says(record: &Value, sent: &Value) {
    for (name, value) in sent.as_object().unwrap() {
        assert_eq!(&record[name], value, "{name} of {record}");
    }
    for optional in ["endDate", "category", "color"] {
        assert_eq!(record.get(optional), sent.get(optional), "{optional} of {record}");
    }
}

/// The `ETag` of a single record, equal in body and header.
#[track_caller]
fn tag_of(answer: &Answer) -> String {
    let tag = answer.json["data"]["etag"].as_str().unwrap();
    assert!(tag.starts_with('"') && tag.ends_with('"') && tag.len() > 20, "{tag}");
    assert_eq!(answer.header("etag"), tag);
    tag.to_owned()
}

async fn listed_one(actor: &Actor, kind: &Kind, id: &str) -> Option<Value> {
    actor.listed(&kind.list).await.into_iter().find(|record| record["id"] == id)
}

#[tokio::test]
async fn what_is_written_is_what_is_read_until_it_is_deleted() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    for kind in kinds(&property) {
        let first = owner.post(&kind.list, &kind.input).await.expect(201);
        let id = first.json["data"]["id"].as_str().unwrap().to_owned();
        let path = format!("{}/{id}", kind.list);
        assert_eq!(first.header("location"), path);
        assert_says(&first.json["data"], &kind.input);
        assert_eq!(first.json["data"]["createdAt"], first.json["data"]["updatedAt"]);
        assert_eq!(listed_one(&owner, &kind, &id).await.as_ref(), Some(&first.json["data"]));
        for change in &kind.changes {
            // Finer than the precision of timestamps in a database.
            app.hand.advance(TimeDelta::nanoseconds(1_234_567_891));
            let changed = owner.put(&path, change).await.expect(200);
            assert_says(&changed.json["data"], change);
            assert_eq!(changed.json["data"]["createdAt"], first.json["data"]["createdAt"]);
            assert_ne!(changed.json["data"]["updatedAt"], first.json["data"]["updatedAt"]);
            assert_eq!(listed_one(&owner, &kind, &id).await.as_ref(), Some(&changed.json["data"]));
        }
        owner.delete(&path).await.expect(204);
        assert_eq!(listed_one(&owner, &kind, &id).await, None);
        owner.delete(&path).await.expect(404);
        owner.put(&path, &kind.input).await.expect(404);
    }
}

#[tokio::test]
async fn every_change_makes_a_new_tag_and_only_the_newest_lets_changes_through() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    for kind in kinds(&property) {
        let first = owner.post(&kind.list, &kind.input).await.expect(201);
        let path = format!("{}/{}", kind.list, first.json["data"]["id"].as_str().unwrap());
        let send = async |method: Method, body: Option<&Value>, tag: &str| {
            let headers = [("content-type", "application/json"), ("if-match", tag)];
            owner.send(method, &path, body.map(Value::to_string), &headers).await
        };
        let mut tags = vec![tag_of(&first)];
        for change in &kind.changes {
            for stale in ["\"x\"", "W/\"x\""] {
                assert_eq!(send(Method::PUT, Some(change), stale).await.expect(412).code(), "precondition_failed");
            }
            let unquoted = tags.last().unwrap().trim_matches('"').to_owned();
            let answer = send(Method::PUT, Some(change), &unquoted).await.expect(400);
            assert!(answer.hint().starts_with("If-Match:"), "{}", answer.hint());
            // A proxy that compresses answers makes their tags weak.
            let current = format!("\"x\", W/{}", tags.last().unwrap());
            tags.push(tag_of(&send(Method::PUT, Some(change), &current).await.expect(200)));
            send(Method::DELETE, None, &tags[tags.len() - 2]).await.expect(412);
            send(Method::PUT, Some(change), &tags[tags.len() - 2]).await.expect(412);
        }
        let last = kind.changes.last().unwrap();
        tag_of(&send(Method::PUT, Some(last), "*").await.expect(200));
        let different: std::collections::HashSet<&String> = tags.iter().collect();
        assert_eq!(different.len(), tags.len(), "{}", kind.list);
        let stands = owner.listed(&kind.list).await;
        let stands = stands.iter().find(|record| path.ends_with(record["id"].as_str().unwrap())).unwrap();
        assert_says(stands, last);
        send(Method::DELETE, None, stands["etag"].as_str().unwrap()).await.expect(204);
        send(Method::DELETE, None, "*").await.expect(404);
    }
}

/// A tag may contain bytes beyond ASCII (RFC 9110, 8.8.3). None of ours does, so such a tag never matches.
#[tokio::test]
async fn a_tag_of_other_bytes_is_another_tag() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let tag = owner.post("/api/tags", &json!({ "name": "Shops" })).await.expect(201);
    let url = format!("{}{}", app.service.base_url, tag.header("location"));
    let other = HeaderValue::from_bytes(b"\"\xfc\"").unwrap();
    let request = sightline::app::http_client().unwrap().delete(url).bearer_auth(owner.token());
    let answer = request.header("if-match", other).send().await.unwrap();
    assert_eq!(answer.status().as_u16(), 412);
    assert_eq!(owner.listed("/api/tags").await.len(), 1);
}

#[tokio::test]
async fn links_and_grants_hold_their_tags_too() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let links = format!("/api/properties/{}/share-links", owner.property("northmoor").await);
    let link = owner.post(&links, &json!({ "name": "x" })).await.expect(201);
    let grant = json!({ "email": "new@elsewhere.test", "role": "viewer", "allProperties": true });
    let grant = owner.post("/api/team", &grant).await.expect(201);
    let (link_path, grant_path) = (link.header("location").to_owned(), grant.header("location").to_owned());
    let (link, grant) = (tag_of(&link), tag_of(&grant));
    for (path, tag) in [(&link_path, &link), (&grant_path, &grant)] {
        owner.send(Method::DELETE, path, None, &[("if-match", "\"x\"")]).await.expect(412);
        let listed = owner.listed(path.rsplit_once('/').unwrap().0).await;
        assert!(listed.iter().any(|record| record["etag"] == *tag), "{path}");
    }
    let raise = async |role: &str, tag: &str| {
        let headers = [("content-type", "application/json"), ("if-match", tag)];
        owner.send(Method::PUT, &grant_path, Some(json!({ "role": role }).to_string()), &headers).await
    };
    raise("admin", "\"x\"").await.expect(412);
    let raised = tag_of(&raise("admin", &grant).await.expect(200));
    raise("viewer", &grant).await.expect(412);
    owner.send(Method::DELETE, &grant_path, None, &[("if-match", &grant)]).await.expect(412);
    owner.send(Method::DELETE, &grant_path, None, &[("if-match", &raised)]).await.expect(204);
    owner.send(Method::DELETE, &link_path, None, &[("if-match", &link)]).await.expect(204);
}

#[tokio::test]
async fn lists_stand_in_their_documented_order() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    let of = |part: &str| format!("/api/properties/{property}/{part}");
    let days = ["2026-11-03", "2026-11-01", "2026-11-05", "2026-11-03"];
    let mut ids = Vec::new();
    for day in days {
        ids.push(owner.made(&of("annotations"), &json!({ "date": day, "text": day })).await);
        app.hand.advance(TimeDelta::seconds(1));
    }
    let found = owner.listed(&of("annotations")).await;
    assert_eq!(column(&found, "id"), [&ids[2], &ids[3], &ids[0], &ids[1]].map(Clone::clone));

    let names = ["zebra", "Ärger", "Apple", "apple pie", "Zoo"];
    for list in [of("segments"), of("topic-clusters"), "/api/filter-presets".to_owned()] {
        for name in names {
            let filters = json!([{ "dimension": "query", "operator": "contains", "value": "a" }]);
            let preset = list.ends_with("presets");
            let body = if preset { json!({ "name": name, "filters": filters }) } else { rule(name) };
            owner.made(&list, &body).await;
        }
        // Ordered by code point after case folding: letters with diacritics come after those without.
        let mut found = column(&owner.listed(&list).await, "name");
        found.retain(|name| names.contains(&name.as_str()));
        assert_eq!(found, ["Apple", "apple pie", "zebra", "Zoo", "Ärger"], "{list}");
    }

    for name in ["first", "second", "third"] {
        owner.made(&of("share-links"), &json!({ "name": name })).await;
        app.hand.advance(TimeDelta::seconds(1));
    }
    assert_eq!(column(&owner.listed(&of("share-links")).await, "name"), ["third", "second", "first"]);

    for address in ["z@elsewhere.test", "A@elsewhere.test", "m@elsewhere.test"] {
        owner.made("/api/team", &json!({ "email": address, "role": "viewer", "allProperties": true })).await;
    }
    let addresses = column(&owner.listed("/api/team").await, "email");
    let expected = ["A@elsewhere.test", "editor@demo.test", "m@elsewhere.test", "viewer@demo.test", "z@elsewhere.test"];
    assert_eq!(addresses, expected);
}

fn rule(name: &str) -> Value {
    json!({ "name": name, "conditions": [contains("a")] })
}

#[tokio::test]
async fn branded_keywords_are_added_in_batches_and_removed_singly() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let path = format!("/api/properties/{}/branded-keywords", owner.property("northmoor").await);
    let before = owner.listed(&path).await;
    app.hand.advance(TimeDelta::minutes(1));
    let batch = json!({ "keywords": [" Zeta ", "ZETA", "Caf\u{e9}", "cafe\u{301}", "alpha", before[0]["keyword"]] });
    let added = owner.post(&path, &batch).await.expect(201);
    assert_eq!(added.header("location"), path);
    let mut found = column(added.json["data"].as_array().unwrap(), "keyword");
    found.retain(|keyword| !column(&before, "keyword").contains(keyword));
    assert_eq!(found, ["alpha", "Caf\u{e9}", "Zeta"]);
    assert_eq!(added.json["data"].as_array().unwrap().len(), before.len() + 3);
    assert_eq!(&owner.listed(&path).await, added.json["data"].as_array().unwrap());
    // Existing keywords stay unchanged.
    let kept = owner.listed(&path).await.into_iter().find(|row| row["keyword"] == before[0]["keyword"]);
    assert_eq!(kept.as_ref(), Some(&before[0]));
    let again = owner.post(&path, &batch).await.expect(201);
    assert_eq!(again.json, added.json);
    let remove = async |keyword: &str| {
        let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("keyword", keyword).finish();
        owner.delete(&format!("{path}?{query}")).await
    };
    remove("CAFE\u{301}").await.expect(204);
    remove("caf\u{e9}").await.expect(404);
    remove(" zeta").await.expect(204);
    assert_eq!(owner.listed(&path).await.len(), before.len() + 1);
    assert!(owner.delete(&path).await.expect(400).hint().contains("keyword"));
}

#[tokio::test]
async fn annotations_of_a_window_overlap_it() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let path = format!("/api/properties/{}/annotations", owner.property("northmoor").await);
    for (first, last) in [("2026-10-01", None), ("2026-10-02", Some("2026-10-05")), ("2026-10-07", Some("2026-10-07"))]
    {
        let mut body = json!({ "date": first, "text": first });
        if let Some(last) = last {
            body["endDate"] = last.into();
        }
        owner.made(&path, &body).await;
    }
    let touching = async |start: &str, end: &str| {
        let found = owner.ask(&path, &[("startDate", start), ("endDate", end)]).await.expect(200);
        column(found.json["data"].as_array().unwrap(), "date").len()
    };
    assert_eq!(touching("2026-10-05", "2026-10-06").await, 1);
    assert_eq!(touching("2026-10-01", "2026-10-02").await, 2);
    assert_eq!(touching("2026-10-03", "2026-10-03").await, 1);
    assert_eq!(touching("2026-10-06", "2026-10-06").await, 0);
    assert_eq!(touching("2026-10-06", "2026-10-31").await, 1);
    owner.ask(&path, &[("startDate", "2026-10-05"), ("endDate", "2026-10-01")]).await.expect(400);

    let all = owner.ask(&path, &[("includeSystem", "true")]).await.expect(200);
    let system: Vec<&Value> =
        all.json["data"].as_array().unwrap().iter().filter(|found| found["source"] == "system").collect();
    let june = system.iter().find(|found| found["date"] == "2026-06-24").unwrap();
    assert_eq!((june["endDate"].as_str(), june["category"].as_str()), (Some("2026-06-26"), Some("ranking update")));
    assert!(june["sourceUrl"].as_str().unwrap().starts_with("https://"), "{june}");
    assert!(owner.listed(&path).await.iter().all(|found| found["source"] == "user"));
    for id in [system[0]["id"].as_str().unwrap(), NOBODYS] {
        owner.delete(&format!("{path}/{id}")).await.expect(404);
        owner.put(&format!("{path}/{id}"), &json!({ "date": "2026-11-01", "text": "x" })).await.expect(404);
    }
}
