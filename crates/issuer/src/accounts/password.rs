//! Hashes passwords: Argon2id with 19 MiB, two passes and one lane, as OWASP recommends.
//!
//! Few are computed at once, and people wait for their turn: browsers that have signed in before in a queue of their own, and strangers one
//! network after another. So a flood of guesses delays other guesses of its networks, and hardly anybody else.

use std::{
    num::NonZero,
    sync::{Arc, LazyLock},
    time::Duration,
};

use argon2::{
    Algorithm, Argon2, Params, PasswordHash, PasswordHasher as _, PasswordVerifier as _, Version,
    password_hash::SaltString,
};
use common::{addresses::ClientAddress, places::Places};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use unicode_normalization::UnicodeNormalization as _;

const MEMORY_KIB: u32 = 19_456;
const PASSES: u32 = 2;
const LANES: u32 = 1;

/// The turns of this process. Each hash takes 19 MiB and a core, and one core is left to everything else.
static TURNS: LazyLock<Turns> = LazyLock::new(|| {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    Turns::new((cores - 1).clamp(1, 4))
});

/// Time to wait for a turn. Beyond it, the service is busy with other people's passwords.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Stands for the password of an account that does not exist or has none: the same work, and no password matches it.
const NOBODYS: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$c2lnaHRsaW5lLW5vYm9keQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// The queue in which a password waits for its turn.
#[derive(Clone, Debug)]
pub enum Queue {
    /// That of browsers that have signed in before, and of people with a right password or a link.
    Known,
    /// That of strangers at this address.
    Strangers(ClientAddress),
}

/// The turns of passwords: the computations that may run at once, and who comes next.
struct Turns {
    running: Arc<Semaphore>,
    /// Strangers who wait among the others: as many as may run.
    strangers: Arc<Semaphore>,
    /// One stranger of each network waits among the other strangers.
    networks: Places<String>,
}

/// A turn. It ends when this is dropped.
struct Turn {
    _held: Vec<OwnedSemaphorePermit>,
}

impl Turns {
    fn new(at_once: usize) -> Self {
        let semaphore = || Arc::new(Semaphore::new(at_once));
        Self { running: semaphore(), strangers: semaphore(), networks: Places::new(1) }
    }

    async fn take(&self, queue: Queue) -> Result<Turn, PasswordError> {
        let mut held = Vec::new();
        if let Queue::Strangers(address) = queue {
            held.push(self.networks.of(address.network()).acquire_owned().await.map_err(failed)?);
            held.push(self.strangers.clone().acquire_owned().await.map_err(failed)?);
        }
        held.push(self.running.clone().acquire_owned().await.map_err(failed)?);
        Ok(Turn { _held: held })
    }
}

/// The reason why a password was neither hashed nor verified.
#[derive(Debug, thiserror::Error)]
pub enum PasswordError {
    /// Too many others wait for the same.
    #[error("too many passwords are being verified")]
    Busy,
    /// The library failed, or a stored hash is malformed. The text contains no password.
    #[error("{0}")]
    Failed(String),
}

/// The result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verified {
    /// True if the password is the right one.
    pub matches: bool,
    /// True if the stored hash was made with other parameters than today's.
    pub is_outdated: bool,
}

/// Returns the hash of a password in PHC format. Keyboards write the same letter in several ways, so it is that of the normal form
/// NFKC (NIST SP 800-63B section 3.1.1.2).
pub async fn hash(password: &str, salt: [u8; 16], queue: Queue) -> Result<String, PasswordError> {
    let password: String = password.nfkc().collect();
    in_turn(queue, move || {
        let salt = SaltString::encode_b64(&salt).map_err(failed)?;
        Ok(argon2()?.hash_password(password.as_bytes(), &salt).map_err(failed)?.to_string())
    })
    .await
}

/// Compares a password with a stored hash. Without one, the work is the same and nothing matches.
pub async fn verify(password: &str, stored: Option<&str>, queue: Queue) -> Result<Verified, PasswordError> {
    let (typed, stored) = (password.to_owned(), stored.unwrap_or(NOBODYS).to_owned());
    in_turn(queue, move || {
        let hash = PasswordHash::new(&stored).map_err(failed)?;
        let argon2 = argon2()?;
        let is_right = |password: &str| match argon2.verify_password(password.as_bytes(), &hash) {
            Ok(()) => Ok(stored != NOBODYS),
            Err(argon2::password_hash::Error::Password) => Ok(false),
            Err(error) => Err(failed(error)),
        };
        let normal: String = typed.nfkc().collect();
        let matches_normal = is_right(&normal)?;
        // A hash from before passwords were brought into their normal form.
        let matches_typed = !matches_normal && typed != normal && is_right(&typed)?;
        let matches = matches_normal || matches_typed;
        let is_current = hash.algorithm == Algorithm::Argon2id.ident()
            && Params::try_from(&hash)
                .is_ok_and(|params| (params.m_cost(), params.t_cost(), params.p_cost()) == (MEMORY_KIB, PASSES, LANES));
        Ok(Verified { matches, is_outdated: !is_current || matches_typed })
    })
    .await
}

fn argon2() -> Result<Argon2<'static>, PasswordError> {
    let params = Params::new(MEMORY_KIB, PASSES, LANES, None).map_err(failed)?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

async fn in_turn<T: Send + 'static>(
    queue: Queue,
    work: impl FnOnce() -> Result<T, PasswordError> + Send + 'static,
) -> Result<T, PasswordError> {
    let turn = timeout(TIMEOUT, TURNS.take(queue)).await.map_err(|_| PasswordError::Busy)??;
    let done = tokio::task::spawn_blocking(move || {
        // Held until the work is done, even if the caller no longer waits.
        let _turn = turn;
        work()
    });
    done.await.map_err(failed)?
}

fn failed(error: impl std::fmt::Display) -> PasswordError {
    PasswordError::Failed(error.to_string())
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use futures_util::future::{LocalBoxFuture, join_all};

    use super::*;

    #[tokio::test]
    async fn a_password_is_the_same_however_a_keyboard_writes_its_letters() {
        for (set, typed) in [
            ("schl\u{fc}ssel zum garten", "schlu\u{308}ssel zum garten"),
            ("schlu\u{308}ssel zum garten", "schl\u{fc}ssel zum garten"),
            ("\u{ac00}\u{b098} words in korean", "\u{1100}\u{1161}\u{1102}\u{1161} words in korean"),
            ("fullwidth \u{ff21}\u{ff22}\u{ff23} letters", "fullwidth ABC letters"),
            ("a space\u{a0}that does not break", "a space that does not break"),
        ] {
            let stored = hash(set, [7; 16], Queue::Known).await.unwrap();
            let verified = verify(typed, Some(&stored), Queue::Known).await.unwrap();
            assert_eq!(verified, Verified { matches: true, is_outdated: false }, "{set:?}");
        }
        let argon2 = argon2().unwrap();
        let salt = SaltString::encode_b64(&[7; 16]).unwrap();
        let before = argon2.hash_password("schlu\u{308}ssel zum garten".as_bytes(), &salt).unwrap().to_string();
        let verified = verify("schlu\u{308}ssel zum garten", Some(&before), Queue::Known).await.unwrap();
        assert_eq!(verified, Verified { matches: true, is_outdated: true }, "it is hashed anew");
        assert!(!verify("schlussel zum garten", Some(&before), Queue::Known).await.unwrap().matches);
    }

    #[tokio::test]
    async fn a_hash_has_the_recommended_parameters_and_matches_its_password_only() {
        let stored = hash("a long enough secret", [7; 16], Queue::Known).await.unwrap();
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{stored}");
        let right = verify("a long enough secret", Some(&stored), Queue::Known).await.unwrap();
        assert_eq!(right, Verified { matches: true, is_outdated: false });
        assert!(!verify("a long enough secret.", Some(&stored), Queue::Known).await.unwrap().matches);
        assert_ne!(stored, hash("a long enough secret", [8; 16], Queue::Known).await.unwrap(), "the salt counts");
    }

    #[tokio::test]
    async fn no_password_matches_the_stand_in_for_a_missing_one() {
        for password in ["", "a long enough secret"] {
            assert_eq!(
                verify(password, None, Queue::Known).await.unwrap(),
                Verified { matches: false, is_outdated: false }
            );
        }
        assert_eq!(PasswordHash::new(NOBODYS).unwrap().hash.unwrap().as_bytes().len(), 32);
    }

    #[tokio::test]
    async fn a_hash_with_other_parameters_is_outdated() {
        let weak = Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::new(8, 1, 1, None).unwrap());
        let salt = SaltString::encode_b64(&[1; 16]).unwrap();
        let stored = weak.hash_password(b"a long enough secret", &salt).unwrap().to_string();
        let verified = verify("a long enough secret", Some(&stored), Queue::Known).await.unwrap();
        assert_eq!(verified, Verified { matches: true, is_outdated: true });
    }

    /// Waits for a turn, and notes `name` when it comes. The turn ends at once.
    fn waiter<'t>(
        turns: &'t Turns,
        order: &'t RefCell<Vec<String>>,
        name: &str,
        queue: Queue,
    ) -> LocalBoxFuture<'t, ()> {
        let name = name.to_owned();
        Box::pin(async move {
            let turn = turns.take(queue).await.unwrap();
            order.borrow_mut().push(name);
            tokio::task::yield_now().await;
            drop(turn);
        })
    }

    #[tokio::test]
    async fn known_browsers_come_before_strangers_and_networks_take_turns() {
        let (turns, order) = (Turns::new(1), RefCell::default());
        let stranger = |customer: u16, number: u16| {
            Queue::Strangers(ClientAddress::new([0x2001, 0xdb8, customer, number, 0, 0, 0, 1].into()))
        };
        let running = turns.take(Queue::Known).await.unwrap();
        let mut all: Vec<_> = (0..50).map(|n| waiter(&turns, &order, "flood", stranger(1, n))).collect();
        all.extend((0..2).map(|n| waiter(&turns, &order, "other", stranger(2, n))));
        all.extend((0..3).map(|_| waiter(&turns, &order, "known", Queue::Known)));
        let mut all = join_all(all);
        assert!(futures_util::poll!(&mut all).is_pending());
        drop(running);
        all.await;
        let order = order.into_inner();
        assert_eq!(order[..6], ["flood", "known", "known", "known", "other", "flood"]);
        assert_eq!((order[6].as_str(), order.len()), ("other", 55));
    }

    #[tokio::test]
    async fn who_gives_up_waiting_delays_nobody() {
        let (turns, order) = (Turns::new(1), RefCell::default());
        let address = ClientAddress::new([198, 51, 100, 7].into());
        let running = turns.take(Queue::Known).await.unwrap();
        let mut gives_up = waiter(&turns, &order, "gives up", Queue::Strangers(address.clone()));
        assert!(futures_util::poll!(&mut gives_up).is_pending());
        let mut waits = waiter(&turns, &order, "waits", Queue::Strangers(address));
        assert!(futures_util::poll!(&mut waits).is_pending());
        drop(gives_up);
        drop(running);
        waits.await;
        assert_eq!(order.into_inner(), ["waits"]);
    }
}
