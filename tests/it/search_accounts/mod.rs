//! Tests of connecting search accounts in a browser, and of what the API then answers.

mod attacks;
mod connecting;
mod ending;
pub mod exchanges;
mod others;
mod refreshes;
mod shared_sites;
mod states;

use poem::http::Method;

use crate::support::{
    actor::{Actor, Answer},
    app::TestApp,
    browser::Browser,
};

async fn browser(app: &TestApp, name: &str) -> Browser {
    Browser::signed_in(&app.service.base_url, name).await
}

pub async fn sync(actor: &Actor) -> Answer {
    actor.send(Method::POST, "/api/properties/sync", None, &[]).await
}

/// The status of the person's first search account in the API.
pub async fn health(actor: &Actor) -> (String, String) {
    let health = actor.get("/api/accounts/health").await.expect(200).json;
    let of = |name: &str| health["data"][0][name].as_str().unwrap_or_default().to_owned();
    (of("status"), of("hint"))
}
