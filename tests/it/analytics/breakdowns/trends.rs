//! Tests of daily trends of the largest countries.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use serde_json::Value;
use simulator::SearchType;

use super::{Case, Class, PAPER, People, SMALL, SOFTWARE, Window, YOUNG, ordered};
use crate::support::oracle::{Sum, tally};

const WEEK: Window = ("2026-10-05", "2026-10-11");
const DAY: Window = ("2026-10-06", "2026-10-06");
const MONTH: Window = ("2026-09-01", "2026-09-28");

type Days = BTreeMap<NaiveDate, Sum>;

fn merged<'d>(all: impl IntoIterator<Item = &'d Days>) -> Days {
    let mut merged = Days::new();
    for (date, sum) in all.into_iter().flatten() {
        let known = merged.entry(*date).or_default();
        *known = known.plus(*sum);
    }
    merged
}

fn whole(days: &Days) -> Sum {
    days.values().fold(Sum::default(), |sum, day| sum.plus(*day))
}

impl Case {
    /// Requests the trends and checks every number.
    async fn has_true_trends(&self, people: &People, top: Option<usize>) -> Value {
        let text = top.unwrap_or_default().to_string();
        let more = [("top", text.as_str())];
        let more = if top.is_some() { &more[..] } else { &[] };
        let json = self.ask(people, "countries-timeseries", more).await.expect(200).json;
        let now = self.daily("countries", self.window);
        let before = self.compared().map(|[_, window]| self.daily("countries", window));
        let ranked = ordered(self.table("countries", self.counted()));
        let named: Vec<&str> = ranked.iter().take(top.unwrap_or(5)).map(|(key, _)| key.as_str()).collect();

        let data = &json["data"];
        let trends = data["countries"].as_array().unwrap();
        let found: Vec<&str> = trends.iter().map(|trend| trend["country"].as_str().unwrap()).collect();
        assert_eq!(found, named, "{self:?}");
        for trend in trends {
            let of = |all: &BTreeMap<String, Days>| all.get(trend["country"].as_str().unwrap()).cloned();
            let before = before.as_ref().map(|before| of(before).unwrap_or_default());
            self.trend(trend, &of(&now).unwrap(), before);
        }

        let others = |all: &BTreeMap<String, Days>| {
            let others: Vec<Days> =
                all.iter().filter(|(key, _)| !named.contains(&key.as_str())).map(|(_, days)| days.clone()).collect();
            (!others.is_empty()).then(|| merged(&others))
        };
        let (other, before) = (others(&now), before.as_ref().map(others));
        let earlier = before.as_ref().is_some_and(Option::is_some);
        assert_eq!(data.get("other").is_some(), other.is_some() || earlier, "other in {self:?}");
        if let Some(trend) = data.get("other") {
            self.trend(trend, &other.unwrap_or_default(), before.map(Option::unwrap_or_default));
        }
        let first = |rows: usize| tally(ranked.iter().take(rows).map(|(_, sum)| *sum));
        self.meta(&json["meta"], self.count());
        let coverage = &json["meta"]["coverage"]["countries"];
        self.coverage_counted(
            coverage,
            self.count_of("countries"),
            (false, 50_000),
            (first(named.len()), first(usize::MAX)),
        );
        json
    }

    fn trend(&self, said: &Value, now: &Days, before: Option<Days>) {
        let counted = Self::days(self.counted());
        let sum =
            whole(&now.iter().filter(|(date, _)| counted.contains(date)).map(|(date, sum)| (*date, *sum)).collect());
        self.totals(&said["totals"], sum, before.as_ref().map(whole));
        self.series(&said["series"], &Self::days(self.window), now);
        assert_eq!(said.get("previousSeries").is_some(), before.is_some(), "{self:?}");
        if let Some((before, [_, window])) = before.zip(self.compared()) {
            self.series(&said["previousSeries"], &Self::days(window), &before);
        }
    }
}

#[tokio::test]
async fn every_trend_is_the_sum_of_its_countrys_cells_by_day() {
    let people = People::new().await;
    let beyond = ("2026-11-16", "2026-11-21");
    for (site, windows) in
        [(SMALL, &[WEEK, DAY, MONTH, beyond][..]), (YOUNG, &[WEEK, beyond]), (SOFTWARE, &[DAY]), (PAPER, &[DAY])]
    {
        for window in windows {
            Case::of(site, *window).has_true_trends(&people, None).await;
        }
    }
    for top in [1, 2, 25] {
        Case::of(SMALL, WEEK).has_true_trends(&people, Some(top)).await;
    }
}

#[tokio::test]
async fn trends_and_other_add_up_to_the_property_on_every_day() {
    let people = People::new().await;
    let performance = Case::of(SMALL, WEEK).ask(&people, "performance", &[]).await.expect(200).json;
    for top in ["1", "5", "25"] {
        let json = Case::of(SMALL, WEEK).ask(&people, "countries-timeseries", &[("top", top)]).await.expect(200).json;
        let trends = json["data"]["countries"].as_array().unwrap().iter().chain(json["data"].get("other"));
        let trends: Vec<&Value> = trends.collect();
        for (index, day) in performance["data"]["series"].as_array().unwrap().iter().enumerate() {
            for name in ["clicks", "impressions"] {
                let sum: u64 = trends.iter().map(|trend| trend["series"][index][name].as_u64().unwrap()).sum();
                assert_eq!(day[name], sum, "{name} of {} with top {top}", day["date"]);
            }
        }
    }
}

#[tokio::test]
async fn compared_trends_have_both_windows_days() {
    let people = People::new().await;
    let cases = [
        Case::of(SMALL, WEEK).against(("2026-09-28", "2026-10-04")),
        Case::of(SMALL, DAY).against(MONTH),
        Case::of(SMALL, MONTH).against(DAY),
        Case::of(YOUNG, WEEK).against(("2025-10-01", "2025-10-03")),
        Case::of(YOUNG, ("2025-10-01", "2025-10-03")).against(WEEK),
        Case::of(SMALL, ("2026-11-17", "2026-11-21")).against(("2026-11-14", "2026-11-20")),
        Case::of(SMALL, WEEK).against(("2026-11-16", "2026-11-21")),
        Case::of(SMALL, WEEK).against(("2026-11-19", "2026-11-21")),
        Case::of(SMALL, ("2026-11-19", "2026-11-21")).against(WEEK),
        Case::of(PAPER, DAY).against(("2026-10-05", "2026-10-05")),
    ];
    for case in &cases {
        case.has_true_trends(&people, None).await;
    }
}

#[tokio::test]
async fn other_is_there_as_soon_as_one_window_has_another_country() {
    let people = People::new().await;
    let few = || Case::of(SMALL, WEEK).and("country", "or_list", "aus,usa");
    assert_eq!(few().has_true_trends(&people, Some(2)).await["data"].get("other"), None);
    assert!(few().has_true_trends(&people, Some(1)).await["data"].get("other").is_some());
    assert_eq!(few().against(MONTH).has_true_trends(&people, Some(2)).await["data"].get("other"), None);

    let only_before = Case::of(SMALL, DAY).against(MONTH).and("device", "equals", "tablet");
    let here = only_before.table("countries", DAY).len();
    assert!(here < 25, "all of them have a series of their own: {here}");
    let json = only_before.has_true_trends(&people, Some(25)).await;
    let other = &json["data"]["other"];
    assert_eq!((&other["totals"]["clicks"], &other["totals"]["ctr"]), (&0.into(), &Value::Null));
    assert!(other["totals"]["previous"]["impressions"].as_u64().unwrap() > 0);
}

#[tokio::test]
async fn trends_of_a_slice_equal_its_cells() {
    let people = People::new().await;
    let whole = || Case::of(SMALL, WEEK).against(("2026-09-28", "2026-10-03"));
    let mut cases: Vec<Case> =
        [Class::Branded, Class::NonBranded, Class::Segment, Class::Topic].map(|class| whole().class(class)).into();
    cases.extend([
        whole().and("country", "not_contains", "us").and("device", "equals", "MOBILE"),
        whole().and("country", "or_list", "usa,gbr,nzl,ind,can,deu,fra"),
        whole().and("page", "contains", "/blog/"),
        whole().and("query", "contains", "plant").or("country", "equals", "aus"),
        whole().class(Class::Topic).and("country", "matches_regex", "^[a-g]"),
        whole().and("country", "equals", "isl"),
    ]);
    for case in &cases {
        for top in [3, 25] {
            case.has_true_trends(&people, Some(top)).await;
        }
    }
}

#[tokio::test]
async fn trends_of_other_search_types_equal_their_cells() {
    let people = People::new().await;
    let days = ("2026-10-20", "2026-10-21");
    for kind in [SearchType::Image, SearchType::Discover, SearchType::GoogleNews] {
        let case = Case::of(PAPER, days).search_type(kind).against(("2026-10-18", "2026-10-18"));
        case.has_true_trends(&people, None).await;
        case.and("page", "contains", "/sport/").has_true_trends(&people, Some(2)).await;
    }
    let json = Case::of(SMALL, WEEK).search_type(SearchType::Discover).has_true_trends(&people, None).await;
    assert_eq!(json["data"], serde_json::json!({ "countries": [] }));
}
