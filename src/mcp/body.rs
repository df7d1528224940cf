//! Questions that an operation takes in its body.

use common::strict_json;
use serde_json::Value;

use super::{arguments::Call, offer::Offer};

impl Call {
    /// Moves the parameters into the body, if the operation takes its question there. Lists and numbers are what they are in it.
    pub(super) fn ask_by_body(&mut self, offer: &Offer) {
        if !offer.declaration.asks_by_body() {
            return;
        }
        let value = |name: &str, text: String| {
            let is_json = offer.is_list(name) || offer.is_of(name, "integer");
            if is_json {
                strict_json::parse(text.as_bytes()).unwrap_or(Value::String(text))
            } else {
                Value::String(text)
            }
        };
        let fields = self.query.drain(..).map(|(name, text)| {
            let value = value(&name, text);
            (name, value)
        });
        self.body.get_or_insert_default().extend(fields);
    }
}

#[cfg(test)]
mod tests {
    use api::{
        document::{Locations, document},
        error::ApiError,
    };
    use serde_json::json;

    use super::*;
    use crate::mcp::{arguments::read, offer::Offers};

    fn call(tool: &str, arguments: &Value) -> Result<Call, ApiError> {
        let offers = Offers::of(&document(&Locations::relative()));
        let arguments = offers.meant(tool, arguments.as_object().unwrap().clone());
        read(offers.find(tool, &arguments).unwrap()?, arguments)
    }

    #[test]
    fn a_question_by_dimensions_is_a_body() {
        let arguments = json!({
            "property": "a.test", "dimensions": ["query", "page"], "period": "last_month", "sort": "-impressions", "offset": "5",
            "filters": [{ "dimension": "device", "operator": "equals", "value": "MOBILE" }],
        });
        let call = call("compare_periods", &arguments).unwrap();
        let expected = json!({
            "dimensions": ["query", "page"], "sort": "-impressions", "offset": 5, "filters": arguments["filters"],
            "compare": "previous_calendar_period", "limit": 10,
        });
        assert_eq!((call.query, call.body.map(Value::Object)), (vec![], Some(expected)));
    }

    #[test]
    fn a_refusal_says_which_arguments_go_with_dimensions() {
        let refusal =
            call("get_performance", &json!({ "property": "a", "dimensions": ["query"], "scope": "all" })).unwrap_err();
        let hint = refusal.hint.unwrap();
        assert!(hint.starts_with("scope: is not an argument of this tool beside dimensions; it takes "), "{hint}");
        let hint = call("get_performance", &json!({ "property": "a", "offset": 5 })).unwrap_err().hint.unwrap();
        assert_eq!(hint, "offset: needs dimensions beside it");
        let unknown = call("get_performance", &json!({ "property": "a", "by": "page" })).unwrap_err().hint.unwrap();
        assert!(unknown.contains("dimensions"), "{unknown}");
        let plain = call("get_performance", &json!({ "property": "a", "dimensions": null, "scope": "all" })).unwrap();
        assert!(plain.body.is_none());
    }
}
