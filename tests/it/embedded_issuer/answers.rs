//! Tests of pages that ask once and are answered twice: each says what holds.

use chrono::TimeDelta;
use serde_json::json;

use super::{
    Answer, TestIssuer,
    browser::{Browser, PASSWORD, authorize_path, hidden},
    device::Machine,
    text,
};

const DEVICE: &str = "/device";
const NO_ACCESS: &str = "The machine gets no access to your account.";
const HAS_ACCESS: &str = "The machine has access";

/// The page that asks about a machine, in a browser.
struct Asked<'a> {
    browser: &'a Browser<'a>,
    code: String,
    session: String,
}

impl<'a> Asked<'a> {
    async fn about(machine: &Machine<'_>, browser: &'a Browser<'a>) -> Self {
        let page = browser.enter_code(machine.user_code()).await;
        assert_eq!(page.status, 200, "{}", page.body);
        Self { browser, code: hidden(&page, "code"), session: hidden(&page, "session") }
    }

    async fn answer(&self, decision: &str) -> Answer {
        let form = [("code", &*self.code), ("session", &self.session), ("decision", decision), ("allowance", "read")];
        self.browser.post(DEVICE, &form).await
    }
}

#[tokio::test]
async fn a_denial_that_comes_second_says_nothing_false() {
    let issuer = TestIssuer::with_ann().await;
    let browser = issuer.browser_of_ann().await;
    // One after the other, from pages that were shown before.
    let machine = Machine::new(&issuer).await;
    let asked = Asked::about(&machine, &browser).await;
    assert!(asked.answer("allow").await.body.contains(HAS_ACCESS));
    for again in ["deny", "allow"] {
        let page = asked.answer(again).await;
        assert!(page.status == 200 && page.body.contains(HAS_ACCESS), "{again}: {}", page.body);
        assert!(page.body.contains("You allowed it before this answer came."), "{again}: {}", page.body);
    }
    machine.tokens().await;
    let used = asked.answer("deny").await;
    assert!(used.status == 400 && used.body.contains("If you allowed it, the machine has access."), "{}", used.body);
    assert!(!used.body.contains(NO_ACCESS), "{}", used.body);

    let machine = Machine::new(&issuer).await;
    let asked = Asked::about(&machine, &browser).await;
    for answer in ["deny", "allow", "deny"] {
        let page = asked.answer(answer).await;
        assert!(page.status == 200 && page.body.contains(NO_ACCESS), "{answer}: {}", page.body);
    }
    machine.poll().await.refused("access_denied");

    // Somebody else has allowed it: it acts for them, and not for this person.
    issuer.account("bob@corp.test").await;
    let other = Browser::new(&issuer);
    assert_eq!(other.sign_in("bob@corp.test", PASSWORD).await.status, 303);
    let machine = Machine::new(&issuer).await;
    let asked = Asked::about(&machine, &browser).await;
    assert!(Asked::about(&machine, &other).await.answer("allow").await.body.contains(HAS_ACCESS));
    assert!(asked.answer("deny").await.body.contains(NO_ACCESS));
    assert!(asked.answer("allow").await.body.contains(NO_ACCESS));
}

#[tokio::test]
async fn of_two_answers_about_a_machine_at_once_both_pages_say_which_counts() {
    let issuer = TestIssuer::with_ann().await;
    let browser = issuer.browser_of_ann().await;
    for _ in 0..8 {
        let machine = Machine::new(&issuer).await;
        let asked = Asked::about(&machine, &browser).await;
        let (denied, allowed) = tokio::join!(asked.answer("deny"), asked.answer("allow"));
        let has_access = machine.poll().await.status == 200;
        for page in [denied, allowed] {
            assert_eq!(page.body.contains(HAS_ACCESS), has_access, "{}", page.body);
            assert_eq!(page.body.contains(NO_ACCESS), !has_access, "{}", page.body);
        }
        // Each code that is typed is a guess.
        issuer.hand.advance(TimeDelta::minutes(4));
    }
}

#[tokio::test]
async fn an_application_that_is_declined_keeps_what_another_request_gave_it() {
    let issuer = TestIssuer::with_ann().await;
    let browser = issuer.browser_of_ann().await;
    let at = "https://app.example/cb";
    let client = issuer.client_at(&[at]).await;
    let path = authorize_path(&client, &[("redirect_uri", at), ("prompt", "consent")]);
    let (keeps, gets_none) =
        ("It keeps what you allowed it by another one.", "By this request the application gets no access");
    browser.get(&path).await;
    let declined = browser.post(&path, &[("decision", "cancel")]).await;
    assert!(declined.status == 200 && declined.body.contains(gets_none), "{}", declined.body);
    assert!(!declined.body.contains(keeps), "{}", declined.body);
    // Two windows, and two answers at once. Each window has its own request.
    let page = browser.get(&path).await;
    let allow = [("decision", "allow"), ("session", &*hidden(&page, "session"))];
    let (allowed, declined) = tokio::join!(browser.post(&path, &allow), browser.post(&path, &[("decision", "cancel")]));
    assert!(allowed.status == 303 && allowed.header("location").contains("code="), "{}", allowed.body);
    assert!(declined.body.contains(gets_none), "{}", declined.body);
    let declined = browser.post(&path, &[("decision", "cancel")]).await;
    assert!(declined.body.contains(gets_none) && declined.body.contains(keeps), "{}", declined.body);
    assert!(declined.body.contains("href=\"/account\""), "{}", declined.body);
    // Another person has allowed it nothing.
    let other = Browser::new(&issuer);
    issuer.account("bob@corp.test").await;
    assert_eq!(other.sign_in("bob@corp.test", PASSWORD).await.status, 303);
    other.get(&path).await;
    assert!(!other.post(&path, &[("decision", "cancel")]).await.body.contains(keeps));
}

#[tokio::test]
async fn a_machine_of_a_client_that_is_removed_is_not_waiting() {
    let issuer = TestIssuer::with_ann().await;
    let browser = issuer.browser_of_ann().await;
    let machine = Machine::of(&issuer, issuer.device_client(&json!({})).await, "openid").await;
    let asked = Asked::about(&machine, &browser).await;
    issuer::registry::remove(&issuer.db, &machine.client, issuer.clock.now()).await.unwrap();
    let page = asked.answer("allow").await;
    assert!(!page.body.contains(HAS_ACCESS), "{}", page.body);
    assert_eq!(text(&machine.poll().await.json(), "error"), "invalid_client");
}
