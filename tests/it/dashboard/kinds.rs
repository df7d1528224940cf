//! Tests of kinds of search that lack queries or devices.

use url::form_urlencoded;

use super::{holds, path};
use crate::support::{app::shared, signed_in::Browser};

/// The pages about queries, each with its name.
const OF_QUERIES: [(&str, &str); 4] =
    [("queries", "Queries"), ("growth", "Growth"), ("cannibalization", "Cannibalization"), ("insights", "Insights")];

fn on(dimension: &str) -> String {
    let json = format!(r#"[{{"dimension":"{dimension}","operator":"equals","value":"a"}}]"#);
    form_urlencoded::byte_serialize(json.as_bytes()).collect()
}

#[tokio::test]
async fn pages_about_queries_are_no_links_where_a_kind_of_search_has_none() {
    let browser = Browser::signed_in(shared(), "owner").await;
    let at = path(&browser, "northmoor").await;
    for (kind, name) in [("discover", "Discover"), ("googleNews", "Google News")] {
        for part in ["", "/pages", "/countries"] {
            let page = browser.get(&format!("{at}{part}?searchType={kind}")).await.expect(200);
            for (of_queries, words) in OF_QUERIES {
                assert!(!page.body.contains(&format!("href=\"{at}/{of_queries}")), "{part}: {}", page.body);
                let off = format!(
                    "<span class=\"off\">{words}<span class=\"visually-hidden\"> is not available: {name} has no queries"
                );
                holds(&page, &[off]);
            }
            holds(&page, &[format!("{name} has no queries, so the pages about them are not available.")]);
            assert!(!page.body.contains("has no query") && !page.body.contains(">Queries</a>"), "{}", page.body);
        }
    }
    let web = browser.get(&at).await.expect(200);
    assert!(!web.body.contains("class=\"off\">Queries"), "{}", web.body);
}

#[tokio::test]
async fn a_page_about_queries_leads_to_what_a_kind_of_search_has() {
    let browser = Browser::signed_in(shared(), "owner").await;
    let at = path(&browser, "northmoor").await;
    for (part, name) in OF_QUERIES {
        let page = browser.get(&format!("{at}/{part}?period=last_7_days&searchType=discover")).await.expect(200);
        holds(
            &page,
            &[
                format!("{name} is not available for Discover."),
                format!("href=\"{at}?period=last_7_days&amp;searchType=discover\">Overview of Discover</a>"),
                "href=\"?period=last_7_days\">The same for web search</a>".to_owned(),
                "<h1><bdi dir=\"ltr\">northmoor.example</bdi></h1>".to_owned(),
            ],
        );
        assert!(!page.body.contains("has no query"), "{}", page.body);
    }
}

#[tokio::test]
async fn a_question_that_a_kind_of_search_cannot_answer_leads_to_one_that_it_can() {
    let browser = Browser::signed_in(shared(), "owner").await;
    let at = path(&browser, "northmoor").await;
    for (query, reason, link) in [
        (
            format!("filters={}&searchType=discover", on("query")),
            "Discover has no queries, and a condition of this question is on them.",
            "?searchType=discover\">Discover without it</a>",
        ),
        (
            format!("filters={}&searchType=discover", on("device")),
            "Discover has no devices, and a condition of this question is on them.",
            "?searchType=discover\">Discover without it</a>",
        ),
        (
            "classification=branded&searchType=discover".to_owned(),
            "Discover has no queries, by which this part of the traffic is told.",
            "href=\"?searchType=discover\">All of Discover</a>",
        ),
    ] {
        for part in ["", "/pages"] {
            let page = browser.follow(&format!("{at}{part}?{query}")).await.expect(200);
            holds(&page, &[reason.to_owned(), link.to_owned()]);
        }
    }
    // Questions without an answer are not offered.
    let page = browser.follow(&format!("{at}?filters={}", on("query"))).await.expect(200);
    holds(
        &page,
        &["Discover<span class=\"visually-hidden\"> is not available: it lacks what a condition is on".to_owned()],
    );
    let page = browser.get(&format!("{at}?classification=branded")).await.expect(200);
    holds(&page, &["<a href=\"?searchType=discover\">Discover</a>".to_owned()]);
    let page = browser.get(&format!("{at}?searchType=discover")).await.expect(200);
    holds(
        &page,
        &["<bdi>Brand</bdi><span class=\"visually-hidden\"> is not available: Discover has no queries".to_owned()],
    );
}

#[tokio::test]
async fn as_many_parts_are_said_to_add_up_as_are_shown() {
    let browser = Browser::signed_in(shared(), "owner").await;
    let at = path(&browser, "northmoor").await;
    for (query, parts) in [("", 3), ("?searchType=discover", 2)] {
        let page = browser.get(&format!("{at}{query}")).await.expect(200);
        let (_, why) = page.body.split_once("id=\"why\"").unwrap();
        let (why, _) = why.split_once("</section>").unwrap();
        assert_eq!(why.matches("<dt>").count(), parts, "{why}");
        let words = if parts == 3 { "the three parts add up" } else { "the two parts add up" };
        assert!(why.contains(words), "{why}");
        assert!(why.contains("Shown ") && !why.contains("people searched"), "{why}");
        assert_eq!(why.contains("the feed shows you"), parts == 2, "{why}");
    }
}
