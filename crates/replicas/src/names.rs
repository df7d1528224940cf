//! The names of keys in Redis. Each begins with the deployment, so that two that share a server never meet.

use common::{digest::sha256_hex, secrets::Secrets};

/// The version of the format of readings. Programs of two versions never read each other's.
const READINGS: &str = "r1";

/// The version of the format of notices.
const NOTICES: &str = "n1";

/// Makes names of keys.
#[derive(Debug, Clone)]
pub struct Names {
    start: String,
}

impl Names {
    /// The names of the deployment with these secrets. Its replicas have the same.
    #[must_use]
    pub fn of(secrets: &Secrets) -> Self {
        let deployment = sha256_hex(&secrets.digest(b"deployment", "shared"));
        Self { start: format!("sl:{}", &deployment[..8]) }
    }

    /// The prefix of all names.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.start
    }

    /// A reading of a `scope`, which is an account and the time of its connection, or the claim of it.
    #[must_use]
    pub fn reading(&self, scope: &str, request: &str) -> String {
        format!("{}:{READINGS}:{scope}:{}", self.start, short(request))
    }

    /// The prefix of all readings of an account.
    #[must_use]
    pub fn readings_of(&self, account: &str) -> String {
        format!("{}:{READINGS}:{account}", self.start)
    }

    /// The sign of life of a replica.
    #[must_use]
    pub fn alive(&self, replica: &str) -> String {
        format!("{}:alive:{replica}", self.start)
    }

    /// The replicas that were heard of lately.
    #[must_use]
    pub fn replicas(&self) -> String {
        format!("{}:replicas", self.start)
    }

    /// The notices about a topic.
    #[must_use]
    pub fn notices(&self, topic: &str) -> String {
        format!("{}:{NOTICES}:{topic}", self.start)
    }

    /// The counter of a caller. It names nobody.
    #[must_use]
    pub fn limit(&self, caller: &str) -> String {
        format!("{}:l:{}", self.start, short(caller))
    }

    /// A person in the line of a gate. It names nobody.
    #[must_use]
    pub fn person(&self, person: &str) -> String {
        short(&format!("{} {person}", self.start))
    }

    /// Something at a gate. All names of one gate have the same hash tag, so a cluster keeps them together.
    #[must_use]
    pub fn gate(&self, gate: &str, what: &str) -> String {
        format!("{}:g:{{{}}}:{what}", self.start, short(gate))
    }
}

/// A digest of 128 bits.
fn short(text: &str) -> String {
    sha256_hex(text)[..32].to_owned()
}

#[cfg(test)]
mod tests {
    use common::random::Random;

    use super::*;

    #[test]
    fn names_tell_nothing_and_never_meet_those_of_another_deployment() {
        let names = |key: u8| Names::of(&Secrets::new([key; 32], Random::seeded(1)));
        let (one, other) = (names(1), names(2));
        assert_eq!(one.limit("user/ann"), names(1).limit("user/ann"));
        assert_ne!(one.limit("user/ann"), other.limit("user/ann"));
        assert!(!one.limit("user/ann").contains("ann"));
        assert!(!one.reading("account:7", "https://acme.example/ {}").contains("acme"));
        assert!(one.reading("account:7", "x").starts_with(&one.readings_of("account")));
        let slot = |name: String| name.split(['{', '}']).nth(1).unwrap().to_owned();
        assert_eq!(slot(one.gate("site", "all")), slot(one.gate("site", "shared")));
        assert_ne!(slot(one.gate("site", "all")), slot(one.gate("account", "all")));
    }
}
