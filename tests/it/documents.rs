//! Tests of faults, metadata, the published document and its page.

use std::collections::BTreeSet;

use poem::http::Method;
use serde_json::json;

use crate::support::{
    app::{TestApp, shared},
    contract::DOCUMENT,
    whole::Whole as _,
};

#[tokio::test]
async fn a_fault_names_the_request_and_nothing_else() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    app.service.close_database().await;
    let answer = owner.send(Method::GET, "/api", None, &[("x-correlation-id", "trace-7")]).await;
    assert!([500, 503].contains(&answer.status.as_u16()), "{}", answer.status);
    assert_eq!(answer.json["error"], "An unexpected error occurred.");
    assert_eq!(answer.json["correlationId"], "trace-7");
    assert!(answer.json.get("hint").is_none(), "{}", answer.json);
}

#[tokio::test]
async fn metadata_leads_from_the_challenge_to_the_endpoints() {
    let base = shared().service.base_url.as_str();
    let get = async |path: &str| {
        let answer = shared().anonymous().get(path).await.expect(200);
        assert!(answer.header("content-type").starts_with("application/json"), "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), "*", "{path}");
        answer.json
    };
    for (path, resource) in [
        ("/.well-known/oauth-protected-resource", base.to_owned()),
        ("/.well-known/oauth-protected-resource/mcp", format!("{base}/mcp")),
    ] {
        let document = get(path).await;
        assert_eq!(document["resource"], resource);
        assert_eq!(document["authorization_servers"], json!([base]));
        assert_eq!(document["bearer_methods_supported"], json!(["header"]));
    }
    let server = get("/.well-known/oauth-authorization-server").await;
    assert_eq!(get("/.well-known/openid-configuration").await, server);
    assert_eq!(server["issuer"], base);
    assert_eq!(server["code_challenge_methods_supported"], json!(["S256"]));
    let device_code = "urn:ietf:params:oauth:grant-type:device_code";
    assert_eq!(server["grant_types_supported"], json!(["authorization_code", "refresh_token", device_code]));
    assert!(server["token_endpoint_auth_methods_supported"].as_array().unwrap().contains(&json!("none")));
    assert!(server["scopes_supported"].as_array().unwrap().contains(&json!("offline_access")));
    for endpoint in ["authorization", "token", "revocation", "registration", "userinfo", "device_authorization"] {
        let url = server[format!("{endpoint}_endpoint")].as_str().unwrap();
        let path = url.strip_prefix(base).unwrap_or_else(|| panic!("{url}"));
        assert_ne!(shared().anonymous().get(path).await.status.as_u16(), 404, "{url}");
    }
    let keys = get(server["jwks_uri"].as_str().unwrap().strip_prefix(base).unwrap()).await;
    for key in keys["keys"].as_array().unwrap() {
        let members: Vec<&String> = key.as_object().unwrap().keys().collect();
        assert!(["kid", "alg", "use", "kty"].iter().all(|name| members.iter().any(|m| m == name)), "{members:?}");
        assert!(!["d", "p", "q", "dp", "dq", "qi", "k"].iter().any(|name| members.iter().any(|m| m == name)));
    }
}

#[tokio::test]
async fn the_served_document_is_the_committed_one_but_for_addresses() {
    let base = &shared().service.base_url;
    let mut served = shared().anonymous().get("/openapi.json").await.expect(200).json;
    let mut committed = DOCUMENT.clone();
    assert_eq!(served["servers"][0]["url"], *base);
    let flow = "/components/securitySchemes/oauth2/flows/authorizationCode";
    for (name, path) in
        [("authorizationUrl", "/oauth/authorize"), ("tokenUrl", "/oauth/token"), ("refreshUrl", "/oauth/token")]
    {
        assert_eq!(served.pointer(flow).unwrap()[name], format!("{base}{path}"));
        assert_eq!(committed.pointer(flow).unwrap()[name], path);
        served.pointer_mut(flow).unwrap()[name].take();
        committed.pointer_mut(flow).unwrap()[name].take();
    }
    let cookie = "/components/securitySchemes/session/name";
    let named = base.parse::<common::base_url::BaseUrl>().unwrap().host_cookie("sightline_session");
    assert_eq!(served.pointer(cookie).unwrap(), &named);
    assert_eq!(committed.pointer(cookie).unwrap(), "sightline_session");
    for document in [&mut served, &mut committed] {
        document.pointer_mut(cookie).unwrap().take();
    }
    assert_eq!(served["externalDocs"]["url"], format!("{base}/docs/errors"));
    assert_eq!(committed.get("externalDocs"), None);
    served.as_object_mut().unwrap().remove("externalDocs");
    served["servers"].take();
    committed["servers"].take();
    assert!(served == committed, "the program was built from another openapi.json: make openapi");
}

#[tokio::test]
async fn the_document_is_kept_for_five_minutes_and_then_asked_about() {
    let anonymous = shared().anonymous();
    let first = anonymous.get("/openapi.json").await.expect(200);
    let tag = first.header("etag").to_owned();
    assert!(tag.starts_with('"') && tag.len() > 10, "{tag}");
    assert_eq!(first.header("cache-control"), "public, max-age=300, must-revalidate");
    let again = anonymous.send(Method::GET, "/openapi.json", None, &[("if-none-match", &tag)]).await.expect(304);
    assert!(again.bytes.is_empty());
    for name in ["etag", "cache-control", "vary"] {
        assert_eq!(again.header(name), first.header(name), "{name}");
    }
    let other = anonymous.send(Method::GET, "/openapi.json", None, &[("if-none-match", "\"x\"")]).await.expect(200);
    assert_eq!(other.json, first.json);
}

/// A client that does not decode content codings.
fn plain_client() -> reqwest::Client {
    #[expect(clippy::disallowed_methods, reason = "the service's client hides the coding of answers")]
    reqwest::Client::builder().no_gzip().build().unwrap()
}

#[tokio::test]
async fn fixed_documents_have_a_tag_for_each_coding_and_may_be_kept() {
    let (base, http) = (&shared().service.base_url, plain_client());
    for path in [
        "/openapi.json",
        "/docs",
        "/docs/swagger-ui.js",
        "/docs/errors",
        "/docs/guide",
        "/changelog",
        "/assets/sightline.css",
        "/robots.txt",
        "/.well-known/oauth-protected-resource",
        "/.well-known/openid-configuration",
    ] {
        let mut tags = BTreeSet::new();
        let plain = shared().anonymous().get(path).await.expect(200).bytes;
        for coding in ["identity", "gzip", "br"] {
            let get = || http.get(format!("{base}{path}")).header("accept-encoding", coding);
            let first = get().send().await.unwrap();
            let header = |name: &str| first.headers().get(name).map_or("", |value| value.to_str().unwrap());
            assert_eq!(header("cache-control"), "public, max-age=300, must-revalidate", "{path}");
            assert_eq!(header("content-encoding"), if coding == "identity" { "" } else { coding }, "{path}");
            assert!(header("vary").contains("Accept-Encoding"), "{path}");
            let (tag, length) = (header("etag").to_owned(), header("content-length").parse::<usize>().unwrap());
            let bytes = first.whole_bytes().await.unwrap();
            assert_eq!((bytes.len(), bytes == plain), (length, coding == "identity"), "{path} {coding}");
            let again = get().header("if-none-match", &tag).send().await.unwrap();
            assert_eq!((again.status().as_u16(), again.headers()["etag"].to_str().unwrap()), (304, tag.as_str()));
            assert!(tags.insert(tag), "{path}: {coding} has the tag of another coding");
        }
    }
}

#[tokio::test]
async fn the_page_and_everything_it_asks_for_is_there() {
    let anonymous = shared().anonymous();
    let page = anonymous.get("/docs").await.expect(200);
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    let policy = page.header("content-security-policy");
    assert!(policy.contains("default-src 'none'") && policy.contains("script-src 'self'"), "{policy}");
    assert!(policy.contains("frame-ancestors 'none'"));
    let html = String::from_utf8(page.bytes).unwrap();
    let links: Vec<&str> = ["src=\"", "href=\""]
        .iter()
        .flat_map(|attribute| html.split(attribute).skip(1))
        .map(|rest| rest.split('"').next().unwrap())
        .filter(|link| !link.starts_with("data:"))
        .collect();
    assert!(links.len() >= 3, "{links:?}");
    for link in links {
        assert!(link.starts_with('/') && !link.starts_with("//"), "{link} is not ours");
        if link == "/" {
            // The start page leads a person to their sites, and a program back here.
            assert_eq!(anonymous.get(link).await.expect(303).header("location"), "/docs");
            continue;
        }
        let kind = match link.rsplit('.').next() {
            Some("js") => "text/javascript",
            Some("css") => "text/css",
            Some("ico") => "image/x-icon",
            _ => "",
        };
        let asset = anonymous.get(link).await.expect(200);
        assert!(asset.header("content-type").starts_with(kind), "{link}");
    }
    assert!(!html.contains("<script>"), "the policy forbids inline scripts");
    let start = String::from_utf8(anonymous.get("/docs/start.js").await.expect(200).bytes).unwrap();
    assert!(start.contains("/openapi.json") && start.contains("sightline-docs"));
    let receiver = anonymous.get("/docs/oauth2-redirect.html").await.expect(200);
    assert!(receiver.header("content-type").starts_with("text/html"));
    let policy = receiver.header("content-security-policy");
    assert!(policy.contains("script-src 'self'") && !policy.contains("unsafe-inline"), "{policy}");
    let html = String::from_utf8(receiver.bytes.clone()).unwrap();
    let script = html.split("src=\"").nth(1).unwrap().split('"').next().unwrap();
    let script = anonymous.get(&format!("/docs/{script}")).await.expect(200);
    assert!(script.header("content-type").starts_with("text/javascript"));
}

/// An attacker who makes a browser or a cache send such headers cannot redirect people elsewhere.
#[tokio::test]
async fn no_header_of_a_request_changes_where_links_lead() {
    let app = TestApp::start(|config| {
        config.rate_limit.trusted_proxies = common::addresses::TrustedProxies::parse(["127.0.0.0/8"]).unwrap();
    })
    .await;
    let (anonymous, owner, base) = (app.anonymous(), app.actor("owner").await, &app.service.base_url);
    let headers = [
        ("x-forwarded-host", "evil.example"),
        ("x-forwarded-proto", "https"),
        ("x-forwarded-port", "444"),
        ("x-forwarded-prefix", "/evil"),
        ("forwarded", "for=1.2.3.4;host=evil.example;proto=https"),
        ("x-original-host", "evil.example"),
        ("x-host", "evil.example"),
        ("x-original-url", "/evil"),
        ("x-rewrite-url", "/evil"),
        ("referer", "https://evil.example/"),
    ];
    for host in [None, Some(("host", "evil.example"))] {
        let headers: Vec<_> = headers.into_iter().chain(host).collect();
        let get = async |path: &str| anonymous.send(Method::GET, path, None, &headers).await;
        let challenge = get("/api").await.expect(401);
        let metadata = format!("resource_metadata=\"{base}/.well-known/oauth-protected-resource\"");
        assert!(challenge.header("www-authenticate").contains(&metadata), "{}", challenge.header("www-authenticate"));
        for path in
            ["/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource", "/openapi.json"]
        {
            let answer = get(path).await;
            if answer.status.as_u16() == 200 {
                assert_eq!(answer.bytes, anonymous.get(path).await.expect(200).bytes, "{path}");
            }
            assert!(host.is_some() || answer.status.as_u16() == 200, "{path}");
        }
        let login = get("/auth/login").await;
        let leads = login.header("location");
        assert!(
            leads.starts_with(&format!("{base}/oauth/authorize?")) || (host.is_some() && leads.is_empty()),
            "{leads}"
        );
        let tag = json!({ "name": format!("Tag {}", host.is_some()) }).to_string();
        let typed: Vec<_> = headers.iter().copied().chain([("content-type", "application/json")]).collect();
        let made = owner.send(Method::POST, "/api/tags", Some(tag), &typed).await.expect(201);
        assert!(made.header("location").starts_with("/api/tags/"), "{}", made.header("location"));
        for answer in [challenge, login, made] {
            let all = format!("{:?} {}", answer.headers, String::from_utf8_lossy(&answer.bytes));
            assert!(!all.contains("evil"), "{all}");
        }
    }
}
