//! The simulated accounts of both providers.

/// The standing of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// Everything works.
    Good,
    /// Provider A: the e-mail address is not verified.
    Unverified,
    /// Provider B: the plan has no access to the API.
    WithoutPlan,
    /// The credit is used up.
    Broke,
    /// Every request is over the rate limit.
    Limited,
}

/// An account of a provider.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Account {
    /// Provider A: the login. Provider B: the key.
    pub name: &'static str,
    pub standing: Standing,
    /// Credit at the start. Provider A: millionths of a US dollar. Provider B: units.
    pub credit: u64,
}

/// The password of every login of provider A.
const PASSWORD: &str = "demo";

static LOGINS: [Account; 4] = [
    Account { name: "good@demo.test", standing: Standing::Good, credit: 50_000_000 },
    Account { name: "unverified@demo.test", standing: Standing::Unverified, credit: 1_000_000 },
    Account { name: "broke@demo.test", standing: Standing::Broke, credit: 0 },
    Account { name: "limited@demo.test", standing: Standing::Limited, credit: 50_000_000 },
];

static KEYS: [Account; 4] = [
    Account { name: "good-key", standing: Standing::Good, credit: 1_000_000 },
    Account { name: "noplan-key", standing: Standing::WithoutPlan, credit: 0 },
    Account { name: "broke-key", standing: Standing::Broke, credit: 0 },
    Account { name: "limited-key", standing: Standing::Limited, credit: 1_000_000 },
];

/// The account of provider A with this login and password.
pub(super) fn login(name: &str, password: &str) -> Option<&'static Account> {
    LOGINS.iter().find(|account| account.name == name && password == PASSWORD)
}

/// The account of provider B with this key.
pub(super) fn key(key: &str) -> Option<&'static Account> {
    KEYS.iter().find(|account| account.name == key)
}
