//! `#[api_trait]` and `#[derive(QueryParams)]`.
