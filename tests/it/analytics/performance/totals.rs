//! Tests that totals are requested only if no series adds up to them, and are equal to the last bit either way.

use simulator::Endpoint;

use super::{Asker, PAPER, SMALL};
use crate::support::app::TestApp;

const NOW: [(&str, &str); 2] = [("startDate", "2026-10-12"), ("endDate", "2026-10-18")];
const BEFORE: [(&str, &str); 2] = [("compareStart", "2026-10-05"), ("compareEnd", "2026-10-11")];
const BY_QUERY: (&str, &str) = ("filters", r#"[{"dimension":"query","operator":"contains","value":"a"}]"#);
const BY_PAGE: (&str, &str) = ("filters", r#"[{"dimension":"page","operator":"contains","value":"a"}]"#);

/// Needs several requests, added and subtracted.
const ALTERNATIVES: (&str, &str) = (
    "filters",
    r#"[{"dimension":"query","operator":"contains","value":"a"},
        {"dimension":"country","operator":"equals","value":"usa","logic":"or"},
        {"dimension":"device","operator":"equals","value":"mobile","logic":"or"}]"#,
);

/// The number of upstream requests that a new app makes for each of `questions` in sequence, with a comparison. The
/// freshness of the site is already cached.
async fn made(questions: &[&[(&str, &str)]]) -> Vec<u64> {
    let app = TestApp::start(|_| {}).await;
    let asker = Asker::of(&app, "stranger", SMALL).await;
    asker.ask(&[("startDate", "2026-09-01"), ("endDate", "2026-09-01")]).await.expect(200);
    let mut made = Vec::new();
    for question in questions {
        let before = app.simulator().controls().requests(Endpoint::Query);
        asker.ask(&[&NOW[..], &BEFORE, question].concat()).await.expect(200);
        made.push(app.simulator().controls().requests(Endpoint::Query) - before);
    }
    made
}

#[tokio::test]
async fn no_totals_are_asked_for_that_a_series_adds_up_to() {
    // Three tables for each window, countries and devices for both together, and days by page for the shares of pages. The recent days,
    // which freshness comes from, hold the series.
    assert_eq!(made(&[&[("scope", "all")]]).await, [9]);
    assert_eq!(made(&[&[("scope", "series")], &[("scope", "tables")]]).await, [0, 9]);
    assert_eq!(made(&[&[("scope", "totals")], &[("scope", "series")]]).await, [0, 0]);
    // The days of both windows by the filter. The shares of the other tables divide by the totals without it.
    assert_eq!(made(&[&[("scope", "series"), BY_QUERY], &[("scope", "totals"), BY_QUERY]]).await, [1, 0]);
    assert_eq!(made(&[&[("scope", "all"), BY_QUERY]]).await, [10]);
    // The question itself already counts by page. The shares of the property divide by its own totals.
    assert_eq!(made(&[&[("scope", "all"), BY_PAGE]]).await, [10]);
}

#[tokio::test]
async fn totals_are_the_same_to_the_last_bit_whether_added_up_or_asked_for() {
    let (adding, asking) = tokio::join!(TestApp::start(|_| {}), TestApp::start(|_| {}));
    let (adding, asking) = (Asker::of(&adding, "owner", PAPER).await, Asker::of(&asking, "owner", PAPER).await);
    let web = ("searchType", "web");
    let questions =
        [vec![web], vec![web, BY_QUERY], vec![web, BY_PAGE], vec![web, ALTERNATIVES], vec![("searchType", "image")]];
    let feeds = [vec![("searchType", "discover")], vec![("searchType", "googleNews"), BY_PAGE]];
    for more in questions.into_iter().chain(feeds) {
        let ask = async |asker: &Asker, scope| {
            let asked = asker.ask(&[&NOW[..], &BEFORE, &more, &[("scope", scope)]].concat()).await;
            asked.expect(200).json["data"]["totals"].clone()
        };
        let (added, asked_for) = (ask(&adding, "series").await, ask(&asking, "tables").await);
        assert!(added["impressions"].as_u64().unwrap() > 100, "{more:?}: {added}");
        assert_eq!(added, asked_for, "{more:?}");
    }
}
