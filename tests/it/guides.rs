//! Tests of the guides, the list of error codes and the changelog as pages.

use std::collections::{BTreeMap, BTreeSet};

use poem::http::Method;
use regex::Regex;

use crate::support::{
    app::shared,
    signed_in::{Browser, Page},
};

/// The page on which a reader begins.
const START: &str = "/docs/guides";

/// Texts of the repository with the page that is made of each.
const TEXTS: [(&str, &str); 4] = [
    ("/docs/guide", include_str!("../../docs/GUIDE.md")),
    ("/docs/recipes", include_str!("../../docs/RECIPES.md")),
    ("/docs/api-design", include_str!("../../docs/API-DESIGN.md")),
    ("/docs/operating", include_str!("../../docs/OPERATING.md")),
];

/// What an attribute of a page's elements says, every time it occurs.
fn attributes(page: &Page, name: &str) -> Vec<String> {
    page.between(&format!(" {name}=\""), "\"").into_iter().map(|value| value.replace("&amp;", "&")).collect()
}

fn is_document(path: &str) -> bool {
    path.starts_with("/docs/") || path == "/changelog"
}

/// Every document that links lead to from the first, by path.
async fn documents(browser: &Browser) -> BTreeMap<String, Page> {
    let (mut found, mut pending) = (BTreeMap::new(), vec![START.to_owned()]);
    while let Some(path) = pending.pop() {
        if found.contains_key(&path) {
            continue;
        }
        let page = browser.get(&path).await.expect(200);
        let paths = attributes(&page, "href").into_iter().map(|link| link.split('#').next().unwrap().to_owned());
        pending.extend(paths.filter(|path| is_document(path)));
        found.insert(path, page);
    }
    found
}

#[tokio::test]
async fn no_link_of_a_document_is_dead() {
    let browser = Browser::anonymous(shared());
    let documents = documents(&browser).await;
    for path in ["/docs/guide", "/docs/settings", "/docs/privacy", "/docs/security", "/docs/errors", "/changelog"] {
        assert!(documents.contains_key(path), "{path} is not reached from {START}");
    }
    let mut others = BTreeSet::new();
    for (path, page) in &documents {
        for link in attributes(page, "href").iter().filter(|link| !link.starts_with("https://")) {
            let (to, fragment) = link.split_once('#').unwrap_or((link, ""));
            let to = if to.is_empty() { path } else { to };
            assert!(to.starts_with('/'), "{path} links {link}");
            if let Some(page) = documents.get(to) {
                let is_there = fragment.is_empty() || attributes(page, "id").iter().any(|id| id == fragment);
                assert!(is_there, "{path} links {link}, and no part of {to} has that id");
            } else {
                others.insert(to.to_owned());
            }
        }
    }
    assert!(others.contains("/docs") && others.contains("/openapi.json"), "{others:?}");
    for other in others {
        let status = browser.get(&other).await.status;
        assert!(status.is_success() || status.is_redirection(), "{other}: {status}");
    }
}

#[tokio::test]
async fn a_document_is_a_page_like_the_others() {
    for (path, page) in documents(&Browser::anonymous(shared())).await {
        let policy = page.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; style-src 'self'") && !policy.contains("unsafe"), "{policy}");
        for absent in ["<script", "style=", "<img"] {
            assert!(!page.body.contains(absent), "{path} has {absent}");
        }
        let main = page.between("<main", "</main>");
        assert!(main.len() == 1 && !main[0].contains("<!--"), "{path} has a comment in its text");
        assert_eq!(page.body.matches("<h1>").count(), 1, "{path}");
        let ids = attributes(&page, "id");
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{path}: {ids:?}");
        let nav = page.between("<nav aria-label=\"Documents\">", "</nav>").concat();
        for link in ["href=\"/docs/guides\"", "href=\"/docs\"", "href=\"/docs/errors\"", "href=\"/changelog\""] {
            assert!(nav.contains(link), "{path}: {nav}");
        }
    }
}

#[tokio::test]
async fn a_guide_lists_its_sections_and_keeps_its_text() {
    let browser = Browser::anonymous(shared());
    let fence = Regex::new("(?ms)^```.*?^```$").unwrap();
    for (path, text) in TEXTS {
        let page = browser.get(path).await.expect(200);
        let title = text.lines().next().unwrap().trim_start_matches("# ");
        assert!(page.body.contains(&format!("<h1>{title}</h1>")), "{path}");
        let outside = fence.replace_all(text, "");
        let headings = outside.lines().filter(|line| line.starts_with("## ")).count();
        let sections = page.between("<nav class=\"sections\"", "</nav>").concat();
        assert_eq!(sections.matches("<li>").count(), headings, "{path}: {sections}");
        assert_eq!(page.body.matches("<h2 id=").count(), headings, "{path}");
        assert_eq!(page.body.matches("<pre ").count(), fence.find_iter(text).count(), "{path}");
        let tables = outside.lines().filter(|line| line.starts_with("| -") || line.starts_with("|-")).count();
        assert_eq!(page.body.matches("<div class=\"scroll\" tabindex=\"0\"><table>").count(), tables, "{path}");
    }
}

#[tokio::test]
async fn a_link_names_the_guide_and_not_its_file() {
    let page = Browser::anonymous(shared()).get("/docs/operating").await.expect(200);
    assert!(page.body.contains("<a href=\"/docs/settings\">Settings</a>"), "{}", page.body);
    for words in page.between("<a href=\"/docs/", "</a>") {
        assert!(!words.contains(".md"), "{words}");
    }
}

#[tokio::test]
async fn the_guide_for_assistants_names_the_endpoint_of_this_service() {
    let page = Browser::anonymous(shared()).get("/docs/assistants").await.expect(200);
    let tools = format!("calls the tools at <code>{}/mcp</code>", shared().service.base_url);
    assert!(page.body.contains(&tools) && !page.body.contains("{mcp.url}"), "{}", page.body);
}

#[tokio::test]
async fn a_wrong_address_leads_to_the_documents() {
    let browser = Browser::anonymous(shared());
    let page = browser.get("/docs/gide").await.expect(404);
    for path in ["/docs/guide", "/docs/recipes", "/docs/operating", "/docs", "/docs/guides"] {
        assert!(page.body.contains(&format!("href=\"{path}\"")), "{path}: {}", page.body);
    }
    assert_eq!(page.header("cache-control"), "no-store");
    assert!(page.header("vary").split(", ").any(|name| name == "Accept"), "{}", page.header("vary"));
    browser.get("/docs/%3Cscript%3E").await.expect(404);
    browser.get("/docs/guide/begin").await.expect(404);
    let program = shared().anonymous().get("/docs/gide").await.expect(404);
    assert_eq!(program.code(), "not_found");
    assert!(program.hint().contains(START) && program.header("vary").contains("Accept"), "{}", program.hint());
    let written = shared().anonymous().send(Method::POST, "/docs/gide", None, &[]).await.expect(405);
    assert_eq!(written.header("allow"), "GET, HEAD");
}

#[tokio::test]
async fn people_find_the_guides_where_they_are() {
    let owner = Browser::signed_in(shared(), "owner").await;
    let account = owner.get("/account").await.expect(200);
    for path in [START, "/docs/guide", "/docs/recipes", "/docs/assistants", "/docs/privacy", "/docs/operating"] {
        assert!(account.body.contains(&format!("href=\"{path}\"")), "{path}");
    }
    for page in ["/", "/docs"] {
        let page = owner.get(page).await;
        assert!(page.body.contains(&format!("href=\"{START}\"")), "{}", page.body);
    }
}

#[tokio::test]
async fn every_release_of_the_changelog_has_an_address() {
    let page = Browser::anonymous(shared()).get("/changelog").await.expect(200);
    let releases: Vec<_> =
        include_str!("../../CHANGELOG.md").lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert!(!releases.is_empty());
    for release in releases {
        let id = release.to_lowercase();
        let heading = format!("<h3 id=\"{id}\"><a href=\"#{id}\">{release}</a></h3>");
        assert!(page.body.contains(&heading), "{heading}: {}", page.body);
        assert!(page.body.contains(&format!("<li><a href=\"#{id}\">{release}</a></li>")), "{release} is not listed");
    }
    for listed in ["2026-09-14", "deprecated"] {
        assert!(page.body.contains(&format!("<li><a href=\"#{listed}\">")), "{listed}");
    }
}
