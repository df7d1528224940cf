//! Hashes passwords: Argon2id with 19 MiB, two passes and one lane, as OWASP recommends.

use std::{num::NonZero, sync::LazyLock, time::Duration};

use argon2::{
    Algorithm, Argon2, Params, PasswordHash, PasswordHasher as _, PasswordVerifier as _, Version,
    password_hash::SaltString,
};
use tokio::{sync::Semaphore, time::timeout};

const MEMORY_KIB: u32 = 19_456;
const PASSES: u32 = 2;
const LANES: u32 = 1;

/// Hashes computed at once. Each takes 19 MiB and a core.
static PERMITS: LazyLock<Semaphore> =
    LazyLock::new(|| Semaphore::new(std::thread::available_parallelism().map_or(1, NonZero::get).min(4)));

/// Time to wait for a turn. Beyond it, the service is busy with other people's passwords.
const PATIENCE: Duration = Duration::from_secs(10);

/// Stands for the password of an account that does not exist or has none: the same work, and no password matches it.
const NOBODYS: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$c2lnaHRsaW5lLW5vYm9keQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

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

/// Returns the hash of a password in PHC format.
pub async fn hash(password: &str, salt: [u8; 16]) -> Result<String, PasswordError> {
    let password = password.to_owned();
    in_turn(move || {
        let salt = SaltString::encode_b64(&salt).map_err(failed)?;
        Ok(argon2()?.hash_password(password.as_bytes(), &salt).map_err(failed)?.to_string())
    })
    .await
}

/// Compares a password with a stored hash. Without one, the work is the same and nothing matches.
pub async fn verify(password: &str, stored: Option<&str>) -> Result<Verified, PasswordError> {
    let (password, stored) = (password.to_owned(), stored.unwrap_or(NOBODYS).to_owned());
    in_turn(move || {
        let hash = PasswordHash::new(&stored).map_err(failed)?;
        let matches = match argon2()?.verify_password(password.as_bytes(), &hash) {
            Ok(()) => stored != NOBODYS,
            Err(argon2::password_hash::Error::Password) => false,
            Err(error) => return Err(failed(error)),
        };
        let is_current = hash.algorithm == Algorithm::Argon2id.ident()
            && Params::try_from(&hash)
                .is_ok_and(|params| (params.m_cost(), params.t_cost(), params.p_cost()) == (MEMORY_KIB, PASSES, LANES));
        Ok(Verified { matches, is_outdated: !is_current })
    })
    .await
}

fn argon2() -> Result<Argon2<'static>, PasswordError> {
    let params = Params::new(MEMORY_KIB, PASSES, LANES, None).map_err(failed)?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

async fn in_turn<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, PasswordError> + Send + 'static,
) -> Result<T, PasswordError> {
    let permit = timeout(PATIENCE, PERMITS.acquire()).await.map_err(|_| PasswordError::Busy)?.map_err(failed)?;
    let done = tokio::task::spawn_blocking(move || {
        // Held until the work is done, even if the caller no longer waits.
        let _permit = permit;
        work()
    });
    done.await.map_err(failed)?
}

fn failed(error: impl std::fmt::Display) -> PasswordError {
    PasswordError::Failed(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_hash_has_the_recommended_parameters_and_matches_its_password_only() {
        let stored = hash("a long enough secret", [7; 16]).await.unwrap();
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{stored}");
        let right = verify("a long enough secret", Some(&stored)).await.unwrap();
        assert_eq!(right, Verified { matches: true, is_outdated: false });
        assert!(!verify("a long enough secret.", Some(&stored)).await.unwrap().matches);
        assert_ne!(stored, hash("a long enough secret", [8; 16]).await.unwrap(), "the salt counts");
    }

    #[tokio::test]
    async fn no_password_matches_the_stand_in_for_a_missing_one() {
        for password in ["", "a long enough secret"] {
            assert_eq!(verify(password, None).await.unwrap(), Verified { matches: false, is_outdated: false });
        }
        assert_eq!(PasswordHash::new(NOBODYS).unwrap().hash.unwrap().as_bytes().len(), 32);
    }

    #[tokio::test]
    async fn a_hash_with_other_parameters_is_outdated() {
        let weak = Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::new(8, 1, 1, None).unwrap());
        let salt = SaltString::encode_b64(&[1; 16]).unwrap();
        let stored = weak.hash_password(b"a long enough secret", &salt).unwrap().to_string();
        let verified = verify("a long enough secret", Some(&stored)).await.unwrap();
        assert_eq!(verified, Verified { matches: true, is_outdated: true });
    }
}
