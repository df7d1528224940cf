//! Tests of signing in by the link that sets a password.

use entity::{account, account_link::Purpose};
use issuer::accounts::links;
use sea_orm::{ActiveModelTrait as _, ActiveValue::Set, EntityTrait as _, IntoActiveModel as _};

use super::{
    Answer, TestIssuer,
    browser::{ANN, Browser, PASSWORD, authorize_path},
};

const NEW: &str = "wet socks on the line";

/// Follows the redirects from a password that was just set, and returns where they end.
async fn arrived(browser: &Browser<'_>, set: Answer) -> String {
    let mut to = set.header("location").to_owned();
    while to.contains("/auth/") || to.contains("/oauth/") {
        let next = browser.get(&to).await;
        assert_eq!(next.status, 303, "nothing is asked on the way: {}", next.body);
        next.header("location").clone_into(&mut to);
    }
    to
}

#[tokio::test]
async fn a_link_signs_in_the_browser_that_sets_the_password_and_no_other() {
    let issuer = TestIssuer::without_demo_people().await;
    let token = issuer.operator().add(ANN, None).await.unwrap().token;
    let (here, elsewhere) = (Browser::new(&issuer), Browser::new(&issuer));
    let planted = "p".repeat(43);
    here.plant("sightline_issuer", &planted);
    for browser in [&here, &elsewhere] {
        browser.follow_link(&token).await;
        assert_eq!(browser.api().await, 401, "opening the link signs nobody in");
    }
    let refused = here.enter_new_password(&token, "short").await;
    assert_eq!((refused.status, here.cookie("sightline_issuer")), (400, planted.clone()));
    let set = here.enter_new_password(&token, PASSWORD).await;
    assert_eq!(arrived(&here, set).await, "/");
    assert_eq!((here.api().await, elsewhere.api().await), (200, 401));
    assert_ne!(here.cookie("sightline_issuer"), planted);
    here.plant("sightline_issuer", &planted);
    let page = here.get(&authorize_path(&issuer.client().await, &[])).await;
    assert!(page.body.contains("name=\"password\""), "a planted value opens nothing: {}", page.body);
    assert!(issuer.operator().list().await.unwrap()[0].last_sign_in_at.is_some());
}

#[tokio::test]
async fn a_link_of_another_account_ends_the_session_of_whoever_was_signed_in() {
    let issuer = TestIssuer::without_demo_people().await;
    issuer.account(ANN).await;
    let browser = Browser::new(&issuer);
    assert_eq!(browser.sign_in(ANN, PASSWORD).await.status, 303);
    let of_ann = browser.jar.borrow().clone();
    let token = issuer.operator().add("bob@corp.test", None).await.unwrap().token;
    let page = browser.follow_link(&token).await;
    assert!(page.body.contains("For the account <strong>bob@corp.test</strong>"), "{}", page.body);
    let form = [("token", token.as_str()), ("new", NEW), ("repeated", NEW), ("csrf", "forged")];
    assert_eq!(issuer.post("/account/password/set", &form).await.status, 400, "a forged form signs nobody in");
    let set = browser.enter_new_password(&token, NEW).await;
    assert_eq!(arrived(&browser, set).await, "/");
    assert!(browser.get("/api").await.body.contains("bob@corp.test"));
    *browser.jar.borrow_mut() = of_ann;
    assert_eq!(browser.api().await, 401, "nothing of Ann is left in that browser");
}

#[tokio::test]
async fn a_link_signs_in_nobody_who_may_no_longer_sign_in() {
    let issuer = TestIssuer::without_demo_people().await;
    let id = issuer.account(ANN).await.parse().unwrap();
    let mut row = account::Entity::find_by_id(id).one(&issuer.db).await.unwrap().unwrap().into_active_model();
    row.added_by_operator = Set(false);
    row.update(&issuer.db).await.unwrap();
    let token = links::make(&issuer.db, &issuer.random, id, Purpose::Forgotten, issuer.clock.now()).await.unwrap();
    let browser = Browser::new(&issuer);
    let set = browser.set_password(&token, NEW).await;
    assert_eq!((set.status, browser.cookie("sightline_issuer")), (200, String::new()));
    assert!(set.body.contains("You may no longer sign in here"), "{}", set.body);
    assert_eq!(browser.sign_in(ANN, NEW).await.status, 400);
}
