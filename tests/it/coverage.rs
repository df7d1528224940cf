//! Checks that hold for every operation, computed from the published document.

use std::collections::BTreeSet;

use api::{models::Role, operation};
use poem::http::Method;
use serde_json::Value;

use crate::support::{
    actor::{Actor, Answer},
    app::{TestApp, shared},
    contract::DOCUMENT,
};

/// An id that does not exist.
pub const NOBODYS: &str = "01900000-0000-7000-8000-000000000000";
const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/// The paths whose reads cost money at a provider, and so answer no `HEAD`.
const PAID: [&str; 2] = ["/api/properties/{id}/keyword-research", "/api/properties/{id}/backlinks"];

/// An operation of the document.
pub struct Documented {
    /// Its method.
    pub method: Method,
    /// Its path with `{names}`.
    pub path: String,
    /// The operation object of the document.
    pub says: Value,
}

impl Documented {
    /// Its id.
    pub fn id(&self) -> &str {
        self.says["operationId"].as_str().unwrap()
    }

    /// The path with `id` for the property (or tag, or preset) and unknown ids for the rest.
    pub fn at(&self, id: &str) -> String {
        let segments = self.path.split('/').map(|segment| match segment {
            "{id}" => id,
            named if named.starts_with('{') => NOBODYS,
            literal => literal,
        });
        segments.collect::<Vec<_>>().join("/")
    }

    /// A valid body, from its example.
    pub fn body(&self) -> Option<String> {
        let example = &self.says["requestBody"]["content"]["application/json"]["example"];
        (!example.is_null()).then(|| example.to_string())
    }

    /// A valid query string, from the examples of its parameters.
    pub fn query(&self) -> String {
        let mut query = url::form_urlencoded::Serializer::new("?".to_owned());
        for parameter in self.says["parameters"].as_array().into_iter().flatten() {
            if parameter["in"] == "query" && parameter["required"] == true {
                query.append_pair(parameter["name"].as_str().unwrap(), parameter["example"].as_str().unwrap());
            }
        }
        query.finish()
    }

    /// Returns whether it requires credentials.
    pub fn is_protected(&self) -> bool {
        self.says["security"].as_array().is_none_or(|schemes| !schemes.is_empty())
    }

    fn of_property(&self) -> bool {
        self.path.starts_with("/api/properties/{id}")
    }

    fn role(&self) -> Role {
        operation::find(&self.method, &self.at(NOBODYS)).unwrap().role
    }
}

/// Every operation of the document.
pub fn documented() -> Vec<Documented> {
    let mut found = Vec::new();
    for (path, item) in DOCUMENT["paths"].as_object().unwrap() {
        for method in METHODS {
            if let Some(says) = item.get(method.to_lowercase()) {
                found.push(Documented { method: method.parse().unwrap(), path: path.clone(), says: says.clone() });
            }
        }
    }
    assert_eq!(found.len(), operation::all().len());
    found
}

/// The id of an untracked property of the caller's own account.
pub async fn untracked(owner: &Actor) -> String {
    let tracking = owner.get("/api/properties/tracking").await.expect(200);
    let found = tracking.json["data"]["properties"].as_array().unwrap().iter().find(|p| p["tracked"] == false);
    found.unwrap()["id"].as_str().unwrap().to_owned()
}

fn problem(operation: &Documented, answer: &Answer) -> String {
    format!("{}: {} {}", operation.id(), answer.status, String::from_utf8_lossy(&answer.bytes))
}

#[tokio::test]
async fn what_is_protected_challenges_strangers() {
    let base = &shared().service.base_url;
    let metadata = format!("resource_metadata=\"{base}/.well-known/oauth-protected-resource\"");
    let expired = Actor::with_token(base, "eyJhbGciOiJSUzI1NiJ9.e30.c2ln");
    for operation in documented().iter().filter(|operation| operation.is_protected()) {
        for id in [NOBODYS, "x"] {
            let (method, path) = (&operation.method, operation.at(id));
            for body in [None, Some("[".to_owned())] {
                let answer = shared().anonymous().send(method.clone(), &path, body, &[]).await;
                assert_eq!(answer.status.as_u16(), 401, "{}", problem(operation, &answer));
                assert_eq!(answer.header("www-authenticate"), format!("Bearer {metadata}"));
                assert_eq!((answer.json["error"].as_str(), answer.code()), (Some("Unauthorized"), "unauthorized"));
                assert!(!answer.hint().is_empty());
            }
            let answer = expired.send(method.clone(), &path, None, &[]).await.expect(401);
            assert_eq!(answer.header("www-authenticate"), format!("Bearer error=\"invalid_token\", {metadata}"));
        }
    }
}

#[tokio::test]
async fn what_is_public_needs_nothing() {
    for operation in documented().iter().filter(|operation| !operation.is_protected()) {
        let path = operation.path.replace("{token}", "no-such-token");
        let answer = shared().anonymous().send(operation.method.clone(), &path, None, &[]).await;
        assert!(![401, 403].contains(&answer.status.as_u16()), "{}", problem(operation, &answer));
        // An invalid credential does not matter if none is required.
        let answer = Actor::with_token(&shared().service.base_url, "x").get(&path).await;
        assert!(![401, 403].contains(&answer.status.as_u16()), "{}", problem(operation, &answer));
    }
}

/// The parts of a response that are the same for every request: everything but the request id and the time.
fn fingerprint(answer: &Answer) -> (u16, Vec<(String, String)>, Vec<u8>) {
    let own = ["x-correlation-id", "date"];
    let headers = answer.headers.iter().filter(|(name, _)| !own.contains(&name.as_str()));
    let mut headers: Vec<_> = headers.map(|(n, v)| (n.to_string(), v.to_str().unwrap().to_owned())).collect();
    headers.sort();
    (answer.status.as_u16(), headers, answer.bytes.clone())
}

#[tokio::test]
async fn a_property_that_cannot_be_seen_is_always_the_same_404() {
    let (owner, stranger) = (shared().actor("owner").await, shared().actor("stranger").await);
    let foreign = stranger.property("quietmeadow").await;
    let locked = shared().actor("lapsed").await.property("oakandanvil").await;
    let ids = [untracked(&owner).await, foreign, locked, NOBODYS.to_owned(), "x".into(), "%00".into(), "a%2Fb".into()];
    for operation in documented().iter().filter(|operation| operation.of_property()) {
        let mut first = None;
        for id in &ids {
            for (query, body) in [("", None), ("?startDate=x&queryLimit=0", Some("[")), ("", Some("{\"x\":1}"))] {
                let path = operation.at(id) + query;
                let json = [("content-type", "application/json")];
                let answer = owner.send(operation.method.clone(), &path, body.map(Into::into), &json).await;
                assert_eq!(answer.status.as_u16(), 404, "{id}: {}", problem(operation, &answer));
                let found = fingerprint(&answer);
                assert_eq!(*first.get_or_insert_with(|| found.clone()), found, "{id}: {}", operation.id());
            }
        }
    }
}

#[tokio::test]
async fn roles_and_plans_are_judged_before_input() {
    let owner = shared().actor("owner").await;
    let id = owner.property("northmoor").await;
    let lapsed = shared().actor("lapsed").await;
    let locked = lapsed.property("oakandanvil").await;
    let (viewer, editor) = (shared().actor("viewer").await, shared().actor("editor").await);
    let stranger = shared().actor("stranger").await;
    let mut refused = 0;
    for operation in documented().iter().filter(|operation| operation.of_property()) {
        let send = async |actor: &Actor, id: &str| {
            let json = [("content-type", "application/json")];
            actor.send(operation.method.clone(), &(operation.at(id) + "?scope=x"), Some("[".into()), &json).await
        };
        for (actor, has) in [(&viewer, Role::Viewer), (&editor, Role::Editor)] {
            let answer = send(actor, &id).await;
            let too_low = operation.role() > has;
            assert_eq!(answer.status.as_u16() == 403, too_low, "{has:?} {}", problem(operation, &answer));
            if too_low {
                refused += 1;
                let needed = format!("{:?}", operation.role()).to_lowercase();
                assert_eq!(answer.code(), "forbidden");
                assert!(answer.hint().contains(&needed), "{}", answer.hint());
            }
        }
        let answer = send(&lapsed, &locked).await;
        assert_eq!((answer.status.as_u16(), answer.code()), (402, "subscription_required"));
        assert_eq!(send(&stranger, &id).await.status.as_u16(), 404, "{}", operation.id());
        assert_eq!(send(&stranger, &locked).await.status.as_u16(), 404, "{}", operation.id());
    }
    assert!(refused >= 15, "the table of roles has lost its rows: {refused}");
}

/// The operation ids in backticks in the list below README's heading `## Not yet`.
fn not_yet() -> BTreeSet<String> {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap_or_default();
    let section = readme.split_once("\n## Not yet\n").map_or("", |(_, rest)| rest);
    let section = section.split("\n## ").next().unwrap_or_default();
    let quoted = section.split('`').skip(1).step_by(2);
    quoted.filter(|word| documented().iter().any(|operation| operation.id() == *word)).map(str::to_owned).collect()
}

#[tokio::test]
async fn every_operation_works_and_the_readme_names_none_as_missing() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let id = owner.property("northmoor").await;
    let mut operations = documented();
    // Runs last, because it ends the caller's session.
    operations.sort_by_key(|operation| operation.id() == "deletePersonalData");
    for operation in operations {
        let (path, json) = (operation.at(&id) + &operation.query(), [("content-type", "application/json")]);
        let answer = owner.send(operation.method.clone(), &path, operation.body(), &json).await;
        assert!(![500, 501].contains(&answer.status.as_u16()), "{}", problem(&operation, &answer));
    }
    assert_eq!(not_yet(), BTreeSet::new(), "README's section `Not yet` names operations");
}

#[tokio::test]
async fn the_router_and_the_document_are_the_same_table() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let id = owner.property("northmoor").await;
    let operations = documented();
    let paths: BTreeSet<&str> = operations.iter().map(|operation| operation.path.as_str()).collect();
    for path in paths {
        let here: Vec<&Documented> = operations.iter().filter(|operation| operation.path == path).collect();
        let mut allow: BTreeSet<&str> = here.iter().map(|operation| operation.method.as_str()).collect();
        let undocumented: Vec<&str> = METHODS.into_iter().filter(|method| !allow.contains(method)).collect();
        if allow.contains("GET") && !PAID.contains(&path) {
            allow.insert("HEAD");
        }
        allow.insert("OPTIONS");
        let allow = Vec::from_iter(allow).join(", ");
        for method in undocumented {
            let answer = owner.send(method.parse().unwrap(), &here[0].at(&id), None, &[]).await;
            assert_eq!((answer.status.as_u16(), answer.code()), (405, "method_not_allowed"), "{method} {path}");
            assert_eq!(answer.header("allow"), allow, "{method} {path}");
        }
        let answer = app.anonymous().send(Method::OPTIONS, &here[0].at(&id), None, &[]).await;
        assert_eq!((answer.status.as_u16(), answer.header("allow")), (204, allow.as_str()), "{path}");
        for operation in here.iter().filter(|operation| operation.id() != "deletePersonalData") {
            let answer = owner.send(operation.method.clone(), &operation.at(&id), None, &[]).await;
            assert_ne!(answer.status.as_u16(), 405, "{}", operation.id());
        }
    }
}

#[tokio::test]
async fn other_paths_below_the_api_are_404_for_signed_in_people() {
    let owner = shared().actor("owner").await;
    let id = owner.property("northmoor").await;
    let paths = [
        "/api/".to_owned(),
        "/api/nowhere".into(),
        "/api/properties/".into(),
        "/api//properties".into(),
        "/API/properties".into(),
        format!("/api/properties/{id}/"),
        format!("/api/properties/{id}/performance/"),
        format!("/api/properties//{id}/performance"),
        format!("/api/properties/{id}/performance/more"),
        format!("/api/properties/{id}/%70erformance"),
        "/api/%70roperties".into(),
        "/api/share//performance".into(),
        "/api/properties//performance".into(),
    ];
    for path in paths {
        for method in ["GET", "POST", "DELETE", "OPTIONS"] {
            let answer = owner.send(method.parse().unwrap(), &path, None, &[]).await;
            assert_eq!((answer.status.as_u16(), answer.code()), (404, "not_found"), "{method} {path}");
        }
        if path.starts_with("/api") {
            let answer = shared().anonymous().get(&path).await.expect(401);
            assert!(answer.header("www-authenticate").starts_with("Bearer resource_metadata="));
        }
    }
}

/// The paths outside the API, one of each pattern.
const PATHS: &[&str] = &[
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-protected-resource/mcp",
    "/.well-known/oauth-authorization-server",
    "/.well-known/openid-configuration",
    "/openapi.json",
    "/docs",
    "/docs/errors",
    "/docs/guides",
    "/docs/guide",
    "/docs/start.js",
    "/docs/swagger-ui.js",
    "/docs/swagger-ui.css",
    "/docs/docs.css",
    "/docs/oauth2-redirect.html",
    "/docs/oauth2-redirect.js",
    "/auth/login",
    "/auth/callback",
    "/auth/logout",
    "/assets/sightline.css",
    "/favicon.ico",
    "/account",
    "/subscribe",
    "/changelog",
    "/share/x",
    "/p/x",
    "/assets/dashboard.js",
    "/account/activity",
    "/account/delete",
    "/account/deleted",
    "/account/search/connect",
    "/account/search/callback",
    "/account/search/00000000-0000-7000-8000-000000000000",
    "/account/search/00000000-0000-7000-8000-000000000000/disconnect",
    "/oauth/authorize",
    "/account/password",
    "/account/password/set",
    "/account/password/forgotten",
    "/device",
    "/oauth/device_authorization",
    "/oauth/token",
    "/oauth/register",
    "/oauth/revoke",
    "/oauth/userinfo",
    "/oauth/jwks",
];

#[tokio::test]
async fn every_path_outside_the_api_names_its_methods() {
    let anonymous = shared().anonymous();
    for path in PATHS {
        let answer = anonymous.send(Method::DELETE, path, None, &[]).await;
        assert_eq!((answer.status.as_u16(), answer.code()), (405, "method_not_allowed"), "{path}");
        let allow: Vec<&str> = answer.header("allow").split(", ").collect();
        assert!(!allow.contains(&""), "{path}");
        for method in ["GET", "HEAD", "POST", "PUT", "OPTIONS"] {
            let answer = anonymous.send(method.parse().unwrap(), path, None, &[]).await;
            assert_eq!(answer.status.as_u16() != 405, allow.contains(&method), "{method} {path}: {allow:?}");
        }
        let slash = anonymous.get(&format!("{path}/")).await;
        let is_programs = ["/oauth/", "/.well-known/"].iter().any(|start| path.starts_with(start));
        if allow.contains(&"GET") && !is_programs {
            assert_eq!((slash.status.as_u16(), slash.header("location")), (308, *path));
            continue;
        }
        let slash = slash.expect(404);
        // Pages for people answer with a page.
        assert!(slash.code() == "not_found" || path.starts_with("/account"), "{path}");
    }
}
