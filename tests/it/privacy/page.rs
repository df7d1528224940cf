//! Tests of the person's data on the account page: activity, download, deletion.

use serde_json::json;

use super::{Named, deletion::busy};
use crate::support::{app::TestApp, cookies::cookie, signed_in::Browser};

#[tokio::test]
async fn a_person_deletes_their_data_on_the_account_page_after_confirming() {
    let app = TestApp::start(|_| {}).await;
    let browser = Browser::signed_in(&app, "owner").await;
    let page = browser.get("/account").await.expect(200);
    for link in ["href=\"/account/activity\"", "href=\"/api/privacy/access\" download", "href=\"/account/delete\""] {
        assert!(page.body.contains(link), "{link}: {}", page.body);
    }
    let page = browser.get("/account/delete").await.expect(200);
    assert!(page.body.contains("It cannot be undone") && page.body.contains("Keep it"), "{}", page.body);
    let owner = Named::find(&app.service.db, "demo-owner").await;
    let confirmed = [("confirm", "yes")];
    browser.post("/account/delete", &[]).await.expect(400);
    browser.post("/account/delete", &[("confirm", "no")]).await.expect(400);
    browser.post_from("https://evil.example", "/account/delete", &confirmed).await.expect(403);
    assert!(owner.places(&app.service.db).await.len() > 10, "nothing was deleted");

    let left = browser.post("/account/delete", &confirmed).await;
    left.leads_to("/account/deleted");
    assert!(cookie(&left.headers, "sightline_session").ends_with('='), "{}", left.header("set-cookie"));
    let page = browser.get("/account/deleted").await.expect(200);
    assert!(page.body.contains("Your data is deleted"), "{}", page.body);
    browser.get("/account").await.leads_to("/auth/login?return_to=/account");
    browser.post("/account/delete", &confirmed).await.leads_to("/auth/login?return_to=/account");
    assert_eq!(owner.places(&app.service.db).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_person_reads_the_audit_trail() {
    let app = TestApp::start(|_| {}).await;
    let viewer = Browser::signed_in(&app, "lapsed").await;
    let page = viewer.get("/account/activity").await.expect(200);
    assert!(page.body.contains("Search account connected"), "{}", page.body);

    let busy = busy(&app).await;
    let note = format!("/api/properties/{}/annotations", busy.elsewhere);
    let made = busy.owner.made(&note, &json!({ "date": "2026-11-10", "text": "secret of the note" })).await;
    busy.owner.delete(&format!("{note}/{made}")).await.expect(204);
    let page = Browser::signed_in(&app, "stranger").await.get("/account/activity").await.expect(200);
    for text in [
        "Access given",
        "Owner@demo.test",
        "<dd>admin</dd>",
        "Share link made",
        "For the board",
        "Annotation deleted",
        "2026-11-10",
        "<dd>Demo Owner</dd>",
        "<dd>You</dd>",
        "21 November 2026, 12:00 UTC",
    ] {
        assert!(page.body.contains(text), "{text}: {}", page.body);
    }
    assert!(!page.body.contains("secret of the note"), "texts are not in the trail");
    viewer.signed_out().get("/account/activity").await.leads_to("/auth/login?return_to=/account/activity");
}
