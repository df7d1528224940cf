//! Tests of every operator on every dimension, on sites with few and many search appearances.

use futures_util::{StreamExt, stream};
use serde_json::Value;
use simulator::SearchType;

use super::{Asker, draw::OPERATORS};
use crate::{
    analytics::performance::site,
    support::{
        app::shared,
        oracle::{Count, Sum, Truth, Wish, by_date, counts, holds, said_by},
    },
};

const DAY: &str = "2026-10-06";

const SITES: [(&str, &str); 3] = [
    ("stranger", "sc-domain:quietmeadow.test"),
    ("owner", "sc-domain:northmoor.example"),
    ("owner", "https://www.ledgerline.example/"),
];

/// A value of each operator that occurs in the data.
fn values(dimension: &str, operator: &str, truth: &Truth) -> Vec<String> {
    let cell = truth.cells().filter(|cell| !cell.anonymised).max_by_key(|cell| cell.impressions).unwrap();
    let page = truth.cells().flat_map(|cell| &cell.pages).max_by_key(|page| page.url.len()).unwrap();
    let own = |text: &str| match operator {
        "equals" | "or_list" => text.to_owned(),
        "matches_regex" => format!("^{}", regex::escape(&text[..text.len() / 2])),
        _ => text[text.len() / 2..].to_uppercase(),
    };
    match (dimension, operator) {
        ("query", _) => vec![own(&cell.query)],
        ("page", _) => vec![own(&page.url)],
        ("country", "or_list") => vec!["USA, gbr,fji".to_owned()],
        ("country", "matches_regex") => vec!["^(u|g)".to_owned()],
        ("country", _) => vec![own(cell.country)],
        ("device", "or_list") => vec!["mobile,TABLET".to_owned()],
        ("device", "matches_regex") => vec!["^m|LET$".to_owned()],
        ("device", _) => vec![own(cell.device)],
        (_, "equals") => vec!["video".to_owned(), "TPF_FAQ".to_owned()],
        (_, "or_list") => {
            vec!["review_snippet,VIDEO,NO_SUCH_THING".to_owned(), "TPF_FAQ,VIDEO,REVIEW_SNIPPET".to_owned()]
        }
        (_, "matches_regex") => vec!["^v|snippets?$".to_owned(), "_(faq|snippet)".to_owned()],
        _ => vec!["snippet".to_owned(), "VIDEO".to_owned(), "e".to_owned()],
    }
}

async fn assert_true(asker: &Asker, truth: &Truth, wish: &Wish) -> Sum {
    let filters = Value::from(vec![wish.json()]).to_string();
    let json = asker.window(DAY, DAY, &[("filters", &filters)]).await;
    let (wishes, count) = (std::slice::from_ref(wish), counts(std::slice::from_ref(wish)));
    let expected = truth.total(count, &|counted| holds(wishes, counted));
    assert_eq!(Sum::said(&json["data"]["totals"]), expected, "{} {wish:?}", asker.property);
    if expected.impressions > 0 {
        let days = truth.by(count, &|counted| holds(wishes, counted), &by_date);
        assert_eq!(said_by(&json["data"]["series"], "date"), days, "{} {wish:?}", asker.property);
    }
    expected
}

#[tokio::test]
async fn every_operator_on_every_dimension_is_exact() {
    for (name, url) in SITES {
        let asker = Asker::of(shared(), name, url).await;
        let truth = Truth::of(site(url), SearchType::Web, DAY, DAY);
        for dimension in ["query", "page", "country", "device", "searchAppearance"] {
            for operator in OPERATORS {
                let wishes = values(dimension, operator, &truth);
                let wish = |value| Wish { dimension, operator, value, or: false };
                let wishes: Vec<Wish> = wishes.into_iter().map(wish).collect();
                let sums: Vec<Sum> =
                    stream::iter(&wishes).map(|wish| assert_true(&asker, &truth, wish)).buffered(4).collect().await;
                assert!(sums.iter().any(|sum| sum.impressions > 0), "{url}: {operator} on {dimension} finds nothing");
            }
        }
    }
}

#[tokio::test]
async fn what_has_no_search_appearance_has_none_that_contains_anything() {
    let (name, url) = SITES[1];
    let asker = Asker::of(shared(), name, url).await;
    let truth = Truth::of(site(url), SearchType::Web, DAY, DAY);
    let condition =
        |operator, value: &str| Wish { dimension: "searchAppearance", operator, value: value.to_owned(), or: false };
    let others = assert_true(&asker, &truth, &condition("not_contains", "snippet")).await;
    let snippets = assert_true(&asker, &truth, &condition("contains", "snippet")).await;
    let every = truth.total(Count::ByPage, &|_| true);
    assert_eq!(snippets.plus(others), every, "one of both holds for each page that is shown");
    assert!(snippets.impressions > 0 && others.impressions > 0);
    let plain = truth.total(Count::ByPage, &|counted| counted.part.unwrap().appearances.is_empty());
    assert!(plain.impressions > 0, "pages without any are among them");
}

/// File systems and some keyboards write `é` as two characters, and people search with one.
#[tokio::test]
async fn letters_of_a_condition_on_queries_may_be_written_in_parts() {
    let (name, url) = SITES[1];
    let asker = Asker::of(shared(), name, url).await;
    for (operator, value) in [
        ("contains", "cafe\u{301}"),
        ("not_contains", "cafe\u{301}"),
        ("equals", "cafe\u{301} stove 50% off"),
        ("or_list", "cafe\u{301} stove 50% off,no such query"),
    ] {
        let composed = value.replace("e\u{301}", "\u{e9}");
        let ask = async |value: &str| {
            let wish = Wish { dimension: "query", operator, value: value.to_owned(), or: false };
            let filters = Value::from(vec![wish.json()]).to_string();
            asker.window(DAY, DAY, &[("filters", &filters)]).await["data"].clone()
        };
        let (parts, whole) = (ask(value).await, ask(&composed).await);
        assert!(Sum::said(&whole["totals"]).impressions > 0, "{operator} {composed}");
        assert_eq!(parts, whole, "{operator} {value:?}");
    }
}

/// Clipboards, chats and spreadsheets add what nobody sees.
#[tokio::test]
async fn pasted_values_are_read_as_the_search_engine_writes_them() {
    let (name, url) = SITES[1];
    let asker = Asker::of(shared(), name, url).await;
    for (dimension, operator, plain, pasted) in [
        ("query", "contains", "caf\u{e9} stove", "caf\u{e9}\u{a0}stove"),
        ("query", "contains", "caf\u{e9} stove", "caf\u{e9}  stove\u{200b}"),
        ("query", "not_contains", "caf\u{e9} stove", "\u{feff}caf\u{e9}\tstove"),
        ("query", "equals", "caf\u{e9} stove 50% off", " caf\u{e9} stove 50% off\r\n"),
        ("query", "or_list", "caf\u{e9} stove 50% off,x", "caf\u{e9}\u{ad} stove 50% off,\u{200b}x"),
        ("page", "contains", "/", "/\n"),
    ] {
        let ask = async |value: &str| {
            let wish = Wish { dimension, operator, value: value.to_owned(), or: false };
            let filters = Value::from(vec![wish.json()]).to_string();
            asker.window(DAY, DAY, &[("filters", &filters)]).await["data"].clone()
        };
        let (expected, read) = (ask(plain).await, ask(pasted).await);
        assert!(Sum::said(&expected["totals"]).impressions > 0, "{operator} {plain}");
        assert_eq!(read, expected, "{dimension} {operator} {pasted:?}");
    }
}

#[tokio::test]
async fn both_windows_of_a_comparison_are_exact() {
    const BEFORE: &str = "2026-09-29";
    let (name, url) = SITES[0];
    let asker = Asker::of(shared(), name, url).await;
    for (operator, value) in [("not_contains", "e"), ("matches_regex", "_(faq|snippet)|video")] {
        let wish = Wish { dimension: "searchAppearance", operator, value: value.to_owned(), or: false };
        let filters = Value::from(vec![wish.json()]).to_string();
        let more = [("filters", &*filters), ("compareStart", BEFORE), ("compareEnd", BEFORE)];
        let json = asker.window(DAY, DAY, &more).await;
        let totals = &json["data"]["totals"];
        for (said, day) in [(totals, DAY), (&totals["previous"], BEFORE)] {
            let truth = Truth::of(site(url), SearchType::Web, day, day);
            let expected = truth.total(Count::ByPage, &|counted| holds(std::slice::from_ref(&wish), counted));
            assert_eq!(Sum::said(said), expected, "{operator} {value} on {day}");
        }
    }
}
