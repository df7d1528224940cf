//! Reads the arguments of a call. The operation judges the values of its own parameters; here are only the names that tools add.

use analytics::period::Period;
use api::error::ApiError;
use poem::http::Method;
use rmcp::model::JsonObject;
use serde::Serialize;
use serde_json::{Map, Value};
use url::form_urlencoded::Serializer;

use super::{
    catalogue::Dates,
    clean::echo,
    dates::Named,
    offer::Offer,
    schema::DEFAULT_COMPARISON,
    values::{compare, json_text, period, string, text, whole},
};

/// The comparison that whole months do not mean literally, and the one that they mean by it.
const PREVIOUS_PERIOD: &str = "previous_period";
const PREVIOUS_CALENDAR_PERIOD: &str = "previous_calendar_period";
/// The most bytes of a query, percent-encoded. An address holds 65,534; the dates of named periods need some of them.
const MOST_QUERY_BYTES: usize = 64_000;

/// A call that has been read.
#[derive(Debug, Default, PartialEq)]
pub struct Call {
    /// The property, as the model named it.
    pub property: Option<String>,
    /// The query parameters.
    pub query: Vec<(String, String)>,
    /// The request body.
    pub body: Option<Map<String, Value>>,
    /// The idempotency key.
    pub key: Option<String>,
    /// The named periods.
    pub named: Named,
    /// The size of the answer.
    pub size: Size,
}

/// The size of the answer that a call asks for.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Size {
    /// The most rows of each list.
    pub rows: usize,
    /// True if the call names that number. Otherwise the answer may have fewer, to stay small.
    pub is_asked: bool,
    /// True if the series of the answer are asked for.
    pub has_series: bool,
}

/// Reads the `arguments` that a call of `offer` means.
///
/// # Errors
/// `invalid_request`, with a hint that names the argument and the way out.
pub fn read(offer: &Offer, arguments: JsonObject) -> Result<Call, ApiError> {
    let (declared, known) = (offer.declaration, &offer.arguments.schemas);
    let is_kind = |name: &str| name == "kind" && !declared.kind.is_empty();
    // Some programs send a tool without arguments one that they make up, because their models cannot send none.
    let takes_none = known.is_empty() && offer.elsewhere.is_empty();
    let is_given = |name: &str, value: &Value| !value.is_null() && !is_kind(name) && !takes_none;
    let given: Vec<(String, Value)> = arguments.into_iter().filter(|(name, value)| is_given(name, value)).collect();
    if let Some((name, _)) = given.iter().find(|(name, _)| !known.contains_key(name)) {
        let refusal = if let Some(chooser) = offer.elsewhere.get(name) {
            format!("needs {chooser} beside it")
        } else {
            let choosers = offer.elsewhere.iter().filter(|(name, chooser)| name.as_str() == **chooser);
            let names: Vec<&str> = known.keys().chain(choosers.map(|(name, _)| name)).map(String::as_str).collect();
            format!("is not an argument of {}; it takes {}", declared.as_called(), listed(&names))
        };
        return Err(ApiError::invalid(&echo(name), &refusal));
    }
    let named = Named { by_calendar: by_calendar(offer), ..Named::default() };
    // A body without members is one, too: the operation says which it lacks.
    let body = (offer.operation.method != Method::GET).then(Map::new);
    let mut call = Call { body, named, ..Call::default() };
    let mut rows = u64::from(declared.rows.default);
    call.size.has_series = declared.series_by.is_none_or(|name| given.iter().any(|(given, _)| given == name));
    for (name, value) in given {
        match name.as_str() {
            "property" => call.property = Some(string(&name, value)?),
            "idempotencyKey" => call.key = Some(text(&name, &value)?),
            "limit" => {
                rows = whole(&name, &value, offer.most_rows().unwrap_or_default())?;
                call.size.is_asked = true;
            }
            "period" => call.named.period = Some(period(&value)?),
            "compareTo" => call.query.push(("compare".to_owned(), compare(&value)?)),
            _ if is_parameter(offer, &name) => {
                let text = if offer.is_list(&name) { json_text(&value) } else { text(&name, &value)? };
                call.query.push((name, text));
            }
            _ => drop(call.body.get_or_insert_default().insert(name, value)),
        }
    }
    if offer.operation.is_property_scoped() && call.property.as_deref().unwrap_or_default().trim().is_empty() {
        return Err(ApiError::invalid("property", "is required; list_properties gives ids, domains and site URLs"));
    }
    call.size.rows = usize::try_from(rows).unwrap_or(usize::MAX);
    call.settle_dates(declared.dates)?;
    call.add_defaults(offer, rows);
    call.check_length()?;
    call.ask_by_body(offer);
    Ok(call)
}

impl Call {
    fn gives(&self, name: &str) -> bool {
        self.query.iter().any(|(given, _)| given == name)
    }

    /// Refuses dates beside the names that stand for them.
    fn settle_dates(&mut self, dates: Dates) -> Result<(), ApiError> {
        let has_window = self.gives("startDate") || self.gives("endDate");
        let has_comparison = self.gives("compareStart") || self.gives("compareEnd");
        if has_window && self.named.period.is_some() {
            return Err(ApiError::invalid("period", "give either period or startDate and endDate"));
        }
        if has_comparison && self.gives("compare") {
            return Err(ApiError::invalid("compareTo", "give either compareTo or compareStart and compareEnd"));
        }
        if dates == Dates::Compared && !has_comparison && !self.gives("compare") {
            self.query.push(("compare".to_owned(), DEFAULT_COMPARISON.to_owned()));
        }
        if self.named.period.is_some_and(Period::is_whole_months) {
            self.compare_months();
        }
        Ok(())
    }

    /// Compares whole months with whole months where the period before is asked for.
    fn compare_months(&mut self) {
        let compare = self.query.iter_mut().find(|(name, _)| name == "compare");
        if let Some((_, name)) = compare.filter(|(_, name)| name == PREVIOUS_PERIOD) {
            PREVIOUS_CALENDAR_PERIOD.clone_into(name);
        }
    }

    fn check_length(&self) -> Result<(), ApiError> {
        if Serializer::new(String::new()).extend_pairs(&self.query).finish().len() <= MOST_QUERY_BYTES {
            return Ok(());
        }
        let longest = self.query.iter().max_by_key(|(_, value)| value.len());
        let name = longest.map_or("arguments", |(name, _)| name);
        Err(ApiError::invalid(name, "is too long; all arguments together may take 64,000 bytes, percent-encoded"))
    }

    fn add_defaults(&mut self, offer: &Offer, rows: u64) {
        let declared = offer.declaration;
        let rows = declared.rows.parameters.iter().map(|name| ((*name).to_owned(), rows.to_string()));
        self.query.extend(rows);
        for (name, default) in declared.defaults {
            if !self.gives(name) {
                self.query.push(((*name).to_owned(), (*default).to_owned()));
            }
        }
    }
}

fn by_calendar(offer: &Offer) -> bool {
    offer.declaration.dates == Dates::Calendar
}

/// Returns whether the argument `name` is the operation's parameter of the same name.
fn is_parameter(offer: &Offer, name: &str) -> bool {
    offer.declaration.parameters.contains(&name) || offer.declaration.dates.parameters().contains(&(name, name))
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use api::document::{Locations, document};
    use serde_json::json;

    use super::*;
    use crate::mcp::offer::Offers;

    fn call(tool: &str, arguments: &Value) -> Result<Call, ApiError> {
        let offers = Offers::of(&document(&Locations::relative()));
        let arguments = offers.meant(tool, arguments.as_object().unwrap().clone());
        read(offers.find(tool, &arguments).unwrap()?, arguments)
    }

    fn query(tool: &str, arguments: &Value) -> String {
        let call = call(tool, arguments).unwrap();
        call.query.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
    }

    #[test]
    fn arguments_become_parameters() {
        for (tool, arguments, expected) in [
            ("get_countries", json!({ "property": "a.test" }), "limit=10"),
            (
                "get_countries",
                json!({ "property": "a.test", "limit": 3, "searchType": "image" }),
                "searchType=image&limit=3",
            ),
            ("get_countries", json!({ "property": "a.test", "limit": "3", "searchType": null }), "limit=3"),
            ("get_performance", json!({ "property": "a.test" }), "queryLimit=10&pageLimit=10&scope=tables"),
            (
                "get_performance",
                json!({ "property": "a.test", "scope": "all" }),
                "scope=all&queryLimit=10&pageLimit=10",
            ),
            (
                "find_cannibalization",
                json!({ "property": "a.test", "includeBranded": true }),
                "includeBranded=true&limit=10",
            ),
            (
                "get_countries",
                json!({ "property": "a.test", "filters": [{ "dimension": "device", "operator": "equals", "value": "MOBILE" }] }),
                r#"filters=[{"dimension":"device","operator":"equals","value":"MOBILE"}]&limit=10"#,
            ),
            ("list_properties", json!({ "search": "shop", "days": 7 }), "search=shop&days=7&sort=-clicks"),
            (
                "list_records",
                json!({ "kind": "annotations", "property": "a", "includeSystem": true }),
                "includeSystem=true",
            ),
            ("list_records", json!({ "kind": "tags" }), ""),
        ] {
            assert_eq!(query(tool, &arguments), expected, "{tool} {arguments}");
        }
    }

    #[test]
    fn comparisons_become_parameters() {
        for (tool, arguments, expected) in [
            (
                "compare_periods",
                json!({ "property": "a.test" }),
                "compare=previous_period&queryLimit=10&pageLimit=10&scope=tables",
            ),
            (
                "compare_periods",
                json!({ "property": "a.test", "period": "last_quarter" }),
                "compare=previous_calendar_period&queryLimit=10&pageLimit=10&scope=tables",
            ),
            (
                "compare_periods",
                json!({ "property": "a.test", "period": "last_month", "compareTo": "previous_year" }),
                "compare=previous_year&queryLimit=10&pageLimit=10&scope=tables",
            ),
            (
                "compare_periods",
                json!({ "property": "a.test", "compareStart": "2026-09-01", "compareEnd": "2026-09-02", "scope": "all" }),
                "compareStart=2026-09-01&compareEnd=2026-09-02&scope=all&queryLimit=10&pageLimit=10",
            ),
            (
                "get_countries",
                json!({ "property": "a.test", "compareTo": "previous_year_same_weekdays" }),
                "compare=previous_year_same_weekdays&limit=10",
            ),
            (
                "explain_click_change",
                json!({ "property": "a.test", "searchType": "image", "limit": 3 }),
                "searchType=image&compare=previous_period&explainLimit=3&explain=true&scope=totals",
            ),
        ] {
            assert_eq!(query(tool, &arguments), expected, "{tool} {arguments}");
        }
    }

    #[test]
    fn a_note_is_a_body() {
        let arguments = json!({ "property": "a.test", "date": "2026-11-16", "text": "Launch", "idempotencyKey": "k" });
        let call = call("add_annotation", &arguments).unwrap();
        assert_eq!(call.key.as_deref(), Some("k"));
        assert_eq!(call.body.map(Value::Object), Some(json!({ "date": "2026-11-16", "text": "Launch" })));
        assert_eq!(call.query, []);
        let without = super::tests::call("add_annotation", &json!({ "property": "a.test" })).unwrap();
        assert_eq!(without.body.map(Value::Object), Some(json!({})), "the operation says what is missing");
    }

    #[test]
    fn a_call_says_the_size_of_its_answer() {
        for (tool, arguments, rows, is_asked, has_series) in [
            ("get_countries", json!({ "property": "a" }), 10, false, true),
            ("get_countries", json!({ "property": "a", "limit": 10 }), 10, true, true),
            ("get_query_insights", json!({ "property": "a" }), 10, false, false),
            ("get_query_insights", json!({ "property": "a", "granularity": "week" }), 10, false, true),
            ("list_records", json!({ "kind": "tags" }), 25, false, true),
        ] {
            let size = call(tool, &arguments).unwrap().size;
            assert_eq!(size, Size { rows, is_asked, has_series }, "{tool} {arguments}");
        }
    }

    #[test]
    fn periods_are_named() {
        let named = |tool: &str, arguments: Value| call(tool, &arguments).unwrap().named;
        let notes = json!({ "kind": "annotations", "property": "a", "period": "last_7_days" });
        assert!(named("list_records", notes).by_calendar);
        assert_eq!(
            named("get_countries", json!({ "property": "a", "period": "last_week" })).period,
            Some(Period::LastWeek)
        );
    }

    #[test]
    fn refusals_name_the_argument_and_the_way_out() {
        for (tool, arguments, hint) in [
            ("get_countries", json!({}), "property: is required; list_properties gives ids, domains and site URLs"),
            ("get_countries", json!({ "property": " " }), "property: is required"),
            ("get_countries", json!({ "property": ["a"] }), "property: must be a string"),
            (
                "get_countries",
                json!({ "property": "a", "site": 1 }),
                "site: is not an argument of this tool; it takes ",
            ),
            ("get_countries", json!({ "property": "a", "limit": 501 }), "limit: must be a whole number from 1 to 500"),
            ("get_countries", json!({ "property": "a", "limit": 0 }), "limit: must be a whole number from 1 to 500"),
            ("get_countries", json!({ "property": "a", "limit": "+5" }), "limit: must be a whole number from 1 to 500"),
            ("get_countries", json!({ "property": "a", "limit": 5.5 }), "limit: must be a whole number from 1 to 500"),
            (
                "explain_click_change",
                json!({ "property": "a", "explain": false }),
                "explain: is not an argument of this tool",
            ),
            (
                "explain_click_change",
                json!({ "property": "a", "limit": 101 }),
                "limit: must be a whole number from 1 to 100",
            ),
            (
                "get_countries",
                json!({ "property": "a", "period": "last year" }),
                "period: must be yesterday, last_week",
            ),
            (
                "get_countries",
                json!({ "property": "a", "period": "last_week", "endDate": "2026-11-02" }),
                "period: give either period or startDate and endDate",
            ),
            (
                "compare_periods",
                json!({ "property": "a", "compareTo": "2025" }),
                "compareTo: must be one of previous_period, previous_period_same_weekdays",
            ),
            (
                "get_performance",
                json!({ "property": "a", "compareTo": "previous_year" }),
                "compareTo: is not an argument",
            ),
            ("get_performance", json!({ "property": "a", "filters": "x".repeat(65_000) }), "filters: is too long"),
            (
                "list_records",
                json!({ "kind": "annotations", "property": "a", "startDate": "é".repeat(12_000) }),
                "startDate: is too long",
            ),
        ] {
            let refusal = call(tool, &arguments).unwrap_err();
            assert!(refusal.hint.as_deref().unwrap().starts_with(hint), "{refusal}");
        }
    }

    #[test]
    fn refusals_name_what_a_kind_of_records_takes() {
        for (arguments, hint) in [
            (json!({ "property": "a" }), "kind: must be one of annotations, "),
            (json!({ "kind": "segments" }), "property: is required"),
            (
                json!({ "kind": "segments", "property": "a", "period": "last_week" }),
                "period: is not an argument of kind=segments; it takes property, limit",
            ),
            (json!({ "kind": "tags", "property": "a" }), "property: is not an argument of kind=tags; it takes limit"),
        ] {
            let refusal = call("list_records", &arguments).unwrap_err();
            assert!(refusal.hint.as_deref().unwrap().starts_with(hint), "{refusal}");
        }
    }
}
