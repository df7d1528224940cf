//! Tests of what is there once and asked for many times at once: at one process, and on `PostgreSQL` at two of one database.

use chrono::TimeDelta;
use common::digest::pkce_challenge;
use entity::user;
use futures_util::future::join_all;
use sea_orm::EntityTrait as _;
use serde_json::{Value, json};
use sightline::{app::http_client, config::Config};
use url::Url;

use crate::support::{
    actor::Actor,
    app::{TestApp, start_of_test},
    application::Application,
    browser::Browser,
    issuer::OtherIssuer,
    whole::Whole as _,
};

/// The number of requests at once.
const MANY: usize = 16;

/// The processes of a service.
pub struct Processes {
    /// The first one.
    pub first: TestApp,
    second: Option<TestApp>,
}

impl Processes {
    async fn start(change: impl FnOnce(&mut Config)) -> Self {
        Self::of(Box::pin(TestApp::start(change)).await).await
    }

    /// A service and, on `PostgreSQL`, another process of it.
    pub async fn of(first: TestApp) -> Self {
        let second = Box::pin(first.beside()).await;
        Self { first, second }
    }

    /// The process that answers a request.
    fn at(&self, number: usize) -> &TestApp {
        self.second.as_ref().filter(|_| number % 2 == 1).unwrap_or(&self.first)
    }

    fn at_once<T>(&self, ask: impl AsyncFn(usize, &str) -> T) -> impl Future<Output = Vec<T>> {
        let roots = (0..MANY).map(|number| format!("http://{}", self.at(number).service.address));
        let roots: Vec<(usize, String)> = roots.enumerate().collect();
        async move { join_all(roots.iter().map(|(number, root)| ask(*number, root))).await }
    }

    /// Creates the same record many times at once. Returns how many were made. Fails unless each other one is refused by the name `field`.
    pub async fn made(&self, actor: &Actor, path: &str, body: &Value, field: &str) -> usize {
        let answers = self.at_once(async |_, root| Actor::with_token(root, actor.token()).post(path, body).await).await;
        let (made, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.status == 201);
        for answer in refused {
            let answer = answer.expect(400);
            assert!(answer.hint().starts_with(field), "{path}: {}", answer.hint());
        }
        made.len()
    }

    /// Presents the same form many times at once for tokens. Returns the answers with some.
    async fn tokens(&self, form: &[(&str, &str)]) -> Vec<Value> {
        let host = self.first.service.base_url.strip_prefix("http://").unwrap();
        let present = async |_, root: &str| {
            let request = http_client().unwrap().post(format!("{root}/oauth/token")).header("host", host);
            let answer = request.form(form).send().await.unwrap();
            let status = answer.status().as_u16();
            let answer: Value = answer.whole_json().await.unwrap();
            assert!(status == 200 || (status == 400 && answer["error"] == "invalid_grant"), "{status}: {answer}");
            Some(answer).filter(|_| status == 200)
        };
        self.at_once(present).await.into_iter().flatten().collect()
    }
}

/// The fields that redeem a code which a demo person's browser was given at once.
async fn code(app: &TestApp) -> Vec<(&'static str, String)> {
    let (verifier, redirect) = ("v".repeat(64), "http://127.0.0.1/callback");
    let question = [
        ("response_type", "code"),
        ("client_id", "sightline-cli"),
        ("redirect_uri", redirect),
        ("code_challenge", &pkce_challenge(&verifier)),
        ("code_challenge_method", "S256"),
        ("login_hint", "owner"),
        ("scope", "openid offline_access"),
    ];
    let asked = http_client().unwrap().get(format!("{}/oauth/authorize", app.service.base_url)).query(&question);
    let answer = asked.send().await.unwrap();
    let back = Url::parse(answer.headers()["location"].to_str().unwrap()).unwrap();
    let code = back.query_pairs().find(|(name, _)| name == "code").unwrap().1.into_owned();
    vec![
        ("grant_type", "authorization_code".to_owned()),
        ("code", code),
        ("redirect_uri", redirect.to_owned()),
        ("client_id", "sightline-cli".to_owned()),
        ("code_verifier", verifier),
    ]
}

fn fields<'f>(form: &'f [(&'static str, String)]) -> Vec<(&'static str, &'f str)> {
    form.iter().map(|(name, value)| (*name, value.as_str())).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_uses_at_once_of_what_is_good_once_get_one_refresh_token() {
    let processes = Processes::start(|_| {}).await;
    let one_token = async |form: &[(&str, &str)], what: &str| {
        let answers = processes.tokens(form).await;
        let refresh = answers[0]["refresh_token"].clone();
        assert!(answers.len() == MANY && answers.iter().all(|answer| answer["refresh_token"] == refresh), "{what}");
        refresh.as_str().unwrap().to_owned()
    };
    for _ in 0..3 {
        let of_code = code(&processes.first).await;
        let first = one_token(&fields(&of_code), "of a code").await;
        let refresh =
            |token| [("grant_type", "refresh_token"), ("refresh_token", token), ("client_id", "sightline-cli")];
        let second = one_token(&refresh(&first), "of a refresh token").await;
        assert_eq!(processes.tokens(&fields(&of_code)).await, [] as [Value; 0], "its token was used");
        assert_eq!(processes.tokens(&refresh(&second)).await, [] as [Value; 0], "the grant has ended");
    }

    let base = &processes.first.service.base_url;
    let (application, browser) = (Application::register(base).await, Browser::new(base));
    application.allowed(&browser, "owner", "openid search:read", None, None).await;
    let (code, page) = application.ask_by_code(&browser, "openid search:read").await;
    application.decided_by_code(&browser, &page, None).await;
    let device = "urn:ietf:params:oauth:grant-type:device_code";
    let form = [("grant_type", device), ("device_code", code.as_str()), ("client_id", &application.id)];
    one_token(&form, "of a device code").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_records_of_one_name_at_once_one_is_made() {
    let processes = Processes::start(|_| {}).await;
    let owner = processes.first.actor("owner").await;
    let property = owner.property("northmoor").await;
    let rule = json!({ "name": "Once", "conditions": [{ "operator": "contains", "value": "a" }] });
    let filters = json!([{ "dimension": "query", "operator": "contains", "value": "a" }]);
    for (path, body) in [
        (format!("/api/properties/{property}/segments"), rule.clone()),
        (format!("/api/properties/{property}/topic-clusters"), rule),
        ("/api/filter-presets".to_owned(), json!({ "name": "Once", "filters": filters })),
        ("/api/tags".to_owned(), json!({ "name": "Once" })),
    ] {
        assert_eq!(processes.made(&owner, &path, &body, "name").await, 1, "{path}");
        let named = owner.listed(&path).await.into_iter().filter(|record| record["name"] == "Once").count();
        assert_eq!(named, 1, "{path}");
    }
}

/// Each selection is within the plan, and two of them together are not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_selections_at_once_one_holds_as_a_whole() {
    const QUOTA: usize = 2;
    let processes = Processes::start(|config| config.plans.pro.tracked_properties = 2).await;
    let owner = processes.first.actor("owner").await;
    let tracking = async || owner.get("/api/properties/tracking").await.expect(200).json["data"].clone();
    let own = tracking().await["properties"].as_array().unwrap().clone();
    let own: Vec<&str> = own.iter().map(|property| property["id"].as_str().unwrap()).collect();
    assert!(own.len() >= 2 * QUOTA, "{own:?}");
    let selection = |number: usize| -> Vec<&str> {
        let mut ids: Vec<&str> = (0..QUOTA).map(|place| own[(number * QUOTA + place) % own.len()]).collect();
        ids.sort_unstable();
        ids
    };
    for _ in 0..3 {
        let select = async |number: usize, root: &str| {
            let actor = Actor::with_token(root, owner.token());
            let ids = selection(number);
            actor.put("/api/properties/tracking", &json!({ "propertyIds": ids })).await.expect(200);
        };
        processes.at_once(select).await;
        let after = tracking().await;
        let tracked = after["properties"].as_array().unwrap().iter().filter(|property| property["tracked"] == true);
        let mut tracked: Vec<&str> = tracked.map(|property| property["id"].as_str().unwrap()).collect();
        tracked.sort_unstable();
        assert!((0..MANY).any(|number| selection(number) == tracked), "{after}");
        assert_eq!(after["used"], QUOTA);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_who_comes_many_times_at_once_is_made_once() {
    let issuer = OtherIssuer::start().await;
    let processes = Processes::start(|config| issuer.trusted_by(config)).await;
    let come = async |subject: &(dyn Fn(usize) -> String + Sync), email: &str| {
        let claims = json!({ "email": email, "email_verified": true });
        let ask = async |number: usize, root: &str| {
            let id = format!("{email} {number}");
            let token = issuer.token_saying(&subject(number), &id, start_of_test(), &claims);
            Actor::with_token(root, &token).get("/api/tags").await.expect(200);
        };
        processes.at_once(ask).await;
    };
    let everybody = async || user::Entity::find().all(&processes.first.service.db).await.unwrap();
    come(&|_| "ann".to_owned(), "ann@corp.test").await;
    let people = everybody().await.into_iter().filter(|user| user.subject == "ann").count();
    assert_eq!(people, 1);

    // Sixteen people of whom the issuer says that they have one address.
    come(&|number| format!("bob {number}"), "bob@corp.test").await;
    let people = everybody().await;
    assert_eq!(people.iter().filter(|user| user.subject.starts_with("bob ")).count(), MANY);
    let holders =
        people.iter().filter(|user| user.email_key.as_deref() == Some("bob@corp.test") && user.email_verified);
    assert_eq!(holders.count(), 1, "an address has one holder");
}

/// Two services with different roots have one database by mistake, such as after a copy of settings.
#[tokio::test]
async fn a_token_of_another_root_on_the_same_database_opens_nothing() {
    let here = TestApp::start(|_| {}).await;
    let elsewhere = here.beside_with(12, |config| config.base_url = None).await;
    // One process serves a file of `SQLite`.
    let Some(elsewhere) = elsewhere else { return };
    let owner = here.actor("owner").await;
    owner.get("/api/tags").await.expect(200);
    let there = Actor::with_token(&format!("http://{}", elsewhere.service.address), owner.token());
    there.get("/api/tags").await.expect(401);
    here.hand.advance(TimeDelta::seconds(1));
    owner.get("/api/tags").await.expect(200);
}
