//! Tests of the page under a plan without share links and without a team.

use entity::user::Plan;
use sightline::services::users::subscriptions;

use super::{Desk, section};
use crate::support::app::{TestApp, start_of_test};

#[tokio::test]
async fn a_plan_without_share_links_or_a_team_says_so_and_leads_to_plans() {
    let app = TestApp::start(|config| config.plans.free.tracked_properties = 25).await;
    let desk = Desk::of(&app, "owner").await;
    desk.does(&[("do", "links.make"), ("days", "choice")], "links.made").await;
    subscriptions::set(&app.service.db, "owner@demo.test", Plan::Free, start_of_test()).await.unwrap();
    let page = desk.page().await;
    let (links, team) = (section(&page, "links"), section(&page, "team"));
    for (part, words, form) in
        [(links, "does not include share links", "links.make"), (team, "does not include a team", "team.invite")]
    {
        assert!(part.contains(words) && part.contains("href=\"/subscribe\"") && !part.contains(form), "{part}");
    }
    assert!(links.contains("links.revoke") && team.contains("team.remove"), "what is there can be ended");
    for (action, fields) in [
        ("links.make", &[("days", "choice")][..]),
        ("team.invite", &[("email", "ann@example.com"), ("role", "viewer"), ("sites", "this")]),
    ] {
        let refused = desk.refused(402, &[&[("do", action)], fields].concat()).await;
        let part = section(&refused, action.split_once('.').unwrap().0);
        assert!(part.contains("Subscribe to a plan") && part.contains("href=\"/subscribe\""), "{part}");
    }
}
