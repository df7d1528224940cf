//! Tests that the signed terms of a plan, added over a small set of cells, equal the predicate evaluated on each cell.

mod measurement;

use std::collections::BTreeMap;

use api::models::{Dimension as Dim, FilterCondition, FilterLogic, FilterOperator as Op};
use proptest::{prelude::*, sample::select};

use super::*;
use crate::{
    appearances::{Appearances, Names, WindowAppearances},
    filter::Expression,
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
    let part = |dimension, values: &'static [&'static str]| {
        (Just(dimension), select(vec![Op::Contains, Op::NotContains, Op::MatchesRegex]), select(values))
    };
    let drawn = prop_oneof![
        text(Dim::Query, &["fern", "Fern care", "^red", "kettle", "red fern,kettle", "e", "none"]),
        text(Dim::Page, &["/blog/", "/about", "fern$", "/about,/blog/fern", "none"]),
        named(Dim::Country, &["usa", "GBR,aus", "zzz", "fji", "usa,gbr,aus,zzz,fji"]),
        part(Dim::Country, &["a", "US", "zz"]),
        named(Dim::Device, &["mobile", "DESKTOP,tablet"]),
        part(Dim::Device, &["mob", "E", "top"]),
        named(Dim::SearchAppearance, &["video", "TPF_FAQ,AMP", "VIDEO,TPF_FAQ,AMP", "none"]),
        part(Dim::SearchAppearance, &["a", "_FAQ", "e", "none"]),
    ];
    (drawn, any::<bool>()).prop_map(|((dimension, operator, value), or)| FilterCondition {
        dimension,
        operator,
        value: value.to_owned(),
        logic: or.then_some(FilterLogic::Or),
    })
}

fn list() -> impl Strategy<Value = Vec<FilterCondition>> {
    proptest::collection::vec(condition(), 1..=6)
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
        Dim::SearchAppearance if condition.operator == Op::NotContains => {
            cell.appearances.iter().all(|name| folded(name))
        }
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

/// The sets of at most `size` search appearances of a site that has these cells.
fn known_of(cells: &[Cell], size: usize) -> Appearances {
    let names: Names = cells.iter().flat_map(|cell| &cell.appearances).map(|name| (*name).to_owned()).collect();
    let mut known = WindowAppearances { names: names.clone(), together: BTreeMap::new() };
    for size in 1..=size {
        for set in known.unknown(&names, size) {
            let has = |cell: &&Cell| set.iter().all(|name| cell.appearances.contains(&name.as_str()));
            let impressions = cells.iter().filter(has).map(|cell| f64::from(cell.impressions)).sum();
            known.together.insert(set, impressions);
        }
    }
    Appearances(vec![known])
}

fn predicate(lists: &[Vec<FilterCondition>], appearances: Appearances) -> Predicate {
    Predicate {
        expressions: lists.iter().map(|list| Expression::of(list)).collect(),
        appearances,
        ..Predicate::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn signed_terms_add_up_to_the_predicate(
        lists in proptest::collection::vec(list(), 1..=2),
        cells in proptest::collection::vec(cell(), 1..40),
        most_known in proptest::option::of(0..=3_usize),
    ) {
        let known = match most_known {
            Some(size) => known_of(&cells, size),
            None => Appearances::named(APPEARANCES.map(str::to_owned)),
        };
        let Ok(plan) = plan(&predicate(&lists, known)) else { return Ok(()) };
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
}

fn condition_on(dimension: Dim, operator: Op, value: &str, logic: FilterLogic) -> FilterCondition {
    FilterCondition { dimension, operator, value: value.to_owned(), logic: Some(logic) }
}

/// A condition, with the operator that joins it to the one before.
type Joined<'t> = (FilterLogic, Dim, Op, &'t str);

/// The number of requests for conditions.
fn requests_for(conditions: &[Joined]) -> usize {
    let list =
        conditions.iter().map(|(logic, dimension, operator, value)| condition_on(*dimension, *operator, value, *logic));
    let names = Appearances::named(APPEARANCES.map(str::to_owned));
    plan(&predicate(&[list.collect()], names)).unwrap().terms.len()
}

#[test]
fn plans_take_as_few_requests_as_the_dimensions_allow() {
    use Dim::{Country, Device, Page, Query, SearchAppearance};
    use FilterLogic::{And, Or};
    use Op::{Contains, Equals, MatchesRegex, NotContains, OrList};
    let table: &[(usize, &[Joined])] = &[
        (1, &[(And, Query, Contains, "a"), (Or, Query, Equals, "b"), (Or, Query, MatchesRegex, "c|d")]),
        (1, &[(And, Page, NotContains, "a"), (And, Page, NotContains, "b"), (And, Page, Contains, "c")]),
        // All that can be known, without what contains both.
        (2, &[(And, Query, NotContains, "a"), (Or, Query, NotContains, "b"), (Or, Query, NotContains, "c")]),
        // A partition: what contains it, and what does not.
        (2, &[(And, Page, Contains, "a"), (Or, Query, Contains, "b")]),
        (2, &[(And, Country, Equals, "usa"), (Or, Query, Contains, "b")]),
        (3, &[(And, Country, Equals, "usa"), (Or, Page, Contains, "a"), (Or, Query, Contains, "b")]),
        // A common part of both alternatives.
        (
            1,
            &[
                (And, Query, Contains, "a"),
                (And, Page, Contains, "c"),
                (Or, Query, Contains, "b"),
                (And, Page, Contains, "c"),
            ],
        ),
        (
            1,
            &[
                (And, Query, Contains, "a"),
                (And, Query, Contains, "b"),
                (Or, Query, Contains, "c"),
                (And, Query, Contains, "d"),
            ],
        ),
        (1, &[(And, Query, Contains, "red fern"), (Or, Query, Contains, "fern")]),
        (1, &[(And, Query, Equals, "red fern"), (And, Query, NotContains, "kettle")]),
        (1, &[(And, SearchAppearance, Equals, "video")]),
        (2, &[(And, SearchAppearance, NotContains, "video")]),
        (3, &[(And, SearchAppearance, OrList, "video,amp")]),
        (8, &[(And, SearchAppearance, NotContains, "")]),
        (2, &[(And, Device, NotContains, "mob"), (Or, Query, NotContains, "b")]),
    ];
    for (expected, conditions) in table {
        assert_eq!(requests_for(conditions), *expected, "{conditions:?}");
    }
}

#[test]
fn appearances_that_never_or_always_come_together_take_fewer_requests() {
    let cell = |appearances: &[&'static str]| Cell {
        query: None,
        page: "/about",
        country: "usa",
        device: "MOBILE",
        appearances: appearances.to_vec(),
        impressions: 1,
    };
    let count = |cells: &[&[&'static str]]| {
        let cells: Vec<Cell> = cells.iter().map(|names| cell(names)).collect();
        let any = condition_on(Dim::SearchAppearance, Op::MatchesRegex, ".", FilterLogic::And);
        plan(&predicate(&[vec![any]], known_of(&cells, 2))).unwrap().terms.len()
    };
    assert_eq!(count(&[&["AMP", "VIDEO", "TPF_FAQ"], &["AMP"], &["VIDEO"], &["TPF_FAQ"]]), 7);
    assert_eq!(count(&[&["AMP"], &["VIDEO"], &["TPF_FAQ"]]), 3);
    assert_eq!(count(&[&["AMP", "VIDEO", "TPF_FAQ"], &["VIDEO", "TPF_FAQ"], &["TPF_FAQ"]]), 1);
}

#[test]
fn a_refusal_says_how_many_requests_are_needed_and_how_many_are_made() {
    let names: Vec<String> = ["A", "B", "C", "D", "E"].map(str::to_owned).into();
    let any = vec![condition_on(Dim::SearchAppearance, Op::MatchesRegex, ".", FilterLogic::And)];
    let PlanError::TooComplex(hint) = plan(&predicate(&[any], Appearances::named(names))).unwrap_err();
    assert!(hint.starts_with("filters: the conditions take 31 upstream requests"), "{hint}");
    assert!(hint.contains(&format!("at most {MAX_TERMS} are made; use fewer")), "{hint}");
    let mixed = (0..40).map(|n| {
        let operator = if n % 2 == 0 { Op::NotContains } else { Op::Contains };
        let logic = if n % 3 == 0 { FilterLogic::Or } else { FilterLogic::And };
        condition_on(Dim::Page, operator, &format!("text {n}"), logic)
    });
    let PlanError::TooComplex(hint) = plan(&predicate(&[mixed.collect()], Appearances::default())).unwrap_err();
    assert!(hint.contains(&format!("at most {MAX_TERMS} upstream requests")), "{hint}");
}

#[test]
fn long_lists_of_conditions_alike_are_planned() {
    use FilterLogic::{And, Or};
    let list = |operator, logic| {
        let text = |n| format!("{} {n:02}", if operator == Op::Contains { "word" } else { "text" });
        (0..50).map(|n| condition_on(Dim::Query, operator, &text(n), logic)).collect()
    };
    let count = |operator, logic| {
        let conditions: Vec<FilterCondition> = list(operator, logic);
        plan(&predicate(&[conditions], Appearances::default())).unwrap().terms.len()
    };
    assert_eq!(count(Op::Contains, Or), 1);
    assert_eq!(count(Op::Contains, And), 1);
    assert_eq!(count(Op::NotContains, And), 1);
    assert_eq!(count(Op::NotContains, Or), 2);
    let both = [list(Op::Contains, Or), list(Op::NotContains, And)];
    assert_eq!(plan(&predicate(&both, Appearances::default())).unwrap().terms.len(), 1);
}

#[test]
fn an_expression_too_long_for_one_filter_is_divided() {
    let items = |from: usize| (from..from + 300).map(|n| format!("word number {n:04}")).collect::<Vec<_>>().join(",");
    let list = [items(0), items(200)].map(|value| condition_on(Dim::Query, Op::OrList, &value, FilterLogic::Or));
    let found = plan(&predicate(&[list.to_vec()], Appearances::default())).unwrap();
    let matching = |text: &'static str| {
        let cell =
            Cell { query: Some(text), page: "", country: "usa", device: "MOBILE", appearances: vec![], impressions: 1 };
        found.terms.iter().filter(|term| term.filters.iter().all(|filter| upstream(filter, &cell))).count()
    };
    assert!(found.terms.len() > 1);
    let lengths = found.terms.iter().flat_map(|term| &term.filters).map(|filter| filter.expression.chars().count());
    assert!(lengths.max().unwrap() <= crate::MAX_EXPRESSION);
    for (text, times) in
        [("word number 0000", 1), ("word number 0250", 1), ("word number 0499", 1), ("word number 0500", 0)]
    {
        assert_eq!(matching(text), times, "{text}");
    }
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
        predicate(&[values.iter().map(condition).collect::<Vec<_>>()], Appearances::default())
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
    let plan = plan(&predicate(&[vec![equals("a"), equals("b")]], Appearances::default())).unwrap();
    assert!(plan.terms.is_empty());
}
