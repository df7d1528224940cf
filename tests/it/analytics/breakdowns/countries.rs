//! Tests of the breakdown by country.

use simulator::SearchType;

use super::{Case, Class, PAPER, People, SMALL, SOFTWARE, Window, YOUNG};

const WEEK: Window = ("2026-10-05", "2026-10-11");

impl Case {
    /// Requests the countries and checks every number.
    async fn has_true_countries(&self, people: &People, limit: Option<usize>) {
        let text = limit.unwrap_or_default().to_string();
        let more = [("limit", text.as_str())];
        let more = if limit.is_some() { &more[..] } else { &[] };
        let json = self.ask(people, "countries", more).await.expect(200).json;
        let expected = self.rows("countries", limit.unwrap_or(500));
        self.table_rows(&json["data"], &expected.rows);
        self.meta(&json["meta"], self.count());
        self.coverage(&json["meta"]["coverage"]["countries"], "countries", expected.shown(), expected.known);
    }
}

#[tokio::test]
async fn every_country_is_the_sum_of_its_cells() {
    let people = People::new().await;
    let windows = [WEEK, ("2026-10-06", "2026-10-06"), ("2026-10-01", "2026-10-28"), ("2026-11-16", "2026-11-21")];
    for (site, windows) in
        [(SMALL, &windows[..]), (YOUNG, &windows), (SOFTWARE, &windows[..2]), (PAPER, &windows[1..2])]
    {
        for window in windows {
            Case::of(site, *window).has_true_countries(&people, None).await;
        }
    }
}

#[tokio::test]
async fn countries_add_up_to_the_property() {
    let people = People::new().await;
    let case = Case::of(SMALL, WEEK);
    let json = case.ask(&people, "countries", &[]).await.expect(200).json;
    let sum = |name: &str| json["data"].as_array().unwrap().iter().map(|row| row[name].as_u64().unwrap()).sum::<u64>();
    let total = case.total(case.count(), WEEK);
    assert!(total.clicks > 20);
    assert_eq!((sum("clicks"), sum("impressions")), (total.clicks, total.impressions));
    assert_eq!(json["meta"]["coverage"]["countries"]["clicksShare"], 1.0);
}

#[tokio::test]
async fn compared_countries_are_in_both_windows_new_or_lost() {
    let people = People::new().await;
    let day = ("2026-10-06", "2026-10-06");
    let month = ("2026-09-01", "2026-09-28");
    let cases = [
        Case::of(SMALL, WEEK).against(("2026-09-28", "2026-10-04")),
        Case::of(SMALL, day).against(month),
        Case::of(SMALL, month).against(day),
        Case::of(YOUNG, day).against(WEEK),
        Case::of(YOUNG, WEEK).against(("2025-10-01", "2025-10-07")),
        Case::of(YOUNG, ("2025-10-01", "2025-10-07")).against(WEEK),
        Case::of(PAPER, day).against(("2026-10-05", "2026-10-05")),
        Case::of(SMALL, ("2026-11-17", "2026-11-21")).against(("2026-11-12", "2026-11-16")),
        Case::of(SMALL, WEEK).against(("2026-11-16", "2026-11-21")),
        Case::of(SMALL, WEEK).against(("2026-11-19", "2026-11-21")),
    ];
    let rows: Vec<_> = cases.iter().flat_map(|case| case.rows("countries", 500).rows).collect();
    for presence in ["both", "new", "lost"] {
        assert!(rows.iter().filter(|row| row.presence == Some(presence)).count() > 5, "{presence}");
    }
    for case in &cases {
        case.has_true_countries(&people, None).await;
    }
}

#[tokio::test]
async fn a_limit_cuts_the_current_and_the_lost_rows() {
    let people = People::new().await;
    let case = Case::of(SMALL, ("2026-10-06", "2026-10-06"));
    let compared = case.clone().against(("2026-09-01", "2026-09-28"));
    let lost = compared.rows("countries", 500).rows.iter().filter(|row| row.now.is_none()).count();
    assert!(lost > 3, "{lost}");
    for limit in [1, 3, 500] {
        case.has_true_countries(&people, Some(limit)).await;
        compared.has_true_countries(&people, Some(limit)).await;
    }
    for limit in ["0", "501", "some", " "] {
        let answer = case.ask(&people, "countries", &[("limit", limit)]).await.expect(400);
        assert!(answer.hint().contains("limit"), "{}", answer.hint());
    }
}

#[tokio::test]
async fn countries_of_a_slice_equal_its_cells() {
    let people = People::new().await;
    let whole = || Case::of(SMALL, WEEK).against(("2026-09-21", "2026-10-04"));
    let mut cases: Vec<Case> =
        [Class::Branded, Class::NonBranded, Class::Segment, Class::Topic].map(|class| whole().class(class)).into();
    cases.extend([
        Case::of(SOFTWARE, ("2026-10-06", "2026-10-06")).class(Class::Topic),
        Case::of(YOUNG, WEEK).class(Class::Branded),
        whole().and("country", "or_list", "aus,usa,deu"),
        whole().and("country", "not_contains", "us").and("device", "equals", "MOBILE"),
        whole().and("page", "contains", "/blog/"),
        whole().and("searchAppearance", "equals", "PRODUCT_SNIPPETS"),
        whole().and("query", "contains", "plant").and("device", "equals", "desktop"),
        whole().and("query", "not_contains", "a"),
        whole().and("query", "contains", "plant").or("country", "equals", "aus"),
        whole().class(Class::Segment).and("query", "contains", "e"),
        whole().class(Class::NonBranded).and("device", "equals", "tablet").or("country", "equals", "gbr"),
        whole().and("query", "equals", "nobody asks this"),
    ]);
    for case in &cases {
        case.has_true_countries(&people, None).await;
    }
}

#[tokio::test]
async fn countries_of_other_search_types_equal_their_cells() {
    let people = People::new().await;
    let days = ("2026-10-20", "2026-10-21");
    let types = [SearchType::Image, SearchType::Video, SearchType::Discover, SearchType::GoogleNews];
    for kind in types {
        let case = Case::of(PAPER, days).search_type(kind).against(("2026-10-18", "2026-10-18"));
        assert!(case.total(case.count(), days).clicks > 0, "{kind:?}");
        case.has_true_countries(&people, None).await;
        case.and("page", "contains", "/news/").has_true_countries(&people, None).await;
    }
    Case::of(SMALL, WEEK).search_type(SearchType::Image).has_true_countries(&people, None).await;
    Case::of(SMALL, WEEK).search_type(SearchType::Discover).has_true_countries(&people, None).await;
}
