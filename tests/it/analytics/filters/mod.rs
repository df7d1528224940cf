//! Tests that every filter is answered exactly or refused. Generated lists of conditions are compared with a naive
//! evaluation over the generator's cells.

mod draw;
mod operators;
mod refusals;

use std::collections::BTreeMap;

use futures_util::{StreamExt, stream};
use serde_json::{Value, json};

use self::draw::Draw;
use super::performance::{Asker, truth};
use crate::support::oracle::{
    Count, Counted, Keys, Sum, Truth, Wish, by_appearance, by_country, by_date, by_device, by_page, by_query, counts,
    holds, said_by,
};

const START: &str = "2026-10-05";
const END: &str = "2026-10-07";

/// The number of generated lists without a classification, and with one.
const PLAIN: u64 = 160;
const CLASSIFIED: u64 = 40;

/// A list of conditions, and a classification by brand if requested.
struct ConditionList {
    wishes: Vec<Wish>,
    branded: Option<bool>,
}

impl ConditionList {
    fn wanted(&self, counted: Counted<'_>) -> bool {
        let named = counted.cell.query.replace(' ', "").contains("quietmeadow");
        let classified = self.branded.is_none_or(|branded| !counted.cell.anonymised && named == branded);
        classified && holds(&self.wishes, counted)
    }

    async fn ask(&self, asker: &Asker, scope: &str) -> Option<Value> {
        let filters = Value::from(self.wishes.iter().map(Wish::json).collect::<Vec<_>>()).to_string();
        let mut query = vec![("startDate", START), ("endDate", END), ("scope", scope), ("filters", &*filters)];
        query.extend([("queryLimit", "5000"), ("pageLimit", "5000")]);
        query.extend(self.branded.map(|branded| ("classification", if branded { "branded" } else { "nonBranded" })));
        let answer = asker.ask(&query).await;
        if answer.status == 400 {
            assert_eq!(answer.code(), "filter_too_complex", "{filters}: {}", answer.hint());
            assert!(!answer.hint().is_empty());
            return None;
        }
        Some(answer.expect(200).json)
    }

    /// Returns whether the question was answered. Fails the test if the response is not exact.
    async fn holds_true(&self, asker: &Asker, truth: &Truth) -> bool {
        let Some(json) = self.ask(asker, "series").await else { return false };
        let count = counts(&self.wishes);
        let wanted = |counted: Counted<'_>| self.wanted(counted);
        assert_eq!(Sum::said(&json["data"]["totals"]), truth.total(count, &wanted), "{:?}", self.wishes);
        let mut days: BTreeMap<String, Sum> =
            ["2026-10-05", "2026-10-06", "2026-10-07"].map(|day| (day.to_owned(), Sum::default())).into();
        days.extend(truth.by(count, &wanted, &by_date));
        assert_eq!(said_by(&json["data"]["series"], "date"), days, "{:?}", self.wishes);
        let aggregation = if count == Count::ByPage { "byPage" } else { "byProperty" };
        assert_eq!(json["meta"]["aggregation"], aggregation);
        true
    }

    async fn has_true_tables(&self, asker: &Asker, truth: &Truth) -> bool {
        let Some(json) = self.ask(asker, "tables").await else { return false };
        let count = counts(&self.wishes);
        let wanted = |counted: Counted<'_>| self.wanted(counted);
        let tables: [(&str, Count, Keys<'_>); 5] = [
            ("queries", count, &by_query),
            ("pages", Count::ByPage, &by_page),
            ("countries", count, &by_country),
            ("devices", count, &by_device),
            ("searchAppearances", Count::ByPage, &by_appearance),
        ];
        for (table, count, keys) in tables {
            let expected = truth.by(count, &wanted, keys);
            let wrong = said_by(&json["data"]["tables"][table], "key") != expected;
            assert!(!wrong, "{table} {:?}", self.wishes);
        }
        true
    }
}

fn share(answered: &[bool]) -> f64 {
    answered.iter().filter(|answered| !**answered).count() as f64 / answered.len() as f64
}

#[tokio::test]
async fn every_drawn_filter_is_answered_exactly_or_refused() {
    let (asker, truth) = (Asker::small().await, truth(START, END));
    let lists = (0..PLAIN + CLASSIFIED).map(|number| {
        let mut draw = Draw::new(&truth, number);
        let branded = (number >= PLAIN).then_some(number % 2 == 0);
        ConditionList { wishes: draw.wishes(6), branded }
    });
    let lists: Vec<ConditionList> = lists.collect();
    let answered: Vec<bool> =
        stream::iter(&lists).map(|list| list.holds_true(&asker, &truth)).buffered(4).collect().await;
    let dimensions = ["query", "page", "country", "device", "searchAppearance"];
    let drawn = |name: &str| lists.iter().flat_map(|list| &list.wishes).filter(|wish| wish.dimension == name).count();
    assert!(dimensions.iter().all(|name| drawn(name) > 40));
    let some =
        lists.iter().filter(|list| truth.total(counts(&list.wishes), &|c| list.wanted(c)).impressions > 0).count();
    assert!(some * 2 > lists.len(), "most questions find something: {some}");
    println!("refused: {:.3}", share(&answered));
    assert!(share(&answered) <= 0.01, "{} refused", share(&answered));
}

#[tokio::test]
async fn tables_under_alternatives_are_exact_too() {
    let (asker, truth) = (Asker::small().await, truth(START, END));
    let lists = (1000..).map(|number| ConditionList { wishes: Draw::new(&truth, number).wishes(3), branded: None });
    let lists: Vec<ConditionList> =
        lists.filter(|list| list.wishes.iter().skip(1).any(|wish| wish.or)).take(30).collect();
    let answered: Vec<bool> =
        stream::iter(&lists).map(|list| list.has_true_tables(&asker, &truth)).buffered(4).collect().await;
    println!("refused: {:.3}", share(&answered));
    assert!(answered.iter().all(|answered| *answered));
}

/// Conditions from `[dimension, operator, value]`, joined by `logic`.
fn wishes(logic: &str, conditions: &[[&'static str; 3]]) -> Vec<Wish> {
    let wish = |[dimension, operator, value]: &[&'static str; 3]| Wish {
        dimension,
        operator,
        value: (*value).to_owned(),
        or: logic == "or",
    };
    conditions.iter().map(wish).collect()
}

#[tokio::test]
async fn an_anonymised_query_satisfies_no_condition_on_queries() {
    let (asker, truth) = (Asker::small().await, truth(START, END));
    let lists = [
        wishes("and", &[["query", "not_contains", "no such text"]]),
        wishes("or", &[["query", "not_contains", "no such text"], ["country", "equals", "AUS"]]),
        wishes("or", &[["query", "contains", "FERN"], ["query", "not_contains", "fern"]]),
        wishes("or", &[["query", "not_contains", "fern"], ["query", "not_contains", "plant"]]),
        wishes(
            "or",
            &[["query", "not_contains", "fern"], ["page", "contains", "/blog/"], ["device", "equals", "mobile"]],
        ),
        wishes("or", &[["country", "not_contains", "a"], ["device", "not_contains", "MOB"]]),
    ];
    for wishes in lists {
        let list = ConditionList { wishes, branded: None };
        assert!(list.holds_true(&asker, &truth).await, "{:?} was refused", list.wishes);
    }
    let every = truth.total(Count::ByProperty, &|_| true);
    let named = ConditionList { wishes: wishes("and", &[["query", "not_contains", "no such text"]]), branded: None };
    let json = named.ask(&asker, "series").await.unwrap();
    assert!(json["data"]["totals"]["impressions"].as_u64().unwrap() < every.impressions);
}

#[tokio::test]
async fn a_contradiction_is_answered_with_nothing() {
    let asker = Asker::small().await;
    for conditions in [
        [["country", "equals", "aus"], ["country", "equals", "usa"]],
        [["query", "equals", "fern"], ["query", "equals", "kettle"]],
        [["country", "contains", "xyz"], ["device", "equals", "MOBILE"]],
        [["searchAppearance", "equals", "NO_SUCH_THING"], ["device", "equals", "MOBILE"]],
    ] {
        let list = ConditionList { wishes: wishes("and", &conditions), branded: None };
        let json = list.ask(&asker, "all").await.unwrap();
        assert_eq!(json["meta"]["status"], "no_search_data", "{conditions:?}");
        assert_eq!(json["data"]["tables"]["queries"], json!([]));
        assert_eq!(json["data"]["series"].as_array().unwrap().len(), 3);
    }
}
