//! Limits on guesses at passwords. They are on even if `rate_limit.enabled` is false.
//!
//! A browser that the holder of an account has signed in with before is counted by itself. So strangers who try an account from
//! many addresses make it wait for other strangers, and never for its holder.

use std::sync::Arc;

use common::{addresses::ClientAddress, clock::Clock, digest::sha256_hex};
use store::rate_limit::{Rate, RateLimits};
use uuid::Uuid;

/// Guesses at one account from one address, or from one known browser: ten at once, thirty an hour.
const PER_ACCOUNT_AND_ADDRESS: (u32, u32) = (30, 10);
/// Guesses from one address at any accounts. Many people may share an address.
const PER_ADDRESS: (u32, u32) = (300, 60);
/// Guesses at one account from all addresses of strangers.
const PER_ACCOUNT: (u32, u32) = (100, 50);
/// Links that one address may ask for.
const LINKS_PER_ADDRESS: (u32, u32) = (30, 10);
/// Links mailed to one address of a person.
const LINKS_PER_ACCOUNT: (u32, u32) = (5, 3);

/// The counters.
#[derive(Clone, Debug)]
pub struct Attempts(Arc<RateLimits>);

/// Too many attempts. The next one is allowed after this many seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany(pub u64);

impl Attempts {
    pub fn new(clock: Clock) -> Self {
        Self(Arc::new(RateLimits::new(clock)))
    }

    /// Counts a guess at the password of `email` from `address`, or from the known browser `device`. An address without an account
    /// counts like any other.
    pub fn guess(&self, email: &str, address: &ClientAddress, device: Option<Uuid>) -> Result<(), TooMany> {
        let account = sha256_hex(&entity::email_key(email));
        if let Some(device) = device {
            return self.count(&format!("device/{device}/{account}"), PER_ACCOUNT_AND_ADDRESS);
        }
        self.count(&format!("pair/{account}/{address}"), PER_ACCOUNT_AND_ADDRESS)?;
        self.count(&format!("address/{address}"), PER_ADDRESS)?;
        self.count(&format!("account/{account}"), PER_ACCOUNT)
    }

    /// Counts a request for a link from `address`.
    pub fn ask_for_link(&self, address: &ClientAddress) -> Result<(), TooMany> {
        self.count(&format!("links/{address}"), LINKS_PER_ADDRESS)
    }

    /// Counts a link mailed to `email`.
    pub fn mail_link(&self, email: &str) -> Result<(), TooMany> {
        self.count(&format!("mailed/{}", sha256_hex(&entity::email_key(email))), LINKS_PER_ACCOUNT)
    }

    fn count(&self, key: &str, (per_hour, burst): (u32, u32)) -> Result<(), TooMany> {
        let standing = self.0.count(key, Rate::hourly(per_hour, burst));
        standing.retry_after.map_or(Ok(()), |seconds| Err(TooMany(seconds)))
    }
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, TimeDelta};

    use super::*;

    fn at(last: u8) -> ClientAddress {
        ClientAddress::new([198, 51, 100, last].into())
    }

    #[test]
    fn one_address_guesses_ten_times_and_waits() {
        let (clock, hand) = Clock::manual(DateTime::UNIX_EPOCH);
        let attempts = Attempts::new(clock);
        for _ in 0..10 {
            assert_eq!(attempts.guess("ann@corp.test", &at(1), None), Ok(()));
        }
        assert_eq!(attempts.guess(" ANN@corp.test", &at(1), None), Err(TooMany(120)), "any spelling");
        assert_eq!(attempts.guess("ann@corp.test", &at(2), None), Ok(()));
        assert_eq!(attempts.guess("bob@corp.test", &at(1), None), Ok(()));
        hand.advance(TimeDelta::seconds(120));
        assert_eq!(attempts.guess("ann@corp.test", &at(1), None), Ok(()));
    }

    #[test]
    fn an_address_that_tries_many_accounts_waits_and_others_do_not() {
        let attempts = Attempts::new(Clock::manual(DateTime::UNIX_EPOCH).0);
        for number in 0..60 {
            assert_eq!(attempts.guess(&format!("{number}@corp.test"), &at(1), None), Ok(()));
        }
        assert!(attempts.guess("another@corp.test", &at(1), None).is_err());
        assert_eq!(attempts.guess("another@corp.test", &at(2), None), Ok(()));
    }

    #[test]
    fn guesses_of_strangers_never_lock_out_the_holders_browser() {
        let attempts = Attempts::new(Clock::manual(DateTime::UNIX_EPOCH).0);
        let mut refused = 0;
        for number in 0..200 {
            refused += u32::from(attempts.guess("ann@corp.test", &at(number), None).is_err());
        }
        assert_eq!(refused, 150);
        assert_eq!(attempts.guess("ann@corp.test", &at(1), Some(Uuid::nil())), Ok(()));
        for _ in 0..9 {
            assert_eq!(attempts.guess("ann@corp.test", &at(1), Some(Uuid::nil())), Ok(()));
        }
        assert!(attempts.guess("ann@corp.test", &at(1), Some(Uuid::nil())).is_err(), "a stolen cookie is not a key");
    }
}
