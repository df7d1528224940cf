//! A question in the API's format, and the naive sums behind its response.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, LazyLock, Mutex},
};

use chrono::NaiveDate;
use serde_json::Value;
use simulator::SearchType;

use crate::{
    analytics::performance::{Asker, site},
    support::{
        actor::Answer,
        class::Class,
        oracle::{Count, Counted, Keys, Sum, Truth, Wish, by_query, compared_days, counted_days, counts, day, holds},
    },
};

pub use crate::support::oracle::Window;

/// Sums by query.
pub type Rows = BTreeMap<String, Sum>;

/// The last final day in test apps.
pub const LAST_FINAL: &str = "2026-11-18";

/// A property, a person who may read it, and the texts of its demo classifications.
#[derive(Debug)]
pub struct Place {
    pub who: &'static str,
    pub url: &'static str,
    pub section: &'static str,
    pub topic: &'static str,
}

/// A question.
#[derive(Debug, Clone)]
pub struct Case {
    pub place: &'static Place,
    pub search_type: SearchType,
    pub window: Window,
    pub compare: Option<Window>,
    pub class: Option<Class>,
    pub wishes: Vec<Wish>,
    /// Parameters specific to the operation.
    pub own: Vec<(&'static str, &'static str)>,
    /// True if the property has its branded keywords.
    pub keywords: bool,
}

impl Case {
    pub fn of(place: &'static Place, window: Window) -> Self {
        let (search_type, class) = (SearchType::Web, None);
        Self { place, search_type, window, compare: None, class, wishes: vec![], own: vec![], keywords: true }
    }

    pub fn compared(self, window: Window) -> Self {
        Self { compare: Some(window), ..self }
    }

    pub fn of_class(self, class: Class) -> Self {
        Self { class: Some(class), ..self }
    }

    pub fn images(self) -> Self {
        Self { search_type: SearchType::Image, ..self }
    }

    pub fn without_keywords(self) -> Self {
        Self { keywords: false, ..self }
    }

    pub fn where_(self, dimension: &'static str, operator: &'static str, value: &str) -> Self {
        self.joined(false, dimension, operator, value)
    }

    pub fn or(self, dimension: &'static str, operator: &'static str, value: &str) -> Self {
        self.joined(true, dimension, operator, value)
    }

    fn joined(mut self, or: bool, dimension: &'static str, operator: &'static str, value: &str) -> Self {
        self.wishes.push(Wish { dimension, operator, value: value.to_owned(), or });
        self
    }

    pub fn with(mut self, name: &'static str, value: &'static str) -> Self {
        self.own.push((name, value));
        self
    }

    /// A parameter specific to the operation, as text.
    pub fn text(&self, name: &str, default: &'static str) -> &'static str {
        self.own.iter().find(|(own, _)| *own == name).map_or(default, |(_, value)| value)
    }

    /// A parameter specific to the operation, as a number.
    pub fn number(&self, name: &str, default: &'static str) -> f64 {
        self.text(name, default).parse().unwrap()
    }

    /// A parameter specific to the operation, as a count.
    pub fn count(&self, name: &str, default: &'static str) -> u64 {
        self.text(name, default).parse().unwrap()
    }

    pub async fn ask(&self, asker: &Asker, operation: &str) -> Answer {
        let class = self.classification(asker).await;
        let filters = Value::from(self.wishes.iter().map(Wish::json).collect::<Vec<_>>()).to_string();
        let mut query = vec![("startDate", self.window.0), ("endDate", self.window.1)];
        query.extend(self.compare.into_iter().flat_map(|(start, end)| [("compareStart", start), ("compareEnd", end)]));
        query.extend(class.as_deref().map(|class| ("classification", class)));
        query.extend((self.search_type != SearchType::Web).then_some(("searchType", self.wire_type())));
        query.extend((!self.wishes.is_empty()).then_some(("filters", &*filters)));
        query.extend(&self.own);
        asker.actor.ask(&format!("/api/properties/{}/{operation}", asker.property), &query).await
    }

    pub fn wire_type(&self) -> &'static str {
        match self.search_type {
            SearchType::Web => "web",
            SearchType::Image => "image",
            other => panic!("{other:?}"),
        }
    }

    async fn classification(&self, asker: &Asker) -> Option<String> {
        let class = self.class?;
        let text = match class {
            Class::Segment => self.place.section,
            Class::Topic => self.place.topic,
            Class::Branded | Class::NonBranded => "",
        };
        Some(class.parameter(&asker.actor, &asker.property, text).await)
    }

    /// The way that the question counts.
    pub fn counts(&self) -> Count {
        if self.class == Some(Class::Segment) { Count::ByPage } else { counts(&self.wishes) }
    }

    /// Returns whether a query contains the property's brand.
    pub fn branded(&self, query: &str) -> bool {
        static KNOWN: LazyLock<Mutex<HashMap<(&str, String), bool>>> = LazyLock::new(Mutex::default);
        let terms = site(self.place.url).brand_terms();
        let mut known = KNOWN.lock().unwrap();
        *known.entry((self.place.url, query.to_owned())).or_insert_with(|| terms.iter().any(|term| names(query, term)))
    }

    /// Returns whether branded queries are excluded from the analysis, if the operation does so by default.
    pub fn leaves_brand_out(&self) -> bool {
        self.keywords && self.class != Some(Class::Branded) && self.text("includeBranded", "false") == "false"
    }

    /// Returns whether a unit is in the slice.
    fn wants(&self, counted: Counted<'_>) -> bool {
        let (cell, place) = (counted.cell, self.place);
        let classified = match self.class {
            None => true,
            Some(Class::Branded) => !cell.anonymised && self.branded(&cell.query),
            Some(Class::NonBranded) => !cell.anonymised && !self.branded(&cell.query),
            Some(Class::Segment) => counted.part.is_some_and(|part| part.url.contains(place.section)),
            Some(Class::Topic) => !cell.anonymised && cell.query.to_lowercase().contains(place.topic),
        };
        classified && holds(&self.wishes, counted)
    }

    /// The days that totals and rows count.
    pub fn counted(&self) -> Window {
        counted_days(self.window, self.compare, LAST_FINAL)
    }

    /// Returns whether any day is counted.
    pub fn is_counted(&self) -> bool {
        self.counted().0 <= LAST_FINAL
    }

    /// The days of both windows that are compared.
    pub fn compared_days(&self) -> Option<[Window; 2]> {
        compared_days(self.window, self.compare?, LAST_FINAL)
    }

    /// The question about all traffic.
    pub fn everything(&self) -> Self {
        Self { wishes: Vec::new(), class: None, ..self.clone() }
    }

    /// The question without its conditions on the query.
    pub fn without_query_conditions(&self) -> Self {
        let mut case = self.clone();
        assert!(case.wishes.iter().all(|wish| wish.dimension != "query" || !wish.or), "what is left would be unclear");
        case.wishes.retain(|wish| wish.dimension != "query");
        case.class = case.class.filter(|class| *class == Class::Segment);
        case
    }

    /// The final days of a window, each with its truth.
    fn days(&self, window: Window) -> impl Iterator<Item = (NaiveDate, Arc<Truth>)> {
        let last = day(window.1).min(day(LAST_FINAL));
        let dates = day(window.0).iter_days().take_while(move |date| *date <= last);
        dates.map(|date| (date, truth_of(self.place.url, self.search_type, date)))
    }

    /// All traffic of the slice, by day.
    pub fn totals(&self, window: Window) -> BTreeMap<NaiveDate, Sum> {
        let wanted = |counted: Counted<'_>| self.wants(counted);
        self.days(window).map(|(date, truth)| (date, truth.total(self.counts(), &wanted))).collect()
    }

    /// All traffic of the slice, counted by `count`.
    pub fn total(&self, window: Window, count: Count) -> Sum {
        let wanted = |counted: Counted<'_>| self.wants(counted);
        self.days(window).fold(Sum::default(), |sum, (_, truth)| sum.plus(truth.total(count, &wanted)))
    }

    /// The query rows of the slice, by day.
    pub fn daily_rows(&self, window: Window) -> BTreeMap<NaiveDate, Rows> {
        let wanted = |counted: Counted<'_>| self.wants(counted);
        self.days(window).map(|(date, truth)| (date, truth.by(self.counts(), &wanted, &by_query))).collect()
    }

    /// The query rows of the slice.
    pub fn rows(&self, window: Window) -> Rows {
        self.rows_by(window, self.counts(), &by_query)
    }

    /// The rows of the slice by `keys`, counted by `count`.
    pub fn rows_by(&self, window: Window, count: Count, keys: Keys<'_>) -> Rows {
        let wanted = |counted: Counted<'_>| self.wants(counted);
        let mut rows = Rows::new();
        for (key, sum) in self.days(window).flat_map(|(_, truth)| truth.by(count, &wanted, keys)) {
            let row = rows.entry(key).or_default();
            *row = row.plus(sum);
        }
        rows
    }

    /// The rows of the slice by query and page, counted by page.
    pub fn page_rows(&self, window: Window) -> BTreeMap<String, Rows> {
        let wanted = |counted: Counted<'_>| self.wants(counted);
        let key = |counted: Counted<'_>| {
            let query = by_query(counted).into_iter();
            query.map(|query| format!("{query}\n{}", counted.part.unwrap().url)).collect()
        };
        let mut rows = BTreeMap::<String, Rows>::new();
        for (key, sum) in self.days(window).flat_map(|(_, truth)| truth.by(Count::ByPage, &wanted, &key)) {
            let (query, page) = key.split_once('\n').unwrap();
            let row = rows.entry(query.to_owned()).or_default().entry(page.to_owned()).or_default();
            *row = row.plus(sum);
        }
        rows
    }
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
