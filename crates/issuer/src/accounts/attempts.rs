//! Limits on guesses at passwords and at codes of machines. They are on even if `rate_limit.enabled` is false, and replicas share them.
//!
//! A browser that the holder of an account has signed in with before is counted by itself. So strangers who try an account from
//! many addresses make it wait for other strangers, and never for its holder.

use common::{addresses::ClientAddress, digest::sha256_hex, mail_address, rate_limit::Rate};
use uuid::Uuid;

use crate::{
    counts::{Counts, OfClients},
    response::OAuthError,
};

/// Guesses at one account from one address, or from one known browser: ten at once, thirty an hour.
const PER_ACCOUNT_AND_ADDRESS: (u32, u32) = (30, 10);
/// Guesses at one account from all addresses of strangers.
const PER_ACCOUNT: (u32, u32) = (100, 50);
/// Guesses of strangers at any accounts. Many people may share an address.
const GUESSES: OfClients =
    OfClients { kind: "guess", address: (300, 60), network: (600, 120), altogether: (1_200, 300), beyond: (30, 10) };
/// Codes of machines that one person enters. Each is entered twice: to see who asks, and to allow it.
const CODES_PER_PERSON: (u32, u32) = (60, 20);
/// Codes of machines that are entered.
const CODES: OfClients = OfClients {
    kind: "user-code",
    address: (300, 60),
    network: (600, 120),
    altogether: (1_200, 300),
    beyond: (30, 10),
};
/// Links that are asked for.
const LINKS: OfClients =
    OfClients { kind: "links", address: (30, 10), network: (60, 20), altogether: (600, 150), beyond: (6, 3) };
/// Links mailed to one address of a person.
const LINKS_PER_ACCOUNT: (u32, u32) = (5, 3);

/// The counters.
#[derive(Clone)]
pub struct Attempts(Counts);

impl Attempts {
    pub fn new(counts: Counts) -> Self {
        Self(counts)
    }

    /// Counts a guess at the password of `email` from `address`, or from the known browser `device`. An address without an account
    /// counts like any other.
    pub async fn guess(&self, email: &str, address: &ClientAddress, device: Option<Uuid>) -> Result<(), OAuthError> {
        let account = sha256_hex(&mail_address::key(email));
        if let Some(device) = device {
            return self.count(&format!("device/{device}/{account}"), PER_ACCOUNT_AND_ADDRESS).await;
        }
        self.count(&format!("pair/{account}/{address}"), PER_ACCOUNT_AND_ADDRESS).await?;
        // A guess that its network is refused does not count against the account. Otherwise one network would shut its holder out.
        self.0.count_client(&GUESSES, address).await?;
        self.count(&format!("account/{account}"), PER_ACCOUNT).await
    }

    /// Takes a guess of a stranger back that was right, because it guessed nothing: an office behind one address signs in as often as it has
    /// people. The account and its pair with the address keep it.
    pub async fn was_right(&self, address: &ClientAddress) -> Result<(), OAuthError> {
        self.0.uncount_client(&GUESSES, address).await
    }

    /// Counts a code of a machine that `subject` enters at `address`.
    pub async fn enter_user_code(&self, subject: &str, address: &ClientAddress) -> Result<(), OAuthError> {
        self.count(&format!("user-code/{subject}"), CODES_PER_PERSON).await?;
        self.0.count_client(&CODES, address).await
    }

    /// Counts a request for a link from `address`.
    pub async fn ask_for_link(&self, address: &ClientAddress) -> Result<(), OAuthError> {
        self.0.count_client(&LINKS, address).await
    }

    /// Counts a link mailed to `email`.
    pub async fn mail_link(&self, email: &str) -> Result<(), OAuthError> {
        self.count(&format!("mailed/{}", sha256_hex(&mail_address::key(email))), LINKS_PER_ACCOUNT).await
    }

    async fn count(&self, key: &str, (per_hour, burst): (u32, u32)) -> Result<(), OAuthError> {
        self.0.count(key, Rate::hourly(per_hour, burst)).await
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use common::{
        clock::{Clock, Hand},
        random::Random,
        secrets::Secrets,
    };
    use test_data::{database, noon};

    use super::*;

    fn at(last: u8) -> ClientAddress {
        ClientAddress::new([198, 51, 100, last].into())
    }

    async fn attempts() -> (Attempts, Hand) {
        let (clock, hand) = Clock::manual(noon());
        (Attempts::new(Counts::new(database().await, Secrets::new([7; 32], Random::seeded(1)), clock)), hand)
    }

    /// Guesses from `address`, or from a known browser. Returns the seconds to wait.
    async fn guess(attempts: &Attempts, email: &str, address: u8, device: Option<Uuid>) -> Option<u64> {
        match attempts.guess(email, &at(address), device).await {
            Ok(()) => None,
            Err(OAuthError::TooMany(seconds)) => Some(seconds),
            Err(error) => panic!("{error}"),
        }
    }

    #[tokio::test]
    async fn one_address_guesses_ten_times_and_waits() {
        let (attempts, hand) = attempts().await;
        for _ in 0..10 {
            assert_eq!(guess(&attempts, "ann@corp.test", 1, None).await, None);
        }
        assert_eq!(guess(&attempts, " ANN@corp.test", 1, None).await, Some(120), "any spelling");
        assert_eq!(guess(&attempts, "ann@corp.test", 2, None).await, None);
        assert_eq!(guess(&attempts, "bob@corp.test", 1, None).await, None);
        hand.advance(TimeDelta::seconds(120));
        assert_eq!(guess(&attempts, "ann@corp.test", 1, None).await, None);
    }

    #[tokio::test]
    async fn an_address_that_tries_many_accounts_waits_and_others_do_not() {
        let (attempts, _) = attempts().await;
        for number in 0..60 {
            assert_eq!(guess(&attempts, &format!("{number}@corp.test"), 1, None).await, None);
        }
        assert!(guess(&attempts, "another@corp.test", 1, None).await.is_some());
        assert_eq!(guess(&attempts, "another@corp.test", 2, None).await, None);
    }

    #[tokio::test]
    async fn right_passwords_of_one_address_are_no_guesses_and_wrong_ones_stay_counted() {
        let (attempts, _) = attempts().await;
        for number in 0..59 {
            assert_eq!(guess(&attempts, &format!("wrong-{number}@corp.test"), 1, None).await, None);
        }
        for number in 0..200 {
            assert_eq!(guess(&attempts, &format!("{number}@corp.test"), 1, None).await, None);
            attempts.was_right(&at(1)).await.unwrap();
        }
        assert_eq!(guess(&attempts, "wrong-59@corp.test", 1, None).await, None);
        assert!(guess(&attempts, "wrong-60@corp.test", 1, None).await.is_some());
        for _ in 0..9 {
            assert_eq!(guess(&attempts, "0@corp.test", 2, None).await, None);
            attempts.was_right(&at(2)).await.unwrap();
        }
    }

    /// The addresses of a customer with a /48.
    fn of_customer(customer: u16, number: u16) -> ClientAddress {
        ClientAddress::new([0x2001, 0xdb8, customer, number, 0, 0, 0, 1].into())
    }

    #[tokio::test]
    async fn a_refused_network_shuts_nobody_out_of_an_account() {
        let (attempts, _) = attempts().await;
        for number in 0..120 {
            assert!(attempts.guess(&format!("{number}@corp.test"), &of_customer(1, number), None).await.is_ok());
        }
        for number in 0..200 {
            assert!(attempts.guess("ann@corp.test", &of_customer(1, number), None).await.is_err());
        }
        assert_eq!(guess(&attempts, "ann@corp.test", 2, None).await, None, "the holder elsewhere, in a new browser");
    }

    #[tokio::test]
    async fn one_network_is_refused_and_many_shut_out_no_other() {
        let (attempts, hand) = attempts().await;
        let guess = async |customer, number: u16| {
            let email = format!("{customer}-{number}@corp.test");
            attempts.guess(&email, &of_customer(customer, number), None).await.is_ok()
        };
        let allowed = async |customer: u16, guesses: u16| {
            let mut allowed = 0;
            for number in 0..guesses {
                allowed += u32::from(guess(customer, number).await);
            }
            allowed
        };
        assert_eq!(allowed(1, 400).await, 120, "every /64 of the /48 counts");
        // Others use up what all strangers have together. Their own networks have little left then.
        assert_eq!([allowed(2, 200).await, allowed(3, 200).await], [120, 60 + 10]);
        assert_eq!([allowed(4, 200).await, allowed(5, 200).await], [10, 10]);
        assert!(guess(6, 0).await, "a network that has not guessed yet");
        let device = Some(Uuid::nil());
        assert!(attempts.guess("ann@corp.test", &of_customer(1, 500), device).await.is_ok(), "a known browser");
        hand.advance(TimeDelta::minutes(15));
        assert_eq!(allowed(7, 200).await, 120, "the whole has room again");
    }

    #[tokio::test]
    async fn codes_and_links_are_counted_by_network_and_together() {
        let (attempts, _) = attempts().await;
        let (mut codes, mut links) = ([0; 5], [0; 8]);
        for customer in 0..5_u16 {
            for number in 0..200 {
                let (subject, address) = (format!("{customer}-{number}"), of_customer(customer, number));
                codes[usize::from(customer)] += u32::from(attempts.enter_user_code(&subject, &address).await.is_ok());
            }
        }
        for customer in 0..8_u16 {
            for number in 0..40 {
                let address = of_customer(customer, number);
                links[usize::from(customer)] += u32::from(attempts.ask_for_link(&address).await.is_ok());
            }
        }
        assert_eq!(codes, [120, 120, 60 + 10, 10, 10]);
        assert_eq!(links, [20, 20, 20, 20, 20, 20, 20, 10 + 3]);
    }

    #[tokio::test]
    async fn guesses_of_strangers_never_lock_out_the_holders_browser() {
        let (attempts, _) = attempts().await;
        let mut refused = 0;
        for number in 0..200 {
            refused += u32::from(guess(&attempts, "ann@corp.test", number, None).await.is_some());
        }
        assert_eq!(refused, 150);
        for _ in 0..10 {
            assert_eq!(guess(&attempts, "ann@corp.test", 1, Some(Uuid::nil())).await, None);
        }
        assert!(
            guess(&attempts, "ann@corp.test", 1, Some(Uuid::nil())).await.is_some(),
            "a stolen cookie is not a key"
        );
    }
}
