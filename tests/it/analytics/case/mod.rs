//! Questions that compute their own expected answers.

mod people;
mod truth;

use serde_json::{Value, json};
use simulator::SearchType;

use super::performance::Asker;
use crate::support::{actor::Answer, class::Class, oracle::Wish};

pub use self::{
    people::{People, SHOP, SOFTWARE, YOUNG},
    truth::{Rows, ordered},
};
pub use super::performance::{PAPER, SMALL};
pub use crate::support::oracle::Window;

/// The last final day on the date of the tests.
pub const LAST_FINAL: &str = "2026-11-18";

/// The sites, each with a text of its segment and of its topic cluster.
const TEXTS: [(&str, &str, &str); 5] = [
    (SMALL, "/services/", "plant"),
    (PAPER, "/news/", "harbour"),
    (YOUNG, "/services/", "fern"),
    (SOFTWARE, "/docs/", "invoice"),
    (SHOP, "/products/", "jacket"),
];

/// A question that can compute its expected answer.
#[derive(Debug, Clone)]
pub struct Case {
    pub site: &'static str,
    pub search_type: SearchType,
    pub window: Window,
    pub before: Option<Window>,
    pub class: Option<Class>,
    pub wishes: Vec<Wish>,
    /// Parameters specific to the operation.
    pub own: Vec<(&'static str, &'static str)>,
    /// True if the property has its branded keywords.
    pub keywords: bool,
}

impl Case {
    /// A question about web search.
    pub fn of(site: &'static str, window: Window) -> Self {
        let (search_type, class) = (SearchType::Web, None);
        Self { site, search_type, window, before: None, class, wishes: vec![], own: vec![], keywords: true }
    }

    pub fn search_type(self, search_type: SearchType) -> Self {
        Self { search_type, ..self }
    }

    pub fn against(self, before: Window) -> Self {
        Self { before: Some(before), ..self }
    }

    pub fn class(self, class: Class) -> Self {
        Self { class: Some(class), ..self }
    }

    pub fn without_keywords(self) -> Self {
        Self { keywords: false, ..self }
    }

    pub fn and(self, dimension: &'static str, operator: &'static str, value: &str) -> Self {
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

    /// A parameter specific to the operation, as a whole number.
    pub fn integer(&self, name: &str, default: &'static str) -> u64 {
        self.text(name, default).parse().unwrap()
    }

    /// The question about all traffic.
    pub fn of_everything(&self) -> Self {
        Self { class: None, wishes: Vec::new(), ..self.clone() }
    }

    /// The question without its conditions on the query.
    pub fn without_query_conditions(&self) -> Self {
        let mut case = self.clone();
        assert!(case.wishes.iter().all(|wish| wish.dimension != "query" || !wish.or), "what is left would be unclear");
        case.wishes.retain(|wish| wish.dimension != "query");
        case.class = case.class.filter(|class| *class == Class::Segment);
        case
    }

    /// The name of the search type in the API.
    pub fn search_type_name(&self) -> &'static str {
        match self.search_type {
            SearchType::Web => "web",
            SearchType::Image => "image",
            SearchType::Video => "video",
            SearchType::Discover => "discover",
            SearchType::GoogleNews => "googleNews",
            SearchType::News => unreachable!("the API does not offer it"),
        }
    }

    /// Sends `GET /api/properties/{id}/{operation}`.
    pub async fn ask(&self, people: &People, operation: &str, more: &[(&str, &str)]) -> Answer {
        let asker = people.asker(self.site);
        let (class, filters) = (self.classification(asker).await, self.filters().to_string());
        let mut query = vec![("startDate", self.window.0), ("endDate", self.window.1)];
        query.extend(self.before.into_iter().flat_map(|(start, end)| [("compareStart", start), ("compareEnd", end)]));
        if self.search_type != SearchType::Web {
            query.push(("searchType", self.search_type_name()));
        }
        query.extend(class.as_deref().map(|class| ("classification", class)));
        if !self.wishes.is_empty() {
            query.push(("filters", &filters));
        }
        query.extend_from_slice(&self.own);
        query.extend_from_slice(more);
        asker.actor.ask(&format!("/api/properties/{}/{operation}", asker.property), &query).await
    }

    /// Sends `POST /api/properties/{id}/performance/query`.
    pub async fn query(&self, people: &People, dimensions: &[&str], more: Value) -> Answer {
        let asker = people.asker(self.site);
        let mut body = json!({ "dimensions": dimensions, "startDate": self.window.0, "endDate": self.window.1 });
        if let Some((start, end)) = self.before {
            (body["compareStart"], body["compareEnd"]) = (start.into(), end.into());
        }
        if self.search_type != SearchType::Web {
            body["searchType"] = self.search_type_name().into();
        }
        if let Some(class) = self.classification(asker).await {
            body["classification"] = class.into();
        }
        if !self.wishes.is_empty() {
            body["filters"] = self.filters();
        }
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        asker.actor.post(&format!("/api/properties/{}/performance/query", asker.property), &body).await
    }

    fn filters(&self) -> Value {
        self.wishes.iter().map(Wish::json).collect()
    }

    async fn classification(&self, asker: &Asker) -> Option<String> {
        let class = self.class?;
        let text = match class {
            Class::Segment => self.section(),
            Class::Topic => self.topic(),
            Class::Branded | Class::NonBranded => "",
        };
        Some(class.parameter(&asker.actor, &asker.property, text).await)
    }

    /// The text that the URLs of the site's segment contain.
    fn section(&self) -> &'static str {
        TEXTS.iter().find(|(site, ..)| *site == self.site).unwrap().1
    }

    /// The text that the queries of the site's topic cluster contain.
    fn topic(&self) -> &'static str {
        TEXTS.iter().find(|(site, ..)| *site == self.site).unwrap().2
    }
}
