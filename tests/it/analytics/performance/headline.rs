//! Tests of the headline: its numbers are those of the answer, and each of its parts is the answer to its own question.

use serde_json::Value;

use super::Asker;
use crate::support::{actor::Actor, app::TestApp};

const EXPLAINED: [(&str, &str); 2] = [("compare", "previous_period"), ("explain", "true")];

/// The number of clicks that a text says, with its sign.
fn clicks_of(text: &str) -> i64 {
    let start = text.find(['−', '+']).unwrap_or_else(|| panic!("no change in {text}"));
    let sign = if text[start..].starts_with('−') { -1 } else { 1 };
    let digits: String =
        text[start..].chars().skip(1).take_while(|letter| letter.is_ascii_digit() || *letter == ',').collect();
    sign * digits.replace(',', "").parse::<i64>().unwrap()
}

async fn answer(actor: &Actor, property: &str, more: &[(&str, &str)]) -> Value {
    let query = [&EXPLAINED[..], more].concat();
    actor.ask(&format!("/api/properties/{property}/performance"), &query).await.expect(200).json
}

#[tokio::test]
async fn a_part_of_the_headline_is_the_change_of_its_own_question() {
    let app = TestApp::start(|config| config.simulator.sites = 40).await;
    let network = app.actor("network").await;
    let mut portfolio = Value::Null;
    while portfolio["meta"]["coverage"]["stillReading"] != 0 {
        portfolio = network.ask("/api/portfolio", &[("movers", "4")]).await.expect(200).json;
    }
    let (mut with_parts, mut usual, mut links) = (0, 0, 0);
    let movers = &portfolio["data"]["movers"];
    for property in [&movers["up"], &movers["down"]].into_iter().flat_map(|side| side.as_array().unwrap()) {
        let id = property["id"].as_str().unwrap();
        let json = answer(&network, id, &[]).await;
        let data = &json["data"];
        let headline = &data["explanation"]["headline"];
        let text = headline["text"].as_str().unwrap();
        assert!(text.chars().count() <= 120, "{text}");
        let change = data["totals"]["change"]["clicks"]["absolute"].as_i64().unwrap();
        let parts = headline["parts"].as_array().unwrap();
        if parts.is_empty() {
            usual += 1;
        } else {
            with_parts += 1;
            let said = text.replace(',', "");
            assert!(said.contains(&format!(" {} click", change.abs())), "{text}: {change}");
            assert!(text.contains(if change < 0 { " lost " } else { " gained " }), "{text}");
        }
        for part in parts.iter().filter(|part| part.get("startDate").is_none()) {
            let filters = part.get("filters").map(Value::to_string);
            let narrowed = match (&filters, part.get("classification")) {
                (Some(filters), None) => ("filters", filters.as_str()),
                (None, Some(class)) => ("classification", class.as_str().unwrap()),
                _ => panic!("{part} is no question"),
            };
            let own = answer(&network, id, &[narrowed]).await;
            let expected = own["data"]["totals"]["change"]["clicks"]["absolute"].as_i64().unwrap();
            assert_eq!(clicks_of(part["text"].as_str().unwrap()), expected, "{part}");
            let parts_of_own = own["data"]["explanation"]["headline"]["parts"].as_array().unwrap();
            let same = parts_of_own
                .iter()
                .find(|own| own.get("filters") == part.get("filters") && own.get("startDate").is_none());
            assert_eq!(same, None, "the question is about {part} already");
            links += 1;
        }
    }
    assert!(with_parts > 2 && links > 5, "{with_parts} with parts, {usual} without, {links} parts");
}

#[tokio::test]
async fn the_headline_is_the_same_whatever_else_is_asked() {
    let asker = Asker::paper().await;
    let mut texts = Vec::new();
    for more in [
        &[][..],
        &[("scope", "totals")],
        &[("scope", "all"), ("usual", "true")],
        &[("granularity", "week")],
        &[("granularity", "month"), ("usual", "true")],
    ] {
        let json = answer(&asker.actor, &asker.property, more).await;
        texts.push(json["data"]["explanation"]["headline"].to_string());
    }
    assert!(texts.iter().all(|text| *text == texts[0]), "{texts:?}");
}
