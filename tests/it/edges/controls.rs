//! Tests of control characters, wherever a stranger can send text. `SQLite` stores NUL and `PostgreSQL` fails on it, so a test that passes on
//! both is one of the entrance and not of the database.

use poem::http::Method;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::{
    coverage::documented,
    parameters::real_path,
    support::{
        app::{TestApp, shared, start_of_test},
        assistant::{Assistant, text},
        issuer::OtherIssuer,
        signed_in::Browser,
    },
};

/// Control characters, percent-encoded.
const CONTROLS: [&str; 5] = ["%00", "a%0D%0Ab", "%1B%5B2J", "%7F", "%C2%9B"];

const FORM: [(&str, &str); 1] = [("content-type", "application/x-www-form-urlencoded")];

#[tokio::test]
async fn a_null_byte_fails_on_postgresql() {
    let anonymous = shared().anonymous();
    let cases: [(&str, &str, &[&str]); 4] = [
        (
            "GET",
            "/oauth/authorize",
            &["client_id", "redirect_uri", "state", "nonce", "login_hint", "scope", "resource", "prompt", "x"],
        ),
        (
            "POST",
            "/oauth/token",
            &["grant_type", "client_id", "code", "refresh_token", "device_code", "redirect_uri", "x"],
        ),
        ("POST", "/oauth/revoke", &["client_id", "token", "token_type_hint"]),
        ("POST", "/oauth/device_authorization", &["client_id", "scope", "resource"]),
    ];
    for (method, path, names) in cases {
        for (name, control) in names.iter().flat_map(|name| CONTROLS.map(|control| (*name, control))) {
            let sent = format!("{name}={control}");
            let answer = if method == "GET" {
                anonymous.get(&format!("{path}?{sent}")).await
            } else {
                anonymous.send(Method::POST, path, Some(sent), &FORM).await
            };
            let said = String::from_utf8_lossy(&answer.bytes);
            assert_eq!(answer.status.as_u16(), 400, "{path} {name}={control}: {said}");
            assert!(
                said.contains(&format!("{name} must not hold control characters")),
                "{path} {name}={control}: {said}"
            );
            if method == "POST" {
                assert_eq!(answer.json["error"], "invalid_request", "{path} {name}={control}: {said}");
            }
        }
    }
}

#[tokio::test]
async fn the_registration_of_a_client_takes_no_control_character() {
    for (member, value, error) in [
        ("client_name", json!("a\0b"), "invalid_client_metadata"),
        ("client_name", json!("a\u{1b}[2J"), "invalid_client_metadata"),
        ("redirect_uris", json!(["https://a.example/\0"]), "invalid_redirect_uri"),
        ("redirect_uris", json!(["https://a.example/\n"]), "invalid_redirect_uri"),
        ("grant_types", json!(["authorization_code\0"]), "invalid_client_metadata"),
        ("application_type", json!("web\0"), "invalid_client_metadata"),
        ("token_endpoint_auth_method", json!("none\0"), "invalid_client_metadata"),
    ] {
        let mut metadata = json!({ "redirect_uris": ["https://a.example/cb"], "client_name": "A" });
        metadata[member] = value;
        let json = [("content-type", "application/json")];
        let answer =
            shared().anonymous().send(Method::POST, "/oauth/register", Some(metadata.to_string()), &json).await;
        assert_eq!(answer.expect(400).json["error"], error, "{metadata}");
    }
}

#[tokio::test]
async fn pages_name_the_field_with_a_control_character() {
    let app = TestApp::start(|_| {}).await;
    let browser = Browser::signed_in(&app, "owner").await;
    let account = "/account/search/01900000-0000-7000-8000-000000000000/properties";
    for (path, names) in [
        ("/account/applications/revoke", &["client_id"][..]),
        ("/account/applications/limit", &["client_id", "allowance"]),
        ("/account/applications/allow", &["client_id"]),
        ("/account/delete", &["confirm"]),
        ("/account/search/connect", &["account"]),
    ] {
        for (name, control) in
            names.iter().flat_map(|name| ["\0", "a\r\nb", "\u{1b}[2J", "\u{9b}"].map(|control| (*name, control)))
        {
            let page = browser.post(path, &[(name, control)]).await.expect(400);
            assert!(page.body.contains(&format!("{name}: must not hold control characters")), "{path}: {}", page.body);
        }
    }
    assert!(browser.post(account, &[("property", "\0")]).await.status.is_client_error());
    for (path, name) in [
        ("/auth/login", "login_hint"),
        ("/auth/login", "return_to"),
        ("/auth/callback", "code"),
        ("/account/search/callback", "code"),
        ("/account/search/callback", "state"),
        ("/account/password/set", "token"),
    ] {
        for control in CONTROLS {
            let page = browser.get(&format!("{path}?{name}={control}")).await.expect(400);
            assert!(page.body.contains(name), "{path}: {}", page.body);
        }
    }
    browser.get("/account").await.expect(200);
}

/// A password is hashed as it comes, so it may hold anything. Nothing else of the page may.
#[tokio::test]
async fn the_pages_of_the_issuer_take_control_characters_in_passwords_only() {
    let app = TestApp::start(|_| {}).await;
    let mut page = Browser::anonymous(&app).get("/account/password/forgotten").await.expect(200);
    let cookie = crate::support::cookies::cookie(&page.headers, "sightline_sign_in");
    let (browser, token) = (Browser::anonymous(&app).with_cookie(&cookie), cookie.split_once('=').unwrap().1);
    for control in ["\0", "\u{1b}[2J", "a\nb"] {
        page = browser.post("/account/password/forgotten", &[("csrf", token), ("email", control)]).await.expect(400);
        assert!(page.body.contains("email must not hold control characters"), "{}", page.body);
    }
    let leaving = browser.get("/auth/login").await.header("location").to_owned();
    for (email, password, said) in [
        ("ann@corp.test", "\0", "the password is wrong"),
        ("ann@corp.test\0", "x", "email must not hold control characters"),
    ] {
        let form = [("csrf", token), ("decision", "enter"), ("email", email), ("password", password)];
        page = browser.post(&leaving, &form).await.expect(400);
        assert!(page.body.contains(said), "{email:?} {password:?}: {}", page.body);
    }
}

#[tokio::test]
async fn forms_of_the_dashboard_keep_lines_and_show_the_rest_again() {
    let app = TestApp::start(|_| {}).await;
    let browser = Browser::signed_in(&app, "owner").await;
    let property = app.actor("owner").await.property("northmoor").await;
    let (notes, settings) = (format!("/p/{property}/notes"), format!("/p/{property}/settings"));
    let note = |text: &'static str| [("do", "add_note"), ("date", "2026-11-01"), ("text", text)];
    for text in ["a\0b", "a\u{b}b", "a\u{1b}[2Jb", "a\u{7f}b"] {
        let page = browser.post(&notes, &note(text)).await.expect(400);
        assert!(page.body.contains("text: must not hold control characters"), "{text:?}: {}", page.body);
        assert!(page.body.contains("<textarea name=\"text\""), "{text:?}: {}", page.body);
    }
    let page = browser.post(&notes, &note("kept\u{1b}words")).await.expect(400);
    assert!(page.body.contains("kept\u{1b}words"), "{}", page.body);
    assert_eq!(browser.post(&notes, &note("first\r\nsecond\tcolumn")).await.status.as_u16(), 303);
    let id = "01900000-0000-7000-8000-000000000000";
    for (path, form) in [
        (&notes, [("do", "delete_note"), ("id", "\0"), ("etag", "x")]),
        (&notes, [("do", "delete_note"), ("id", id), ("etag", "\"x\"\0")]),
        (&notes, [("do", "delete_note"), ("id", id), ("etag", "\"x\"\n")]),
        (&notes, [("do", "add_note\0"), ("id", id), ("etag", "x")]),
        (&notes, [("do", "add_note"), ("text", "x"), ("key", "a\nb")]),
        (&settings, [("do", "links.make"), ("name", "a\0b"), ("days", "all")]),
        (&settings, [("do", "links.make"), ("filters", "[\0]"), ("days", "all")]),
        (&settings, [("do", "team.invite"), ("email", "a\0@b.test"), ("role", "viewer")]),
        (&"/".to_owned(), [("do", "hide"), ("id", "\0"), ("etag", "x")]),
    ] {
        let page = browser.post(path, &form).await;
        assert!(page.status.is_client_error(), "{path} {form:?}: {} {}", page.status, page.body);
    }
}

#[tokio::test]
async fn no_segment_of_a_path_with_a_control_character_is_a_fault() {
    let browser = Browser::signed_in(shared(), "owner").await;
    let pages = sightline::web::dashboard::paths().map(|(path, _)| path);
    let account = [
        "/account/sessions/:id/end",
        "/account/search/:id",
        "/account/search/:id/sync",
        "/account/:rest",
        "/docs/:guide",
        "/:any",
    ];
    let operations = documented();
    let of_api =
        operations.iter().filter(|operation| operation.method == Method::GET).map(|operation| operation.path.as_str());
    for path in pages.chain(account).chain(of_api).filter(|path| path.contains([':', '{'])) {
        for control in CONTROLS {
            let segment = |segment: &'static str| segment;
            let segments =
                path.split('/').map(|part| if part.starts_with([':', '{']) { segment(control) } else { part });
            let path = segments.collect::<Vec<_>>().join("/");
            for method in [Method::GET, Method::POST] {
                let answer = browser.send(method.clone(), &path, &[], &[("origin", &shared().service.base_url)]).await;
                assert!(answer.status.is_client_error(), "{method} {path}: {} {}", answer.status, answer.body);
            }
        }
    }
}

/// Collects the paths of the texts in a JSON value.
fn texts(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(at.to_owned()),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| texts(item, &format!("{at}/{index}"), found));
        }
        Value::Object(fields) => fields.iter().for_each(|(name, field)| texts(field, &format!("{at}/{name}"), found)),
        _ => {}
    }
}

#[tokio::test]
async fn no_operation_takes_nul_in_a_parameter_or_a_body() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    owner.made(&format!("/api/properties/{property}/share-links"), &json!({ "name": "NUL" })).await;
    let (mut asked, mut sent) = (0, 0);
    for operation in documented() {
        let path = real_path(&owner, &operation, &property).await;
        for parameter in
            operation.says["parameters"].as_array().into_iter().flatten().filter(|one| one["in"] == "query")
        {
            let name = parameter["name"].as_str().unwrap();
            let separator = if operation.query().len() > 1 { "&" } else { "" };
            let query = format!("{}{separator}{name}=a%00b", operation.query());
            let answer = owner.get(&format!("{path}{query}")).await;
            assert!(answer.status.is_client_error(), "{} {name}: {}", operation.id(), answer.status);
            asked += 1;
        }
        let Some(body) = operation.body().map(|body| serde_json::from_str::<Value>(&body).unwrap()) else { continue };
        let mut found = Vec::new();
        texts(&body, "", &mut found);
        for at in found {
            let mut body = body.clone();
            *body.pointer_mut(&at).unwrap() = json!("a\0b");
            let answer = owner.send_json(operation.method.clone(), &path, &body).await;
            let said = String::from_utf8_lossy(&answer.bytes);
            assert_eq!(
                (answer.status.as_u16(), answer.code()),
                (400, "invalid_request"),
                "{} {at}: {said}",
                operation.id()
            );
            sent += 1;
        }
    }
    assert!(asked > 100 && sent > 20, "{asked} parameters, {sent} fields");
    let assistant = Assistant::of(&app, &owner);
    let list = assistant.ask("tools/list", json!({})).await.expect(200).json["result"]["tools"].clone();
    for tool in list.as_array().unwrap() {
        let (name, schema) = (tool["name"].as_str().unwrap(), &tool["inputSchema"]["properties"]);
        for argument in schema.as_object().unwrap().keys() {
            let mut call =
                json!({ "property": "northmoor.example", "date": "2026-11-01", "text": "x", "kind": "annotations" });
            call.as_object_mut().unwrap().retain(|name, _| schema.get(name).is_some());
            call[argument] = json!("a\0b");
            let result = assistant.call(name, call).await;
            assert_ne!(
                result["_meta"]["sightline/error"]["code"],
                "internal_error",
                "{name} {argument}: {}",
                text(&result)
            );
        }
    }
}

#[tokio::test]
async fn no_header_takes_nul() {
    let owner = shared().actor("owner").await;
    for header in [
        "Idempotency-Key: a\0b",
        "If-Match: \"a\0b\"",
        "If-None-Match: \0",
        "User-Agent: a\0b",
        "Cookie: sightline_session=\0",
        "Origin: \0",
    ] {
        let body = json!({ "name": "NUL" }).to_string();
        let head = format!(
            "POST /api/tags HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nConnection: close\r\n\
             Content-Length: {}\r\n{header}\r\n\r\n{body}",
            owner.token(),
            body.len()
        );
        let mut stream = TcpStream::connect(shared().service.address).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut came = Vec::new();
        let _ = stream.read_to_end(&mut came).await;
        assert!(came.starts_with(b"HTTP/1.1 400"), "{header:?}: {}", String::from_utf8_lossy(&came));
    }
}

#[tokio::test]
async fn tokens_of_another_issuer_bring_no_control_character() {
    let issuer = OtherIssuer::start().await;
    let app = TestApp::start(|config| issuer.trusted_by(config)).await;
    let asked = async |token: String| {
        crate::support::actor::Actor::with_token(&app.service.base_url, &token).get("/api/tags").await
    };
    for (claim, value, status) in [
        ("sub", json!("a\0b"), 401),
        ("sub", json!("a\nb"), 401),
        ("client_id", json!("a\0b"), 401),
        ("jti", json!("a\0b"), 401),
        ("email", json!("a\0b@corp.test"), 200),
        ("name", json!("a\0b\u{1b}[2J"), 200),
        ("scope", json!("openid \0 search:read"), 200),
        ("scp", json!(["a\0b", "search:read"]), 200),
    ] {
        let claims = json!({ (claim): value });
        let mut said = json!({ "email": "ann@corp.test", "email_verified": true });
        said.as_object_mut().unwrap().extend(claims.as_object().unwrap().clone());
        let token =
            issuer.token_saying(&format!("person-{claim}"), &format!("id-{claim}-{status}"), start_of_test(), &said);
        asked(token).await.expect(status);
    }
}
