//! Tests of the metadata documents and the authorization endpoint.

use common::digest::pkce_challenge;

use super::{Answer, REDIRECT_URI, TestIssuer, browser::hidden};

#[tokio::test]
async fn the_documents_say_what_the_standards_ask_for() {
    let issuer = TestIssuer::start().await;
    let base = &issuer.base;
    let server = issuer.get("/.well-known/oauth-authorization-server").await;
    assert_eq!((server.status, server.header("content-type")), (200, "application/json"));
    assert_eq!(server.header("access-control-allow-origin"), "*");
    let document = server.json();
    assert_eq!(document, issuer.get("/.well-known/openid-configuration").await.json());
    assert_eq!(document["issuer"], **base);
    assert_eq!(document["code_challenge_methods_supported"], serde_json::json!(["S256"]));
    let device_code = "urn:ietf:params:oauth:grant-type:device_code";
    let grant_types = serde_json::json!(["authorization_code", "refresh_token", device_code]);
    assert_eq!(document["grant_types_supported"], grant_types);
    assert_eq!(document["authorization_response_iss_parameter_supported"], true);
    for (path, resource) in [("", base.clone()), ("/mcp", format!("{base}/mcp"))] {
        let document = issuer.get(&format!("/.well-known/oauth-protected-resource{path}")).await.json();
        assert_eq!(document["resource"], resource);
        assert_eq!(document["authorization_servers"], serde_json::json!([base]));
        assert_eq!(document["bearer_methods_supported"], serde_json::json!(["header"]));
    }
    let keys = issuer.get("/oauth/jwks").await.json();
    let mut members: Vec<_> = keys["keys"][0].as_object().unwrap().keys().cloned().collect();
    members.sort();
    assert_eq!(members, ["alg", "e", "kid", "kty", "n", "use"], "public members only");
    let preflight = issuer.http.request(http::Method::OPTIONS, format!("{base}/oauth/token"));
    assert_eq!(Answer::of(preflight).await.status, 204);
}

#[tokio::test]
async fn answers_carry_state_and_issuer_once() {
    let issuer = TestIssuer::start().await;
    let client = issuer.client().await;
    let success = issuer.authorize(&client, &[]).await.redirect();
    assert_eq!((success["state"].as_str(), &success["iss"]), ("s t&te", &issuer.base));
    let challenge = pkce_challenge("x");
    for (changes, error) in [
        (&[("response_type", "")][..], "invalid_request"),
        (&[("response_type", "token")], "unsupported_response_type"),
        (&[("response_mode", "fragment")], "invalid_request"),
        (&[("code_challenge", ""), ("code_challenge_method", "")], "invalid_request"),
        (&[("code_challenge_method", "plain")], "invalid_request"),
        (&[("code_challenge_method", "")], "invalid_request"),
        (&[("code_challenge", &challenge[1..])], "invalid_request"),
        (&[("scope", "openid search:write")], "invalid_scope"),
        (&[("resource", "https://elsewhere.example")], "invalid_target"),
        (&[("resource", "relative")], "invalid_target"),
        (&[("request", "x")], "request_not_supported"),
        (&[("request_uri", "https://a.example")], "request_uri_not_supported"),
        (&[("prompt", "none"), ("login_hint", "")], "login_required"),
    ] {
        let refused = issuer.authorize(&client, changes).await.redirect();
        assert_eq!(refused["error"], error, "{changes:?}");
        assert_eq!((refused["state"].as_str(), &refused["iss"]), ("s t&te", &issuer.base));
        assert!(!refused.contains_key("code"));
    }
}

#[tokio::test]
async fn an_unknown_client_or_address_gets_a_page_and_never_a_redirect() {
    let issuer = TestIssuer::start().await;
    let client = issuer.client().await;
    for change in [
        ("client_id", ""),
        ("client_id", "nobody"),
        ("redirect_uri", ""),
        ("redirect_uri", "http://127.0.0.1:7777/cb/"),
        ("redirect_uri", "https://evil.example/cb"),
        ("redirect_uri", "http://127.0.0.1:7777@evil.example/cb"),
    ] {
        let answer = issuer.authorize(&client, &[change]).await;
        assert_eq!(answer.status, 400, "{change:?}");
        assert!(answer.headers.get("location").is_none() && answer.header("content-type").starts_with("text/html"));
    }
    let other_port = issuer.authorize(&client, &[("redirect_uri", "http://127.0.0.1:5/cb")]).await;
    assert_eq!(other_port.status, 303, "the port of a loopback address may differ");
}

#[tokio::test]
async fn a_page_is_shown_unless_everything_stays_on_this_machine() {
    let issuer = TestIssuer::start().await;
    let client = issuer.client().await;
    for change in [("login_hint", ""), ("login_hint", "nobody"), ("prompt", "login"), ("prompt", "login consent")] {
        let page = issuer.authorize(&client, &[change]).await;
        assert_eq!(page.status, 200, "{change:?}");
        assert!(page.body.contains("&lt;b&gt;Probe&lt;/b&gt;") && !page.body.contains("<b>Probe"), "names are escaped");
        assert!(page.header("content-security-policy").contains("frame-ancestors 'none'"));
        assert_eq!(page.header("referrer-policy"), "no-referrer");
    }
    for change in [("prompt", "consent"), ("prompt", "none"), ("scope", "")] {
        assert_eq!(issuer.authorize(&client, &[change]).await.status, 303, "{change:?}");
    }
    let url = format!(
        "{}/oauth/authorize?response_type=code&client_id={client}&redirect_uri={REDIRECT_URI}&login_hint=owner\
         &code_challenge={}&code_challenge_method=S256",
        issuer.base,
        pkce_challenge("x")
    );
    assert_eq!(Answer::of(issuer.http.get(&url)).await.status, 303);
    for site in ["none", "same-origin", "cross-site"] {
        let browser = Answer::of(issuer.http.get(&url).header("sec-fetch-site", site)).await;
        assert_eq!(browser.status, 200, "a browser always sees the page");
    }
}

#[tokio::test]
async fn the_form_needs_the_browser_it_was_shown_to() {
    let issuer = TestIssuer::start().await;
    let client = issuer.client().await;
    let url = format!(
        "{}/oauth/authorize?response_type=code&client_id={client}&redirect_uri={REDIRECT_URI}&state=x\
         &code_challenge={}&code_challenge_method=S256",
        issuer.base,
        pkce_challenge("x")
    );
    let page = Answer::of(issuer.http.get(&url)).await;
    let cookie = page.header("set-cookie").split(';').next().unwrap().to_owned();
    let token = cookie.split_once('=').unwrap().1;
    assert!(page.body.contains(&format!("value=\"{token}\"")));
    let send = |cookie: String, form: Vec<(&'static str, String)>| {
        Answer::of(issuer.http.post(&url).header("cookie", cookie).form(&form))
    };
    let person = ("person", "viewer".to_owned());
    let signed_in = send(cookie.clone(), vec![("csrf", token.to_owned()), person.clone()]).await;
    assert_eq!((signed_in.status, signed_in.header("location").split('?').next()), (303, Some("/oauth/authorize")));
    let session = signed_in.header("set-cookie").split(';').next().unwrap().to_owned();
    let both = format!("{cookie}; {session}");
    let page = Answer::of(issuer.http.get(&url).header("cookie", &both)).await;
    let allow =
        vec![("csrf", token.to_owned()), ("decision", "allow".to_owned()), ("session", hidden(&page, "session"))];
    let unasked = send(session, allow.clone()).await;
    assert_eq!(unasked.status, 400, "consent needs the browser, too");
    let agreed = send(both, allow).await.redirect();
    assert!(agreed.contains_key("code"));
    let cancel = vec![("csrf", token.to_owned()), ("decision", "cancel".to_owned())];
    let cancelled = send(cookie.clone(), cancel).await.redirect();
    assert_eq!(cancelled["error"], "access_denied");
    assert_eq!(send(cookie.clone(), vec![person.clone()]).await.status, 400);
    assert_eq!(send(cookie.clone(), vec![("csrf", "x".repeat(43)), person.clone()]).await.status, 400);
    assert_eq!(send(String::new(), vec![("csrf", token.to_owned()), person]).await.status, 400);
}

#[tokio::test]
async fn what_is_stored_or_repeated_back_is_bounded() {
    let issuer = TestIssuer::start().await;
    let client = issuer.client().await;
    let x = |length: usize| "x".repeat(length);
    for change in [("nonce", x(255)), ("login_hint", x(255)), ("state", x(2_048))] {
        let answer = issuer.authorize(&client, &[(change.0, &change.1)]).await;
        assert!([200, 303].contains(&answer.status) && !answer.header("location").contains("error="), "{}", change.0);
    }
    for (name, value) in [("nonce", x(256)), ("login_hint", x(256))] {
        let refused = issuer.authorize(&client, &[(name, &value)]).await.redirect();
        assert_eq!(refused["error"], "invalid_request", "{name}");
        assert!(refused["error_description"].starts_with(name), "{}", refused["error_description"]);
    }
    // Without its state the client could not match the response to its request, so the person gets a page.
    let refused = issuer.authorize(&client, &[("state", &x(2_049))]).await;
    assert_eq!(refused.status, 400);
    assert!(refused.headers.get("location").is_none() && refused.body.contains("state"), "{}", refused.body);
}

#[tokio::test]
async fn a_request_has_fifty_parameters_at_most() {
    let issuer = TestIssuer::start().await;
    let client = issuer.client().await;
    let names: Vec<String> = (0..51).map(|number| format!("p{number}")).collect();
    let more = |count: usize| names[..count].iter().map(|name| (name.as_str(), "x")).collect::<Vec<_>>();
    assert_eq!(issuer.authorize(&client, &more(42)).await.status, 303);
    let refused = issuer.authorize(&client, &more(43)).await;
    assert_eq!(refused.status, 400);
    assert!(refused.body.contains("50"), "{}", refused.body);
    issuer.post("/oauth/token", &more(51)).await.refused("invalid_request");
    let answer = issuer.post("/oauth/token", &more(50)).await;
    assert!(answer.body.contains("grant_type"), "{}", answer.body);
}
