//! Tests of `meta.question`: the question as it was understood, which asks the same again.

use poem::http::StatusCode;
use serde_json::{Value, json};

use super::performance::Asker;
use crate::{
    coverage::{Documented, documented},
    support::{
        actor::Actor,
        app::{TestApp, shared},
        class::Class,
    },
};

/// A site, the person who reads it, and texts of its demo classifications.
const PLACES: [(&str, &str, &str, &str); 3] = [
    ("stranger", "quietmeadow", "/services/", "plant"),
    ("owner", "tinyfern", "/services/", "fern"),
    ("owner", "ledgerline", "/docs/", "invoice"),
];

/// The operations whose answer echoes the question.
const OPERATIONS: [&str; 10] = [
    "getPropertyPerformance",
    "getPropertyCannibalization",
    "getPropertyGrowthOpportunities",
    "getPropertyQueryInsights",
    "getPropertyQueryCount",
    "listPropertyCountries",
    "getPropertyCountriesTimeseries",
    "getPropertyTableSparklines",
    "getPropertyBrandedTraffic",
    "getSharedPerformance",
];

/// Draws questions. The n-th one depends on n only.
struct Draw(u64);

impl Draw {
    /// A number below `bound` (splitmix64).
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((z ^ (z >> 31)) >> 1).unwrap() % bound
    }

    fn one_of<'v>(&mut self, values: &[&'v str]) -> &'v str {
        values[self.below(values.len())]
    }

    /// Some of the parameters of an operation, with values. Dates come in pairs.
    fn parameters(&mut self, operation: &Documented, classifications: &[String]) -> Vec<(String, String)> {
        let mut drawn = Vec::new();
        for parameter in operation.says["parameters"].as_array().unwrap() {
            let name = parameter["name"].as_str().unwrap_or_default();
            if parameter["in"] != "query" || self.below(2) == 0 {
                continue;
            }
            drawn.extend(match name {
                "startDate" => self.window(["startDate", "endDate"]),
                "compareStart" => self.window(["compareStart", "compareEnd"]),
                "endDate" | "compareEnd" | "compare" => vec![],
                "classification" => vec![(name.to_owned(), classifications[self.below(classifications.len())].clone())],
                _ => vec![(name.to_owned(), self.value(name).to_owned())],
            });
        }
        if !drawn.iter().any(|(name, _)| name == "compareStart") {
            drawn.retain(|(name, _)| name != "explain");
        }
        drawn
    }

    fn window(&mut self, names: [&str; 2]) -> Vec<(String, String)> {
        let windows = [["2026-11-02", "2026-11-08"], ["2026-10-05", "2026-10-05"], ["2026-11-15", "2026-11-21"]];
        let window = windows[self.below(windows.len())];
        names.into_iter().zip(window).map(|(name, date)| (name.to_owned(), date.to_owned())).collect()
    }

    /// A value of a parameter that is neither a date nor a classification.
    fn value(&mut self, name: &str) -> &'static str {
        match name {
            "searchType" => self.one_of(&["web", "image"]),
            "filters" => self.one_of(&[
                "[]",
                r#"[{"dimension":"country","operator":"or_list","value":"USA, gbr"}]"#,
                r#"[{"dimension":"query","operator":"not_contains","value":"a"},{"dimension":"device","operator":"equals","value":"mobile","logic":"or"}]"#,
            ]),
            "dataState" => self.one_of(&["final", "all"]),
            "sort" => self.one_of(&["-impressions", "position", "-clicks", "ctr"]),
            "metricFilters" => self.one_of(&["impressions>=3", "clicks>0,position<=12.5", "countries.clicks>0", "queries.ctr<0.5"]),
            "queryOffset" | "pageOffset" | "offset" => self.one_of(&["0", "3"]),
            "granularity" => self.one_of(&["day", "week", "month"]),
            "scope" => self.one_of(&["series", "tables", "all"]),
            "queryLimit" | "pageLimit" | "limit" | "minImpressions" | "minQueryImpressions" | "minPageImpressions" => {
                self.one_of(&["1", "7", "50"])
            }
            "top" | "targetPosition" | "explainLimit" => self.one_of(&["1", "3"]),
            "explain" | "usual" | "includeBranded" | "includeSystem" => self.one_of(&["true", "false"]),
            "minPageShare" => self.one_of(&["0", "0.0000001", "0.25", "1e-3"]),
            "maxTopShare" => self.one_of(&["0.5", "0.95", "1"]),
            "minPosition" => self.one_of(&["1", "2.5"]),
            "maxPosition" => self.one_of(&["15", "99.75"]),
            "kind" => self.one_of(&["rank", "snippet"]),
            "table" => self.one_of(&["countries", "devices"]),
            "keys" => self.one_of(&[r#"["USA","gbr"]"#]),
            other => panic!("this test has no values for {other}"),
        }
    }
}

/// The parameters that a question stands for.
fn sent_again(question: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    question.as_object().unwrap().iter().map(|(name, value)| (name.clone(), text(value))).collect()
}

async fn ask(actor: &Actor, path: &str, query: &[(String, String)]) -> (StatusCode, Value) {
    let query: Vec<(&str, &str)> = query.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let answer = actor.ask(path, &query).await;
    (answer.status, answer.json)
}

/// A new share link of a property.
async fn link(asker: &Asker) -> String {
    let path = format!("/api/properties/{}/share-links", asker.property);
    let made = asker.actor.post(&path, &json!({ "name": "Question" })).await.expect(201);
    made.json["data"]["token"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_question_of_an_answer_asks_the_same_again() {
    let (mut tried, mut draw) = (0, Draw(7));
    for (who, site, section, topic) in PLACES {
        let asker = Asker::of(shared(), who, site).await;
        let mut classifications = vec!["branded".to_owned(), "nonBranded".to_owned()];
        for (class, text) in [(Class::Segment, section), (Class::Topic, topic)] {
            classifications.push(class.parameter(&asker.actor, &asker.property, text).await);
        }
        let token = link(&asker).await;
        for operation in documented().iter().filter(|operation| OPERATIONS.contains(&operation.id())) {
            let path = operation.at(&asker.property).replace(crate::coverage::NOBODYS, &token);
            for _ in 0..8 {
                let parameters = draw.parameters(operation, &classifications);
                let (status, first) = ask(&asker.actor, &path, &parameters).await;
                if status == 400 {
                    // Queries may be too many conditions to combine; a table may not have the keys.
                    continue;
                }
                assert_eq!(status, 200, "{} {parameters:?}: {first}", operation.id());
                let question = &first["meta"]["question"];
                for (name, value) in &parameters {
                    let said = &question[name];
                    let same = said.as_str().map_or_else(
                        || {
                            serde_json::from_str::<Value>(value).unwrap() == *said
                                || said.as_f64() == value.parse().ok()
                        },
                        |said| said == value,
                    );
                    assert!(same, "{} {name}={value} is echoed as {said}", operation.id());
                }
                let (status, again) = ask(&asker.actor, &path, &sent_again(question)).await;
                assert_eq!(status, 200, "{question}: {again}");
                assert_eq!(again["meta"]["question"], *question, "{}", operation.id());
                assert_eq!(again["data"], first["data"], "{} {question}", operation.id());
                tried += 1;
            }
        }
    }
    assert!(tried > 180, "{tried}");
}

#[tokio::test]
async fn a_question_without_parameters_is_echoed_with_its_defaults() {
    let asker = Asker::small().await;
    let json = asker.ask(&[]).await.expect(200).json;
    let expected = json!({
        "startDate": "2026-10-22", "endDate": "2026-11-18", "dataState": "final", "searchType": "web", "granularity": "day",
        "scope": "series", "queryLimit": 500, "pageLimit": 500, "queryOffset": 0, "pageOffset": 0, "explain": false, "explainLimit": 10, "usual": false, "includeSystem": false,
    });
    assert_eq!(json["meta"]["question"], expected);
    assert!(json["meta"].get("labels").is_none());
}

#[tokio::test]
async fn a_classification_is_labelled_by_its_name_but_not_for_the_readers_of_links() {
    let app = TestApp::start(|_| {}).await;
    let asker = Asker::of(&app, "owner", "tinyfern").await;
    let segments = format!("/api/properties/{}/segments", asker.property);
    let body = |name: &str| json!({ "name": name, "conditions": [{ "operator": "contains", "value": "/services/" }] });
    let id = asker.actor.made(&segments, &body("Secret plan")).await;
    let classification = format!("segment:{}", id.to_uppercase());
    let query = [("classification", classification.as_str())];
    let label = async || asker.ask(&query).await.expect(200).json["meta"]["labels"].clone();
    assert_eq!(label().await, json!({ "classification": "Secret plan" }));
    let json = asker.ask(&query).await.expect(200).json;
    assert_eq!(json["meta"]["question"]["classification"], format!("segment:{id}"));

    // The name changes while the readings stay.
    asker.actor.put(&format!("{segments}/{id}"), &body("Open plan")).await.expect(200);
    assert_eq!(label().await, json!({ "classification": "Open plan" }));

    let token = link(&asker).await;
    let shared = app.anonymous().ask(&format!("/api/share/{token}/performance"), &query).await.expect(200);
    assert_eq!(shared.json["meta"]["question"]["classification"], format!("segment:{id}"));
    assert!(!String::from_utf8_lossy(&shared.bytes).contains("plan"), "{}", shared.json["meta"]);
    assert!(asker.ask(&[("classification", "branded")]).await.expect(200).json["meta"].get("labels").is_none());
}
