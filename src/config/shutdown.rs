//! Settings of how the service stops.

use common::base_url::BaseUrl;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::units::{MINUTE, Seconds};

/// How the service stops.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Shutdown {
    /// Time for which a service that stops still accepts connections, while its health is 503 already. A balancer notices within it.
    #[schemars(range(max = 10 * MINUTE), extend("x-default" = "`5s`, or 0 if `base_url` is a loopback address"))]
    pub delay: Option<Seconds>,
    /// Time for requests under way to finish after that.
    #[schemars(range(max = 10 * MINUTE))]
    pub grace: Seconds,
}

/// The time for a balancer to notice.
const DELAY: Seconds = Seconds(5);

impl Default for Shutdown {
    fn default() -> Self {
        Self { delay: None, grace: Seconds(30) }
    }
}

impl Shutdown {
    /// The delay of a service at this root.
    #[must_use]
    pub fn delay_at(&self, base_url: &BaseUrl) -> Seconds {
        self.delay.unwrap_or(if base_url.is_loopback() { Seconds(0) } else { DELAY })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_service_that_others_reach_waits_for_a_balancer() {
        let delay = |shutdown: Shutdown, root: &str| shutdown.delay_at(&root.parse().unwrap()).0;
        assert_eq!(delay(Shutdown::default(), "http://127.0.0.1:8080"), 0);
        assert_eq!(delay(Shutdown::default(), "https://sightline.example"), 5);
        let set = Shutdown { delay: Some(Seconds(1)), ..Shutdown::default() };
        assert_eq!(delay(set, "http://127.0.0.1:8080"), 1);
    }
}
