//! Every body has an example that its own schema accepts, and every reference in the document leads somewhere.

use api::{
    analytics, annotations,
    body::Body,
    classifications,
    document::{Locations, document},
    filters, integrations, properties, sharing, tags, team,
};
use serde_json::{Value, json};

fn operations(document: &Value) -> Vec<(&str, &Value)> {
    let items = document["paths"].as_object().into_iter().flat_map(|paths| paths.values());
    let operations = items.filter_map(Value::as_object).flat_map(|item| item.values());
    operations.filter_map(|operation| Some((operation["operationId"].as_str()?, operation))).collect()
}

fn faults(document: &Value, media: &Value) -> Vec<String> {
    let Some(example) = media.get("example") else { return vec!["has no example".to_owned()] };
    let mut schema = media["schema"].clone();
    schema["components"] = document["components"].clone();
    close(&mut schema);
    let built = jsonschema::options().should_validate_formats(true).build(&schema);
    let Ok(validator) = built else { return vec!["has a schema that is none".to_owned()] };
    validator.iter_errors(example).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// Schemas of answers are open, so that answers may grow fields. An example must not have a field that no schema knows.
fn close(value: &mut Value) {
    match value {
        Value::Object(object) => {
            object.values_mut().for_each(close);
            if object.get("properties").is_some_and(Value::is_object) && object.contains_key("type") {
                object.insert("additionalProperties".to_owned(), json!(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

#[test]
fn every_body_has_an_example_that_its_schema_accepts() {
    let document = document(&Locations::relative());
    let mut seen = 0;
    let mut wrong = Vec::new();
    for (id, operation) in operations(&document) {
        let bodies = operation["responses"]
            .as_object()
            .unwrap()
            .iter()
            .filter(|(status, _)| status.starts_with('2'))
            .map(|(_, response)| response)
            .chain(operation.get("requestBody"));
        for media in bodies.filter_map(|body| body["content"].as_object()).flat_map(|content| content.values()) {
            seen += 1;
            wrong.extend(faults(&document, media).into_iter().map(|fault| format!("{id}: {fault}")));
        }
    }
    assert!(seen >= 80, "only {seen} bodies were looked at");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_wrong_example_would_be_noticed() {
    let document = document(&Locations::relative());
    let media = |example: Value| json!({ "schema": { "$ref": "#/components/schemas/TagInput" }, "example": example });
    assert!(faults(&document, &media(json!({ "name": "Shops" }))).is_empty());
    for wrong in [json!({ "name": 1 }), json!({}), json!({ "name": "Shops", "colour": "red" }), json!({ "name": " " })]
    {
        assert!(!faults(&document, &media(wrong.clone())).is_empty(), "{wrong}");
    }
}

#[test]
fn every_request_example_is_accepted_by_the_server_too() {
    let document = document(&Locations::relative());
    let sent = |id: &str| {
        let (_, operation) = *operations(&document).iter().find(|(name, _)| *name == id).unwrap();
        operation["requestBody"]["content"]["application/json"]["example"].clone()
    };
    macro_rules! accepts {
        ($($id:literal $shape:ty;)*) => { $(if let Err(error) = Body::<$shape>::of(sent($id)) { panic!("{}: {error}", $id) })* };
    }
    accepts! {
        "replacePropertyTracking" properties::TrackingSelection;
        "setPropertyFavorite" properties::FavoriteInput;
        "setPropertyHidden" properties::HiddenInput;
        "createPropertyBrandedKeywords" classifications::BrandedKeywordsInput;
        "createPropertySegment" classifications::SegmentInput;
        "createPropertyTopicCluster" classifications::TopicClusterInput;
        "previewPropertyBrandedKeywords" classifications::BrandedKeywordsInput;
        "previewPropertySegment" classifications::ClassificationPreviewInput;
        "previewPropertyTopicCluster" classifications::ClassificationPreviewInput;
        "queryPropertyPerformance" analytics::PerformanceQueryInput;
        "createPropertyAnnotation" annotations::AnnotationInput;
        "createTag" tags::TagInput;
        "updateTag" tags::TagUpdate;
        "replacePropertyTags" tags::PropertyTagsInput;
        "replaceTagProperties" tags::TagPropertiesInput;
        "createPropertyShareLink" sharing::ShareLinkInput;
        "inviteTeamMember" team::InviteInput;
        "updateTeamMemberRole" team::GrantUpdate;
        "createFilterPreset" filters::FilterPresetInput;
        "connectProviderAIntegration" integrations::ProviderACredentials;
        "connectProviderBIntegration" integrations::ProviderBCredentials;
    }
}
