//! Tests of API versions, over a version that only these tests register: it calls a tag's label `name`, the tracked sites
//! `properties`, and the days of the property list `days`.

mod conditional;
mod replays;
mod side_by_side;

use api::versions::{Change, RELEASES, Release};
use poem::http::Method;
use serde_json::Value;
use sightline::config::Releases;

use crate::support::{
    actor::{Actor, Answer},
    app::TestApp,
};

const OLD: &str = "2026-09-14";
const NEW: &str = "2026-11-01";

/// The old version, and the new one that replaced it.
static BOTH: [Release; 2] = [
    Release { date: OLD, sunset: Some("2027-01-30"), changes: &[] },
    Release {
        date: NEW,
        sunset: None,
        changes: &[
            Change {
                request: Some(|body| rename(body, "label", "name")),
                response: Some(|body| rename(&mut body["data"], "name", "label")),
                refusal: Some(|body| reword(body, "name", "label")),
                ..Change::of(&["createTag", "updateTag"], "`label` is called `name`.")
            },
            Change {
                response: Some(|body| with_labels(&mut body["data"])),
                ..Change::of(&["listTags"], "`label` is called `name`.")
            },
            Change {
                response: Some(|body| rename(&mut body["data"], "properties", "sites")),
                ..Change::of(&["getPropertyTracking", "replacePropertyTracking"], "`sites` is called `properties`.")
            },
            Change {
                response: Some(|_| panic!("a mistake in a transform")),
                ..Change::of(&["listFilterPresets"], "This one is broken.")
            },
            Change {
                query: Some(|query| with_days(query)),
                refusal: Some(|body| reword(body, "days", "period")),
                ..Change::of(&["listProperties"], "`period` is called `days`.")
            },
        ],
    },
];

fn rename(object: &mut Value, from: &str, to: &str) {
    if let Some(fields) = object.as_object_mut()
        && let Some(value) = fields.remove(from)
    {
        fields.insert(to.to_owned(), value);
    }
}

/// Gives each tag of a list a label.
fn with_labels(tags: &mut Value) {
    for tag in tags.as_array_mut().into_iter().flatten() {
        rename(tag, "name", "label");
    }
}

fn with_days(query: &mut [(String, String)]) {
    for (name, _) in query.iter_mut().filter(|(name, _)| name == "period") {
        "days".clone_into(name);
    }
}

/// Names a field in the hint of a refusal as the old version does.
fn reword(refusal: &mut Value, from: &str, to: &str) {
    let hint = refusal["hint"].as_str().and_then(|hint| hint.strip_prefix(from)?.strip_prefix(": "));
    if let Some(hint) = hint.map(|allowed| format!("{to}: {allowed}")) {
        refusal["hint"] = hint.into();
    }
}

/// A service of both versions.
async fn both() -> TestApp {
    TestApp::start(|config| config.releases = Releases(&BOTH)).await
}

/// A person's client of one version.
struct Client<'a> {
    actor: &'a Actor,
    pin: Option<&'static str>,
}

impl Client<'_> {
    async fn send(&self, method: Method, path: &str, body: Option<&Value>, headers: &[(&str, &str)]) -> Answer {
        let pin = self.pin.map(|date| ("x-api-version", date));
        let json = body.map(|_| ("content-type", "application/json"));
        let headers = headers.iter().copied().chain(pin).chain(json).collect::<Vec<_>>();
        let answer = self.actor.send(method, path, body.map(Value::to_string), &headers).await;
        assert_eq!(is_outdated(&answer), self.pin == Some(OLD), "{path}: {:?}", answer.headers);
        answer
    }

    async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, None, &[]).await
    }

    async fn post(&self, path: &str, body: &Value, headers: &[(&str, &str)]) -> Answer {
        self.send(Method::POST, path, Some(body), headers).await
    }
}

/// The old client and the new one of a person.
fn clients(actor: &Actor) -> (Client<'_>, Client<'_>) {
    (Client { actor, pin: Some(OLD) }, Client { actor, pin: None })
}

/// Returns whether an answer says that its version has an end, which it says in full or not at all.
fn is_outdated(answer: &Answer) -> bool {
    let link = answer.headers.get_all("link").iter().filter_map(|link| link.to_str().ok());
    let links: Vec<&str> = link.filter(|link| link.contains("rel=\"deprecation\"")).collect();
    if links.is_empty() {
        assert_eq!((answer.header("deprecation"), answer.header("sunset")), ("", ""));
        return false;
    }
    // Midnight of 1 November 2026, and of 30 January 2027, in UTC.
    assert_eq!(answer.header("deprecation"), "@1793491200");
    assert_eq!(answer.header("sunset"), "Sat, 30 Jan 2027 00:00:00 GMT");
    assert!(links.len() == 1 && links[0].contains("/changelog#2026-11-01>"), "{links:?}");
    true
}

#[tokio::test]
async fn a_service_does_not_start_with_a_version_that_ends_too_soon() {
    static HASTY: [Release; 2] = [
        Release { date: OLD, sunset: Some("2027-01-29"), changes: &[] },
        Release { sunset: None, date: NEW, changes: &[] },
    ];
    let data = tempfile::TempDir::new().unwrap();
    let mut config = crate::support::app::settings();
    config.data_dir = data.path().display().to_string();
    config.releases = Releases(&HASTY);
    let (clock, _) = common::clock::Clock::manual(crate::support::app::start_of_test());
    let refused =
        Box::pin(sightline::app::start(config, clock, common::random::Random::seeded(1))).await.err().unwrap();
    assert!(refused.to_string().contains("its sunset must be 2027-01-30 or later"), "{refused}");
    assert_eq!(Releases::default(), Releases(RELEASES));
}
