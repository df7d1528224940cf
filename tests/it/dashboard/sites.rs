//! Tests of the page of all sites.

use serde_json::{Value, json as object};

use super::{grouped, holds, json};
use crate::{
    faults,
    support::{
        actor::Actor,
        app::{TestApp, shared},
        signed_in::Browser,
    },
};

#[tokio::test]
async fn people_see_their_sites_with_the_numbers_of_the_list() {
    for person in ["owner", "viewer"] {
        let browser = Browser::signed_in(shared(), person).await;
        let page = browser.get("/").await.expect(200);
        let list = json(&browser, "/api/properties?hidden=false").await;
        let sites = list["data"].as_array().unwrap();
        assert!(!sites.is_empty(), "{person}");
        for site in sites {
            let (id, name) = (site["id"].as_str().unwrap(), site["name"].as_str().unwrap());
            holds(&page, &[format!("<a href=\"/p/{id}\"><bdi dir=\"ltr\">{name}</bdi></a>")]);
            if site["access"] == "ok" {
                holds(&page, &[format!("<strong>{}</strong>", grouped(&site["headline"]["current"]["clicks"]))]);
            }
        }
        let sums = json(&browser, "/api/portfolio").await;
        let counted = sums["meta"]["coverage"]["inSum"].as_u64().unwrap();
        let sites = if counted == 1 { "site" } else { "sites" };
        holds(
            &page,
            &[
                format!("<strong>{}</strong>", grouped(&sums["data"]["totals"]["impressions"])),
                format!("<p class=\"quiet-text\">{counted} {sites}, "),
            ],
        );
    }
}

#[tokio::test]
async fn a_search_leaves_the_sites_that_fit() {
    let browser = Browser::signed_in(shared(), "owner").await;
    let page = browser.get("/?search=northmoor&sort=-clicks").await.expect(200);
    assert_eq!(page.between("<h2>", "</h2>").len(), 1, "{}", page.body);
    let none = browser.get("/?search=no-such-site").await.expect(200);
    assert!(none.body.contains("No site fits."), "{}", none.body);
    let refused = browser.get("/?color=red").await.expect(400);
    assert!(refused.body.contains("color: not a parameter here"), "{}", refused.body);
}

/// Has the person track exactly these properties.
async fn track(actor: &Actor, ids: &[&Value]) {
    actor.put("/api/properties/tracking", &object!({ "propertyIds": ids })).await.expect(200);
}

#[tokio::test]
async fn a_person_who_has_connected_nothing_gets_one_big_button() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    for grant in owner.listed("/api/team").await {
        owner.delete(&format!("/api/team/{}", grant["id"].as_str().unwrap())).await.expect(204);
    }
    let page = Browser::signed_in(&app, "viewer").await.get("/").await.expect(200);
    holds(&page, &["<form method=\"post\" action=\"/account/search/connect\">".to_owned()]);
    assert_eq!(page.between("<button>", "</button>"), ["Connect your search account"]);
    assert!(!page.body.contains("class=\"tiles\"") && !page.body.contains("shared with you"), "{}", page.body);
}

#[tokio::test]
async fn a_person_who_tracks_nothing_is_led_to_the_choice_of_sites() {
    let app = TestApp::start(|_| {}).await;
    let (stranger, owner) = (app.actor("stranger").await, app.actor("owner").await);
    track(&stranger, &[]).await;
    let browser = Browser::signed_in(&app, "stranger").await;
    let choice = json(&browser, "/api/accounts/health").await["data"][0]["id"].as_str().unwrap().to_owned();
    let link = format!("href=\"/account/search/{choice}\">Choose your sites</a>");
    let page = browser.get("/").await.expect(200);
    holds(&page, std::slice::from_ref(&link));
    assert!(!page.body.contains("Connect your search account"), "{}", page.body);
    let invitation = object!({ "email": "stranger@demo.test", "role": "viewer", "allProperties": true });
    owner.made("/api/team", &invitation).await;
    let page = browser.get("/").await.expect(200);
    holds(
        &page,
        &[link, "You are a viewer".to_owned(), "<p class=\"notice\">Your search account is connected".to_owned()],
    );
    let filtered = browser.get("/?search=northmoor").await.expect(200);
    assert!(!filtered.body.contains("Choose your sites"), "{}", filtered.body);
}

#[tokio::test]
async fn a_member_whose_grants_cover_nothing_any_more_is_told_whom_to_ask() {
    let app = TestApp::start(|_| {}).await;
    let browser = Browser::signed_in(&app, "viewer").await;
    assert!(!browser.get("/").await.expect(200).body.contains("Nothing that was shared"));
    track(&app.actor("owner").await, &[]).await;
    let page = browser.get("/").await.expect(200);
    holds(
        &page,
        &["Nothing that was shared with you can be seen any more".to_owned(), "Ask <bdi>Demo Owner</bdi>.".to_owned()],
    );
}

#[tokio::test]
async fn a_site_is_marked_hidden_and_shown_again_by_its_own_forms() {
    let app = TestApp::start(|_| {}).await;
    let browser = Browser::signed_in(&app, "owner").await;
    let list = json(&browser, "/api/properties?headline=false").await;
    let latest = list["data"].as_array().unwrap().last().unwrap();
    let (id, name) = (latest["id"].as_str().unwrap(), latest["name"].as_str().unwrap());
    let mark = async |at: &str, what: &str, to: &str| {
        browser.post(at, &[("id", id), ("do", what)]).await.leads_to(to);
    };
    let names = async |at: &str| {
        let page = browser.get(at).await.expect(200);
        page.between("<h2><a", "</bdi>")
            .iter()
            .map(|one| one.split("<bdi dir=\"ltr\">").nth(1).unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_ne!(names("/").await[0], name);
    for _ in 0..2 {
        mark("/?sort=-clicks", "favorite", &format!("/?sort=-clicks&done=saved#site-{id}")).await;
    }
    let page = browser.get("/?done=saved").await.expect(200);
    holds(&page, &["Saved.".to_owned(), "★".to_owned()]);
    assert_eq!(names("/").await[0], name, "favourites come first");
    mark("/", "unfavorite", &format!("/?done=saved#site-{id}")).await;
    assert!(!browser.get("/").await.body.contains('★'));

    let page = browser.get("/").await;
    assert!(!page.body.contains("Hidden sites") && !page.body.contains(" hidden."), "{}", page.body);
    holds(&browser.get("/?hidden=true").await, &["No site is hidden. ".to_owned()]);
    mark("/", "hide", &format!("/?done=hidden#site-{id}")).await;
    assert!(!names("/").await.contains(&name.to_owned()));
    assert_eq!(names("/?hidden=true").await, [name]);
    let page = browser.get("/").await;
    holds(&page, &["1 hidden".to_owned(), "<a href=\"?hidden=true\">Hidden sites (1)</a>".to_owned()]);
    assert!(!browser.get("/?hidden=true").await.body.contains("class=\"tiles\""), "the sums are of other sites");
    mark("/?hidden=true", "unhide", &format!("/?hidden=true&done=shown#site-{id}")).await;
    assert!(names("/").await.contains(&name.to_owned()));
}

#[tokio::test]
async fn only_a_persons_own_page_marks_sites_that_they_see() {
    let browser = Browser::signed_in(shared(), "owner").await;
    let list = json(&browser, "/api/properties?headline=false").await;
    let id = list["data"][0]["id"].as_str().unwrap();
    let form = [("id", id), ("do", "hide")];
    browser.post_from("https://elsewhere.example", "/", &form).await.expect(403);
    browser.signed_out().post("/", &form).await.expect(401);
    let stranger = Browser::signed_in(shared(), "stranger").await;
    let refused = stranger.post("/", &form).await.expect(404);
    assert!(refused.body.contains("Nothing was changed."), "{}", refused.body);
    for form in [&[("do", "hide")][..], &[("id", id), ("do", "delete")], &[("id", "../team"), ("do", "hide")], &[]] {
        let status = browser.post("/", form).await.status.as_u16();
        assert!([400, 404].contains(&status), "{form:?}: {status}");
    }
    assert_eq!(json(&browser, "/api/properties?headline=false").await, list, "nothing was marked");
}

#[tokio::test]
async fn somebody_who_hides_everything_finds_it_again() {
    let app = TestApp::start(|_| {}).await;
    let browser = Browser::signed_in(&app, "stranger").await;
    let list = json(&browser, "/api/properties?headline=false").await;
    let id = list["data"][0]["id"].as_str().unwrap();
    browser.post("/", &[("id", id), ("do", "hide")]).await.leads_to(&format!("/?done=hidden#site-{id}"));
    let page = browser.get("/?done=hidden").await.expect(200);
    holds(&page, &["All your sites are hidden.".to_owned(), "href=\"?hidden=true\"".to_owned()]);
}

#[tokio::test]
async fn the_state_of_a_site_leads_to_whoever_can_act() {
    let app = TestApp::start(faults::impatient).await;
    let lapsed = Browser::signed_in(&app, "lapsed").await.get("/").await.expect(200);
    let plans = format!("href=\"{}/subscribe\">Plans</a></p>", app.service.base_url);
    holds(&lapsed, &["Locked.".to_owned(), "Subscribe to a plan".to_owned(), plans]);
    assert!(!lapsed.body.contains("class=\"marks\""), "marks of a locked site are refused: {}", lapsed.body);
    assert!(!lapsed.body.contains("class=\"tiles\""), "what is not read is not zero: {}", lapsed.body);

    let (owner, viewer) = (Browser::signed_in(&app, "owner").await, Browser::signed_in(&app, "viewer").await);
    faults::trouble(&app, &["error500:1"]);
    let page = owner.get("/").await.expect(200);
    holds(&page, &["The search engine does not answer.".to_owned(), "href=\"?\">Look again</a>".to_owned()]);
    faults::trouble(&app, &[]);
    let account = owner.get("/account").await.expect(200);
    let path = format!("/account/search/{}", &account.between("/account/search/", "\"")[0][..36]);
    owner.post(&format!("{path}/disconnect"), &[]).await;
    let page = owner.get("/").await.expect(200);
    holds(
        &page,
        &[
            "The search account is disconnected.".to_owned(),
            "href=\"/account#search-accounts\">Reconnect it</a>".to_owned(),
        ],
    );
    assert!(account.body.contains("id=\"search-accounts\""));
    let page = viewer.get("/").await.expect(200);
    holds(&page, &["Disconnected.".to_owned(), "Demo Owner (owner@demo.test)".to_owned()]);
    assert!(!page.body.contains("Reconnect it"), "{}", page.body);
}

#[tokio::test]
async fn many_sites_are_rows_and_keep_their_order_in_the_address() {
    let app = TestApp::start(|config| config.simulator.sites = 60).await;
    let browser = Browser::signed_in(&app, "network").await;
    let mut list = json(&browser, "/api/properties?sort=-clicks").await;
    while list["meta"]["progress"]["stillReading"] != 0 {
        list = json(&browser, "/api/properties?sort=-clicks").await;
    }
    let page = browser.get("/?sort=-clicks").await.expect(200);
    let sites = list["data"].as_array().unwrap();
    let total = sites.len();
    assert!(total > 52, "{total}");
    let rows = page.between("<tr id=", "</tr>");
    assert_eq!(rows.len(), 50, "{}", page.body);
    for (row, site) in rows.iter().zip(sites) {
        assert!(row.contains(&format!("/p/{}\"", site["id"].as_str().unwrap())), "{row}");
        if site["access"] == "ok" {
            let clicks = grouped(&site["headline"]["current"]["clicks"]);
            assert!(row.contains(&format!("<strong>{clicks}</strong>")), "{clicks}: {row}");
        } else {
            assert!(row.contains("class=\"state warn\""), "{row}");
        }
    }
    holds(&page, &["href=\"?sort=-change.clicks\"".to_owned(), format!("Sites 1 to 50 of {total} · ")]);
    holds(&page, &["<a href=\"?offset=50&amp;sort=-clicks\" rel=\"next\">".to_owned()]);
    let rest = browser.get("/?sort=-clicks&offset=50").await.expect(200);
    let cards = rest.between("<li class=\"card\" id=\"site-", "\"");
    let expected: Vec<&str> = sites[50..].iter().map(|site| site["id"].as_str().unwrap()).collect();
    assert_eq!(cards, expected);
    holds(&rest, &["<a href=\"?sort=-clicks\" rel=\"prev\">".to_owned()]);
    assert!(!rest.body.contains("rel=\"next\""), "{}", rest.body);
    let beyond = browser.get("/?offset=500").await.expect(200);
    holds(&beyond, &["There are no sites this far.".to_owned()]);
    let few = browser.get("/?search=e.test").await.expect(200);
    assert!(few.body.contains("<ul class=\"sites\">"), "{}", few.body);
}
