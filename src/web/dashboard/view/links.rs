//! The addresses that a page links to.

use api::{
    models::{Dimension, FilterCondition, FilterOperator, Filters},
    params::ParamValue as _,
};
use url::form_urlencoded::Serializer;

use super::{OF_THE_API, View};

impl View {
    /// Returns the address of the same state with its conditions in the path, if they were sent in the query string.
    #[must_use]
    pub fn elsewhere(&self) -> Option<String> {
        (self.filters != self.address.conditions).then(|| self.filtered(&self.filters))
    }

    /// Returns the address of the same page with some parameters changed, or left out where the new value is `None`.
    #[must_use]
    pub fn link(&self, changes: &[(&'static str, Option<&str>)]) -> String {
        format!("?{}", self.query(changes))
    }

    fn query(&self, changes: &[(&'static str, Option<&str>)]) -> String {
        let mut pairs = self.given.clone();
        for (name, value) in changes {
            match value {
                Some(value) => pairs.insert(name, (*value).to_owned()),
                None => pairs.remove(name),
            };
        }
        Serializer::new(String::new()).extend_pairs(pairs).finish()
    }

    /// Returns the address of another page of the site with the same question.
    #[must_use]
    pub fn to(&self, page: &str) -> String {
        self.on(page, &self.filters)
    }

    /// Returns the address of a page of the site with the same question but for its conditions.
    fn on(&self, page: &str, filters: &[FilterCondition]) -> String {
        let kept = self.given.iter().filter(|(name, _)| OF_THE_API.contains(name) || **name == "period");
        let query = Serializer::new(String::new()).extend_pairs(kept).finish();
        with_query(self.address.to(filters, page), &query)
    }

    /// Returns the address of a page of the site with one more condition, or `None` if the conditions it has cannot be narrowed by one more:
    /// `and` binds tighter than `or`. Without a `page`, of this one.
    #[must_use]
    pub fn narrowed(&self, page: Option<&str>, dimension: Dimension, value: &str) -> Option<String> {
        if self.has_alternatives() {
            return None;
        }
        let added =
            FilterCondition { dimension, operator: FilterOperator::Equals, value: value.to_owned(), logic: None };
        let others = self.filters.iter().filter(|condition| **condition != added).cloned();
        let filters = others.chain([added.clone()]).collect::<Vec<_>>();
        Some(page.map_or_else(|| self.filtered(&filters), |page| self.on(page, &filters)))
    }

    /// Returns the address of the page without the condition at `index`; without all of them if some are alternatives.
    #[must_use]
    pub fn widened(&self, index: usize) -> String {
        if self.has_alternatives() {
            return self.filtered(&[]);
        }
        let mut left = self.filters.clone();
        left.remove(index);
        self.filtered(&left)
    }

    /// Returns the address of the page without conditions, and with some parameters changed.
    #[must_use]
    pub fn everything(&self, changes: &[(&'static str, Option<&str>)]) -> String {
        with_query(self.address.to(&[], &self.address.page), &self.query(changes))
    }

    /// Returns the address of the page with these conditions.
    #[must_use]
    pub fn filtered(&self, filters: &[FilterCondition]) -> String {
        if self.address.is_secret()
            && self.address.conditions.is_empty()
            && !filters.is_empty()
            && self.filters.is_empty()
        {
            // A reference to a path below this one would repeat it. The page leads from here to its address.
            let json = Filters(filters.to_vec()).to_value().to_string();
            return self.link(&[("filters", Some(&json)), ("offset", None)]);
        }
        with_query(self.address.to(filters, &self.address.page), &self.query(&[("offset", None)]))
    }
}

fn with_query(path: String, query: &str) -> String {
    if query.is_empty() { path } else { format!("{path}?{query}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(query: &str) -> View {
        View::read("/p/1/pages", query, &["tab"]).unwrap()
    }

    /// The state of the page that a link leads to.
    fn at(link: &str) -> View {
        let (path, query) = link.split_once('?').unwrap_or((link, ""));
        View::read(path, query, &["tab"]).unwrap()
    }

    #[test]
    fn a_condition_is_added_once_and_taken_away() {
        let narrowed = view("tab=pages").narrowed(None, Dimension::Country, "usa").unwrap();
        assert_eq!(narrowed, "/p/1/where/country=usa/pages?tab=pages");
        let once = at(&narrowed);
        assert_eq!(once.narrowed(None, Dimension::Country, "usa").unwrap(), "pages?tab=pages", "it is there");
        assert_eq!((once.filters.len(), once.widened(0)), (1, "/p/1/pages?tab=pages".to_owned()));
        assert_eq!(once.narrowed(Some("overview"), Dimension::Device, "MOBILE").unwrap(), "device=MOBILE/overview");
    }

    #[test]
    fn another_page_gets_the_question_alone() {
        let view = view("tab=pages&metric=position&searchType=image&period=last_week");
        assert_eq!(view.to("queries"), "/p/1/queries?period=last_week&searchType=image");
        assert_eq!(view.to("overview"), "/p/1?period=last_week&searchType=image");
    }

    #[test]
    fn conditions_in_the_query_string_move_into_the_path() {
        let filters = r#"[{"dimension":"page","operator":"contains","value":"/a"}]"#;
        let query = Serializer::new("metric=ctr&".to_owned()).append_pair("filters", filters).finish();
        let address = view(&query).elsewhere().unwrap();
        assert_eq!(address, "/p/1/where/page.contains=~1a/pages?metric=ctr");
        assert_eq!((at(&address).elsewhere(), at(&address).filters), (None, view(&query).filters));
        assert_eq!(view("metric=ctr").elsewhere(), None);
    }

    #[test]
    fn alternatives_are_not_narrowed() {
        let filters = r#"[{"dimension":"query","operator":"equals","value":"a"},{"dimension":"query","operator":"equals","value":"b","logic":"or"}]"#;
        let query = Serializer::new(String::new()).append_pair("filters", filters).finish();
        assert_eq!(view(&query).narrowed(None, Dimension::Country, "usa"), None);
        assert_eq!(view(&query).widened(0), "/p/1/pages");
    }
}
