//! The days and the naive sums behind the answer to a question.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, LazyLock, Mutex},
};

use chrono::NaiveDate;
use simulator::SearchType;

use super::{Case, LAST_FINAL, Window};
use crate::{
    analytics::performance::site,
    support::{
        class::Class,
        oracle::{
            Count, Counted, Keys, SEPARATOR, Sum, Truth, by_appearance, by_country, by_device, by_dimensions, by_page,
            by_query, compared_days, counted_days, counts, final_days, holds,
        },
    },
};

/// Sums by key.
pub type Rows = BTreeMap<String, Sum>;

impl Case {
    /// The final days of a window.
    pub fn days(window: Window) -> Vec<NaiveDate> {
        final_days(window, LAST_FINAL)
    }

    /// The days that totals and rows count.
    pub fn counted(&self) -> Window {
        counted_days(self.window, self.before, LAST_FINAL)
    }

    /// Returns whether any day is counted.
    pub fn is_counted(&self) -> bool {
        self.counted().0 <= LAST_FINAL
    }

    /// The days of both windows that are compared.
    pub fn compared(&self) -> Option<[Window; 2]> {
        compared_days(self.window, self.before?, LAST_FINAL)
    }

    /// The way that the question counts.
    pub fn count(&self) -> Count {
        let by_page = self.search_type.is_feed() || self.class == Some(Class::Segment);
        if by_page { Count::ByPage } else { counts(&self.wishes) }
    }

    /// The way that a table of the question counts.
    pub fn count_of(&self, table: &str) -> Count {
        if matches!(table, "pages" | "searchAppearances") { Count::ByPage } else { self.count() }
    }

    /// The way that rows by some dimensions count.
    pub fn count_by(&self, dimensions: &[&str]) -> Count {
        let by_page = dimensions.iter().any(|dimension| ["page", "searchAppearance"].contains(dimension));
        if by_page { Count::ByPage } else { self.count() }
    }

    /// Returns whether a query contains the property's brand.
    pub fn is_branded(&self, query: &str) -> bool {
        static KNOWN: LazyLock<Mutex<HashMap<(&str, String), bool>>> = LazyLock::new(Mutex::default);
        let terms = site(self.site).brand_terms();
        let mut known = KNOWN.lock().unwrap();
        *known.entry((self.site, query.to_owned())).or_insert_with(|| terms.iter().any(|term| names(query, term)))
    }

    /// Returns whether branded queries are excluded from the analysis, if the operation does so by default.
    pub fn leaves_brand_out(&self) -> bool {
        self.keywords && self.class != Some(Class::Branded) && self.text("includeBranded", "false") == "false"
    }

    /// Returns whether a unit is in the slice.
    fn wants(&self, counted: Counted<'_>) -> bool {
        let cell = counted.cell;
        let classified = match self.class {
            None => true,
            Some(Class::Branded) => !cell.anonymised && self.is_branded(&cell.query),
            Some(Class::NonBranded) => !cell.anonymised && !self.is_branded(&cell.query),
            Some(Class::Segment) => counted.part.unwrap().url.contains(self.section()),
            Some(Class::Topic) => !cell.anonymised && cell.query.to_lowercase().contains(self.topic()),
        };
        classified && holds(&self.wishes, counted)
    }

    /// The sum without positions if the search type is a feed.
    fn seen(&self, sum: Sum) -> Sum {
        if self.search_type.is_feed() { sum.unplaced() } else { sum }
    }

    /// The final days of a window, each with its truth.
    fn truths(&self, window: Window) -> impl Iterator<Item = (NaiveDate, Arc<Truth>)> {
        Self::days(window).into_iter().map(move |date| (date, truth_of(self.site, self.search_type, date)))
    }

    /// The sum of each final day of a window.
    pub fn daily_totals(&self, count: Count, window: Window) -> BTreeMap<NaiveDate, Sum> {
        let wanted = |counted: Counted<'_>| self.wants(counted);
        self.truths(window).map(|(date, truth)| (date, self.seen(truth.total(count, &wanted)))).collect()
    }

    /// The sum of a window.
    pub fn total(&self, count: Count, window: Window) -> Sum {
        self.daily_totals(count, window).into_values().fold(Sum::default(), Sum::plus)
    }

    /// The sums of each final day of a window by `keys`.
    fn daily_rows_by(&self, count: Count, keys: Keys<'_>, window: Window) -> BTreeMap<NaiveDate, Rows> {
        let wanted = |counted: Counted<'_>| self.wants(counted);
        let rows = self.truths(window).map(|(date, truth)| {
            let sums = truth.by(count, &wanted, keys).into_iter();
            (date, sums.map(|(key, sum)| (key, self.seen(sum))).collect::<Rows>())
        });
        rows.collect()
    }

    /// The sums of a window by `keys`.
    pub fn rows_by(&self, count: Count, keys: Keys<'_>, window: Window) -> Rows {
        let mut rows = Rows::new();
        for (key, sum) in self.daily_rows_by(count, keys, window).into_values().flatten() {
            let row = rows.entry(key).or_default();
            *row = row.plus(sum);
        }
        rows
    }

    /// The sums of a window by the keys of a table.
    pub fn table(&self, table: &str, window: Window) -> Rows {
        self.rows_by(self.count_of(table), keys_of(table), window)
    }

    /// The sums of a window by the joined keys of some dimensions.
    pub fn by_dimensions(&self, dimensions: &[&str], window: Window) -> Rows {
        let keys = |counted: Counted<'_>| by_dimensions(dimensions, counted);
        self.rows_by(self.count_by(dimensions), &keys, window)
    }

    /// The sums of a window by query, then by page.
    pub fn page_rows(&self, window: Window) -> BTreeMap<String, Rows> {
        let mut rows = BTreeMap::<String, Rows>::new();
        for (key, sum) in self.by_dimensions(&["query", "page"], window) {
            let (query, page) = key.split_once(SEPARATOR).unwrap();
            rows.entry(query.to_owned()).or_default().insert(page.to_owned(), sum);
        }
        rows
    }

    /// The sums of each final day of a window by the keys of a table.
    pub fn daily_rows(&self, table: &str, window: Window) -> BTreeMap<NaiveDate, Rows> {
        self.daily_rows_by(self.count_of(table), keys_of(table), window)
    }

    /// The sums of a window by the keys of a table, then by day. A key has only the days on which it occurs.
    pub fn daily(&self, table: &str, window: Window) -> BTreeMap<String, BTreeMap<NaiveDate, Sum>> {
        let mut daily = BTreeMap::<String, BTreeMap<NaiveDate, Sum>>::new();
        for (date, rows) in self.daily_rows(table, window) {
            for (key, sum) in rows {
                daily.entry(key).or_default().insert(date, sum);
            }
        }
        daily
    }
}

fn keys_of(table: &str) -> Keys<'static> {
    match table {
        "queries" => &by_query,
        "pages" => &by_page,
        "countries" => &by_country,
        "devices" => &by_device,
        "searchAppearances" => &by_appearance,
        other => panic!("{other}"),
    }
}

/// Sorts by clicks and impressions descending, then by key.
pub fn ordered(sums: Rows) -> Vec<(String, Sum)> {
    let mut rows: Vec<_> = sums.into_iter().collect();
    rows.sort_by(|(a, x), (b, y)| (y.clicks, y.impressions).cmp(&(x.clicks, x.impressions)).then_with(|| a.cmp(b)));
    rows
}

/// Returns whether `query` contains `term` between boundaries. A gap in the term is optional in the query.
fn names(query: &str, term: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let lower = text.to_lowercase();
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let (query, term) = (words(query), words(term));
    (0..query.len()).any(|from| {
        let mut left = &term[..];
        for word in &query[from..] {
            // A word of the query is one or more whole words of the term, written together.
            let Some(taken) = (1..=left.len()).find(|taken| left[..*taken].concat() == *word) else { return false };
            left = &left[taken..];
            if left.is_empty() {
                return true;
            }
        }
        false
    })
}

/// The truth about one day, generated once for all tests.
fn truth_of(url: &'static str, search_type: SearchType, date: NaiveDate) -> Arc<Truth> {
    type Known = HashMap<(&'static str, SearchType, NaiveDate), Arc<Truth>>;
    static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);
    let key = (url, search_type, date);
    if let Some(known) = KNOWN.lock().unwrap().get(&key) {
        return known.clone();
    }
    let text = date.to_string();
    let truth = Arc::new(Truth::of(site(url), search_type, &text, &text));
    KNOWN.lock().unwrap().insert(key, truth.clone());
    truth
}
