//! Tests of classifications: parts of the traffic defined by a property's own lists.

use entity::{
    branded_keyword,
    classification::{self, Kind},
};
use sea_orm::{ModelTrait, prelude::*};
use simulator::SearchType;

use super::{Asker, END, PAPER, SMALL, START, site, truth};
use crate::support::{
    app::{TestApp, shared},
    oracle::{Count, Counted, Sum, Truth, all, by_date, by_query, said_by},
};

/// Returns whether the query contains one of the terms between boundaries, by a naive search.
fn names_the_brand(counted: Counted<'_>, terms: &[String]) -> bool {
    let spaced = |text: &str| {
        let words = text.to_lowercase();
        let words: String = words.chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
        words.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let query = spaced(&counted.cell.query);
    terms.iter().any(|term| {
        let term = spaced(term).concat();
        (0..query.len()).any(|from| (from..query.len()).any(|to| query[from..=to].concat() == term))
    })
}

#[tokio::test]
async fn branded_other_and_anonymised_make_the_whole() {
    let (asker, truth) = (Asker::small().await, truth(START, END));
    let terms = site(SMALL).brand_terms();
    let sum = async |slice: &[(&str, &str)]| {
        let json = asker.window(START, END, slice).await;
        (Sum::said(&json["data"]["totals"]), said_by(&json["data"]["series"], "date"))
    };
    let branded = |counted: Counted<'_>| !counted.cell.anonymised && names_the_brand(counted, terms);
    let other = |counted: Counted<'_>| !counted.cell.anonymised && !names_the_brand(counted, terms);
    let (total, _) = sum(&[]).await;
    let (branded_sum, branded_days) = sum(&[("classification", "branded")]).await;
    let (other_sum, other_days) = sum(&[("classification", "nonBranded")]).await;
    assert_eq!(branded_sum, truth.total(Count::ByProperty, &branded));
    assert_eq!(other_sum, truth.total(Count::ByProperty, &other));
    assert_eq!(branded_days, truth.by(Count::ByProperty, &branded, &by_date));
    assert_eq!(other_days, truth.by(Count::ByProperty, &other, &by_date));
    let anonymised = truth.total(Count::ByProperty, &|counted| counted.cell.anonymised);
    assert!(anonymised.clicks > 0 && branded_sum.clicks > 0 && other_sum.clicks > 0);
    assert_eq!(branded_sum.plus(other_sum).plus(anonymised), total);
}

#[tokio::test]
async fn a_segment_is_its_pages_counted_by_page() {
    let (app, asker) = (shared(), Asker::small().await);
    let property = asker.property.parse().unwrap();
    let found =
        classification::Entity::of_property(property, Kind::Segment).one(&app.service.db).await.unwrap().unwrap();
    let section = format!("/{}/", site(SMALL).sections().next().unwrap());
    assert!(found.conditions.contains(&section));
    let inside = |counted: Counted<'_>| counted.part.is_some_and(|part| part.url.contains(&section));
    let (slice, truth) = (format!("segment:{}", found.id), truth(START, END));
    let json = asker.window(START, END, &[("classification", &slice), ("scope", "all"), ("queryLimit", "5000")]).await;
    assert_eq!(Sum::said(&json["data"]["totals"]), truth.total(Count::ByPage, &inside));
    assert_eq!(json["meta"]["aggregation"], "byPage");
    assert_eq!(said_by(&json["data"]["series"], "date"), truth.by(Count::ByPage, &inside, &by_date));
    assert_eq!(said_by(&json["data"]["tables"]["queries"], "key"), truth.by(Count::ByPage, &inside, &by_query));
    assert_eq!(json["meta"]["coverage"]["queries"]["aggregation"], "byPage");
}

#[tokio::test]
async fn a_topic_cluster_is_its_queries() {
    let (app, asker) = (shared(), Asker::small().await);
    let property = asker.property.parse().unwrap();
    let found =
        classification::Entity::of_property(property, Kind::TopicCluster).one(&app.service.db).await.unwrap().unwrap();
    let inside = |counted: Counted<'_>| !counted.cell.anonymised && counted.cell.query.contains("plant");
    let (slice, truth) = (format!("topicCluster:{}", found.id), truth(START, END));
    let json = asker.window(START, END, &[("classification", &slice), ("scope", "all"), ("queryLimit", "5000")]).await;
    let (totals, whole) = (Sum::said(&json["data"]["totals"]), truth.total(Count::ByProperty, &all));
    assert!(totals.clicks > 0 && totals.clicks < whole.clicks);
    assert_eq!(totals, truth.total(Count::ByProperty, &inside));
    let rows = said_by(&json["data"]["tables"]["queries"], "key");
    assert_eq!(rows, truth.by(Count::ByProperty, &inside, &by_query));
    let share = json["meta"]["coverage"]["queries"]["clicksShare"].as_f64().unwrap();
    assert_eq!(
        share.to_bits(),
        (totals.clicks as f64 / whole.clicks as f64).to_bits(),
        "of all clicks, not of the topic's"
    );
}

#[tokio::test]
async fn a_classification_and_filters_both_hold() {
    let asker = Asker::small().await;
    let terms = site(SMALL).brand_terms();
    let filters = r#"[{"dimension":"device","operator":"equals","value":"mobile"},
        {"dimension":"country","operator":"equals","value":"AUS","logic":"or"}]"#;
    let json = asker.window(START, END, &[("classification", "nonBranded"), ("filters", filters)]).await;
    let wanted = |counted: Counted<'_>| {
        let cell = counted.cell;
        !cell.anonymised && !names_the_brand(counted, terms) && (cell.device == "MOBILE" || cell.country == "aus")
    };
    assert_eq!(Sum::said(&json["data"]["totals"]), truth(START, END).total(Count::ByProperty, &wanted));
}

#[tokio::test]
async fn shares_of_the_property_and_of_the_slice_differ() {
    let asker = Asker::small().await;
    let filters = r#"[{"dimension":"device","operator":"equals","value":"mobile"},
        {"dimension":"country","operator":"equals","value":"AUS","logic":"or"}]"#;
    let json = asker.window(START, END, &[("filters", filters), ("scope", "tables")]).await;
    let clicks = json["data"]["totals"]["clicks"].as_u64().unwrap();
    let whole = truth(START, END).total(Count::ByProperty, &all).clicks;
    assert!(0 < clicks && clicks < whole);
    for table in ["countries", "devices"] {
        let coverage = &json["meta"]["coverage"][table];
        assert_eq!(coverage["sliceShare"], 1.0, "{table}: {coverage}");
        assert_eq!(coverage["clicksShare"], clicks as f64 / whole as f64, "{table}: {coverage}");
    }
}

#[tokio::test]
async fn an_unknown_classification_is_404_and_a_meaningless_one_400() {
    let (app, asker) = (shared(), Asker::small().await);
    let paper = Asker::paper().await;
    let foreign = classification::Entity::of_property(paper.property.parse().unwrap(), Kind::Segment)
        .one(&app.service.db)
        .await
        .unwrap();
    let foreign = format!("segment:{}", foreign.unwrap().id);
    let unknown = "00000000-0000-7000-8000-000000000000";
    for missing in [format!("segment:{unknown}"), format!("topicCluster:{unknown}"), foreign] {
        let answer = asker.ask(&[("classification", &missing)]).await.expect(404);
        assert_eq!(answer.code(), "not_found", "{missing}");
    }
    for malformed in ["Branded", "segment", "segment:", "segment:1", "topicCluster:x", "cluster:y", " "] {
        let answer = asker.ask(&[("classification", malformed)]).await.expect(400);
        assert!(answer.hint().contains("classification"), "{malformed}: {}", answer.hint());
    }
}

#[tokio::test]
async fn without_branded_keywords_nothing_is_branded_or_not() {
    let app = TestApp::start(|_| {}).await;
    let asker = Asker::of(&app, "stranger", SMALL).await;
    let property: Uuid = asker.property.parse().unwrap();
    for keyword in branded_keyword::Entity::of_property(property).all(&app.service.db).await.unwrap() {
        keyword.delete(&app.service.db).await.unwrap();
    }
    for slice in ["branded", "nonBranded"] {
        let answer = asker.ask(&[("classification", slice)]).await.expect(400);
        assert_eq!(answer.code(), "invalid_request");
        assert!(answer.hint().contains("branded keywords"), "{}", answer.hint());
    }
}

#[tokio::test]
async fn the_newspapers_brand_is_found_in_other_search_types_too() {
    let paper = Asker::paper().await;
    let terms = site(PAPER).brand_terms();
    let json = paper.window(START, START, &[("classification", "branded"), ("searchType", "image")]).await;
    let truth = Truth::of(site(PAPER), SearchType::Image, START, START);
    let wanted = |counted: Counted<'_>| !counted.cell.anonymised && names_the_brand(counted, terms);
    assert_eq!(Sum::said(&json["data"]["totals"]), truth.total(Count::ByProperty, &wanted));
}
