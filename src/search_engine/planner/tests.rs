//! Tests that the signed terms of a plan, added over a small set of cells, equal the predicate evaluated on each cell.

use api::models::{FilterCondition, FilterDimension as Dim, FilterLogic, FilterOperator as Op};
use proptest::{prelude::*, sample::select};

use super::*;
use crate::search_engine::{
    filter::{Condition, Expression},
    wire::{Dimension, FilterOperator},
};

/// A cell. It is anonymised if it has no query.
#[derive(Debug, Clone)]
struct Cell {
    query: Option<&'static str>,
    page: &'static str,
    country: &'static str,
    device: &'static str,
    appearances: Vec<&'static str>,
    impressions: u32,
}

const QUERIES: [&str; 5] = ["red fern", "Fern care", "kettle", "a.b(c", "rednorth"];
const PAGES: [&str; 3] = ["/blog/fern", "/blog/kettle", "/about"];
const COUNTRIES: [&str; 4] = ["usa", "gbr", "aus", "zzz"];
const DEVICES: [&str; 3] = ["DESKTOP", "MOBILE", "TABLET"];
const APPEARANCES: [&str; 3] = ["VIDEO", "TPF_FAQ", "AMP"];

fn cell() -> impl Strategy<Value = Cell> {
    (
        prop_oneof![1 => Just(None), 3 => select(&QUERIES[..]).prop_map(Some)],
        select(&PAGES[..]),
        select(&COUNTRIES[..]),
        select(&DEVICES[..]),
        proptest::sample::subsequence(&APPEARANCES[..], 0..=3),
        1..100_u32,
    )
        .prop_map(|(query, page, country, device, appearances, impressions)| Cell {
            query,
            page,
            country,
            device,
            appearances,
            impressions,
        })
}

fn condition() -> impl Strategy<Value = FilterCondition> {
    let text = |dimension, values: &'static [&'static str]| {
        let operators = [Op::Contains, Op::NotContains, Op::Equals, Op::MatchesRegex, Op::OrList];
        (Just(dimension), select(operators.to_vec()), select(values))
    };
    let named = |dimension, values: &'static [&'static str]| {
        (Just(dimension), select(vec![Op::Equals, Op::OrList]), select(values))
    };
    let drawn = prop_oneof![
        text(Dim::Query, &["fern", "Fern care", "^red", "kettle", "red fern,kettle", "e", "none"]),
        text(Dim::Page, &["/blog/", "/about", "fern$", "/about,/blog/fern", "none"]),
        named(Dim::Country, &["usa", "GBR,aus", "zzz", "fji", "usa,gbr,aus,zzz,fji"]),
        (
            Just(Dim::Country),
            select(vec![Op::Contains, Op::NotContains, Op::MatchesRegex]),
            select(vec!["a", "US", "zz"])
        ),
        named(Dim::Device, &["mobile", "DESKTOP,tablet"]),
        (Just(Dim::Device), select(vec![Op::Contains, Op::NotContains]), select(vec!["mob", "E", "top"])),
        named(Dim::SearchAppearance, &["video", "TPF_FAQ,AMP", "VIDEO,TPF_FAQ,AMP"]),
    ];
    (drawn, any::<bool>()).prop_map(|((dimension, operator, value), or)| FilterCondition {
        dimension,
        operator,
        value: value.to_owned(),
        logic: or.then_some(FilterLogic::Or),
    })
}

fn list() -> impl Strategy<Value = Vec<FilterCondition>> {
    proptest::collection::vec(condition(), 1..=4)
}

/// The documented meaning of a condition, evaluated on one cell.
fn holds(condition: &FilterCondition, cell: &Cell) -> bool {
    let value = condition.value.as_str();
    let test = |text: &str, value: &str| match condition.operator {
        Op::Contains => text.to_lowercase().contains(&value.to_lowercase()),
        Op::NotContains => !text.to_lowercase().contains(&value.to_lowercase()),
        Op::Equals => text == value,
        Op::OrList => value.split(',').any(|item| item == text),
        Op::MatchesRegex => regex::Regex::new(value).unwrap().is_match(text),
    };
    let folded = |text: &str| test(&text.to_lowercase(), &value.to_lowercase());
    match condition.dimension {
        Dim::Query => cell.query.is_some_and(|query| test(query, value)),
        Dim::Page => test(cell.page, value),
        Dim::Country => folded(cell.country),
        Dim::Device => folded(cell.device),
        Dim::SearchAppearance => cell.appearances.iter().any(|name| folded(name)),
    }
}

fn list_holds(list: &[FilterCondition], cell: &Cell) -> bool {
    let mut runs: Vec<bool> = Vec::new();
    for condition in list {
        let here = holds(condition, cell);
        match runs.last_mut() {
            Some(run) if condition.logic != Some(FilterLogic::Or) => *run &= here,
            _ => runs.push(here),
        }
    }
    runs.contains(&true)
}

/// The search engine's evaluation of one filter.
fn upstream(filter: &Filter, cell: &Cell) -> bool {
    let wanted = filter.expression.as_str();
    let test = |text: &str| match filter.operator {
        FilterOperator::Equals => text == wanted,
        FilterOperator::NotEquals => text != wanted,
        FilterOperator::Contains => text.to_lowercase().contains(&wanted.to_lowercase()),
        FilterOperator::NotContains => !text.to_lowercase().contains(&wanted.to_lowercase()),
        FilterOperator::IncludingRegex => regex::Regex::new(wanted).unwrap().is_match(text),
        FilterOperator::ExcludingRegex => !regex::Regex::new(wanted).unwrap().is_match(text),
    };
    match filter.dimension {
        Dimension::Query => cell.query.is_some_and(test),
        Dimension::Page => test(cell.page),
        Dimension::Country => test(cell.country),
        Dimension::Device => test(cell.device),
        Dimension::SearchAppearance => {
            assert_eq!(filter.operator, FilterOperator::Equals, "nothing else works upstream");
            cell.appearances.contains(&wanted)
        }
        Dimension::Date | Dimension::Hour => panic!("nobody filters by time"),
    }
}

fn written(expression: &str) -> Condition {
    Condition::Written(FilterCondition {
        dimension: Dim::Query,
        operator: Op::NotContains,
        value: expression.to_owned(),
        logic: Some(FilterLogic::Or),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn signed_terms_add_up_to_the_predicate(
        lists in proptest::collection::vec(list(), 1..=2),
        cells in proptest::collection::vec(cell(), 1..40),
    ) {
        let predicate = Predicate(lists.iter().map(|list| Expression::of(list)).collect());
        let Ok(plan) = plan(&predicate) else { return Ok(()) };
        prop_assert!(plan.terms.len() <= MAX_TERMS);
        for cell in &cells {
            let expected = lists.iter().all(|list| list_holds(list, cell));
            let counted: f64 = plan
                .terms
                .iter()
                .filter(|term| term.filters.iter().all(|filter| upstream(filter, cell)))
                .map(|term| term.weight * f64::from(cell.impressions))
                .sum();
            let expected = if expected { f64::from(cell.impressions) } else { 0.0 };
            prop_assert!((counted - expected).abs() < 1e-9, "{cell:?}: {counted}, not {expected}\n{:?}", plan.terms);
        }
    }

    #[test]
    fn few_questions_are_refused(lists in proptest::collection::vec(list(), 30..=30)) {
        let refused = lists.iter().filter(|list| plan(&Predicate(vec![Expression::of(list)])).is_err()).count();
        prop_assert!(refused <= 10, "{refused} of 30");
    }
}

#[test]
fn four_negatives_joined_by_or_take_fifteen_terms_and_five_are_refused() {
    let alternatives =
        |count: usize| Predicate(vec![Expression((0..count).map(|n| vec![written(&format!("text {n}"))]).collect())]);
    assert_eq!(plan(&alternatives(4)).unwrap().terms.len(), MAX_TERMS);
    assert!(plan(&alternatives(5)).is_err());
}

#[test]
fn alternatives_on_one_dimension_are_one_request() {
    let list = |operator, values: &[&str]| {
        let condition = |value: &&str| FilterCondition {
            dimension: Dim::Page,
            operator,
            value: (*value).to_owned(),
            logic: Some(FilterLogic::Or),
        };
        Predicate(vec![Expression::of(&values.iter().map(condition).collect::<Vec<_>>())])
    };
    for operator in [Op::Contains, Op::Equals, Op::MatchesRegex, Op::OrList] {
        let plan = plan(&list(operator, &["a.b", "c", "d|e", "f"])).unwrap();
        assert_eq!(plan.terms.len(), 1, "{operator:?}");
        assert_eq!(plan.terms[0].filters.len(), 1);
    }
}

#[test]
fn a_contradiction_needs_no_request() {
    let equals = |value: &str| FilterCondition {
        dimension: Dim::Query,
        operator: Op::Equals,
        value: value.to_owned(),
        logic: None,
    };
    let plan = plan(&Predicate(vec![Expression::of(&[equals("a"), equals("b")])])).unwrap();
    assert!(plan.terms.is_empty());
}
