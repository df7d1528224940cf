//! Tests of every form of the pages of people: only a page of the service itself sends one.

use std::collections::{BTreeMap, BTreeSet};

use poem::http::Method;
use serde_json::json;

use crate::{
    account::applications::{connected, registered},
    privacy::everything_stored,
    support::{
        app::{TestApp, shared},
        signed_in::{Browser, Page},
    },
};

/// A form, as a browser sends it after its fields were filled in.
struct Form {
    path: String,
    fields: Vec<(String, String)>,
}

/// The value of an attribute of a tag.
fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    rest.split('"').next()
}

/// The text for an empty field.
fn filled(name: &str) -> &'static str {
    match name {
        "date" | "endDate" | "startDate" => "2026-11-02",
        "email" => "somebody@example.com",
        _ => "northmoor words",
    }
}

fn unescaped(text: &str) -> String {
    text.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

impl Form {
    /// The forms of a page that change something.
    fn of(page: &Page, path: &str) -> Vec<Self> {
        let forms = page.between("<form", "</form>");
        let forms = forms.into_iter().filter(|form| form.split('>').next().unwrap().contains("method=\"post\""));
        forms.map(|form| Self::read(form, path)).collect()
    }

    fn read(form: &str, path: &str) -> Self {
        let action = attribute(form.split('>').next().unwrap(), "action").unwrap_or_default();
        let path = if action.starts_with('/') { action } else { path };
        let mut fields = Vec::new();
        for kind in ["input", "textarea", "select"] {
            for rest in form.split(&format!("<{kind}")).skip(1) {
                let (tag, content) = rest.split_once('>').unwrap();
                let is_choice = ["radio", "checkbox"].map(Some).contains(&attribute(tag, "type"));
                let Some(name) = attribute(tag, "name").filter(|_| !is_choice || tag.contains(" checked")) else {
                    continue;
                };
                let option = content.split("<option").nth(1).filter(|_| kind == "select");
                let value = option.map_or_else(|| attribute(tag, "value"), |option| attribute(option, "value"));
                let value = value.filter(|value| !value.is_empty()).map_or_else(|| filled(name).to_owned(), unescaped);
                fields.push((name.to_owned(), value));
            }
        }
        // Some forms say by their buttons what they do.
        let is_named = fields.iter().any(|(name, _)| name == "do");
        let buttons = form.split("<button").skip(1).map(|rest| rest.split('>').next().unwrap());
        let buttons = buttons.filter_map(|tag| Some((attribute(tag, "name")?, attribute(tag, "value")?)));
        fields.extend(
            buttons
                .filter(|(name, _)| !is_named && *name == "do")
                .take(1)
                .map(|(name, value)| (name.to_owned(), value.to_owned())),
        );
        Self { path: unescaped(path).split('#').next().unwrap().to_owned(), fields }
    }

    /// The path and the action, which no other form has.
    fn name(&self) -> String {
        let action = self.fields.iter().find(|(name, _)| name == "do").map_or("", |(_, value)| value);
        let path = self.path.split('/').map(|part| if part.len() == 36 { "*" } else { part }).collect::<Vec<_>>();
        format!("{} {action}", path.join("/"))
    }

    async fn send(&self, browser: &Browser, headers: &[(&str, &str)]) -> Page {
        let fields: Vec<_> = self.fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        browser.send(Method::POST, &self.path, &fields, headers).await
    }
}

/// A person with something for each form, in a browser. Returns it and the forms, one of each kind.
async fn desk(app: &TestApp) -> (Browser, BTreeMap<String, Form>) {
    let (owner, browser) = (app.actor("owner").await, Browser::signed_in(app, "owner").await);
    let _other = Browser::signed_in(app, "owner").await;
    let base = &app.service.base_url;
    connected(base, &registered(base, "Probe").await, "owner").await;
    let property = owner.property("northmoor").await;
    let of = |part: &str| format!("/api/properties/{property}/{part}");
    let note = owner.made(&of("annotations"), &json!({ "date": "2026-11-03", "text": "A note" })).await;
    owner.made(&of("share-links"), &json!({ "name": "Board" })).await;
    owner.made("/api/tags", &json!({ "name": "Shops" })).await;
    let filters = json!([{ "dimension": "query", "operator": "contains", "value": "a" }]);
    owner.made("/api/filter-presets", &json!({ "name": "Mine", "filters": filters })).await;
    let account = owner.listed("/api/accounts/health").await[0]["id"].as_str().unwrap().to_owned();
    let at = format!("/p/{property}");
    let mut forms = BTreeMap::new();
    for path in [
        "/".to_owned(),
        at.clone(),
        format!("{at}/where/query.contains=a/overview"),
        format!("{at}/notes"),
        format!("{at}/notes?edit={note}"),
        format!("{at}/settings"),
        "/account".to_owned(),
        "/account/delete".to_owned(),
        format!("/account/search/{account}"),
        format!("/account/search/{account}/disconnect"),
    ] {
        let page = browser.follow(&path).await.expect(200);
        let sent_to = path.split('?').next().unwrap();
        forms.extend(Form::of(&page, sent_to).into_iter().map(|form| (form.name(), form)));
    }
    (browser, forms)
}

/// Every value of every table, in an order of its own.
async fn stored(app: &TestApp) -> Vec<(String, Vec<u8>)> {
    let mut stored = everything_stored(&app.service.db).await;
    stored.sort();
    stored
}

#[tokio::test]
async fn every_form_is_taken_from_a_page_of_the_service_alone() {
    let app = TestApp::start(|_| {}).await;
    let (browser, forms) = desk(&app).await;
    assert!(forms.len() > 25, "{:?}", forms.keys());
    let (own, port) = (app.service.base_url.as_str(), app.service.address.port());
    let others = [
        "https://evil.example".to_owned(),
        "null".to_owned(),
        String::new(),
        format!("http://localhost:{port}"),
        format!("http://127.0.0.1:{}", port ^ 1),
        format!("https://127.0.0.1:{port}"),
        "http://127.0.0.1".to_owned(),
        format!("{own}.evil.example"),
        format!("{own}/"),
        own.to_uppercase(),
        format!(" {own}, https://evil.example"),
    ];
    let mut cases: Vec<Vec<(&str, &str)>> = others.iter().map(|origin| vec![("origin", origin.as_str())]).collect();
    cases.push(Vec::new());
    cases.push(vec![("referer", own), ("sec-fetch-site", "same-origin")]);
    cases.push(vec![("origin", own), ("origin", "https://evil.example")]);
    cases.push(vec![("origin", "https://evil.example"), ("origin", own)]);

    let before = stored(&app).await;
    // Forms that are refused before their origin is judged.
    let mut misfilled = BTreeSet::new();
    for (name, form) in &forms {
        for headers in &cases {
            let page = form.send(&browser, headers).await;
            assert!([400, 403].contains(&page.status.as_u16()), "{name} {headers:?}: {} {}", page.status, page.body);
            misfilled.extend(Some(name).filter(|_| page.status == 400));
        }
    }
    assert!(stored(&app).await == before, "a form of another page changed something");
    assert!(misfilled.len() * 5 < forms.len(), "{misfilled:?}");

    // Each is one that the service takes. The last of them end the session or delete the person.
    for (name, form) in forms.iter().filter(|(name, _)| !is_final(name)) {
        let page = form.send(&browser, &[("origin", own)]).await;
        assert_ne!(page.status.as_u16(), 403, "{name}: {}", page.body);
        assert!(!page.status.is_server_error(), "{name}: {}", page.body);
        assert!(page.status == 400 || !misfilled.contains(name), "{name}: {}", page.body);
    }
    assert!(stored(&app).await != before, "no form changed anything");
}

/// Returns whether a form ends something of the person as a whole. Without a session, such a form leads to a page that asks again.
fn is_final(name: &str) -> bool {
    name.starts_with("/account/sign-out") || name.starts_with("/account/delete")
}

#[tokio::test]
async fn every_form_that_comes_after_the_session_ended_is_given_back_and_can_be_sent_again() {
    let app = TestApp::start(|_| {}).await;
    let (browser, forms) = desk(&app).await;
    let (own, nobody, before) = (app.service.base_url.as_str(), browser.signed_out(), stored(&app).await);
    let html = ("accept", "text/html,*/*;q=0.8");
    let sorted = |form: &Form| form.fields.iter().cloned().collect::<BTreeSet<_>>();
    let mut given_back = BTreeMap::new();
    for (name, form) in forms.iter().filter(|(name, _)| !is_final(name)) {
        let page = form.send(&nobody, &[("origin", own), html]).await;
        if form.fields.is_empty() {
            page.leads_to("/auth/login?return_to=/account");
            continue;
        }
        let page = page.expect(401);
        assert!(page.header("www-authenticate").starts_with("Bearer "), "{name}");
        assert_eq!(page.header("referrer-policy"), "same-origin", "{name}: its form names its origin");
        let again = Form::of(&page, &form.path).remove(0);
        assert_eq!((&again.path, sorted(&again)), (&form.path, sorted(form)), "{name}: {}", page.body);
        let seen = page.body.matches("type=\"text\"").count();
        let written = form.fields.iter().filter(|(_, value)| value == filled("")).count();
        assert!(seen >= written, "{name}: {seen} of {written} fields can be read: {}", page.body);
        for origin in ["https://evil.example", "null"] {
            let foreign = form.send(&nobody, &[("origin", origin), html]).await;
            assert!([303, 400, 403].contains(&foreign.status.as_u16()), "{name}: {}", foreign.status);
            assert!(!foreign.body.contains(filled("")), "{name}: {}", foreign.body);
        }
        given_back.insert(name, again);
    }
    assert!(stored(&app).await == before, "a stranger changed something");
    assert!(given_back.len() > 20, "{:?}", given_back.keys());
    for (name, form) in given_back {
        let page = form.send(&browser, &[("origin", own), html]).await;
        assert!(![401, 403].contains(&page.status.as_u16()), "{name}: {} {}", page.status, page.body);
    }
    assert!(stored(&app).await != before, "no form changed anything");
}

/// The longest forms hold more fields than anything that reads them for names.
#[tokio::test]
async fn forms_and_addresses_of_very_many_fields_are_no_fault() {
    const FIELDS: usize = 130_000;
    let browser = Browser::signed_in(shared(), "owner").await;
    let property = shared().actor("owner").await.property("northmoor").await;
    let (notes, settings) = (format!("/p/{property}/notes"), format!("/p/{property}/settings"));
    for name in ["", "a", "value", "keywords"] {
        let fields = vec![(name, ""); FIELDS];
        for path in [
            "/",
            &notes,
            &settings,
            "/account/applications/revoke",
            "/account/search/connect",
            "/account/delete",
            "/device",
            "/oauth/token",
            "/oauth/revoke",
            "/oauth/device_authorization",
            "/account/password/forgotten",
        ] {
            let page = browser.post(path, &fields).await;
            let is_taken = page.status == 303 || page.status.is_client_error();
            assert!(is_taken, "{path} {name}: {} {}", page.status, page.body);
        }
        let query = format!("{name}&").repeat(8_000 / (name.len() + 1));
        for path in ["/", &notes, &settings, "/oauth/authorize", "/auth/callback", "/api/properties", "/docs"] {
            let page = browser.get(&format!("{path}?{query}")).await;
            assert!(!page.status.is_server_error(), "{path} {name}: {} {}", page.status, page.body);
        }
    }
    browser.get("/account").await.expect(200);
}
