//! Routes of an implementation that refuses every operation with 503: refusals before an operation runs.

use std::sync::Arc;

use api::{
    document::{Refusing, routes},
    error::{ApiError, Code},
};
use poem::{Endpoint as _, Request, http::Method};

const ID: &str = "01937f5e-8a7b-7c3d-9e4f-0a1b2c3d4e5f";

async fn answer(method: Method, path: &str, body: Option<&str>) -> (u16, String) {
    let mut request = Request::builder().method(method).uri_str(path);
    if body.is_some() {
        request = request.content_type("application/json");
    }
    let refusing = Arc::new(Refusing(ApiError::new(Code::Unavailable)));
    let response = routes(&refusing).get_response(request.body(body.unwrap_or_default().to_owned())).await;
    let status = response.status().as_u16();
    (status, response.into_body().into_string().await.unwrap_or_default())
}

#[tokio::test]
async fn a_path_id_other_than_a_uuid_is_not_found() {
    let good = Some(r#"{"name":"Shops"}"#);
    for id in ["x", "%20", "01937f5e", "null"] {
        let (status, body) = answer(Method::PUT, &format!("/api/tags/{id}"), good).await;
        assert_eq!((status, body.as_str()), (404, r#"{"error":"Not found","code":"not_found"}"#), "{id}");
    }
    assert_eq!(answer(Method::PUT, &format!("/api/tags/{ID}"), good).await.0, 503);
}

#[tokio::test]
async fn bodies_and_parameters_are_judged_before_the_operation() {
    let (status, body) = answer(Method::POST, "/api/tags", Some(r#"{"name":1}"#)).await;
    assert_eq!((status, body.contains("name: must be a string")), (400, true), "{body}");
    assert_eq!(answer(Method::POST, "/api/tags", None).await.0, 415);
    let (status, body) = answer(Method::GET, &format!("/api/properties/{ID}/performance?scope=none"), None).await;
    assert_eq!((status, body.contains("scope: must be one of")), (400, true), "{body}");
    assert_eq!(answer(Method::GET, &format!("/api/properties/{ID}/performance"), None).await.0, 503);
}

#[tokio::test]
async fn every_operation_has_a_route() {
    for operation in api::operation::all() {
        let path = operation.path.replace("{token}", "t");
        let path = path.split('/').map(|s| if s.starts_with('{') { ID } else { s }).collect::<Vec<_>>().join("/");
        let (status, _) = answer(operation.method.clone(), &path, None).await;
        assert!(matches!(status, 400 | 415 | 503), "{} {path}: {status}", operation.method);
    }
}
