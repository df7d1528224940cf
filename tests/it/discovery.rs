//! Tests of the index of the API.

use std::collections::BTreeSet;

use crate::{
    coverage::documented,
    support::{app::shared, contract::DOCUMENT},
};

#[tokio::test]
async fn the_index_names_every_operation_and_the_document() {
    let owner = shared().actor("owner").await;
    let index = owner.get("/api").await.expect(200).json["data"].clone();
    let base = &shared().service.base_url;
    assert_eq!(index["version"], "2026-09-14");
    assert_eq!(index["openapiUrl"], format!("{base}/openapi.json"));
    let mut named = BTreeSet::new();
    for operation in index["operations"].as_array().unwrap() {
        let url = operation["url"].as_str().unwrap().strip_prefix(base.as_str()).unwrap();
        let path = ["{propertyId}", "{tagId}", "{filterPresetId}"]
            .iter()
            .fold(url.to_owned(), |path, id| path.replace(id, "{id}"));
        let method = operation["method"].as_str().unwrap().to_lowercase();
        let documented = &DOCUMENT["paths"][&path][method.as_str()];
        assert_eq!(documented["operationId"], operation["operationId"], "{url}");
        assert_eq!(documented["summary"], operation["summary"], "{url}");
        assert_eq!(operation["templated"], url.contains('{'), "{url}");
        assert!(!url.contains("{id}"), "{url}");
        named.insert(operation["operationId"].as_str().unwrap().to_owned());
    }
    let all: BTreeSet<String> = documented().iter().map(|operation| operation.id().to_owned()).collect();
    assert_eq!(named, all);
}
