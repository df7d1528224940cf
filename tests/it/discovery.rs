//! Tests of the index of the API.

use crate::support::{app::shared, contract::DOCUMENT};

#[tokio::test]
async fn the_index_names_operations_and_the_document() {
    let owner = shared().actor("owner").await;
    let index = owner.get("/api").await.expect(200).json["data"].clone();
    let base = &shared().service.base_url;
    assert_eq!(index["version"], "2026-09-14");
    assert_eq!(index["openapiUrl"], format!("{base}/openapi.json"));
    for operation in index["operations"].as_array().unwrap() {
        let path = operation["url"].as_str().unwrap().strip_prefix(base.as_str()).unwrap();
        let method = operation["method"].as_str().unwrap().to_lowercase();
        assert_eq!(DOCUMENT["paths"][path][method.as_str()]["operationId"], operation["operationId"]);
    }
}
