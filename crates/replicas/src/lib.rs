//! Shares readings and their claims, rate limits, the pace towards the search engine, and notices between replicas, through Redis.
//!
//! Redis holds only what may vanish at any moment. Every call ends within a time limit, and `None` means that Redis is away: the
//! caller then does by itself what it would otherwise have shared. Values are compressed and sealed, so neither a dump of Redis nor
//! somebody who can read it tells anything, and nobody who can write to it makes up a figure.

mod breaker;
mod claim;
mod gates;
mod heartbeat;
mod limits;
mod link;
mod names;
mod notices;
mod probe;
mod readings;
mod scripts;
mod sealed;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use chrono::{DateTime, Utc};
use common::{clock::Clock, random::Random, secrets::Secrets};

pub use self::{
    claim::Urgency,
    gates::{Entry, Gate, Gates, Most, Passed, Waiting},
    limits::{Counted, Limits},
    link::Use,
    notices::Notices,
    probe::{check_url, probe, time},
    readings::{Claimed, Found, Readings, Uses, Wanted},
};
use self::{heartbeat::Replicas, link::Link, names::Names};

/// The addresses of Redis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addresses {
    /// The server of counters and pace.
    pub counters: String,
    /// The server of readings and their claims.
    pub cache: String,
}

/// The answer of Redis to a question for a sign of life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// It answers.
    Answers,
    /// It is there, and wants another user or password.
    RefusesLogin,
    /// It does not answer, or answers with errors.
    Away,
}

/// The connections and names by which this replica shares with others.
#[derive(Clone)]
pub struct Shared {
    counters: Arc<Link>,
    cache: Arc<Link>,
    names: Names,
    replicas: Arc<Replicas>,
    secrets: Secrets,
    clock: Clock,
}

impl Shared {
    /// Connects to Redis, and goes on without it if it does not answer within a second.
    ///
    /// # Errors
    /// An address that is none.
    pub async fn open(
        addresses: &Addresses,
        secrets: Secrets,
        clock: Clock,
        random: &Random,
    ) -> Result<Self, redis::RedisError> {
        let counters = Arc::new(Link::new(&addresses.counters, link::OF_COUNTERS)?);
        let cache = if addresses.cache == addresses.counters {
            // A large value must not hold up small answers, so they have connections of their own.
            Arc::new(Link::new(&addresses.counters, link::OF_VALUES)?)
        } else {
            Arc::new(Link::new(&addresses.cache, link::OF_VALUES)?)
        };
        let names = Names::of(&secrets);
        let replicas = Arc::new(Replicas::new(names.clone(), random));
        let shared = Self { counters, cache, names, replicas, secrets, clock };
        futures_util::join!(shared.counters.first_connection(), shared.cache.first_connection());
        shared.replicas.beat(&shared.counters, &shared.cache).await;
        heartbeat::keep_beating(&shared.replicas, &shared.counters, &shared.cache);
        Ok(shared)
    }

    /// The readings that replicas share.
    #[must_use]
    pub fn readings(&self) -> Readings {
        Readings::new(
            self.cache.clone(),
            self.names.clone(),
            self.replicas.clone(),
            self.secrets.clone(),
            self.clock.clone(),
        )
    }

    /// The rate limits.
    #[must_use]
    pub fn limits(&self) -> Limits {
        Limits::new(self.counters.clone(), self.names.clone())
    }

    /// The gates before the search engine.
    #[must_use]
    pub fn gates(&self) -> Gates {
        Gates::new(self.counters.clone(), self.names.clone(), self.replicas.clone())
    }

    /// The notices about a topic.
    #[must_use]
    pub fn notices(&self, topic: &str) -> Notices {
        Notices::new(self.counters.clone(), &self.names, topic, self.secrets.clone(), self.clock.clone())
    }

    /// The prefix of the names of all keys in Redis. Another deployment has another one.
    #[must_use]
    pub fn prefix(&self) -> &str {
        self.names.prefix()
    }

    /// The number of replicas that live, or lived when Redis was last there. At least one.
    #[must_use]
    pub fn replicas(&self) -> u32 {
        self.replicas.count()
    }

    /// The use of the connections of counters and of values.
    #[must_use]
    pub fn uses(&self) -> [&Use; 2] {
        [self.counters.usage(), self.cache.usage()]
    }

    /// Asks both servers for a sign of life.
    pub async fn reach(&self) -> Reach {
        let ping = redis::cmd("PING");
        let (counters, cache) =
            futures_util::join!(self.counters.command::<String>(&ping), self.cache.command::<String>(&ping));
        if counters.is_some() && cache.is_some() {
            Reach::Answers
        } else if self.uses().iter().any(|usage| usage.is_login_refused()) {
            Reach::RefusesLogin
        } else {
            Reach::Away
        }
    }

    /// The time of the server of counters. `None` if it is away.
    pub async fn time(&self) -> Option<DateTime<Utc>> {
        let (seconds, micros): (i64, u32) = self.counters.command(&redis::cmd("TIME")).await?;
        probe::date(seconds, micros)
    }

    /// Warnings for the operator of these servers, such as that they write to disk.
    pub async fn warnings(&self) -> Vec<String> {
        let mut warnings = self.counters.warnings().await;
        for warning in self.cache.warnings().await {
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        warnings
    }

    /// Tells the other replicas that this one ends.
    pub async fn end(&self) {
        self.replicas.end(&self.counters, &self.cache).await;
    }
}
