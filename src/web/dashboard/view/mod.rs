//! The state of a page. Its address holds all of it, so that a link, a bookmark and the back button lead to the same numbers: the
//! conditions are in its path, everything else in its query string.

mod known;
mod links;
mod tracking;

use std::collections::BTreeMap;

use analytics::period::{NAMES, Period};
use api::{
    error::ApiError,
    models::{
        Compare, Comparison, Dimension, FilterCondition, FilterLogic, FilterOperator, Filters, Question, SearchType,
        Window, parse_day,
    },
    params::{Metric, ParamValue as _, QueryPairs, QueryParams as _, decoded},
};
use chrono::NaiveDate;
use common::names::pages::written_forms;
use serde_json::Value;
use url::form_urlencoded::Serializer;

use self::{known::known, tracking::is_tracking};
use super::{
    address::{self, Address, MOST_BYTES},
    kind,
};
use crate::services::analyses::windows::{Windows, oldest_day};

/// The parameters that mean to a page what they mean to the operations.
const OF_THE_API: [&str; 8] =
    ["startDate", "endDate", "compare", "compareStart", "compareEnd", "classification", "searchType", "dataState"];

/// The name of the comparison that compares nothing.
pub const NO_COMPARISON: &str = "none";

/// The comparison without a parameter that names one.
const DEFAULT_COMPARISON: Compare = Compare::PreviousPeriod;

/// The days of a page without parameters.
const DEFAULT_PERIOD: Period = Period::Days(28);

/// The state of a page.
#[derive(Debug, Clone)]
pub struct View {
    address: Address,
    /// The parameters that were sent and have a value, without the conditions.
    given: BTreeMap<&'static str, String>,
    /// The named period, unless there are dates.
    period: Option<Period>,
    /// The metric of the chart.
    pub metric: Metric,
    /// The conditions.
    pub filters: Vec<FilterCondition>,
    /// The saved filters that replace the conditions. No link of the page carries them.
    pub preset: Option<String>,
    /// The outcome of the form before. No link of the page carries it.
    pub done: Option<String>,
}

impl View {
    /// Reads the state from an address. A page takes the parameters of the question, `period`, `metric`, and its own `names`. Those of people
    /// also take `preset` and `done`, which mean nothing to readers of a share link.
    ///
    /// # Errors
    /// `invalid_request` for an unknown name, for a name that comes twice, for a value that is not allowed, and for too long conditions.
    pub fn read(path: &str, query: &str, names: &[&'static str]) -> Result<Self, ApiError> {
        let address =
            Address::of(path).ok_or_else(|| ApiError::invalid("filters", "the address holds none that can be read"))?;
        let pairs = decoded(query).ok_or_else(|| ApiError::invalid("query string", "must be percent-encoded UTF-8"))?;
        let mut given = BTreeMap::new();
        // A form also sends the fields that were left empty.
        for (name, value) in pairs.into_iter().filter(|(name, value)| !value.is_empty() && !is_tracking(name)) {
            let name = known(path, &address, names)
                .find(|known| *known == name)
                .ok_or_else(|| ApiError::invalid(&name, "not a parameter here; open the page without it"))?;
            if given.insert(name, value).is_some() {
                return Err(ApiError::invalid(name, "given more than once; send it once"));
            }
        }
        let text = |name: &str| given.get(name).map(String::as_str);
        let parsed =
            |text| Period::parse(text).ok_or_else(|| ApiError::invalid("period", &format!("must be one of {NAMES}")));
        let period = text("period").map(parsed).transpose()?;
        if period.is_some() && (text("startDate").is_some() || text("endDate").is_some()) {
            return Err(ApiError::invalid("period", "give either period or startDate and endDate"));
        }
        let metric = text("metric").map_or(Some(Metric::Clicks), Metric::named);
        let metric =
            metric.ok_or_else(|| ApiError::invalid("metric", "must be clicks, impressions, ctr or position"))?;
        let filters = conditions(&address, given.remove("filters").as_deref())?;
        let (preset, done) = (given.remove("preset"), given.remove("done"));
        Ok(Self { address, given, period, metric, filters, preset, done })
    }

    /// The value of a parameter that was sent.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.given.get(name).map(String::as_str)
    }

    /// Returns the number that a parameter of the page holds, or zero without it.
    ///
    /// # Errors
    /// `invalid_request` if it is not a whole number.
    pub fn number(&self, name: &str) -> Result<u32, ApiError> {
        let number = self.text(name).map_or(Ok(0), str::parse);
        number.map_err(|_| ApiError::invalid(name, "must be a whole number"))
    }

    /// The kind of search.
    #[must_use]
    pub fn search_type(&self) -> SearchType {
        let named =
            self.text("searchType").and_then(|text| kind::KINDS.into_iter().find(|(kind, _)| kind.name() == text));
        named.map_or(SearchType::Web, |(found, _)| found)
    }

    /// Returns whether the kind of search has rows by a dimension.
    #[must_use]
    pub fn has(&self, dimension: Dimension) -> bool {
        self.search_type().has(dimension)
    }

    /// Returns whether the kind of search can tell a part of the traffic.
    #[must_use]
    pub fn has_class(&self, class: &str) -> bool {
        kind::has_class(self.search_type(), class)
    }

    /// The conditions that the kind of search can answer. None of them if some are alternatives.
    #[must_use]
    pub fn answerable(&self) -> Vec<FilterCondition> {
        if self.has_alternatives() {
            return Vec::new();
        }
        self.filters.iter().filter(|condition| self.has(condition.dimension)).cloned().collect()
    }

    /// True if the question is about a part of the traffic.
    #[must_use]
    pub fn is_narrowed(&self) -> bool {
        !self.filters.is_empty() || self.text("classification").is_some()
    }

    /// The window, if the page names one. `last_final` is the last final day, on which periods of days end unless the page also counts days
    /// that are not final.
    #[must_use]
    pub fn window(&self, today: NaiveDate, last_final: NaiveDate) -> Option<Window> {
        let date = |name| parse_day(self.text(name)?).ok();
        let dates = || Some(Window { start_date: date("startDate")?, end_date: date("endDate")? });
        let last = if self.text("dataState") == Some("all") { today } else { last_final };
        let named = self.period.map(|period| {
            let Window { start_date, end_date } = period.window(today, last);
            Window { start_date: start_date.max(oldest_day(today)), end_date }
        });
        named.or_else(dates)
    }

    /// Returns the parameters of the question for an operation. A window that begins too early to be compared is compared with nothing,
    /// unless a comparison was asked for.
    #[must_use]
    pub fn question(
        &self,
        window: Option<Window>,
        today: NaiveDate,
        last_final: NaiveDate,
    ) -> Vec<(&'static str, String)> {
        let mut pairs: Vec<(&str, String)> = Vec::new();
        for name in OF_THE_API.into_iter().filter(|name| !["startDate", "endDate", "compare"].contains(name)) {
            pairs.extend(self.text(name).map(|value| (name, value.to_owned())));
        }
        pairs.extend(self.conditions());
        match (window, self.text("startDate"), self.text("endDate")) {
            (Some(Window { start_date, end_date }), _, _) => {
                pairs.push(("startDate", start_date.to_string()));
                pairs.push(("endDate", end_date.to_string()));
            }
            // One date, or one that is none: the operation says what is wrong.
            (None, start, end) => {
                pairs.extend(start.map(|start| ("startDate", start.to_owned())));
                pairs.extend(end.map(|end| ("endDate", end.to_owned())));
            }
        }
        match self.text("compare") {
            Some(NO_COMPARISON) => {}
            Some(named) => pairs.push(("compare", named.to_owned())),
            None if self.text("compareStart").or(self.text("compareEnd")).is_some() => {}
            None => {
                let window = window.unwrap_or_else(|| DEFAULT_PERIOD.window(today, last_final));
                let before = DEFAULT_COMPARISON.before(window);
                if before.is_some_and(|before| before.start_date >= oldest_day(today)) {
                    pairs.push(("compare", name_of(DEFAULT_COMPARISON)));
                }
            }
        }
        pairs
    }

    /// Returns the parameters of the question without its days, for an operation that judges the rest.
    #[must_use]
    pub fn without_days(&self) -> Vec<(&'static str, String)> {
        let of_days = ["startDate", "endDate", "compare", "compareStart", "compareEnd"];
        let names = OF_THE_API.into_iter().filter(|name| !of_days.contains(name));
        let rest = names.filter_map(|name| Some((name, self.text(name)?.to_owned())));
        let compare = (self.text("compare") != Some(NO_COMPARISON)).then(|| ("compare", name_of(DEFAULT_COMPARISON)));
        rest.chain(self.conditions()).chain(compare).collect()
    }

    /// The conditions as a parameter of the API.
    #[must_use]
    pub fn conditions(&self) -> Option<(&'static str, String)> {
        (!self.filters.is_empty()).then(|| ("filters", Filters(self.filters.clone()).to_value().to_string()))
    }

    /// Returns the parameters with these names that were sent.
    #[must_use]
    pub fn sent(&self, names: &[&'static str]) -> Vec<(&'static str, String)> {
        names.iter().filter_map(|name| Some((*name, self.text(name)?.to_owned()))).collect()
    }

    /// Checks what the operations would refuse without asking the search engine: so the page is refused with its status.
    ///
    /// # Errors
    /// `invalid_request` for a value that is not allowed.
    pub fn checked(self, today: NaiveDate) -> Result<Self, ApiError> {
        let window = self.window(today, today);
        // Days are judged before those to compare with are computed from them.
        window.map(|window| Windows::given(&window.into(), &Comparison::default(), today)).transpose()?;
        let question = self.question(window, today, today);
        let query = Serializer::new(String::new()).extend_pairs(question).finish();
        let Question { window, comparison, .. } = Question::read(&QueryPairs::of(&query)?)?;
        Windows::given(&window, &comparison, today)?;
        Ok(self)
    }

    /// Returns the parameters that were sent, without some names.
    pub fn kept<'v>(&'v self, without: &'v [&str]) -> impl Iterator<Item = (&'static str, &'v str)> {
        let kept = self.given.iter().filter(|(name, _)| !without.contains(*name));
        kept.map(|(name, value)| (*name, value.as_str()))
    }

    /// Returns the conditions with one more: the dimension contains the text. A page contains it in any spelling.
    ///
    /// # Errors
    /// `invalid_request` if some of the conditions are alternatives.
    pub fn finding(&self, dimension: Dimension, text: &str) -> Result<String, ApiError> {
        if self.has_alternatives() {
            return Err(ApiError::invalid("find", "the filters hold alternatives; remove them first"));
        }
        let forms = if dimension == Dimension::Page { written_forms(text) } else { Vec::new() };
        let (operator, value) = if forms.len() > 1 {
            let forms: Vec<String> = forms.iter().map(|form| regex::escape(form)).collect();
            (FilterOperator::MatchesRegex, format!("(?i:{})", forms.join("|")))
        } else {
            (FilterOperator::Contains, text.to_owned())
        };
        let found = FilterCondition { dimension, operator, value, logic: None };
        let all: Vec<FilterCondition> = self.filters.iter().cloned().chain([found]).collect();
        Ok(Filters(all).to_value().to_string())
    }

    fn has_alternatives(&self) -> bool {
        self.filters.iter().any(|condition| condition.logic == Some(FilterLogic::Or))
    }
}

/// The conditions of an address: those of its path, or those of its query string.
fn conditions(address: &Address, sent: Option<&str>) -> Result<Vec<FilterCondition>, ApiError> {
    let of_path = (!address.conditions.is_empty()).then(|| Filters(address.conditions.clone()).to_value().to_string());
    if of_path.is_some() && sent.is_some() {
        return Err(ApiError::invalid("filters", "give either conditions in the path or filters"));
    }
    let filters = of_path.as_deref().or(sent).map(Filters::parse).transpose();
    let filters = filters.map_err(|fault| ApiError::invalid("filters", &fault))?.unwrap_or_default().0;
    if address::length(&filters) > MOST_BYTES {
        let bound =
            format!("a page takes at most {MOST_BYTES} bytes of conditions; ask the API, which takes longer ones");
        return Err(ApiError::invalid("filters", &bound));
    }
    Ok(filters)
}

/// The name of a comparison as a parameter has it.
#[must_use]
pub fn name_of(compare: Compare) -> String {
    match compare.to_value() {
        Value::String(name) => name,
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(query: &str) -> View {
        View::read("/p/1/pages", query, &["tab"]).unwrap()
    }

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    fn asked(query: &str) -> String {
        let (view, today, last) = (view(query), day("2026-11-21"), day("2026-11-18"));
        let pairs = view.question(view.window(today, last), today, last);
        pairs.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
    }

    #[test]
    fn a_page_without_parameters_asks_for_the_default_window_and_the_period_before() {
        assert_eq!(asked(""), "compare=previous_period");
        assert_eq!(asked("compare=none"), "");
        assert_eq!(asked("compare=previous_year"), "compare=previous_year");
        assert_eq!(
            asked("compareStart=2026-01-01&compareEnd=2026-01-28"),
            "compareStart=2026-01-01&compareEnd=2026-01-28"
        );
    }

    #[test]
    fn text_to_find_in_pages_may_be_decoded() {
        let found = |dimension, text| Filters::parse(&view("").finding(dimension, text).unwrap()).unwrap().0.remove(0);
        for (dimension, text, operator, value) in [
            (Dimension::Page, "guides", FilterOperator::Contains, "guides"),
            (Dimension::Page, "/ש", FilterOperator::MatchesRegex, "(?i:/ש|/%D7%A9)"),
            (Dimension::Page, "bücher.example", FilterOperator::MatchesRegex, BOOKS),
            (Dimension::Query, "ש", FilterOperator::Contains, "ש"),
        ] {
            let condition = found(dimension, text);
            assert_eq!((condition.operator, condition.value.as_str()), (operator, value), "{text}");
        }
    }

    const BOOKS: &str = r"(?i:bücher\.example|b%C3%BCcher\.example|xn\-\-bcher\-kva\.example)";

    #[test]
    fn a_named_period_becomes_dates() {
        assert_eq!(
            asked("period=last_7_days&searchType=image"),
            "searchType=image&startDate=2026-11-12&endDate=2026-11-18&compare=previous_period"
        );
        let all = "startDate=2025-07-27&endDate=2026-11-18";
        assert_eq!(asked("period=last_480_days"), all, "nothing is left to compare with");
        assert_eq!(
            asked("period=last_7_days&dataState=all&compare=none"),
            "dataState=all&startDate=2026-11-15&endDate=2026-11-21"
        );
        assert_eq!(asked("period=last_480_days&compare=previous_year"), format!("{all}&compare=previous_year"));
    }

    /// The search engine has data since 21 July 2025.
    #[test]
    fn a_period_and_the_days_before_it_begin_where_the_data_does() {
        let days = "startDate=2025-07-31&endDate=2025-08-09";
        assert_eq!(asked(days), format!("{days}&compare=previous_period"), "the ten days before begin on 21 July");
        let earlier = "startDate=2025-07-30&endDate=2025-08-08";
        assert_eq!(asked(earlier), earlier, "a day of the ten before is not kept");
        assert_eq!(asked("period=last_year"), "startDate=2025-07-21&endDate=2025-12-31");
    }

    #[test]
    fn a_page_takes_conditions_up_to_a_length() {
        let filters = |length: usize| {
            let json = format!(r#"[{{"dimension":"query","operator":"contains","value":"{}"}}]"#, "a".repeat(length));
            View::read("/p/1", &Serializer::new(String::new()).append_pair("filters", &json).finish(), &[])
        };
        let own = "query.contains=/".len();
        assert!(filters(2_000).is_ok());
        let hint = filters(MOST_BYTES - own + 1).unwrap_err().hint.unwrap();
        assert!(hint.starts_with("filters: a page takes at most 4096 bytes"), "{hint}");
    }

    #[test]
    fn what_the_page_does_not_know_is_refused_by_name() {
        for (query, name) in [
            ("color=red", "color: "),
            ("tab=a&tab=b", "tab: "),
            ("metric=fame", "metric: "),
            ("period=ever", "period: "),
            ("period=last_week&startDate=2026-01-01", "period: "),
            ("filters=x", "filters: "),
        ] {
            let hint = View::read("/p/1", query, &["tab"]).unwrap_err().hint.unwrap();
            assert!(hint.starts_with(name), "{query}: {hint}");
        }
    }
}
