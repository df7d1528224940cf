//! Tests that nothing but a choice on a page widens what a person allows an application: a computed matrix of what was allowed before, the way
//! in which the application asks again, what it asks for, and what the person chooses.

use chrono::TimeDelta;
use serde_json::{Value, json};

use crate::support::{actor::Actor, app::TestApp, application::Application, browser::Browser};

const EVERYTHING: &str = "search:read records:write account";

/// The scopes of the API.
const SCOPES: [&str; 3] = ["search:read", "records:write", "account"];

/// What an application may do that is allowed so much.
fn allows(allowance: &str) -> &'static [&'static str] {
    match allowance {
        "read" => &SCOPES[..1],
        "records" => &SCOPES[..2],
        _ => &SCOPES,
    }
}

/// The place of an extent in their order.
fn extent(allowance: &str) -> usize {
    allows(allowance).len()
}

/// The narrowest extent that covers what is asked for.
fn covering(asked: &str) -> &'static str {
    ["read", "records"]
        .into_iter()
        .find(|one| asked.split(' ').all(|scope| allows(one).contains(&scope)))
        .unwrap_or("everything")
}

/// The first words by which a page names the right of a scope.
fn right(scope: &str) -> &'static str {
    match scope {
        "records:write" => "Create, change and delete records",
        "account" => "Change who sees your properties",
        _ => "Read the search data",
    }
}

/// Returns which scopes a token opens.
async fn opened(actor: &Actor) -> Vec<&'static str> {
    let refused = |status: u16| status == 403;
    let answers = [
        actor.get("/api/tags").await.status.as_u16(),
        // Refused for its body where the scope is there.
        actor.post("/api/tags", &json!({})).await.status.as_u16(),
        actor.get("/api/team").await.status.as_u16(),
    ];
    SCOPES.into_iter().zip(answers).filter(|(_, status)| !refused(*status)).map(|(scope, _)| scope).collect()
}

/// What a token opens that asked for this, of an application that is allowed so much.
fn expected(asked: &str, allowance: &str) -> Vec<&'static str> {
    SCOPES
        .into_iter()
        .filter(|scope| asked.split(' ').any(|one| one == *scope) && allows(allowance).contains(scope))
        .collect()
}

/// An application with an older token.
struct Older {
    application: Application,
    browser: Browser,
    /// Its older tokens, what they asked for, and how much it is allowed.
    token: Option<(Value, &'static str, &'static str)>,
}

impl Older {
    async fn new(app: &TestApp, before: Option<(&'static str, &'static str)>) -> Self {
        // Nobody enters so many codes at once.
        app.hand.advance(TimeDelta::hours(1));
        let base = &app.service.base_url;
        let (application, browser) = (Application::register(base).await, Browser::new(base));
        // Another application has the person signed in at the issuer.
        Application::register(base).await.allowed(&browser, "owner", "openid", None, None).await;
        let mut token = None;
        if let Some((asked, allowance)) = before {
            let scope = format!("openid offline_access {asked}");
            let tokens = application.allowed(&browser, "owner", &scope, None, Some(allowance)).await;
            token = Some((tokens, asked, allowance));
        }
        Self { application, browser, token }
    }

    /// Fails unless the older token opens what it asked for, of what the application is allowed now.
    async fn holds(&self, allowance: &str, what: &str) {
        if let Some((tokens, asked, _)) = &self.token {
            let actor = self.application.acting(tokens);
            assert_eq!(opened(&actor).await, expected(asked, allowance), "the older token: {what}");
        }
    }
}

/// What was asked for and allowed before.
const BEFORE: [Option<(&str, &str)>; 5] = [
    None,
    Some(("search:read", "read")),
    Some((EVERYTHING, "read")),
    Some((EVERYTHING, "records")),
    Some((EVERYTHING, "everything")),
];

/// What is asked for later.
const ASKED: [&str; 5] = ["search:read", "records:write", "account", "search:read records:write", EVERYTHING];

#[tokio::test]
async fn a_machine_widens_only_what_its_page_asks_about() {
    let app = TestApp::start(|_| {}).await;
    for before in BEFORE {
        for asked in ASKED {
            let older = Older::new(&app, before).await;
            let scope = format!("openid {asked}");
            let (_, page) = older.application.ask_by_code(&older.browser, &scope).await;
            let (offered, ticked) = page.choices();
            let held = before.map(|(_, allowance)| allowance);
            if let Some(held) = held {
                assert!(page.html.contains("Until now you allow this application"), "{}", page.html);
                assert!(
                    ticked.as_deref().is_none_or(|ticked| extent(ticked) <= extent(held)),
                    "{ticked:?} {before:?} {asked}"
                );
            }
            let choices =
                if offered.is_empty() { vec![None] } else { offered.iter().map(|one| Some(one.as_str())).collect() };
            for chosen in choices {
                let what = format!("{before:?}, asked for {asked}, chose {chosen:?}");
                let older = Older::new(&app, before).await;
                let (code, page) = older.application.ask_by_code(&older.browser, &scope).await;
                let widens = chosen.zip(held).is_some_and(|(chosen, held)| extent(chosen) > extent(held));
                assert!(
                    !widens || page.html.contains("widens the access that the application has already in browsers"),
                    "{what}"
                );
                let asked_ever = before.map_or("", |(asked, _)| asked).split(' ').chain(asked.split(' '));
                for scope in asked_ever.filter(|_| widens) {
                    assert!(page.html.contains(right(scope)), "{scope}: {what}");
                }
                let tokens = older.application.allowed_by_code(&older.browser, &code, &page, chosen).await;
                let after = match (held, chosen) {
                    (Some(held), Some(chosen)) if extent(chosen) > extent(held) => chosen,
                    (Some(held), _) => held,
                    (None, Some(chosen)) => chosen,
                    (None, None) => covering(asked),
                };
                let machine =
                    if chosen.is_some_and(|chosen| extent(chosen) < extent(after)) { chosen.unwrap() } else { after };
                assert_eq!(
                    opened(&older.application.acting(&tokens)).await,
                    expected(asked, machine),
                    "the machine: {what}"
                );
                older.holds(after, &what).await;
            }
        }
    }
}

#[tokio::test]
async fn a_page_of_a_browser_sets_what_is_chosen_on_it() {
    let app = TestApp::start(|_| {}).await;
    for before in BEFORE {
        for asked in ASKED {
            for chosen in [None, Some("read"), Some("records"), Some("everything")] {
                let what = format!("{before:?}, asked for {asked}, chose {chosen:?}");
                let mut older = Older::new(&app, before).await;
                older.application.asks_again = true;
                let scope = format!("openid {asked}");
                let (_, page) = older.application.ask(&older.browser, "owner", &scope, None).await;
                let (offered, ticked) = page.choices();
                let held = before.map(|(_, allowance)| allowance);
                if chosen.is_some_and(|chosen| !offered.iter().any(|one| one == chosen)) {
                    continue;
                }
                assert!(held.is_none_or(|held| ticked.is_none_or(|ticked| extent(&ticked) <= extent(held))), "{what}");
                let tokens = older.application.allowed(&older.browser, "owner", &scope, None, chosen).await;
                let after = chosen.or(held).unwrap_or(covering(asked));
                assert_eq!(opened(&older.application.acting(&tokens)).await, expected(asked, after), "{what}");
                older.holds(after, &what).await;
            }
        }
    }
}

#[tokio::test]
async fn what_asks_nobody_widens_nothing() {
    let app = TestApp::start(|_| {}).await;
    for before in BEFORE.into_iter().flatten() {
        let (was_asked, held) = before;
        for asked in ASKED {
            let what = format!("{before:?}, asks for {asked}");
            let older = Older::new(&app, Some(before)).await;
            // A silent authorization is answered where the consent covers what it asks for.
            let scope = format!("openid {asked}");
            let covered = asked.split(' ').all(|scope| was_asked.split(' ').any(|one| one == scope));
            let (_, page) = older.application.ask(&older.browser, "owner", &scope, None).await;
            assert_eq!(page.status, if covered { 303 } else { 200 }, "{what}");
            if covered {
                let tokens = older.application.allowed(&older.browser, "owner", &scope, None, None).await;
                assert_eq!(opened(&older.application.acting(&tokens)).await, expected(asked, held), "{what}");
            }
            older.holds(held, &what).await;
            // A refresh gets no more than its grant has.
            let refresh = older.token.as_ref().unwrap().0["refresh_token"].as_str().unwrap();
            let form = [("grant_type", "refresh_token"), ("refresh_token", refresh), ("scope", &scope)];
            let tokens = older.application.tokens(&form).await;
            match tokens["access_token"].as_str() {
                Some(_) => {
                    let may = opened(&older.application.acting(&tokens)).await;
                    assert!(may.iter().all(|scope| expected(was_asked, held).contains(scope)), "{what}: {may:?}");
                }
                None => assert_eq!(tokens["error"], "invalid_scope", "{what}"),
            }
            older.holds(held, &what).await;
        }
    }
}

/// The page said what holds, and that has changed meanwhile.
#[tokio::test]
async fn a_page_that_is_out_of_date_decides_nothing() {
    let app = TestApp::start(|_| {}).await;
    let older = Older::new(&app, Some((EVERYTHING, "everything"))).await;
    let (code, page) = older.application.ask_by_code(&older.browser, "openid").await;
    assert_eq!(page.choices().1.as_deref(), Some("everything"));
    let mut narrows = older.application;
    narrows.asks_again = true;
    narrows.allowed(&older.browser, "owner", "openid", None, Some("read")).await;
    narrows.asks_again = false;
    let fields = ["csrf", "code", "session", "held"].map(|name| {
        let (_, value) = page.html.split_once(&format!("name=\"{name}\" value=\"")).unwrap();
        (name, value.split_once('"').unwrap().0)
    });
    let form = [&fields[..], &[("allowance", "everything"), ("decision", "allow")]].concat();
    let again = older.browser.post("/device", &form).await.expect(200, &["Who asks"]);
    assert_eq!(again.choices().1.as_deref(), Some("read"));
    let tokens = narrows.allowed_by_code(&older.browser, &code, &again, None).await;
    assert_eq!(opened(&narrows.acting(&tokens)).await, expected(EVERYTHING, "read"));
}
