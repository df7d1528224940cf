//! Tests of texts that would act on a page, or break it.

use serde_json::json;

use super::{json, path};
use crate::support::{app::TestApp, signed_in::Browser};

/// The longest name of a row, in characters, as entities count more.
const LONGEST: usize = 300;

#[tokio::test]
async fn hostile_queries_and_page_addresses_are_shown_as_text_and_cut() {
    let app = TestApp::start(|_| {}).await;
    let browser = Browser::signed_in(&app, "owner").await;
    let at = path(&browser, "northmoor").await;
    let tables = json(&browser, &format!("/api/properties/{}/performance?scope=tables", &at[3..])).await;
    let key = |table: &str, row: usize| tables["data"]["tables"][table][row]["key"].as_str().unwrap().to_owned();
    let script = "<script>act()</script>\"'";
    let long = format!("{script}\u{202e}gnp{}", "W".repeat(2_000));
    let controls = app.simulator().controls();
    controls.plant(&key("queries", 0), script);
    controls.plant(&key("queries", 1), &long);
    controls.plant(&key("pages", 1), &format!("https://www.northmoor.example/{long}"));
    // Page addresses that would act if somebody followed them.
    for (row, address) in
        [(2, "javascript:act()"), (3, "data:text/html,<script>act()</script>"), (4, "JaVaScRiPt://x/%0aact()")]
    {
        controls.plant(&key("pages", row), address);
    }
    let owner = app.actor("owner").await;
    let link = owner.post(&format!("/api/properties/{}/share-links", &at[3..]), &json!({})).await.expect(201).json;
    let shared = format!("/share/{}", link["data"]["token"].as_str().unwrap());
    let days = "startDate=2026-09-01&endDate=2026-09-28";
    for page in [
        format!("{at}?{days}"),
        format!("{at}?{days}&tab=pages"),
        format!("{at}/queries?{days}"),
        format!("{at}/pages?{days}"),
        format!("{at}/insights?{days}"),
        format!("{shared}?{days}"),
        format!("{shared}?{days}&tab=pages"),
    ] {
        let shown = browser.get(&page).await.expect(200);
        assert!(!shown.body.contains("<script>act"), "{page}: {}", shown.body);
        let links = shown.between("href=\"", "\"").into_iter().chain(shown.between("src=\"", "\""));
        for link in links.map(str::to_lowercase) {
            assert!(!link.starts_with("javascript:") && !link.starts_with("data:text"), "{page}: {link}");
        }
        assert!(shown.body.contains("&lt;script&gt;act()&lt;/script&gt;&quot;"), "{page}: {}", shown.body);
        for name in [shown.between("<bdi>", "</bdi>"), shown.between("<bdi dir=\"ltr\">", "</bdi>")].concat() {
            let length = name
                .replace("<wbr>", "")
                .replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&quot;", "\"")
                .chars()
                .count();
            assert!(length <= LONGEST, "{page}: a name of {length} characters");
        }
        // What turns the direction of a text does so within its own element, or in an attribute.
        for (before, _) in shown.body.match_indices('\u{202e}').map(|(index, _)| shown.body.split_at(index)) {
            let (in_bdi, in_tag) = (before.rfind("<bdi"), before.rfind("</bdi>"));
            let in_attribute = before.rfind('<') > before.rfind('>');
            assert!(in_attribute || in_bdi > in_tag, "{page}: {}", &before[before.len().saturating_sub(300)..]);
        }
    }
}
