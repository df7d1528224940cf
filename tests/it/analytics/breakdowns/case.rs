//! Questions that compute their own expected responses.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, LazyLock, Mutex},
};

use chrono::NaiveDate;
use serde_json::{Value, json};
use simulator::{SearchType, Site};

use super::{LAST_FINAL, People, TOPICS};
use crate::{
    analytics::performance::{Asker, site},
    support::{
        actor::Answer,
        class::Class,
        oracle::{
            Count, Counted, Keys, Sum, Truth, Wish, by_appearance, by_country, by_device, by_dimensions, by_page,
            by_query, compared_days, counted_days, counts, day, final_days, holds,
        },
    },
};

pub use crate::support::oracle::Window;

/// A question that can compute its expected response.
#[derive(Debug, Clone)]
pub struct Case {
    pub site: &'static str,
    pub search_type: SearchType,
    pub window: Window,
    pub before: Option<Window>,
    pub class: Option<Class>,
    pub wishes: Vec<Wish>,
}

impl Case {
    pub fn web(site: &'static str, window: Window) -> Self {
        Self { site, search_type: SearchType::Web, window, before: None, class: None, wishes: Vec::new() }
    }

    pub fn kind(self, search_type: SearchType) -> Self {
        Self { search_type, ..self }
    }

    pub fn against(self, before: Window) -> Self {
        Self { before: Some(before), ..self }
    }

    pub fn class(self, class: Class) -> Self {
        Self { class: Some(class), ..self }
    }

    pub fn and(mut self, dimension: &'static str, operator: &'static str, value: &str) -> Self {
        self.wishes.push(Wish { dimension, operator, value: value.to_owned(), or: false });
        self
    }

    pub fn or(mut self, dimension: &'static str, operator: &'static str, value: &str) -> Self {
        self.wishes.push(Wish { dimension, operator, value: value.to_owned(), or: true });
        self
    }

    fn site(&self) -> &'static Site {
        site(self.site)
    }

    /// The name of the search type in the API.
    pub fn kind_name(&self) -> &'static str {
        match self.search_type {
            SearchType::Web => "web",
            SearchType::Image => "image",
            SearchType::Video => "video",
            SearchType::Discover => "discover",
            SearchType::GoogleNews => "googleNews",
            SearchType::News => unreachable!("the API does not offer it"),
        }
    }

    /// Sends `GET /api/properties/{id}/{what}`.
    pub async fn ask(&self, people: &People, what: &str, more: &[(&str, &str)]) -> Answer {
        let asker = &people.0[self.site];
        let mut query = vec![("startDate", self.window.0), ("endDate", self.window.1)];
        query.extend(self.before.into_iter().flat_map(|(start, end)| [("compareStart", start), ("compareEnd", end)]));
        if self.search_type != SearchType::Web {
            query.push(("searchType", self.kind_name()));
        }
        let class = self.classification(asker).await;
        query.extend(class.as_deref().map(|class| ("classification", class)));
        let filters = Value::from(self.wishes.iter().map(Wish::json).collect::<Vec<_>>()).to_string();
        if !self.wishes.is_empty() {
            query.push(("filters", &filters));
        }
        query.extend_from_slice(more);
        asker.actor.ask(&format!("/api/properties/{}/{what}", asker.property), &query).await
    }

    /// Sends `POST /api/properties/{id}/performance/query`.
    pub async fn query(&self, people: &People, dimensions: &[&str], more: Value) -> Answer {
        let asker = &people.0[self.site];
        let mut body = json!({ "dimensions": dimensions, "startDate": self.window.0, "endDate": self.window.1 });
        if let Some((start, end)) = self.before {
            (body["compareStart"], body["compareEnd"]) = (start.into(), end.into());
        }
        if self.search_type != SearchType::Web {
            body["searchType"] = self.kind_name().into();
        }
        if let Some(class) = self.classification(asker).await {
            body["classification"] = class.into();
        }
        if !self.wishes.is_empty() {
            body["filters"] = self.wishes.iter().map(Wish::json).collect();
        }
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        asker.actor.post(&format!("/api/properties/{}/performance/query", asker.property), &body).await
    }

    async fn classification(&self, asker: &Asker) -> Option<String> {
        let class = self.class?;
        let text = match class {
            Class::Segment => self.section(),
            Class::Topic => self.topic().to_owned(),
            Class::Branded | Class::NonBranded => String::new(),
        };
        Some(class.parameter(&asker.actor, &asker.property, &text).await)
    }

    fn wanted(&self, counted: Counted<'_>) -> bool {
        self.classified(counted) && holds(&self.wishes, counted)
    }

    fn classified(&self, counted: Counted<'_>) -> bool {
        let known = !counted.cell.anonymised;
        match self.class {
            None => true,
            Some(Class::Branded) => known && self.names_the_brand(&counted.cell.query),
            Some(Class::NonBranded) => known && !self.names_the_brand(&counted.cell.query),
            Some(Class::Topic) => known && counted.cell.query.to_lowercase().contains(self.topic()),
            Some(Class::Segment) => counted.part.unwrap().url.contains(&self.section()),
        }
    }

    fn section(&self) -> String {
        format!("/{}/", self.site().sections().next().unwrap())
    }

    fn topic(&self) -> &'static str {
        TOPICS.iter().find(|(site, _)| *site == self.site).unwrap().1
    }

    /// Returns whether consecutive whole words form a brand term.
    fn names_the_brand(&self, query: &str) -> bool {
        let split = |text: &str| {
            let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
            words.map(str::to_lowercase).collect::<Vec<_>>()
        };
        let words = split(query);
        self.site().brand_terms().iter().any(|term| {
            let term = split(term).concat();
            (0..words.len()).any(|from| (from..words.len()).any(|to| words[from..=to].concat() == term))
        })
    }

    /// The question about all traffic.
    pub fn of_everything(&self) -> Self {
        Self { class: None, wishes: Vec::new(), ..self.clone() }
    }

    /// The question without conditions on queries.
    pub fn of_any_query(&self) -> Self {
        let wishes = self.wishes.iter().filter(|wish| wish.dimension != "query").cloned().collect();
        let class = self.class.filter(|class| *class == Class::Segment);
        Self { class, wishes, ..self.clone() }
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

    /// The cells of a window.
    fn truth(&self, window: Window) -> Arc<Truth> {
        type Known = HashMap<(&'static str, SearchType, Window), Arc<Truth>>;
        static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);
        let of = |(start, end): Window| {
            let end = day(end).min(day(LAST_FINAL)).to_string();
            Arc::new(Truth::of(self.site(), self.search_type, start, &end))
        };
        let mut known = KNOWN.lock().unwrap();
        Arc::clone(known.entry((self.site, self.search_type, window)).or_insert_with(|| of(window)))
    }

    /// The sums of a window by the keys of a table.
    pub fn table(&self, table: &str, window: Window) -> BTreeMap<String, Sum> {
        let sums = self.truth(window).by(self.count_of(table), &|counted| self.wanted(counted), keys_of(table));
        sums.into_iter().map(|(key, sum)| (key, self.seen(sum))).collect()
    }

    /// The way that rows by some dimensions count.
    pub fn count_by(&self, dimensions: &[&str]) -> Count {
        let by_page = dimensions.iter().any(|dimension| ["page", "searchAppearance"].contains(dimension));
        if by_page { Count::ByPage } else { self.count() }
    }

    /// The sums of a window by the joined keys of some dimensions.
    pub fn by_dimensions(&self, dimensions: &[&str], window: Window) -> BTreeMap<String, Sum> {
        let keys = |counted: Counted<'_>| by_dimensions(dimensions, counted);
        let sums = self.truth(window).by(self.count_by(dimensions), &|counted| self.wanted(counted), &keys);
        sums.into_iter().map(|(key, sum)| (key, self.seen(sum))).collect()
    }

    /// The sums of a window by the keys of a table, then by day.
    pub fn daily(&self, table: &str, window: Window) -> BTreeMap<String, BTreeMap<NaiveDate, Sum>> {
        let keys = |counted: Counted<'_>| {
            let keys = keys_of(table)(counted).into_iter();
            keys.map(|key| format!("{}{key}", counted.date)).collect()
        };
        let sums = self.truth(window).by(self.count_of(table), &|counted| self.wanted(counted), &keys);
        let mut daily = BTreeMap::<String, BTreeMap<NaiveDate, Sum>>::new();
        for (key, sum) in sums {
            daily.entry(key[10..].to_owned()).or_default().insert(day(&key[..10]), self.seen(sum));
        }
        daily
    }

    /// The sum of a window.
    pub fn total(&self, count: Count, window: Window) -> Sum {
        self.seen(self.truth(window).total(count, &|counted| self.wanted(counted)))
    }

    /// The sum without positions if the search type is a feed.
    pub fn seen(&self, sum: Sum) -> Sum {
        if self.search_type.is_feed() { sum.unplaced() } else { sum }
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
pub fn ordered(sums: BTreeMap<String, Sum>) -> Vec<(String, Sum)> {
    let mut rows: Vec<_> = sums.into_iter().collect();
    rows.sort_by(|(a, x), (b, y)| (y.clicks, y.impressions).cmp(&(x.clicks, x.impressions)).then_with(|| a.cmp(b)));
    rows
}
