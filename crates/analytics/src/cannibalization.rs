//! Pages of one property that compete for the same query.
//!
//! A page's share is its impressions ÷ the impressions of all pages for the query (defined without clicks, too). `hhi = Σ
//! share²` is the Herfindahl–Hirschman index of concentration, 1 for a single page. `splitScore = 1 − hhi`. `priority =
//! demand × (1 − largest share)`, where demand is the query's own impressions, counted once per results page. A query is a
//! candidate if at least two pages reach the minimum impressions and the minimum share, and no page exceeds the maximum
//! share. The rules and thresholds come from practitioners. They find candidates and do not prove a problem.

use std::{
    cmp::Ordering,
    collections::{HashMap, HashSet},
};

use api::analytics::{
    BeforeState, CannibalizationThresholds, CannibalizedBefore, CannibalizedQuery, CompetingPage, ContestFigures,
    OwnerConfidence, SuggestedOwner,
};
use common::metrics::Metrics;

use super::{
    change::count,
    page::{Page, PageRows, Values},
    table,
};

/// The result of the analysis.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidates {
    /// Queries with both their own row and their pages.
    pub analysed: usize,
    /// One page of the queries that qualified. Their own order is by priority descending, then by query.
    pub queries: PageRows<CannibalizedQuery>,
}

/// A query with its pages, by impressions descending.
struct Contest<'r> {
    query: &'r str,
    own: Metrics,
    pages: Vec<(&'r str, Metrics)>,
    whole: Metrics,
    top_share: f64,
    priority: f64,
}

/// Returns the candidates among `queries` (counted by property), given their `pages` (query, URL, metrics; counted by page). `compared`
/// finds the row of a query in a comparison.
pub fn candidates<'r, 'c>(
    queries: impl IntoIterator<Item = (&'r str, Metrics)>,
    pages: impl IntoIterator<Item = (&'r str, &'r str, Metrics)>,
    thresholds: &CannibalizationThresholds,
    page: &Page,
    compared: impl Fn(&str) -> Option<&'c table::Row<'c>>,
) -> Candidates {
    let queries: Vec<(&str, Metrics)> = queries.into_iter().collect();
    let places: HashMap<&str, u32> = (0..).zip(&queries).map(|(place, (query, _))| (*query, place)).collect();
    let known = pages.into_iter().filter_map(|(query, page, metrics)| Some((*places.get(query)?, page, metrics)));
    let pages: Vec<(u32, &str, Metrics)> = known.collect();
    let mut order: Vec<(u32, u32)> = (0..).zip(&pages).map(|(row, (place, ..))| (*place, row)).collect();
    order.sort_unstable();
    let (mut analysed, mut contests) = (0, Vec::new());
    for group in order.chunk_by(|a, b| a.0 == b.0) {
        analysed += 1;
        let (query, own) = queries[group[0].0 as usize];
        if group.len() > 1 && own.impressions >= thresholds.min_query_impressions as f64 {
            let rows = group.iter().map(|(_, row)| &pages[*row as usize]);
            let contest = Contest::of(query, own, rows.map(|(_, page, metrics)| (*page, *metrics)).collect());
            contests.extend(contest.filter(|contest| contest.is_candidate(thresholds)));
        }
    }
    let by_priority =
        |a: &Contest<'_>, b: &Contest<'_>| b.priority.total_cmp(&a.priority).then_with(|| a.query.cmp(b.query));
    let values = |contest: &Contest<'r>| Values {
        key: contest.query,
        own: Some(contest.own),
        compared: compared(contest.query).and_then(table::Row::compared),
        presence: compared(contest.query).and_then(|row| row.presence),
    };
    let listed = page.of(contests, values, by_priority);
    let rows = listed.rows.iter().map(|contest| contest.to_api(thresholds)).collect();
    Candidates { analysed, queries: PageRows { rows, matched: listed.matched, beyond: listed.beyond } }
}

/// The rows of the comparison window.
pub struct Before<'r> {
    /// Queries, counted by property.
    pub queries: Vec<(&'r str, Metrics)>,
    /// Query, URL and metrics, counted by page.
    pub pages: Vec<(&'r str, &'r str, Metrics)>,
    /// True if the queries were cut at their cap.
    pub queries_capped: bool,
    /// True if the pages were cut at their cap.
    pub pages_capped: bool,
}

impl<'r> Before<'r> {
    /// Adds to each query of `now` its state in the comparison window. Returns the number of candidates there that satisfy the
    /// conditions of `page`.
    pub fn compare(&self, now: &mut [CannibalizedQuery], thresholds: &CannibalizationThresholds, page: &Page) -> usize {
        let states: Vec<_> = {
            let wanted: HashSet<&str> = now.iter().map(|query| query.query.as_str()).collect();
            let own: HashMap<&str, Metrics> =
                self.queries.iter().filter(|(query, _)| wanted.contains(query)).copied().collect();
            let mut pages: HashMap<&str, Vec<(&str, Metrics)>> = HashMap::new();
            for (query, page, metrics) in self.pages.iter().filter(|(query, ..)| wanted.contains(query)) {
                pages.entry(query).or_default().push((page, *metrics));
            }
            let state = |query: &CannibalizedQuery| {
                let query = query.query.as_str();
                self.state(query, own.get(query).copied(), pages.remove(query).unwrap_or_default(), thresholds)
            };
            now.iter().map(state).collect()
        };
        for (query, state) in now.iter_mut().zip(states) {
            query.previous = Some(state);
        }
        let none = Page { filters: page.filters.clone(), ..Page::default() };
        let (queries, pages) = (self.queries.iter().copied(), self.pages.iter().copied());
        candidates(queries, pages, thresholds, &none, |_| None).queries.matched
    }

    fn state(
        &self,
        query: &str,
        own: Option<Metrics>,
        pages: Vec<(&'r str, Metrics)>,
        thresholds: &CannibalizationThresholds,
    ) -> CannibalizedBefore {
        let Some(own) = own else {
            let state = if self.queries_capped { BeforeState::Unknown } else { BeforeState::Absent };
            return CannibalizedBefore { state, figures: None };
        };
        let contest = Contest::of(query, own, pages);
        let state = if contest.as_ref().is_some_and(|contest| contest.is_candidate(thresholds)) {
            BeforeState::Candidate
        } else if self.pages_capped {
            BeforeState::Unknown
        } else {
            BeforeState::NotCandidate
        };
        CannibalizedBefore { state, figures: contest.and_then(|contest| contest.figures()) }
    }
}

fn qualifies(page: &Metrics, whole: &Metrics, thresholds: &CannibalizationThresholds) -> bool {
    page.position().is_some()
        && page.impressions >= thresholds.min_page_impressions as f64
        && page.impressions / whole.impressions >= thresholds.min_page_share
}

/// Orders by impressions, then clicks, both descending.
fn by_impressions(a: &Metrics, b: &Metrics) -> Ordering {
    b.impressions.total_cmp(&a.impressions).then(b.clicks.total_cmp(&a.clicks))
}

impl<'r> Contest<'r> {
    /// Returns `None` if no page has impressions.
    fn of(query: &'r str, own: Metrics, mut pages: Vec<(&'r str, Metrics)>) -> Option<Self> {
        let whole: Metrics = pages.iter().map(|(_, metrics)| *metrics).sum();
        let largest = pages.iter().map(|(_, metrics)| metrics.impressions).fold(0.0, f64::max);
        let top_share = (whole.impressions > 0.0).then(|| largest / whole.impressions)?;
        pages.sort_unstable_by(|(a, x), (b, y)| by_impressions(x, y).then_with(|| a.cmp(b)));
        Some(Self { query, own, pages, whole, top_share, priority: own.impressions * (1.0 - top_share) })
    }

    fn is_candidate(&self, thresholds: &CannibalizationThresholds) -> bool {
        let listed = self.pages.iter().filter(|(_, page)| qualifies(page, &self.whole, thresholds)).count();
        self.own.impressions >= thresholds.min_query_impressions as f64
            && listed >= 2
            && self.top_share <= thresholds.max_top_share
    }

    fn hhi(&self) -> f64 {
        let share = |page: &Metrics| page.impressions / self.whole.impressions;
        self.pages.iter().map(|(_, page)| share(page).powi(2)).sum::<f64>().min(1.0)
    }

    fn figures(&self) -> Option<ContestFigures> {
        Some(ContestFigures {
            clicks: count(self.own.clicks),
            impressions: count(self.own.impressions),
            page_clicks: count(self.whole.clicks),
            page_impressions: count(self.whole.impressions),
            pages_known: self.pages.len() as u64,
            hhi: self.hhi(),
            top_share: self.top_share,
            top_page: self.pages.first()?.0.to_owned(),
            priority: self.priority,
        })
    }

    fn to_api(&self, thresholds: &CannibalizationThresholds) -> CannibalizedQuery {
        let share = |page: &Metrics| page.impressions / self.whole.impressions;
        let listed: Vec<_> = self.pages.iter().filter(|(_, page)| qualifies(page, &self.whole, thresholds)).collect();
        let positions = || listed.iter().filter_map(|(_, page)| page.position());
        let spread = positions().fold(f64::MIN, f64::max) - positions().fold(f64::MAX, f64::min);
        let hhi = self.hhi();
        let competing = |(url, page): &&(&str, Metrics)| {
            Some(CompetingPage {
                page: (*url).to_owned(),
                clicks: count(page.clicks),
                impressions: count(page.impressions),
                ctr: page.ctr()?,
                position: page.position()?,
                impressions_share: share(page),
                clicks_share: (self.whole.clicks > 0.0).then(|| page.clicks / self.whole.clicks),
            })
        };
        CannibalizedQuery {
            query: self.query.to_owned(),
            clicks: count(self.own.clicks),
            impressions: count(self.own.impressions),
            page_clicks: count(self.whole.clicks),
            page_impressions: count(self.whole.impressions),
            pages_known: self.pages.len() as u64,
            hhi,
            split_score: 1.0 - hhi,
            top_share: self.top_share,
            secondary_share: 1.0 - self.top_share,
            position_spread: spread,
            priority: self.priority,
            suggested_owner: owner(&listed),
            pages: listed.iter().filter_map(competing).collect(),
            previous: None,
        }
    }
}

/// Suggests the page with the most clicks, then the most impressions, then the best position, then the first URL. The
/// confidence is the number of the three measures in which it is the sole leader.
fn owner(pages: &[&(&str, Metrics)]) -> SuggestedOwner {
    let position = |page: &Metrics| page.position().unwrap_or(f64::MAX);
    let better = |(a, x): &(&str, Metrics), (b, y): &(&str, Metrics)| {
        let by_clicks = y.clicks.total_cmp(&x.clicks).then(y.impressions.total_cmp(&x.impressions));
        by_clicks.then(position(x).total_cmp(&position(y))).then_with(|| a.cmp(b))
    };
    let Some(first) = pages.iter().min_by(|a, b| better(a, b)) else {
        return SuggestedOwner { page: String::new(), confidence: OwnerConfidence::Low };
    };
    let others = || pages.iter().filter(|page| page.0 != first.0).map(|page| &page.1);
    let leads = [
        others().all(|other| first.1.clicks > other.clicks),
        others().all(|other| first.1.impressions > other.impressions),
        others().all(|other| position(&first.1) < position(other)),
    ];
    let confidence = match leads.into_iter().filter(|leads| *leads).count() {
        3 => OwnerConfidence::High,
        2 => OwnerConfidence::Medium,
        _ => OwnerConfidence::Low,
    };
    SuggestedOwner { page: first.0.to_owned(), confidence }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DEFAULTS: CannibalizationThresholds = CannibalizationThresholds {
        min_query_impressions: 50,
        min_page_impressions: 10,
        min_page_share: 0.1,
        max_top_share: 0.8,
        branded_excluded: true,
    };

    fn page(clicks: f64, impressions: f64, position: f64) -> Metrics {
        Metrics::of_row(clicks, impressions, Some(position))
    }

    fn found(pages: &[(&'static str, Metrics)]) -> Candidates {
        let own = [("shoes", page(1.0, 100.0, 2.0))];
        candidates(
            own,
            pages.iter().map(|(url, metrics)| ("shoes", *url, *metrics)),
            &DEFAULTS,
            &Page::first(10),
            |_| None,
        )
    }

    #[test]
    fn thresholds_are_included() {
        let split = [("/a", page(1.0, 80.0, 2.0)), ("/b", page(1.0, 20.0, 3.0))];
        assert_eq!(found(&split).queries.matched, 1, "80 % is not above 80 %");
        let owned = [("/a", page(1.0, 81.0, 2.0)), ("/b", page(1.0, 19.0, 3.0))];
        assert_eq!((found(&owned).analysed, found(&owned).queries.matched), (1, 0));
        let thin = [("/a", page(1.0, 12.0, 2.0)), ("/b", page(1.0, 9.0, 3.0))];
        assert_eq!(found(&thin).queries.matched, 0, "9 impressions are below 10");
        let ten = [("/a", page(1.0, 12.0, 2.0)), ("/b", page(1.0, 10.0, 3.0))];
        assert_eq!(found(&ten).queries.matched, 1);
        assert_eq!(found(&[("/a", page(1.0, 90.0, 2.0))]).queries.matched, 0, "one page does not compete");
    }

    #[test]
    fn shares_count_all_pages_and_only_qualifying_pages_are_listed() {
        let pages = [("/a", page(0.0, 60.0, 2.0)), ("/b", page(0.0, 35.0, 7.5)), ("/c", page(0.0, 5.0, 30.0))];
        let query = &found(&pages).queries.rows[0];
        assert_eq!((query.pages_known, query.pages.len(), query.page_impressions), (3, 2, 100));
        assert!((query.hhi - (0.36 + 0.1225 + 0.0025)).abs() < 1e-12);
        assert!((query.secondary_share - 0.4).abs() < 1e-12 && (query.position_spread - 5.5).abs() < 1e-12);
        assert!((query.priority - 40.0).abs() < 1e-12, "demand × (1 − largest share)");
        assert_eq!(query.pages[0].clicks_share, None, "no clicks to share");
    }

    #[test]
    fn the_owner_leads_in_clicks_first_and_confidence_counts_the_leads() {
        let owner = |pages: [(&'static str, Metrics); 2]| found(&pages).queries.rows[0].suggested_owner.clone();
        let all = owner([("/a", page(9.0, 60.0, 2.0)), ("/b", page(1.0, 40.0, 3.0))]);
        assert_eq!((all.page.as_str(), all.confidence), ("/a", OwnerConfidence::High));
        let two = owner([("/a", page(9.0, 40.0, 2.0)), ("/b", page(1.0, 60.0, 3.0))]);
        assert_eq!((two.page.as_str(), two.confidence), ("/a", OwnerConfidence::Medium));
        let one = owner([("/a", page(9.0, 40.0, 5.0)), ("/b", page(1.0, 60.0, 3.0))]);
        assert_eq!((one.page.as_str(), one.confidence), ("/a", OwnerConfidence::Low));
        let tied = owner([("/a", page(0.0, 50.0, 5.0)), ("/b", page(0.0, 50.0, 3.0))]);
        assert_eq!((tied.page.as_str(), tied.confidence), ("/b", OwnerConfidence::Low));
    }

    #[test]
    fn the_comparison_window_says_what_it_does_not_know() {
        let split = || vec![("shoes", "/a", page(1.0, 60.0, 2.0)), ("shoes", "/b", page(1.0, 40.0, 3.0))];
        let owned = || vec![("shoes", "/a", page(1.0, 99.0, 2.0)), ("shoes", "/b", page(1.0, 1.0, 3.0))];
        let own = || vec![("shoes", page(1.0, 100.0, 2.0))];
        for (queries, pages, capped, state, has_figures) in [
            (own(), split(), false, BeforeState::Candidate, true),
            (own(), split(), true, BeforeState::Candidate, true),
            (own(), owned(), false, BeforeState::NotCandidate, true),
            (own(), owned(), true, BeforeState::Unknown, true),
            (own(), vec![], false, BeforeState::NotCandidate, false),
            (own(), vec![], true, BeforeState::Unknown, false),
            (vec![], split(), false, BeforeState::Absent, false),
            (vec![], split(), true, BeforeState::Unknown, false),
        ] {
            let mut now = found(&[("/a", page(1.0, 60.0, 2.0)), ("/b", page(1.0, 40.0, 3.0))]).queries.rows;
            let before = Before { queries, pages, queries_capped: capped, pages_capped: capped };
            let were = before.compare(&mut now, &DEFAULTS, &Page::default());
            let previous = now[0].previous.clone().unwrap();
            assert_eq!((previous.state, previous.figures.is_some()), (state, has_figures), "{capped}");
            assert_eq!(were, usize::from(state == BeforeState::Candidate));
        }
    }

    /// A query may be among the cut queries, and a page of a known query among the cut pages.
    #[test]
    fn each_list_of_the_comparison_window_hides_what_it_lacks() {
        let split = [("/a", page(1.0, 60.0, 2.0)), ("/b", page(1.0, 40.0, 3.0))];
        let (own, owned) = (vec![("shoes", page(1.0, 100.0, 2.0))], vec![("shoes", "/a", page(1.0, 99.0, 2.0))]);
        for (queries, queries_capped, pages_capped, state) in [
            (vec![], true, false, BeforeState::Unknown),
            (vec![], false, true, BeforeState::Absent),
            (own.clone(), true, false, BeforeState::NotCandidate),
            (own, false, true, BeforeState::Unknown),
        ] {
            let mut now = found(&split).queries.rows;
            let before = Before { queries, pages: owned.clone(), queries_capped, pages_capped };
            before.compare(&mut now, &DEFAULTS, &Page::default());
            assert_eq!(now[0].previous.clone().unwrap().state, state, "{queries_capped} {pages_capped}");
        }
    }

    proptest! {
        #[test]
        fn shares_sum_to_1_and_concentration_is_within_0_and_1(
            pages in prop::collection::vec((0_u32..40, 1_u32..900, 1.0_f64..60.0), 1..30),
        ) {
            let open = CannibalizationThresholds { min_page_impressions: 1, min_page_share: 0.0, max_top_share: 1.0, ..DEFAULTS };
            let urls: Vec<String> = (0..pages.len()).map(|n| format!("/{n}")).collect();
            let rows = pages.iter().zip(&urls).map(|((clicks, impressions, position), url)| {
                ("shoes", url.as_str(), page(f64::from(*clicks), f64::from(*impressions), *position))
            });
            let found = candidates([("shoes", page(1.0, 100.0, 2.0))], rows, &open, &Page::first(10), |_| None);
            prop_assert_eq!(found.queries.rows.len(), usize::from(pages.len() > 1));
            for query in &found.queries.rows {
                let shares: f64 = query.pages.iter().map(|page| page.impressions_share).sum();
                prop_assert!((shares - 1.0).abs() < 1e-9);
                prop_assert!(query.hhi > 0.0 && query.hhi <= 1.0);
                prop_assert!((query.hhi + query.split_score - 1.0).abs() < 1e-12);
                prop_assert!(query.hhi >= query.top_share.powi(2) - 1e-12 && query.hhi <= query.top_share + 1e-12);
                prop_assert!(query.pages.iter().all(|page| page.position >= 1.0));
            }
        }
    }
}
