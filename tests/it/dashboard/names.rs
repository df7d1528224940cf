//! Tests of the names of sites and pages, as people see them.

use std::collections::BTreeSet;

use sea_orm::ConnectionTrait as _;
use serde_json::json as object;

use super::{holds, json};
use crate::support::{actor::Actor, app::TestApp, signed_in::Browser};

/// Gives properties other addresses at the search engine.
async fn rename(app: &TestApp, addresses: &[(&str, &str)]) {
    for (from, to) in addresses {
        let sql = format!("UPDATE property SET site_url = '{to}' WHERE site_url = '{from}'");
        app.service.db.execute_unprepared(&sql).await.unwrap();
    }
}

/// The path of the page of a new share link.
async fn shared_page(owner: &Actor, id: &str) -> String {
    let link = owner.post(&format!("/api/properties/{id}/share-links"), &object!({})).await.expect(201).json;
    format!("/share/{}", link["data"]["token"].as_str().unwrap())
}

/// Properties of the owner that get the name of another one.
const ALIKE: [(&str, &str); 2] = [
    ("https://www.ledgerline.example/", "http://northmoor.example/"),
    ("sc-domain:harbourpost.example", "https://northmoor.example/"),
];

#[tokio::test]
async fn sites_of_one_name_are_told_apart_where_they_meet() {
    let app = TestApp::start(|_| {}).await;
    let alone = Browser::signed_in(&app, "owner").await.get("/").await.expect(200);
    assert!(alone.body.contains("<bdi dir=\"ltr\">northmoor.example</bdi></a>"), "{}", alone.body);
    rename(&app, &ALIKE).await;
    let browser = Browser::signed_in(&app, "owner").await;
    let list = json(&browser, "/api/properties?headline=false").await;
    let id = |address: &str| {
        let sites = list["data"].as_array().unwrap();
        let site = sites.iter().find(|site| site["siteUrl"] == address).unwrap();
        assert_eq!(site["name"], "northmoor.example", "programs have the address beside the name");
        site["id"].as_str().unwrap().to_owned()
    };
    let (domain, http, https) =
        (id("sc-domain:northmoor.example"), id("http://northmoor.example/"), id("https://northmoor.example/"));
    let called =
        |id: &str, mark: &str| format!("<a href=\"/p/{id}\"><bdi dir=\"ltr\">northmoor.example</bdi>{mark}</a>");
    for page in ["/", "/account"] {
        holds(
            &browser.get(page).await.expect(200),
            &[
                called(&domain, " <small>(whole domain)</small>"),
                called(&http, " <small>(http)</small>"),
                called(&https, " <small>(https)</small>"),
            ],
        );
    }
    for (id, kind) in [(&domain, "whole domain"), (&http, "http"), (&https, "https")] {
        let page = browser.get(&format!("/p/{id}/settings")).await.expect(200);
        let heading = format!("<h1><bdi dir=\"ltr\">northmoor.example</bdi> <small>({kind})</small></h1>");
        holds(&page, &[heading, format!("<title>Settings · northmoor.example ({kind})")]);
        let search = format!("/?search=northmoor.example+%28{}%29", kind.replace(' ', "+"));
        let found = browser.get(&search).await.expect(200);
        assert_eq!(found.between("<h2>", "</h2>").len(), 1, "{search}: {}", found.body);
        holds(&found, &[format!("href=\"/p/{id}\"")]);
    }
    let account = browser.get("/account").await.expect(200);
    let choice = browser.get(&format!("/account/search/{}", &account.between("/account/search/", "\"")[0][..36])).await;
    let boxes: Vec<&str> = choice.between("<label class=\"choice\">", "</label>");
    let names: BTreeSet<&str> = boxes.iter().filter_map(|one| one.split_once("<span>").map(|(_, name)| name)).collect();
    assert_eq!(names.len(), boxes.len(), "each box has a name of its own: {boxes:?}");
}

#[tokio::test]
async fn sites_that_look_the_same_are_told_apart_in_every_list() {
    let app = TestApp::start(|_| {}).await;
    let alike = [
        ("https://www.ledgerline.example/", "https://ann:secret@northmoor.example/"),
        ("sc-domain:harbourpost.example", "https://Northmoor.example/"),
        ("sc-domain:northmoor.example", "https://northmoor.example/"),
    ];
    rename(&app, &alike).await;
    let browser = Browser::signed_in(&app, "owner").await;
    let account = browser.get("/account").await.expect(200);
    let choice = format!("/account/search/{}", &account.between("/account/search/", "\"")[0][..36]);
    for page in ["/", "/account", &choice] {
        let shown = browser.get(page).await.expect(200);
        for address in ["https://ann:…@northmoor.example/", "https://Northmoor.example/", "https://northmoor.example/"]
        {
            holds(&shown, &[format!("<bdi dir=\"ltr\">{address}</bdi>")]);
        }
        assert!(!shown.body.contains("secret"), "{page}: {}", shown.body);
    }
}

#[tokio::test]
async fn a_site_is_found_by_both_forms_of_its_name() {
    let app = TestApp::start(|_| {}).await;
    rename(&app, &[("https://www.ledgerline.example/", "https://ann:secret@xn--bcher-kva.example:81/l%C3%A4den/")])
        .await;
    let browser = Browser::signed_in(&app, "owner").await;
    for search in ["b%C3%BCcher", "B%C3%9CCHER.example", "xn--bcher-kva", "l%C3%A4den", "%3A81%2Fl%25C3%25A4den"] {
        let page = browser.get(&format!("/?search={search}")).await.expect(200);
        assert_eq!(page.between("<h2>", "</h2>").len(), 1, "{search}: {}", page.body);
        holds(&page, &["<bdi dir=\"ltr\">bücher.example:81/läden</bdi>".to_owned()]);
    }
    let all = browser.get("/").await.expect(200);
    let id = all.body.split("<bdi dir=\"ltr\">bücher").next().unwrap().rsplit("/p/").next().unwrap()[..36].to_owned();
    for page in ["/", "/account", &format!("/p/{id}/settings")] {
        holds(&browser.get(page).await.expect(200), &["bücher.example:81/läden".to_owned()]);
    }
    for page in ["/", "/account", &format!("/p/{id}/settings"), &format!("/p/{id}")] {
        assert!(!browser.get(page).await.body.contains("secret"), "{page}");
    }
}

#[tokio::test]
async fn page_addresses_are_shown_as_people_read_them() {
    let app = TestApp::start(|_| {}).await;
    let browser = Browser::signed_in(&app, "owner").await;
    let at = super::path(&browser, "northmoor").await;
    let tables = json(&browser, &format!("/api/properties/{}/performance?scope=tables", &at[3..])).await;
    let key = |row: usize| tables["data"]["tables"]["pages"][row]["key"].as_str().unwrap().to_owned();
    let controls = app.simulator().controls();
    let host = "https://www.northmoor.example";
    let planted = [
        ("/%D7%A9%D7%9C%D7%95%D7%9D", "שלום"),
        ("/%D9%85%D8%B1%D8%AD%D8%A8%D8%A7", "مرحبا"),
        ("/%E4%BD%A0%E5%A5%BD", "你好"),
        ("/%F0%9F%91%9F", "👟"),
        ("/a%2Fb%3Fc%23d%2541", "a%2Fb%3Fc%23d%2541"),
        ("/%E2%80%AEgnp%00%FF", "%E2%80%AEgnp%00%FF"),
    ];
    for (row, (path, _)) in planted.iter().enumerate() {
        controls.plant(&key(row), &format!("{host}{path}"));
    }
    controls.plant(&key(7), "https://ann:secret@WWW.northmoor.example/Caf\u{e9}\u{200b}/%d7%a9");
    let days = "startDate=2026-09-01&endDate=2026-09-28";
    let shown = browser.get(&format!("{at}/pages?{days}")).await.expect(200);
    for (path, name) in planted {
        holds(&shown, &[format!("<bdi dir=\"ltr\">/{name}</bdi></a>"), format!("title=\"{host}{path}\"")]);
    }
    holds(&shown, &["title=\"https://WWW.northmoor.example/Caf\u{e9}%E2%80%8B/%d7%a9\"".to_owned()]);
    let to = "page=https%3A~1~1www.northmoor.example~1%25D7%25A9%25D7%259C%25D7%2595%25D7%259D";
    holds(&shown, &[to.to_owned()]);
    let shared = shared_page(&app.actor("owner").await, &at[3..]).await;
    for page in [format!("{at}?{days}&tab=pages"), format!("{shared}?{days}&tab=pages")] {
        holds(&browser.get(&page).await.expect(200), &["<bdi dir=\"ltr\">/שלום</bdi>".to_owned()]);
    }
    let narrowed = "where/page=https%3A~1~1www.northmoor.example~1%25D7%25A9";
    let chip = browser.get(&format!("{at}/{narrowed}/overview?{days}")).await.expect(200);
    holds(&chip, &["page <bdi dir=\"ltr\">www.northmoor.example/ש</bdi>".to_owned()]);

    controls.plant(&key(6), "https://blog.northmoor.example/");
    let days = "startDate=2026-08-01&endDate=2026-08-28";
    let several = browser.get(&format!("{at}/pages?{days}")).await.expect(200);
    holds(
        &several,
        &["blog.northmoor.example/", "www.northmoor.example/שלום"].map(|name| format!("<bdi dir=\"ltr\">{name}</bdi>")),
    );
}

#[tokio::test]
async fn files_of_pages_begin_with_a_mark_and_are_named_in_ascii() {
    let app = TestApp::start(|_| {}).await;
    rename(&app, &ALIKE).await;
    let browser = Browser::signed_in(&app, "owner").await;
    let owner = app.actor("owner").await;
    let id = owner.property("sc-domain:northmoor").await;
    let page = browser.get(&format!("/p/{id}/queries")).await.expect(200);
    let file = page.between("class=\"aside\" href=\"", "\"")[0].replace("&amp;", "&");
    let own = owner.get(&file).await.expect(200);
    assert_eq!(&own.bytes[..6], b"\xef\xbb\xbfkey", "{file}");
    let named = own.header("content-disposition").to_owned();
    assert!(named.contains("\"northmoor.example_whole-domain_queries_"), "{named}");
    let shared = browser.get(&shared_page(&owner, &id).await).await.expect(200);
    let file = shared.between("class=\"aside\" href=\"", "\"")[0].replace("&amp;", "&");
    let readers = app.anonymous().get(&file).await.expect(200);
    assert_eq!(&readers.bytes[..6], b"\xef\xbb\xbfkey", "{file}");
    let one_day = "startDate=2026-10-05&endDate=2026-10-05";
    for (operation, head) in [("export", &b"key"[..]), ("query-count-raw", b"date")] {
        let path = format!("/api/properties/{id}/{operation}?{one_day}");
        let plain = owner.get(&path).await.expect(200).bytes;
        assert!(plain.starts_with(head), "{operation}");
        assert_eq!(owner.get(&format!("{path}&bom=false")).await.expect(200).bytes, plain);
        let marked = owner.get(&format!("{path}&bom=true")).await.expect(200).bytes;
        assert_eq!(marked, [b"\xef\xbb\xbf", &plain[..]].concat(), "{operation}");
        assert!(owner.get(&format!("{path}&bom=maybe")).await.expect(400).hint().starts_with("bom"));
    }
}
