//! Tests against a Redis, and against a model of it.
//!
//! `SIGHTLINE_TEST_REDIS_URL` names a server for the tests that need one, which pass without a look otherwise. CI names one.

mod lines;
mod model;
mod pauses;
mod schedule;
mod scripts;
mod server;
mod tampered;

use common::{clock::Clock, random::Random, secrets::Secrets};

use crate::{Addresses, Shared};

/// The address of the server to test with.
pub fn url() -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "tests have no settings")]
    std::env::var("SIGHTLINE_TEST_REDIS_URL").ok().filter(|url| !url.is_empty())
}

/// Secrets of a deployment of this test's own, so that tests never meet.
pub fn secrets() -> Secrets {
    let random = Random::system();
    Secrets::new(random.bytes::<32>(), random)
}

/// A replica of a deployment.
pub async fn replica(url: &str, secrets: &Secrets) -> Shared {
    let addresses = Addresses { counters: url.to_owned(), cache: url.to_owned() };
    Shared::open(&addresses, secrets.clone(), Clock::system(), &Random::system()).await.unwrap()
}
