//! Tests that data which a search type lacks is refused instead of returned as empty, and that the same question gets the
//! same response.

use simulator::SearchType;

use super::{Case, Class, PAPER, People, SMALL, Window};

const DAYS: Window = ("2026-10-20", "2026-10-21");

#[tokio::test]
async fn a_table_that_the_type_lacks_is_refused_by_name() {
    let people = People::new().await;
    let keys = r#"["harbour"]"#;
    for kind in [SearchType::Discover, SearchType::GoogleNews] {
        let questions: [(&str, &[(&str, &str)]); 5] = [
            ("export", &[]),
            ("export", &[("table", "queries")]),
            ("table-sparklines", &[]),
            ("table-sparklines", &[("table", "queries")]),
            ("table-sparklines", &[("table", "queries"), ("keys", keys)]),
        ];
        refused(&people, &Case::of(PAPER, DAYS).search_type(kind), "query-count-raw", &[]).await;
        for (what, more) in questions {
            refused(&people, &Case::of(PAPER, DAYS).search_type(kind), what, more).await;
            refused(&people, &Case::of(PAPER, DAYS).search_type(kind).against(DAYS), what, more).await;
        }
    }
    let questions: [(&str, &[(&str, &str)]); 3] = [
        ("export", &[("table", "devices")]),
        ("table-sparklines", &[("table", "devices")]),
        ("table-sparklines", &[("table", "devices"), ("keys", r#"["MOBILE"]"#)]),
    ];
    for (what, more) in questions {
        refused(&people, &Case::of(PAPER, DAYS).search_type(SearchType::Discover), what, more).await;
        // Refused even if the result would be empty.
        refused(&people, &Case::of(SMALL, DAYS).search_type(SearchType::Discover), what, more).await;
    }
}

#[tokio::test]
async fn a_slice_by_what_the_type_lacks_is_refused_by_name() {
    let people = People::new().await;
    let discover = || Case::of(PAPER, DAYS).search_type(SearchType::Discover);
    let cases = [
        discover().class(Class::Branded),
        discover().class(Class::Topic),
        discover().and("query", "contains", "harbour"),
        discover().and("device", "equals", "MOBILE"),
        Case::of(PAPER, DAYS).search_type(SearchType::GoogleNews).and("query", "not_contains", "harbour"),
        Case::of(PAPER, DAYS).search_type(SearchType::GoogleNews).class(Class::NonBranded),
    ];
    for case in &cases {
        refused(&people, case, "countries", &[]).await;
        refused(&people, case, "countries-timeseries", &[]).await;
        refused(&people, case, "table-sparklines", &[("table", "pages")]).await;
        refused(&people, case, "export", &[("table", "pages")]).await;
    }
}

async fn refused(people: &People, case: &Case, what: &str, more: &[(&str, &str)]) {
    let answer = case.ask(people, what, more).await.expect(400);
    assert_eq!(answer.code(), "not_available_for_search_type", "{what} {more:?} of {case:?}");
    assert!(answer.hint().contains(case.search_type_name()), "{what} {more:?}: {}", answer.hint());
    assert!(answer.header("content-type").starts_with("application/json"), "{what} {more:?}");
    assert_eq!(answer.header("content-disposition"), "", "{what} {more:?}");
}

#[tokio::test]
async fn parameters_of_an_export_are_refused_by_name() {
    let people = People::new().await;
    let case = Case::of(SMALL, DAYS);
    for (name, value) in [
        ("table", "everything"),
        ("table", " "),
        ("queryLimit", "5001"),
        ("pageLimit", "0"),
        ("filters", "[{}]"),
        ("classification", "brand"),
        ("compareStart", "2026-10-01"),
    ] {
        let answer = case.ask(&people, "export", &[(name, value)]).await.expect(400);
        assert_eq!(answer.code(), "invalid_request", "{name}={value}");
        let named = if name == "compareStart" { "compareEnd" } else { name };
        assert!(answer.hint().contains(named), "{name}={value}: {}", answer.hint());
    }
}

#[tokio::test]
async fn the_same_question_has_the_same_bytes() {
    let people = People::new().await;
    let compared = Case::of(SMALL, DAYS).against(("2026-10-11", "2026-10-13"));
    let alternatives = compared.clone().and("query", "contains", "plant").or("country", "equals", "aus");
    for case in [&compared, &alternatives] {
        let alone = Case { before: None, ..case.clone() };
        for (what, case) in [
            ("countries", case),
            ("countries-timeseries", case),
            ("table-sparklines", case),
            ("export", case),
            ("query-count", case),
            ("query-count-raw", &alone),
        ] {
            let first = case.ask(&people, what, &[]).await.expect(200).bytes;
            assert!(case.ask(&people, what, &[]).await.expect(200).bytes == first, "{what} of {case:?}");
        }
    }
}
