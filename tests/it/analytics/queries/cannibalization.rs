//! Tests of pages that compete for the same query.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    cases::{BEFORE, MONTH, WEEK, slices, windows},
    checks::{CEILING, close, coverage, ctr, near, position, query_coverage, ratio},
    each,
};
use crate::{
    analytics::case::{Case, PAPER, Rows, SHOP, SMALL, SOFTWARE, Window},
    support::{
        class::Class,
        oracle::{Count, Sum, tally},
    },
};

const OPERATION: &str = "cannibalization";

/// An expected candidate.
struct Candidate {
    own: Sum,
    pages: Rows,
    listed: Vec<(String, Sum)>,
}

impl Candidate {
    fn whole(&self) -> Sum {
        self.pages.values().fold(Sum::default(), |sum, page| sum.plus(*page))
    }

    fn top_share(&self) -> f64 {
        let most = self.pages.values().map(|page| page.impressions).max().unwrap();
        most as f64 / self.whole().impressions as f64
    }

    fn priority(&self) -> f64 {
        self.own.impressions as f64 * (1.0 - self.top_share())
    }
}

/// The queries that qualify.
fn candidates(case: &Case, rows: &Rows, pages: &BTreeMap<String, Rows>) -> BTreeMap<String, Candidate> {
    let found = rows.iter().filter_map(|(query, own)| {
        let pages = pages.get(query)?.clone();
        let mut candidate = Candidate { own: *own, pages, listed: vec![] };
        let whole = candidate.whole().impressions as f64;
        let qualifies = |page: &Sum| {
            page.impressions >= case.integer("minPageImpressions", "10")
                && page.impressions as f64 / whole >= case.number("minPageShare", "0.1")
        };
        candidate.listed = candidate.pages.clone().into_iter().filter(|(_, page)| qualifies(page)).collect();
        let rank = |(url, page): &(String, Sum)| (u64::MAX - page.impressions, u64::MAX - page.clicks, url.clone());
        candidate.listed.sort_by_key(rank);
        let wanted = own.impressions >= case.integer("minQueryImpressions", "50")
            && candidate.listed.len() >= 2
            && candidate.top_share() <= case.number("maxTopShare", "0.8");
        wanted.then(|| (query.clone(), candidate))
    });
    found.collect()
}

fn check_owner(found: &Value, listed: &[(String, Sum)]) {
    let placed = |sum: &Sum| position(*sum).unwrap();
    let (owner, best) = listed
        .iter()
        .min_by(|(a, x), (b, y)| {
            let counts = (y.clicks, y.impressions).cmp(&(x.clicks, x.impressions));
            counts.then(placed(x).total_cmp(&placed(y))).then(a.cmp(b))
        })
        .unwrap();
    let others = || listed.iter().filter(|(page, _)| page != owner).map(|(_, sum)| sum);
    let leads = [
        others().all(|other| best.clicks > other.clicks),
        others().all(|other| best.impressions > other.impressions),
        others().all(|other| placed(best) < placed(other)),
    ];
    let confidence = ["low", "low", "medium", "high"][leads.iter().filter(|leads| **leads).count()];
    assert_eq!(*found, json!({ "page": owner, "confidence": confidence }), "{listed:?}");
}

fn check_query(found: &Value, expected: &Candidate) {
    let (whole, top) = (expected.whole(), expected.top_share());
    let counts = [
        ("clicks", expected.own.clicks),
        ("impressions", expected.own.impressions),
        ("pageClicks", whole.clicks),
        ("pageImpressions", whole.impressions),
        ("pagesKnown", expected.pages.len() as u64),
    ];
    for (name, count) in counts {
        assert_eq!(found[name], count, "{name} of {found}");
    }
    let share = |page: &Sum| page.impressions as f64 / whole.impressions as f64;
    let hhi: f64 = expected.pages.values().map(|page| share(page).powi(2)).sum();
    let positions = || expected.listed.iter().map(|(_, page)| position(*page).unwrap());
    let spread = positions().fold(0.0, f64::max) - positions().fold(f64::MAX, f64::min);
    close(&found["hhi"], hhi);
    close(&found["splitScore"], 1.0 - hhi);
    close(&found["topShare"], top);
    close(&found["secondaryShare"], 1.0 - top);
    close(&found["positionSpread"], spread);
    close(&found["priority"], expected.priority());
    check_owner(&found["suggestedOwner"], &expected.listed);
    let pages = found["pages"].as_array().unwrap();
    let urls: Vec<&str> = pages.iter().map(|page| page["page"].as_str().unwrap()).collect();
    assert_eq!(urls, expected.listed.iter().map(|(url, _)| url.as_str()).collect::<Vec<_>>());
    for (page, (_, sum)) in pages.iter().zip(&expected.listed) {
        assert_eq!((&page["clicks"], &page["impressions"]), (&json!(sum.clicks), &json!(sum.impressions)));
        close(&page["ctr"], ctr(*sum));
        close(&page["position"], position(*sum));
        close(&page["impressionsShare"], share(sum));
        close(&page["clicksShare"], ratio(sum.clicks, whole.clicks));
    }
}

/// Checks the whole response and returns the number of candidates.
fn check(case: &Case, json: &Value) -> usize {
    let (rows, pages) = known(case, case.counted());
    let (data, expected) = (&json["data"], candidates(case, &rows, &pages));
    assert_eq!(data["queriesAnalysed"], rows.keys().filter(|query| pages.contains_key(*query)).count());
    let queries = data["queries"].as_array().unwrap();
    let limit = usize::try_from(case.integer("limit", "500")).unwrap();
    assert_eq!(queries.len(), expected.len().min(limit));
    let mut left: BTreeMap<&String, &Candidate> = expected.iter().collect();
    for query in queries {
        check_query(query, left.remove(&query["query"].as_str().unwrap().to_owned()).unwrap());
    }
    let rank = |query: &Value| (query["priority"].as_f64().unwrap(), query["query"].as_str().unwrap().to_owned());
    for pair in queries.windows(2) {
        let ((high, first), (low, second)) = (rank(&pair[0]), rank(&pair[1]));
        assert!(high > low || (near(high, low) && first < second), "{first} before {second}");
    }
    if let Some((lowest, _)) = queries.last().map(rank) {
        assert!(left.values().all(|cut| cut.priority() <= lowest + 1e-9), "the best ones are listed");
    }
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let shown = tally(queries.iter().map(|query| rows[&text(&query["query"])]));
    query_coverage(case, &json["meta"]["coverage"]["queries"], Some((shown, Some(expected.len()))), rows.values());
    let listed = queries.iter().flat_map(|query| {
        let pages = &pages[&text(&query["query"])];
        query["pages"].as_array().unwrap().iter().map(|page| pages[&text(&page["page"])])
    });
    let known = tally(pages.values().flat_map(BTreeMap::values).copied());
    let found = &json["meta"]["coverage"]["queryPages"];
    coverage(case, (found, CEILING), Count::ByPage, case.counted(), (Some((tally(listed), None)), known));
    check_thresholds(case, &json["meta"]);
    expected.len()
}

fn check_thresholds(case: &Case, meta: &Value) {
    let thresholds = &meta["thresholds"];
    for (name, default) in [("minQueryImpressions", "50"), ("minPageImpressions", "10")] {
        assert_eq!(thresholds[name], case.integer(name, default), "{name}");
    }
    close(&thresholds["minPageShare"], case.number("minPageShare", "0.1"));
    close(&thresholds["maxTopShare"], case.number("maxTopShare", "0.8"));
    assert_eq!(thresholds["brandedExcluded"], case.leaves_brand_out());
}

/// Checks the listed queries in the comparison window, and returns the number of candidates.
fn check_before(case: &Case, data: &Value) -> usize {
    let queries = data["queries"].as_array().unwrap();
    let Some((rows, pages)) = case.compared().map(|[_, window]| known(case, window)) else {
        assert!(data.get("previousRowsMatched").is_none());
        assert!(queries.iter().all(|query| query.get("previous").is_none()), "{data}");
        return 0;
    };
    let candidates = candidates(case, &rows, &pages);
    assert_eq!(data["previousRowsMatched"], candidates.len());
    let mut were = 0;
    for query in queries {
        let (name, previous) = (query["query"].as_str().unwrap(), &query["previous"]);
        let (own, pages) = (rows.get(name), pages.get(name));
        let state = match (own, candidates.contains_key(name)) {
            (None, _) => "absent",
            (Some(_), true) => "candidate",
            (Some(_), false) => "not_candidate",
        };
        assert_eq!(previous["state"], state, "{query}");
        were += usize::from(state == "candidate");
        let Some((own, pages)) = own.zip(pages) else {
            assert!(previous.get("figures").is_none(), "{query}");
            continue;
        };
        check_figures(&previous["figures"], &Candidate { own: *own, pages: pages.clone(), listed: vec![] });
    }
    were
}

fn check_figures(found: &Value, expected: &Candidate) {
    let whole = expected.whole();
    let counts = [
        ("clicks", expected.own.clicks),
        ("impressions", expected.own.impressions),
        ("pageClicks", whole.clicks),
        ("pageImpressions", whole.impressions),
        ("pagesKnown", expected.pages.len() as u64),
    ];
    for (name, count) in counts {
        assert_eq!(found[name], count, "{name} of {found}");
    }
    let share = |page: &Sum| page.impressions as f64 / whole.impressions as f64;
    close(&found["hhi"], expected.pages.values().map(|page| share(page).powi(2)).sum::<f64>());
    close(&found["topShare"], expected.top_share());
    close(&found["priority"], expected.priority());
    let rank = |(url, page): &(&String, &Sum)| (u64::MAX - page.impressions, u64::MAX - page.clicks, (*url).clone());
    assert_eq!(found["topPage"], **expected.pages.iter().min_by_key(rank).unwrap().0);
}

/// The rows of a window by query, and by query and page, as far as the analysis looks at them.
fn known(case: &Case, window: Window) -> (Rows, BTreeMap<String, Rows>) {
    let (mut rows, mut pages) = (case.table("queries", window), case.page_rows(window));
    if case.leaves_brand_out() {
        rows.retain(|query, _| !case.is_branded(query));
        pages.retain(|query, _| !case.is_branded(query));
    }
    (rows, pages)
}

pub fn check_case(case: &Case, json: &Value) {
    check(case, json);
    check_before(case, &json["data"]);
}

#[tokio::test]
async fn candidates_equal_the_cells_in_every_window() {
    let found = std::cell::Cell::new(0);
    let were = std::cell::Cell::new(0);
    each(OPERATION, &windows(), |case, json| {
        found.set(found.get() + check(case, json));
        were.set(were.get() + check_before(case, &json["data"]));
    })
    .await;
    assert!(found.get() > 20, "{} candidates", found.get());
    assert!(were.get() > 3, "{} were candidates before", were.get());
}

#[tokio::test]
async fn candidates_equal_the_cells_in_every_slice() {
    let found = std::cell::Cell::new(0);
    let mut cases = slices();
    // Few queries of one day reach the default thresholds.
    for case in &mut cases {
        case.own.extend([("minQueryImpressions", "8"), ("minPageImpressions", "2")]);
    }
    let were = std::cell::Cell::new(0);
    each(OPERATION, &cases, |case, json| {
        found.set(found.get() + check(case, json));
        were.set(were.get() + check_before(case, &json["data"]));
    })
    .await;
    assert!(were.get() > 10, "{} were candidates before", were.get());
    assert!(found.get() > 40, "{} candidates", found.get());
}

#[tokio::test]
async fn thresholds_decide_which_queries_are_candidates() {
    let low = |case: Case| case.with("minQueryImpressions", "1").with("minPageImpressions", "1");
    let cases = [
        low(Case::of(SMALL, WEEK)),
        low(Case::of(SMALL, WEEK)).with("includeBranded", "true"),
        low(Case::of(SMALL, WEEK)).with("minPageShare", "0").with("maxTopShare", "1"),
        low(Case::of(SMALL, WEEK)).with("minPageShare", "0.5"),
        low(Case::of(SMALL, WEEK)).with("maxTopShare", "0.5"),
        low(Case::of(SMALL, WEEK)).with("maxTopShare", "0"),
        low(Case::of(SMALL, MONTH)).with("limit", "3"),
        Case::of(SMALL, MONTH).with("includeBranded", "true").with("limit", "1"),
        Case::of(SMALL, MONTH).class(Class::Branded).with("minQueryImpressions", "20"),
        low(Case::of(SOFTWARE, BEFORE)).with("limit", "5000"),
        low(Case::of(SOFTWARE, BEFORE)).with("minPageShare", "0.25").with("limit", "7"),
        Case::of(SOFTWARE, BEFORE).with("minQueryImpressions", "1000000"),
        Case::of(PAPER, ("2026-11-02", "2026-11-03")).with("includeBranded", "true").with("minPageImpressions", "5"),
        Case::of(SHOP, ("2026-11-02", "2026-11-03")).with("minPageShare", "0.05").with("maxTopShare", "0.9"),
    ];
    each(OPERATION, &cases, check_case).await;
}

#[tokio::test]
async fn brand_is_left_out_unless_it_is_asked_for() {
    let low = |case: Case| case.with("minQueryImpressions", "1").with("minPageImpressions", "1");
    let names = |case: &Case, json: &Value| {
        let queries = json["data"]["queries"].as_array().unwrap();
        queries.iter().filter(|query| case.is_branded(query["query"].as_str().unwrap())).count()
    };
    let plain = [low(Case::of(SMALL, MONTH)), low(Case::of(SMALL, MONTH)).class(Class::NonBranded)];
    each(OPERATION, &plain, |case, json| {
        check(case, json);
        assert_eq!((names(case, json), &json["meta"]["thresholds"]["brandedExcluded"]), (0, &json!(true)));
    })
    .await;
    let asked =
        [low(Case::of(SMALL, MONTH)).with("includeBranded", "true"), low(Case::of(SMALL, MONTH)).class(Class::Branded)];
    each(OPERATION, &asked, |case, json| {
        check(case, json);
        assert!(names(case, json) > 0);
        assert_eq!(json["meta"]["thresholds"]["brandedExcluded"], false);
    })
    .await;
}
