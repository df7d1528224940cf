//! Tests of dynamic client registration.

use chrono::{DateTime, TimeDelta, Utc};
use entity::{
    client_use, consent,
    oauth_client::{ActiveModel, Entity},
    oauth_grant, user,
};
use issuer::MAX_CLIENTS;
use sea_orm::{ActiveValue::Set, EntityTrait as _};
use serde_json::{Value, json};

use super::{
    Answer, REDIRECT_URI, TestIssuer,
    browser::{ANN, Browser, PASSWORD},
    flow::EVERY_RIGHT,
    start_time, text,
};

async fn register(issuer: &TestIssuer, metadata: &Value) -> Answer {
    Answer::of(issuer.http.post(format!("{}/oauth/register", issuer.base)).json(metadata)).await
}

#[tokio::test]
async fn a_public_client_is_registered_with_defaults_filled_in() {
    let issuer = TestIssuer::start().await;
    let answer = register(&issuer, &json!({ "redirect_uris": [REDIRECT_URI], "unknown": { "a": 1 } })).await;
    assert_eq!((answer.status, answer.header("cache-control")), (201, "no-store"));
    let client = answer.json();
    assert_eq!(client["token_endpoint_auth_method"], "none");
    assert_eq!(client["grant_types"], json!(["authorization_code"]));
    assert_eq!(client["response_types"], json!(["code"]));
    assert_eq!(client["redirect_uris"], json!([REDIRECT_URI]));
    assert_eq!(client["client_id_issued_at"], super::start_time().timestamp());
    assert!(client.get("client_secret").is_none() && client.get("unknown").is_none());
    // Neither the refresh_token grant nor offline_access was asked for.
    let id = client["client_id"].as_str().unwrap();
    let code = issuer.code(id, &[("scope", "openid profile email")]).await;
    let tokens = issuer.redeem(id, &code, &[]).await.json();
    assert_eq!(tokens["scope"], format!("openid profile email {EVERY_RIGHT}"));
    assert!(tokens.get("refresh_token").is_none());
}

#[tokio::test]
async fn what_is_not_offered_is_replaced_in_the_answer() {
    let issuer = TestIssuer::start().await;
    for (member, value) in [
        ("token_endpoint_auth_method", json!("client_secret_basic")),
        ("token_endpoint_auth_method", json!("client_secret_post")),
        ("token_endpoint_auth_method", json!("private_key_jwt")),
        ("response_types", json!(["code", "token"])),
        ("response_types", json!(["code id_token", "code"])),
        ("grant_types", json!(["authorization_code", "implicit", "client_credentials"])),
    ] {
        let mut metadata = json!({ "redirect_uris": [REDIRECT_URI] });
        metadata[member] = value;
        let answer = register(&issuer, &metadata).await;
        assert_eq!(answer.status, 201, "{metadata}: {}", answer.body);
        let client = answer.json();
        for (member, offered) in [
            ("token_endpoint_auth_method", json!("none")),
            ("response_types", json!(["code"])),
            ("grant_types", json!(["authorization_code"])),
        ] {
            assert_eq!(client[member], offered, "{metadata}");
        }
        assert!(client.get("client_secret").is_none());
        let id = text(&client, "client_id");
        let code = issuer.code(id, &[]).await;
        assert_eq!(issuer.redeem(id, &code, &[]).await.status, 200);
    }
}

#[tokio::test]
async fn members_that_say_nothing_are_as_if_they_had_not_been_sent() {
    let issuer = TestIssuer::start().await;
    for nothing in [json!(null), json!(""), json!([])] {
        let mut metadata = json!({ "redirect_uris": [REDIRECT_URI] });
        for member in [
            "client_name",
            "grant_types",
            "response_types",
            "application_type",
            "token_endpoint_auth_method",
            "scope",
            "client_uri",
            "logo_uri",
            "contacts",
            "jwks",
        ] {
            metadata[member] = nothing.clone();
        }
        let answer = register(&issuer, &metadata).await;
        assert_eq!(answer.status, 201, "{metadata}: {}", answer.body);
        let client = answer.json();
        assert!(client.get("client_name").is_none(), "{client}");
        assert_eq!((&client["application_type"], &client["response_types"]), (&json!("web"), &json!(["code"])));
        assert_eq!(client["grant_types"], json!(["authorization_code"]));
    }
}

#[tokio::test]
async fn a_program_may_list_an_address_for_each_of_its_editions_and_ports() {
    let issuer = TestIssuer::start().await;
    let at = |number: u32| format!("https://edition-{number}.example.org/oauth/callback");
    let sites = (0..16).map(at).chain((0..16).map(|number| format!("http://127.0.0.1:{}/callback", 33_400 + number)));
    let addresses: Vec<String> = sites.collect();
    let answer = register(&issuer, &json!({ "redirect_uris": addresses })).await;
    assert_eq!(answer.status, 201, "{}", answer.body);
    let client = answer.json();
    assert_eq!(client["redirect_uris"], json!(addresses));
    for address in [addresses.first(), addresses.last()].into_iter().flatten() {
        let asked = issuer.authorize(text(&client, "client_id"), &[("redirect_uri", address)]).await;
        assert!([200, 303].contains(&asked.status), "{address}: {}", asked.body);
    }
}

/// An assistant puts a name into it that its person wrote.
#[tokio::test]
async fn the_name_of_a_client_is_cleaned_and_cut_in_the_answer() {
    let issuer = TestIssuer::start().await;
    for (name, kept) in [
        ("Claude Code (❤\u{fe0f})", json!("Claude Code (❤\u{fe0f})")),
        ("Claude Code (فضای\u{200c}کار)", json!("Claude Code (فضای\u{200c}کار)")),
        ("👩\u{200d}💻 Dev", json!("👩\u{200d}💻 Dev")),
        ("Cla\u{200b}u\u{ad}de\u{e0041}\u{e0100}\u{1d173}\u{fff9}", json!("Claude")),
        ("Bank\u{202e}gpj.exe a\u{2066}b", json!("Bankgpj.exe ab")),
        (&"x".repeat(101), json!("x".repeat(100))),
        ("\u{200b}\u{2060}", Value::Null),
    ] {
        let metadata = json!({ "redirect_uris": [REDIRECT_URI], "client_name": name });
        let answer = register(&issuer, &metadata).await;
        assert_eq!((answer.status, &answer.json()["client_name"]), (201, &kept), "{name:?}");
    }
}

#[tokio::test]
async fn bad_metadata_is_refused() {
    let issuer = TestIssuer::start().await;
    for uris in [json!(null), json!([]), json!("https://a.example"), json!(["javascript:alert(1)"]), json!([1])] {
        register(&issuer, &json!({ "redirect_uris": uris })).await.refused("invalid_redirect_uri");
    }
    let many: Vec<_> = (0..33).map(|number| format!("https://a.example/{number}")).collect();
    register(&issuer, &json!({ "redirect_uris": many })).await.refused("invalid_redirect_uri");
    for (member, value) in [
        ("grant_types", json!(["implicit"])),
        ("response_types", json!(["token"])),
        ("client_name", json!(7)),
        ("client_name", json!("Sightline")),
        ("client_name", json!("S\u{456}ghtline command line")),
        ("client_name", json!("API Documentation")),
        ("client_name", json!("a\u{85}b")),
        ("client_name", json!("Sight\u{200b}line")),
        ("client_name", json!("\u{202e}Sightline")),
        ("application_type", json!("other")),
    ] {
        let mut metadata = json!({ "redirect_uris": [REDIRECT_URI] });
        metadata[member] = value;
        register(&issuer, &metadata).await.refused("invalid_client_metadata");
    }
    register(&issuer, &json!({ "x": "x".repeat(20_000) })).await.refused("invalid_client_metadata");
    register(&issuer, &json!([])).await.refused("invalid_client_metadata");
}

#[tokio::test]
async fn a_registration_is_read_as_bodies_of_the_api_are() {
    let issuer = TestIssuer::start().await;
    let send = async |body: String| {
        let request = issuer.http.post(format!("{}/oauth/register", issuer.base));
        Answer::of(request.header("content-type", "application/json").body(body)).await
    };
    let marked = send(format!("\u{feff}{}", json!({ "redirect_uris": [REDIRECT_URI] }))).await;
    assert_eq!(marked.status, 201, "{}", marked.body);
    for (body, description) in [
        (r#"{"redirect_uris":[],"redirect_uris":[]}"#, "redirect_uris: is given twice; send it once."),
        (r#"{"client_name":5}"#, "client_name: must be a string."),
        (r#"{"grant_types":"authorization_code"}"#, "grant_types: must be a list of strings."),
        (r#"{"response_types":[1]}"#, "response_types: must be a list of strings."),
        (r#"{"application_type":["web"]}"#, "application_type: must be a string."),
        ("[]", "Send a JSON object of client metadata."),
        ("{", "body: ends too early at line 1, column 1."),
    ] {
        let answer = send(body.to_owned()).await;
        answer.refused("invalid_client_metadata");
        assert_eq!(answer.json()["error_description"], description, "{body}");
    }
}

/// Registers clients two days ago to which nobody has signed in.
async fn flood(issuer: &TestIssuer, clients: u64) {
    let row = |number: u64| ActiveModel {
        id: Set(format!("flood-{number}")),
        name: Set(None),
        redirect_uris: Set(json!([REDIRECT_URI]).to_string()),
        refreshes: Set(false),
        uses_device_codes: Set(false),
        created_at: Set(start_time() - TimeDelta::days(2)),
        added_by_operator: Set(false),
        secret_hash: Set(None),
    };
    for start in (0..clients).step_by(1_000) {
        let rows = (start..clients.min(start + 1_000)).map(row);
        Entity::insert_many(rows).exec_without_returning(&issuer.db).await.unwrap();
    }
}

#[tokio::test]
async fn unused_clients_go_early_when_there_are_many() {
    let issuer = TestIssuer::start().await;
    let (used, _) = issuer.tokens().await;
    flood(&issuer, MAX_CLIENTS / 2 - 1).await;
    assert_eq!(issuer.provider.sweep().await.unwrap(), 0, "half the room is left");
    let unused = issuer.client().await;
    assert_eq!(issuer.provider.sweep().await.unwrap(), MAX_CLIENTS / 2 - 1);
    for kept in [used, unused] {
        assert!(Entity::find_by_id(kept).one(&issuer.db).await.unwrap().is_some());
    }
}

/// Clients register without any grant type, and rely on the scope.
#[tokio::test]
async fn a_client_that_asks_to_stay_signed_in_gets_a_refresh_token_whatever_it_registered() {
    let issuer = TestIssuer::start().await;
    for (grants, scope, stays) in [
        (json!(null), "search:read offline_access", true),
        (json!(["authorization_code"]), "openid offline_access", true),
        (json!(null), "search:read", false),
        (json!(["authorization_code", "refresh_token"]), "search:read", true),
    ] {
        let metadata = json!({ "redirect_uris": [REDIRECT_URI], "grant_types": grants });
        let client = text(&register(&issuer, &metadata).await.json(), "client_id").to_owned();
        let code = issuer.code(&client, &[("scope", scope)]).await;
        let tokens = issuer.redeem(&client, &code, &[]).await.json();
        assert_eq!(tokens["refresh_token"].is_string(), stays, "{grants} {scope}: {tokens}");
        if stays {
            assert_eq!(issuer.refresh(&client, text(&tokens, "refresh_token")).await.status, 200);
        }
    }
}

#[tokio::test]
async fn a_consent_goes_with_its_client_and_not_before() {
    let issuer = TestIssuer::without_demo_people().await;
    issuer.account(ANN).await;
    let (browser, client) = (Browser::new(&issuer), issuer.client().await);
    browser.enter(&client, ANN, PASSWORD).await;
    browser.allow(&client, &[]).await;
    let consents = async || consent::Entity::find().all(&issuer.db).await.unwrap().len();
    flood(&issuer, MAX_CLIENTS / 2).await;
    for days in [29, 2, 148] {
        issuer.hand.advance(TimeDelta::days(days));
        issuer.provider.sweep().await.unwrap();
        assert_eq!(consents().await, 1, "a person allowed the client, so it is still registered");
    }
    issuer.hand.advance(TimeDelta::days(2));
    issuer.provider.sweep().await.unwrap();
    assert_eq!(consents().await, 0);
}

#[tokio::test]
async fn a_client_that_was_used_stays_though_its_consent_is_old() {
    let issuer = TestIssuer::without_demo_people().await;
    issuer.account(ANN).await;
    let (browser, other, client) = (Browser::new(&issuer), issuer.client().await, issuer.client().await);
    browser.enter(&other, ANN, PASSWORD).await;
    let code = browser.allow(&other, &[]).await;
    let tokens = issuer.redeem(&other, &code, &[]).await.json();
    assert_eq!(issuer.api(text(&tokens, "access_token")).await.status, 200);
    let user = user::Entity::find().one(&issuer.db).await.unwrap().unwrap();
    browser.allow(&client, &[]).await;
    used(&issuer, &user, &client).await;
    let is_kept = async || {
        issuer.provider.sweep().await.unwrap();
        Entity::find_by_id(&client).one(&issuer.db).await.unwrap().is_some()
    };
    issuer.hand.advance(TimeDelta::days(181));
    assert!(is_kept().await);
    assert!(oauth_grant::Entity::find().one(&issuer.db).await.unwrap().is_none(), "its grant has expired");
    client_use::Entity::delete_many().exec(&issuer.db).await.unwrap();
    assert!(!is_kept().await);
}

/// Notes that a person has used a client.
async fn used(issuer: &TestIssuer, user: &user::Model, client: &str) {
    let now = issuer.clock.now();
    let noted = client_use::ActiveModel {
        user_id: Set(user.id),
        client_id: Set(client.to_owned()),
        scopes: Set("openid".to_owned()),
        first_used_at: Set(now),
        last_used_at: Set(now),
        ..Default::default()
    };
    client_use::Entity::insert(noted).exec_without_returning(&issuer.db).await.unwrap();
}

/// The id of a client that a document describes.
fn document(name: &str) -> String {
    format!("https://app.example/{name}.json")
}

/// Consents of a person to clients of documents, given at `start` and, `renewed`, a second later. `used` was used once, and `granted` has a
/// grant for 200 days.
async fn allow_documents(issuer: &TestIssuer, user: &user::Model, start: DateTime<Utc>) {
    let (db, later) = (&issuer.db, start + TimeDelta::seconds(1));
    for (name, at) in [("unused", start), ("used", start), ("granted", start), ("renewed", later)] {
        let consent = consent::ActiveModel {
            subject: Set(user.subject.clone()),
            client_id: Set(document(name)),
            address: Set(REDIRECT_URI.to_owned()),
            scope: Set("openid".to_owned()),
            allows: Set("everything".to_owned()),
            opens_api: Set(true),
            created_at: Set(start),
            updated_at: Set(at),
        };
        consent::Entity::insert(consent).exec_without_returning(db).await.unwrap();
    }
    used(issuer, user, &document("used")).await;
    let granted = oauth_grant::ActiveModel {
        id: Set(issuer.random.id(start)),
        client_id: Set(document("granted")),
        subject: Set(user.subject.clone()),
        scope: Set("openid".to_owned()),
        resources: Set(String::new()),
        created_at: Set(start),
        expires_at: Set(start + TimeDelta::days(200)),
        ..Default::default()
    };
    oauth_grant::Entity::insert(granted).exec_without_returning(db).await.unwrap();
}

/// The client of a document is never known to be gone, and each path of a host is another one.
#[tokio::test]
async fn an_unused_consent_to_a_documented_client_expires() {
    let issuer = TestIssuer::without_demo_people().await;
    let subject = issuer.account(ANN).await;
    let (browser, client) = (Browser::new(&issuer), issuer.client().await);
    browser.enter(&client, ANN, PASSWORD).await;
    let code = browser.allow(&client, &[]).await;
    let tokens = issuer.redeem(&client, &code, &[]).await.json();
    assert_eq!(issuer.api(text(&tokens, "access_token")).await.status, 200);
    let user = user::Entity::find().one(&issuer.db).await.unwrap().unwrap();
    assert_eq!(user.subject, subject);
    allow_documents(&issuer, &user, issuer.clock.now()).await;
    let kept = async || {
        issuer.provider.sweep().await.unwrap();
        let consents = consent::Entity::find().all(&issuer.db).await.unwrap().into_iter();
        let mut kept: Vec<_> = consents.map(|row| row.client_id).filter(|id| id.starts_with("https://")).collect();
        kept.sort();
        kept
    };
    issuer.hand.advance(TimeDelta::days(180));
    assert_eq!(kept().await, ["granted", "renewed", "unused", "used"].map(document));
    issuer.hand.advance(TimeDelta::seconds(1));
    assert_eq!(kept().await, ["granted", "renewed", "used"].map(document));
    issuer.hand.advance(TimeDelta::seconds(1));
    assert_eq!(kept().await, ["granted", "used"].map(document));
    client_use::Entity::delete_many().exec(&issuer.db).await.unwrap();
    assert_eq!(kept().await, ["granted"].map(document));
    issuer.hand.advance(TimeDelta::days(30));
    assert_eq!(kept().await, [] as [String; 0]);
}

#[tokio::test]
async fn a_web_site_that_registers_again_within_the_hour_is_the_client_that_is_there() {
    const SITE: &str = "https://assistant.example/callback";
    let issuer = TestIssuer::start().await;
    let id = async |metadata: Value| {
        let answer = register(&issuer, &metadata).await;
        assert_eq!(answer.status, 201, "{metadata}: {}", answer.body);
        answer.json()["client_id"].as_str().unwrap().to_owned()
    };
    let site = json!({ "redirect_uris": [SITE], "client_name": "Assistant" });
    let first = id(site.clone()).await;
    assert_eq!(id(site.clone()).await, first);
    for (other, metadata) in [
        ("another name", json!({ "redirect_uris": [SITE], "client_name": "Assistant 2" })),
        ("no name", json!({ "redirect_uris": [SITE] })),
        ("another address", json!({ "redirect_uris": [SITE, "https://b.example/"], "client_name": "Assistant" })),
        (
            "refresh tokens",
            json!({ "redirect_uris": [SITE], "client_name": "Assistant", "grant_types": ["authorization_code", "refresh_token"] }),
        ),
    ] {
        assert_ne!(id(metadata).await, first, "{other}");
    }
    // Programs on people's own machines have a client each, which its person can remove.
    for own in [REDIRECT_URI, "https://localhost/callback", "com.example.app:/callback"] {
        let metadata = json!({ "redirect_uris": [own] });
        assert_ne!(id(metadata.clone()).await, id(metadata).await, "{own}");
    }
    issuer.hand.advance(TimeDelta::hours(1));
    assert_ne!(id(site).await, first, "a client that nobody uses is deleted one day");
}
