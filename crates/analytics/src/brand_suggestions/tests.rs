//! Tests of suggestions.

use proptest::prelude::*;

use super::*;

/// A query that is clicked often at the top, as brand queries are, with a share of clicks on the home page.
fn wanted(text: &str, clicks: f64, home: f64) -> Query<'_> {
    Query { text, metrics: Metrics::of_row(clicks, clicks * 2.0, Some(1.0)), home_clicks: clicks * home }
}

/// A query that many sites answer.
fn other(text: &str, clicks: f64) -> Query<'_> {
    Query { text, metrics: Metrics::of_row(clicks, clicks * 10.0, Some(4.0)), home_clicks: 0.0 }
}

fn found(name: Option<&str>, kept: &[&str], queries: &[Query<'_>]) -> Vec<(String, SuggestionReason)> {
    suggestions(name, kept, queries).into_iter().map(|found| (found.keyword, found.reason)).collect()
}

fn said(found: &[(String, SuggestionReason)]) -> Vec<(&str, SuggestionReason)> {
    found.iter().map(|(keyword, reason)| (keyword.as_str(), *reason)).collect()
}

#[test]
fn without_queries_the_name_is_suggested_alone() {
    for (name, keyword) in [("northmoor", "northmoor"), ("oak-and-anvil", "oak and anvil"), ("Acme", "acme")] {
        let suggested = suggestions(Some(name), &[], &[]);
        assert_eq!(suggested.len(), 1, "{name}");
        assert_eq!((suggested[0].keyword.as_str(), suggested[0].reason), (keyword, SuggestionReason::SiteName));
        assert_eq!(suggested[0].evidence, None, "{name}");
    }
    assert_eq!(suggestions(None, &[], &[]), []);
    assert_eq!(suggestions(Some("northmoor"), &["North-Moor"], &[]), [], "a kept keyword finds it");
    assert_eq!(found(Some("oak-and-anvil"), &["anvil"], &[]), [], "a kept keyword finds it");
}

#[test]
fn the_spelling_with_the_most_words_finds_the_others() {
    let queries = [
        wanted("northmoor", 500.0, 0.9),
        wanted("north moor tents", 40.0, 0.2),
        wanted("nor thmoor", 9.0, 0.9),
        other("rain jacket", 5.0),
    ];
    let suggested = suggestions(Some("northmoor"), &[], &queries);
    assert_eq!(suggested.len(), 1, "{suggested:?}");
    let evidence = suggested[0].evidence.as_ref().unwrap();
    assert_eq!((suggested[0].keyword.as_str(), evidence.queries), ("north moor", 2));
    assert_eq!((evidence.metrics.clicks, evidence.metrics.impressions), (540, 1_080));
    assert_eq!((evidence.metrics.ctr, evidence.metrics.position), (Some(0.5), Some(1.0)));
    assert_eq!((evidence.expected_ctr, evidence.example_query.as_str()), (Some(0.27), "northmoor"));
    assert_eq!(evidence.home_page_share, Some((450.0 + 8.0) / 540.0));
    // The keyword that is there finds one spelling and not the other.
    let rest = found(Some("northmoor"), &["northmoor"], &queries);
    assert_eq!(said(&rest), [("north moor", SuggestionReason::SiteName)]);
}

#[test]
fn navigational_queries_are_tied_to_the_site_by_name_or_home_page() {
    use SuggestionReason::{LandsOnHomePage, ResemblesSiteName, SiteName};
    let queries = [
        wanted("northmoor", 900.0, 0.9),
        wanted("nortmoor shop", 50.0, 0.0),
        wanted("nm outdoor", 45.0, 0.5),
        wanted("nm outdoor login", 40.0, 1.0),
        wanted("rain jacket calculator", 30.0, 0.49),
        wanted("northmoor tents", 20.0, 1.0),
        wanted("nm", 9.0, 1.0),
    ];
    let suggested = found(Some("northmoor"), &[], &queries);
    assert_eq!(
        said(&suggested),
        [("northmoor", SiteName), ("nm outdoor", LandsOnHomePage), ("nortmoor", ResemblesSiteName)]
    );
}

#[test]
fn each_threshold_counts() {
    let query = |clicks: f64, ctr: f64, position: f64| Query {
        text: "the shop",
        metrics: Metrics::of_row(clicks, clicks / ctr, Some(position)),
        home_clicks: clicks,
    };
    for (query, expected) in [
        (query(10.0, 0.5, 1.0), true),
        (query(9.0, 0.5, 1.0), false),
        (query(10.0, 0.41, 1.0), true),
        (query(10.0, 0.40, 1.0), false),
        (query(10.0, 0.40, 1.25), true),
        (query(10.0, 0.32, 1.5), true),
        (query(10.0, 0.9, 1.6), false),
        (Query { home_clicks: 4.0, ..query(10.0, 0.5, 1.0) }, false),
    ] {
        assert_eq!(suggestions(None, &[], &[query]).len(), usize::from(expected), "{query:?}");
    }
}

#[test]
fn slips_of_the_pen_grow_with_the_name() {
    for (name, query, expected) in [
        ("acme", "acne", false),
        ("tinyfern", "tinyfren", false),
        ("tinyfern", "tiny firn", true),
        ("tinyfern", "tinyferns", true),
        ("brightkettle", "brigth kettle", true),
        ("brightkettle", "bright metal", false),
    ] {
        let suggested = found(Some(name), &[name], &[wanted(query, 20.0, 0.0)]);
        let resembles = [(query.to_owned(), SuggestionReason::ResemblesSiteName)];
        assert_eq!(suggested, if expected { &resembles[..] } else { &[] }, "{name} {query}");
    }
}

fn text() -> impl Strategy<Value = String> {
    "[ab]{1,3}([ -][ab]{1,3}){0,3}"
}

proptest! {
    #[test]
    fn no_suggestion_is_found_by_a_keyword_or_by_another(
        name in "[ab]{3,6}(-[ab]{1,3})?",
        kept in prop::collection::vec(text(), 0..3),
        texts in prop::collection::vec((text(), 1_u32..90, 0_u32..3), 0..20),
    ) {
        let queries: Vec<Query<'_>> = texts
            .iter()
            .map(|(text, clicks, home)| wanted(text, f64::from(*clicks), f64::from(*home) / 2.0))
            .collect();
        let kept: Vec<&str> = kept.iter().map(String::as_str).collect();
        let suggested = suggestions(Some(&name), &kept, &queries);
        for suggestion in &suggested {
            let term = words(&suggestion.keyword);
            let is_name = |suggestion: &BrandSuggestion| suggestion.reason == SuggestionReason::SiteName;
            let others = suggested
                .iter()
                .filter(|other| *other != suggestion && is_name(other) >= is_name(suggestion))
                .map(|other| other.keyword.as_str());
            let finder = kept.iter().copied().chain(others).find(|other| finds(&words(other), &term));
            prop_assert_eq!(finder, None, "{:?}", suggestion);
            if let Some(evidence) = &suggestion.evidence {
                let counted = queries.iter().filter(|query| finds(&term, &words(query.text))).count();
                prop_assert_eq!(evidence.queries, counted as u64);
                prop_assert!(evidence.home_page_share.is_none_or(|share| (0.0..=1.0).contains(&share)));
            }
        }
    }
}
