//! Tests of permissions: every operation of the document, as every kind of caller.

use api::{
    models::Role,
    operation::{self, Access, Operation},
};
use serde_json::{Value, json};

use super::{contains, grant_of};
use crate::{
    coverage::{Documented, NOBODYS, documented},
    support::{
        actor::{Actor, Answer},
        app::TestApp,
    },
};

/// A caller.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
struct Asker {
    name: &'static str,
    actor: Actor,
    /// The property of the requests, and the caller's role on it. `None` if it is not visible.
    property: String,
    role: Option<Role>,
    /// True if the property's owner has a plan.
    paid: bool,
    /// True if the caller's own plan includes a team.
    team: bool,
    /// True if the caller's own plan includes SEO providers.
    pro: bool,
    /// True if the caller has connected a search account.
    connected: bool,
}

/// The expected response.
#[derive(Debug, PartialEq, Eq)]
enum Expected {
    /// 2xx.
    Done,
    Refused(u16),
}

fn expected(operation: &Operation, asker: &Asker) -> Expected {
    use Expected::{Done, Refused};
    if operation.access != Access::SessionOrOauth {
        return Done;
    }
    if asker.name == "anonymous" {
        return Refused(401);
    }
    if operation.is_property_scoped() {
        return match asker.role {
            None => Refused(404),
            Some(role) if role < operation.role => Refused(403),
            Some(_) if !asker.paid => Refused(402),
            // Nobody asks with the credentials of the owner, and a plan without providers stores none.
            Some(_) if asks_provider(operation.id) && !asker.pro => Refused(409),
            Some(_) => Done,
        };
    }
    match operation.id {
        "inviteTeamMember" if !asker.team => Refused(402),
        // A caller who cannot create a grant has none to read, change or remove.
        "getTeamMember" | "updateTeamMemberRole" | "removeTeamMember" if !asker.team => Refused(404),
        "connectProviderAIntegration"
        | "connectProviderBIntegration"
        | "testProviderAIntegration"
        | "testProviderBIntegration"
            if !asker.pro =>
        {
            Refused(402)
        }
        "syncProperties" if !asker.connected => Refused(409),
        // Without a plan nothing can be tracked.
        "replacePropertyTracking" if !asker.paid => Refused(402),
        _ => Done,
    }
}

/// Returns whether an operation asks the caller's SEO provider.
fn asks_provider(id: &str) -> bool {
    ["getPropertyKeywordResearch", "getPropertyBacklinks"].contains(&id)
}

/// The path of a request. Creates the records that the path names.
async fn path(documented: &Documented, owner: &Asker, asker: &Asker, turn: usize) -> String {
    let name = format!("made for {turn}");
    let of = |part: &str| format!("/api/properties/{}/{part}", owner.property);
    let rule = json!({ "name": name, "conditions": [contains("a")] });
    let mut id = asker.property.clone();
    let mut rest = Vec::new();
    for parameter in documented.path.split('/').filter(|part| part.starts_with('{')) {
        let made = match parameter {
            "{annotationId}" => {
                owner.actor.made(&of("annotations"), &json!({ "date": "2026-11-01", "text": "x" })).await
            }
            "{segmentId}" => owner.actor.made(&of("segments"), &rule).await,
            "{clusterId}" => owner.actor.made(&of("topic-clusters"), &rule).await,
            "{linkId}" => owner.actor.made(&of("share-links"), &json!({})).await,
            "{token}" => {
                let link = owner.actor.post(&of("share-links"), &json!({})).await.expect(201);
                link.json["data"]["token"].as_str().unwrap().to_owned()
            }
            "{memberId}" if asker.team => {
                let email = format!("path{turn}@elsewhere.test");
                asker.actor.made("/api/team", &json!({ "email": email, "role": "admin", "allProperties": true })).await
            }
            "{id}" if asker.name == "anonymous" => continue,
            "{id}" if documented.path.starts_with("/api/tags/") => {
                id = asker.actor.made("/api/tags", &json!({ "name": name })).await;
                continue;
            }
            "{id}" if documented.path.starts_with("/api/filter-presets/") => {
                let filters = json!([{ "dimension": "query", "operator": "contains", "value": "a" }]);
                id = asker.actor.made("/api/filter-presets", &json!({ "name": name, "filters": filters })).await;
                continue;
            }
            "{id}" => continue,
            _ => NOBODYS.to_owned(),
        };
        rest.push((parameter.to_owned(), made));
    }
    let path = rest.into_iter().fold(documented.path.clone(), |path, (name, value)| path.replace(&name, &value));
    path.replace("{id}", &id)
}

/// The example of the body, with unused names and existing ids.
async fn body(documented: &Documented, asker: &Asker, turn: usize) -> Option<String> {
    let mut body: Value = serde_json::from_str(&documented.body()?).unwrap();
    if body.get("name").is_some() {
        body["name"] = format!("in a body of {turn}").into();
    }
    if body.get("email").is_some() {
        body["email"] = format!("body{turn}@elsewhere.test").into();
    }
    if documented.id() == "replacePropertyTracking" && asker.name != "anonymous" {
        let own = asker.actor.get("/api/properties/tracking").await.expect(200).json["data"]["properties"].clone();
        let tracked = own.as_array().unwrap().iter().filter(|property| property["tracked"] == true);
        body["propertyIds"] = tracked.map(|property| property["id"].clone()).collect();
    }
    Some(body.to_string())
}

async fn ask(documented: &Documented, owner: &Asker, asker: &Asker, turn: usize) -> Answer {
    if documented.id() == "deletePropertyBrandedKeyword" {
        let keywords = format!("/api/properties/{}/branded-keywords", owner.property);
        owner.actor.post(&keywords, &json!({ "keywords": ["acme"] })).await.expect(201);
    }
    let needs_provider = asks_provider(documented.id()) || documented.id().starts_with("testProvider");
    if needs_provider && asker.pro {
        let credentials =
            [("a", json!({ "login": "good@demo.test", "password": "demo" })), ("b", json!({ "apiKey": "good-key" }))];
        for (name, credentials) in credentials {
            asker.actor.put(&format!("/api/integrations/provider-{name}"), &credentials).await.expect(200);
        }
    }
    let path = path(documented, owner, asker, turn).await + &documented.query();
    let body = body(documented, asker, turn).await;
    let json = [("content-type", "application/json")];
    asker.actor.send(documented.method.clone(), &path, body, &json).await
}

/// The people of `names`, then the owner, who creates the records for the requests of the others.
async fn people(app: &TestApp, names: &[&'static str]) -> Vec<Asker> {
    let actor = app.actor("owner").await;
    let shared = actor.property("northmoor").await;
    let owner = |name, actor| Asker {
        name,
        actor,
        property: shared.clone(),
        role: Some(Role::Owner),
        paid: true,
        team: true,
        pro: true,
        connected: true,
    };
    let mut found = Vec::new();
    for name in names {
        let base = async |person| owner(name, app.actor(person).await);
        let guest = |asker, role| Asker { role, team: false, pro: false, connected: false, ..asker };
        found.push(match *name {
            "anonymous" => guest(owner(name, app.anonymous()), None),
            "stranger" => Asker { role: None, ..base("stranger").await },
            "viewer" => guest(base("viewer").await, Some(Role::Viewer)),
            "editor" => guest(base("editor").await, Some(Role::Editor)),
            "admin" => guest(base("editor").await, Some(Role::Admin)),
            _ => {
                let lapsed = base("lapsed").await;
                let property = lapsed.actor.property("oakandanvil").await;
                Asker { property, paid: false, team: false, pro: false, ..lapsed }
            }
        });
    }
    found.push(owner("owner", actor));
    found
}

/// Calls every operation as `asker` and returns how many were refused because of the role.
async fn ask_everything(owner: &Asker, asker: &Asker, first: usize) -> usize {
    let mut operations = documented();
    // Runs last, because it deletes what the other operations need.
    operations.sort_by_key(|operation| operation.id() == "deletePersonalData");
    let mut forbidden = 0;
    for (turn, documented) in operations.iter().enumerate() {
        let row = operation::all().iter().find(|row| row.id == documented.id()).unwrap();
        let answer = ask(documented, owner, asker, first + turn).await;
        let status = answer.status.as_u16();
        let found = if answer.status.is_success() { Expected::Done } else { Expected::Refused(status) };
        let said = String::from_utf8_lossy(&answer.bytes[..answer.bytes.len().min(300)]);
        assert_eq!(found, expected(row, asker), "{} by {}: {status} {said}", row.id, asker.name);
        forbidden += usize::from(status == 403);
    }
    forbidden
}

/// Calls every operation as everyone, and checks how many the roles refuse.
async fn ask_everyone(app: &TestApp, names: &[&'static str]) {
    let askers = people(app, names).await;
    let owner = askers.last().unwrap();
    for (index, asker) in askers.iter().enumerate() {
        let forbidden = ask_everything(owner, asker, index * 1000).await;
        let Some(role) = asker.role else { continue };
        let above = operation::all().iter().filter(|row| row.is_property_scoped() && row.role > role).count();
        assert_eq!(forbidden, above, "{}", asker.name);
    }
}

#[tokio::test]
async fn every_operation_answers_everyone_as_its_role_says() {
    let app = TestApp::start(|_| {}).await;
    ask_everyone(&app, &["anonymous", "stranger", "lapsed", "viewer", "editor"]).await;
}

#[tokio::test]
async fn every_operation_answers_an_admin_as_its_role_says() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let grant = grant_of(&owner, "editor@demo.test").await["id"].as_str().unwrap().to_owned();
    owner.put(&format!("/api/team/{grant}"), &json!({ "role": "admin" })).await.expect(200);
    ask_everyone(&app, &["admin"]).await;
}
