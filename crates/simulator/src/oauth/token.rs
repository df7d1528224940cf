//! Signed codes and tokens.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use common::clock::Clock;
use hmac::{Hmac, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::SEARCH_SCOPES;
use crate::accounts::{Account, Accounts};
use crate::world::rng::child;

/// Lifetime of an access token in seconds.
pub(super) const ACCESS_SECONDS: i64 = 3_599;

/// Lifetime of a code in seconds.
pub(super) const CODE_SECONDS: i64 = 600;

/// The maximum number of used codes, consents and revocations to store.
const REMEMBERED: usize = 10_000;

/// The purpose of a signed token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Kind {
    #[serde(rename = "c")]
    Code,
    #[serde(rename = "a")]
    Access,
    #[serde(rename = "r")]
    Refresh,
}

impl Kind {
    /// The prefix that the real engine uses for this kind.
    fn prefix(self) -> &'static str {
        match self {
            Self::Code => "4/0A",
            Self::Access => "ya29.",
            Self::Refresh => "1//0",
        }
    }
}

/// The content of a code or token. Short field names keep it short.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Claims {
    #[serde(rename = "k")]
    pub kind: Kind,
    #[serde(rename = "a")]
    pub account: String,
    /// The grant it belongs to.
    #[serde(rename = "g")]
    pub grant: u64,
    /// The order of grants. Revoking a grant ends all earlier ones of its account and client.
    #[serde(rename = "i", default)]
    pub issued: u64,
    #[serde(rename = "c")]
    pub client: String,
    #[serde(rename = "s")]
    pub scope: String,
    /// Expiry in Unix seconds. Absent: never.
    #[serde(rename = "e", skip_serializing_if = "Option::is_none", default)]
    pub expires: Option<i64>,
    /// Present in codes only.
    #[serde(rename = "d", skip_serializing_if = "Option::is_none", default)]
    pub details: Option<CodeDetails>,
}

/// The request parameters that a code is bound to.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct CodeDetails {
    #[serde(rename = "r")]
    pub redirect_uri: String,
    #[serde(rename = "h")]
    pub challenge: Option<String>,
    #[serde(rename = "n")]
    pub nonce: Option<String>,
    /// True if the exchange issues a refresh token.
    #[serde(rename = "o")]
    pub offline: bool,
}

/// The account and scopes of an access token.
#[derive(Debug)]
pub(crate) struct Access {
    pub account: Arc<Account>,
    scope: Option<String>,
}

impl Access {
    /// Returns whether `scope` was granted. Tokens for manual use have all scopes.
    pub fn has(&self, scope: &str) -> bool {
        self.scope.as_ref().is_none_or(|granted| granted.split(' ').any(|one| one == scope))
    }

    pub fn may_read_search_data(&self) -> bool {
        SEARCH_SCOPES.iter().any(|scope| self.has(scope))
    }
}

/// Signs and verifies codes and tokens.
#[derive(Debug)]
pub(crate) struct OAuth {
    key: [u8; 32],
    clock: Clock,
    seed: u64,
    grants: AtomicU64,
    /// The order of the last grant.
    last: AtomicU64,
    used_codes: Mutex<Recent>,
    consents: Mutex<Consents>,
    /// The order of the newest refresh token of each grant that has had one replaced.
    newest: Mutex<HashMap<u64, u64>>,
}

/// A client and an account.
type Pair = (String, String);

/// The consents of accounts to clients since the start.
#[derive(Debug, Default)]
struct Consents {
    /// Clients that an account has consented to.
    given: HashSet<Pair>,
    /// The last grant that was ended by a revocation. Earlier ones have ended with it.
    ended: HashMap<Pair, u64>,
}

#[derive(Debug, Default)]
struct Recent {
    known: HashSet<u64>,
    order: VecDeque<u64>,
}

impl Recent {
    /// Stores `id` and returns whether it is new. Drops the oldest id above the limit.
    fn insert(&mut self, id: u64) -> bool {
        let new = self.known.insert(id);
        if new {
            self.order.push_back(id);
            if self.order.len() > REMEMBERED
                && let Some(oldest) = self.order.pop_front()
            {
                self.known.remove(&oldest);
            }
        }
        new
    }
}

impl OAuth {
    pub fn new(seed: u64, clock: Clock) -> Self {
        let key =
            Sha256::new().chain_update(b"simulated search engine").chain_update(seed.to_be_bytes()).finalize().into();
        let (grants, last) = (AtomicU64::new(0), AtomicU64::new(0));
        let (used_codes, consents, newest) = (Mutex::default(), Mutex::default(), Mutex::default());
        Self { key, clock, seed, grants, last, used_codes, consents, newest }
    }

    pub(super) fn seconds(&self) -> i64 {
        self.clock.now().timestamp()
    }

    /// Returns the number for a new grant.
    pub(super) fn new_grant(&self) -> u64 {
        let time = self.clock.now().timestamp_micros().unsigned_abs();
        child(child(self.seed, time), self.grants.fetch_add(1, Ordering::Relaxed))
    }

    pub(super) fn sign(&self, claims: &Claims) -> String {
        let content = URL_SAFE_NO_PAD.encode(serde_json::to_vec(claims).unwrap_or_default());
        let signature = URL_SAFE_NO_PAD.encode(self.mac(content.as_bytes()));
        format!("{}{content}.{signature}", claims.kind.prefix())
    }

    pub(super) fn mac(&self, content: &[u8]) -> Vec<u8> {
        // HMAC accepts a key of any length, so the other branch is unreachable.
        Hmac::<Sha256>::new_from_slice(&self.key)
            .map_or_else(|_| Vec::new(), |mac| mac.chain_update(content).finalize().into_bytes().to_vec())
    }

    /// Returns the content of `text` if it is an unexpired, unrevoked `kind` signed with this seed.
    pub(super) fn open(&self, kind: Kind, text: &str) -> Option<Claims> {
        let (content, signature) = text.strip_prefix(kind.prefix())?.split_once('.')?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        let mac = Hmac::<Sha256>::new_from_slice(&self.key).ok()?;
        mac.chain_update(content.as_bytes()).verify_slice(&signature).ok()?;
        let claims: Claims = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(content).ok()?).ok()?;
        let live = claims.kind == kind
            && claims.expires.is_none_or(|expires| self.seconds() < expires)
            && self.consents().ended.get(&pair(&claims)).is_none_or(|ended| claims.issued > *ended);
        live.then_some(claims)
    }

    /// Returns the order of a new grant: the time, or more, so that it also follows the grants before a restart.
    pub(super) fn next_order(&self) -> u64 {
        let time = self.clock.now().timestamp_micros().unsigned_abs();
        let next = |last: u64| Some(time.max(last + 1));
        let last = self.last.fetch_update(Ordering::SeqCst, Ordering::SeqCst, next);
        last.map_or(time, |last| time.max(last + 1))
    }

    /// Records that an account consented to a client. Returns whether it is the first time since the start or a revocation.
    pub(super) fn consent(&self, client: &str, account: &str) -> bool {
        let mut consents = self.consents();
        if consents.given.len() >= REMEMBERED {
            consents.given.clear();
        }
        consents.given.insert((client.to_owned(), account.to_owned()))
    }

    /// The clients that an account has consented to since the start.
    pub(super) fn clients_of(&self, account: &str) -> Vec<String> {
        let consents = self.consents();
        let mut clients: Vec<String> =
            consents.given.iter().filter(|(_, of)| of == account).map(|(client, _)| client.clone()).collect();
        clients.sort();
        clients
    }

    /// Ends every grant of an account to a client.
    pub(super) fn end(&self, client: &str, account: &str) {
        let (mut consents, order) = (self.consents(), self.next_order());
        if consents.ended.len() >= REMEMBERED {
            consents.ended.clear();
        }
        let pair = (client.to_owned(), account.to_owned());
        consents.given.remove(&pair);
        consents.ended.insert(pair, order);
    }

    /// Replaces a refresh token by the one of the order `next`. Returns `false` if another one has replaced it before.
    pub(super) fn replace(&self, claims: &Claims, next: u64) -> bool {
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        let newest = newest.entry(claims.grant).or_insert(claims.issued);
        let is_newest = *newest == claims.issued;
        if is_newest {
            *newest = next;
        }
        is_newest
    }

    fn consents(&self) -> MutexGuard<'_, Consents> {
        self.consents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks a code as used. Returns `false` if it already was.
    pub(super) fn use_code(&self, grant: u64) -> bool {
        lock(&self.used_codes).insert(grant)
    }

    /// Returns the account and scopes of `token`. `sim-NAME` is accepted for manual use and never expires.
    pub fn access(&self, accounts: &Accounts, token: &str) -> Option<Access> {
        const BY_HAND: [&str; 5] = ["sim-owner", "sim-editor", "sim-stranger", "sim-lapsed", "sim-network"];
        let find = |name: &str| accounts.find(name).cloned();
        if BY_HAND.contains(&token) {
            return Some(Access { account: find(token.strip_prefix("sim-")?)?, scope: None });
        }
        let claims = self.open(Kind::Access, token)?;
        Some(Access { account: find(&claims.account)?, scope: Some(claims.scope) })
    }
}

fn pair(claims: &Claims) -> Pair {
    (claims.client.clone(), claims.account.clone())
}

fn lock(recent: &Mutex<Recent>) -> std::sync::MutexGuard<'_, Recent> {
    recent.lock().unwrap_or_else(PoisonError::into_inner)
}
